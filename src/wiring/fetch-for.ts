import type { Config } from '../config.ts';
import { upstreamFailed } from '../core/errors.ts';
import type { Fetch } from '../providers/http.ts';
import type { Wired } from './telemetry.ts';

/**
 * The network access of one client. If its URL is set but invalid, every call fails instead of using a
 * default address.
 */
export function fetchFor(
  config: Wired,
  variable: Extract<keyof Config, `${string}_URL` | `${string}_URLS`>,
): Fetch {
  const call = async (url: string, init?: RequestInit): Promise<Response> => {
    if (config.invalid.includes(variable)) throw upstreamFailed(variable, 'not_configured');
    return fetch(url, init);
  };
  const observe = config.telemetry?.observe;
  return observe ? Object.assign(call, { observe }) : call;
}
