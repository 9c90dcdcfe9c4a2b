import type { AccountState } from './solana-shapes.ts';

interface Version {
  readonly slot: number;
  readonly state: AccountState | null;
}

/** Every version that an account had since a transaction first touched it, so that any past slot can be shown. */
export interface AccountHistory {
  has(address: string): boolean;
  /** The account at the end of that slot; undefined if it has no record. */
  at(address: string, slot: number): AccountState | null | undefined;
  record(address: string, slot: number, state: AccountState | null): void;
}

export function createAccountHistory(): AccountHistory {
  const versions = new Map<string, Version[]>();
  return {
    has: (address) => versions.has(address),
    at(address, slot) {
      const all = versions.get(address);
      if (all === undefined) return undefined;
      return (all.findLast((version) => version.slot <= slot) ?? all[0])?.state;
    },
    record(address, slot, state) {
      const all = versions.get(address) ?? [];
      const last = all.at(-1);
      if (last !== undefined && last.slot === slot) all[all.length - 1] = { slot, state };
      else all.push({ slot, state });
      versions.set(address, all);
    },
  };
}
