import { expect, it } from 'vitest';
import { getSummary, type SummaryDeps } from '../../src/features/reserves/get-summary.ts';
import { Cache } from '../../src/http/cached.ts';
import { scenes } from '../kit/scenes.ts';

/** A reserve of 999,999 sats, and nodes that show these atoms and decimals of ABSR. */
function service(shown: string): SummaryDeps {
  const cache = new Cache({ now: () => 0, defer: () => undefined });
  return {
    cache,
    readPrices: async () => [{ source: 'kraken', btcUsd: 1n, solUsd: 1n }],
    absrMint: '7Np41oeYqPefeNQEHSv1UDhYrehxin3NStELsSKCT4K2',
    asryMint: null,
    supplySources: shown.split('; ').map((supply, at) => ({
      name: `solana-read-${at + 1}`,
      tokenSupply: async () => {
        const [atoms, decimals] = supply.split(' ');
        if (atoms === 'fails') throw new Error('down');
        return { atoms: BigInt(atoms ?? 0), decimals: Number(decimals), slot: 5n };
      },
    })),
    readReserve: () =>
      cache.read('reserve', { freshMs: 1, revalidateMs: 0, staleMs: 1 }, async () => ({
        confirmed: '999999',
      })),
    sleep: async () => undefined,
  };
}

it.each(
  scenes(`
  999999 0                       | covered | 999999
  1000000 0                      | short   | 1000000
  1000000 0; 1000000 0; 999999 0 | short   | 1000000
  1000000 0; 1000000 0; 1000001 9 | short  | 1000000
  1000001 9; 1000000 0; 1000000 0 | short  | 1000000
  999999 0; 999999 0; 2000000 1  | covered | 999999
  1000001 9; 1000000 0           | unknown | null
  1000001 9; 1000000 0; fails    | unknown | null
  1000001 9; 1000000 0; 1000000 2 | unknown | null
  fails; fails; fails            | unknown | null`),
)(
  'nodes that show the supply and decimals %s make a reserve of 999,999 sats %s',
  async (shown, state, supply) => {
    const summary = await getSummary(service(shown ?? ''));
    expect([summary.coverage.state, String(summary.coverage.supplySatoshis)]).toEqual([state, supply]);
  },
);
