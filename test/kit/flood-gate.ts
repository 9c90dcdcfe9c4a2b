import type { FloodGate } from '../../src/core/client-network.ts';

/** The platform's limiters over one decision. */
export function floodGate(isAdmitted: (limiter: keyof FloodGate, key: string) => boolean): FloodGate {
  const over = (limiter: keyof FloodGate) => ({
    limit: async ({ key }: { readonly key: string }) => ({ success: isAdmitted(limiter, key) }),
  });
  return {
    LIMITER: over('LIMITER'),
    NETWORK_LIMITER: over('NETWORK_LIMITER'),
    PROVIDER_LIMITER: over('PROVIDER_LIMITER'),
  };
}

export const OPEN_GATE = floodGate(() => true);
