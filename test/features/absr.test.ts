import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { coverageOf } from '../../src/core/coverage.ts';
import { upstreamFailed } from '../../src/core/errors.ts';
import type { PriceReport } from '../../src/core/price.ts';
import { getSummary, type SummaryDeps } from '../../src/features/reserves/get-summary.ts';
import { Cache } from '../../src/http/cached.ts';
import { RpcRefusal } from '../../src/providers/solana-rpc.ts';
import { eachScene, msOf, playSteps } from '../kit/scenes.ts';
import { RPC_ERRORS } from '../world/solana-shapes.ts';

const MINT = '7Np41oeYqPefeNQEHSv1UDhYrehxin3NStELsSKCT4K2';
const ASRY = '7kLh5EwWsfm18XUodfmF2ABJnQJRxJPxwTkEj9q7pjZK';

const usd = (source: string, btc: number): PriceReport => ({
  source,
  ...{ btcUsd: BigInt(btc) * 1_000_000n, solUsd: 100_000_000n },
});

/** A summary over upstreams that a test may change; null is down. */
function service() {
  const upstreams = {
    prices: [usd('hyperliquid', 80_000), usd('coinbase', 80_010), usd('kraken', 79_990)],
    reserve: 1_250_000n as bigint | null,
    supplies: [{ atoms: 1_000_000n, decimals: 0, slot: 5n }] as ({
      atoms: bigint;
      decimals: number;
      slot: bigint;
    } | null)[],
    mint: MINT as string | null,
  };
  const clock = { ms: 0 };
  const cache = new Cache({ now: () => clock.ms, defer: () => undefined });
  const read = (refresh = false) => {
    const deps: SummaryDeps = {
      ...{ cache, absrMint: upstreams.mint, asryMint: ASRY, sleep: async () => undefined },
      readPrices: async () => upstreams.prices,
      supplySources: upstreams.supplies.map((supply, index) => ({
        name: `rpc-${index + 1}`,
        async tokenSupply() {
          const { code, message } = RPC_ERRORS.unhealthy;
          if (!supply) throw new RpcRefusal(code, message, undefined);
          return supply;
        },
      })),
      readReserve: () =>
        cache.read('reserve', { freshMs: 15_000, revalidateMs: 0, staleMs: 900_000 }, async () => {
          if (upstreams.reserve === null) throw upstreamFailed('esplora', 'unreachable');
          return { confirmed: upstreams.reserve.toString() };
        }),
    };
    return getSummary(deps, refresh);
  };
  return { upstreams, clock, read };
}

it('the ABSR summary compares the reserve with the supply', async () => {
  const as_of = '1970-01-01T00:00:00.000Z';
  const venue = (name: string, btcPriceUsd: number) => ({
    name,
    btcPriceUsd,
    solPriceUsd: 100,
    agreed: true,
  });
  expect(await service().read()).toEqual({
    ...{ absrMint: MINT, asryMint: ASRY, as_of, price_as_of: as_of, stale: false },
    ...{ btcPriceUsd: 80_000, solPriceUsd: 100, priceSource: 'hyperliquid' },
    priceVenues: [venue('hyperliquid', 80_000), venue('coinbase', 80_010), venue('kraken', 79_990)],
    ...{ absrSupplySats: 1_250_000, absrSupplySatoshis: '1250000', absrSupplyUsd: 1000 },
    ...{ absrTokenSupply: 1_000_000, absrTokenSupplyAtoms: '1000000', absrDecimals: 0 },
    ...{ ratio: 1.25, gapSats: 250_000, gapSatoshis: '250000' },
    coverage: {
      ...{ state: 'covered', reserveSatoshis: '1250000', gapSatoshis: '250000', ratio: 1.25 },
      ...{ supplySatoshis: '1000000', supplyAtoms: '1000000', as_of, stale: false },
    },
  });
});

eachScene(`
  without a mint there is no supply and no error
    | no-mint; read = supply none, reserve 1250000, price 80000
  the highest supply of all nodes is shown, whatever slot another node claims
    | nodes 900000@1000000000000000 1000000@9; read = supply 1000000, reserve 1250000, price 80000
  the supply of the other node is shown while one is down
    | nodes down 900000@9; read = supply 900000, reserve 1250000, price 80000
  a figure that has never been read is null, with an error
    | nodes down; read = supply none, reserve 1250000, price 80000, supply UPSTREAM_FAILED
  a node whose decimals differ from those of most nodes is ignored
    | nodes 70000000@9/1 900000@9 800000@9; read = supply 900000, reserve 1250000, price 80000
  no supply is shown if no majority of nodes shows the same decimals
    | nodes 9000000@9/1 900000@9; read = supply none, reserve 1250000, price 80000, supply UPSTREAM_FAILED
  if no figure was read, there is no summary
    | nodes down; reserve down; venues; read = UPSTREAM_FAILED 503
  the price of the only venue that responds is shown
    | venues kraken=80200; read = supply 1000000, reserve 1250000, price 80200; source = kraken; agreed = kraken 80200 null
  a price is refused when the venues contradict each other, and the price of each is shown
    | venues hyperliquid=80000 coinbase=81000; read = supply 1000000, reserve 1250000, price none, prices PRICE_DIVERGENT;
      source = null; agreed = hyperliquid 80000 false, coinbase 81000 false
  after a cron run that reads no venue, the price is stale and keeps the time at which it was read
    | cron; venues; wait 1m; cron; read = supply 1000000, reserve 1250000, price 80000, stale; ages = price 60s, coverage 0s
  the last good price is shown as stale while the venues contradict each other
    | read; venues hyperliquid=50000 coinbase=80000; wait 10m; read = supply 1000000, reserve 1250000, price 80000, stale;
      ages = price 600s, coverage 0s; agreed = hyperliquid 50000 false, coinbase 80000 false
`)('in the summary, %s', async (_title, steps = '') => {
  const { upstreams, clock, read } = service();
  let shown: Awaited<ReturnType<typeof read>> | undefined;
  const ageOf = (iso: string | null | undefined) => `${(clock.ms - Date.parse(iso ?? '')) / 1_000}s`;
  await playSteps(steps, {
    'no-mint': () => Object.assign(upstreams, { mint: null }),
    reserve: () => Object.assign(upstreams, { reserve: null }),
    /** Nodes as `atoms@slot`, with `/decimals` unless 0. */
    nodes: (...nodes: string[]) => {
      upstreams.supplies = nodes.map((node) => {
        const [atoms = '', slot = '', decimals = '0'] = node.split(/[@/]/);
        return node === 'down'
          ? null
          : { atoms: BigInt(atoms), slot: BigInt(slot), decimals: Number(decimals) };
      });
    },
    venues: (...venues: string[]) => {
      upstreams.prices = venues.map((venue) => usd(venue.split('=')[0] ?? '', Number(venue.split('=')[1])));
    },
    wait: (length: string) => Object.assign(clock, { ms: clock.ms + msOf(length) }),
    cron: () => read(true),
    async read() {
      try {
        shown = await read();
      } catch (error) {
        return `${Reflect.get(Object(error), 'code')} ${Reflect.get(Object(error), 'status')}`;
      }
      const { absrTokenSupply, absrSupplySats, btcPriceUsd, stale, errors = [] } = shown;
      const figures = [`supply ${absrTokenSupply ?? 'none'}`, `reserve ${absrSupplySats ?? 'none'}`];
      const failed = errors.map(({ part, error_code }) => `${part} ${error_code}`);
      return [...figures, `price ${btcPriceUsd ?? 'none'}`, ...failed, ...(stale ? ['stale'] : [])].join(
        ', ',
      );
    },
    source: () => shown?.priceSource,
    agreed: () =>
      shown?.priceVenues
        .map(({ name, btcPriceUsd, agreed }) => `${name} ${btcPriceUsd} ${agreed}`)
        .join(', '),
    ages: () => `price ${ageOf(shown?.price_as_of)}, coverage ${ageOf(shown?.coverage.as_of)}`,
  });
});

describe('backing', () => {
  const u64 = fc.bigInt({ min: 0n, max: 2n ** 64n - 1n });
  const sats = fc.bigInt({ min: 0n, max: 2_100_000_000_000_000n });

  const known = <V>(value: V) => ({ value, asOf: 0, stale: false });
  const of = (reserve: bigint, atoms: bigint, decimals: number) =>
    coverageOf(known({ confirmed: String(reserve) }), known({ atoms: String(atoms), decimals }), true);

  it('the reserve is short exactly when the supply exceeds it, for any decimals', () => {
    fc.assert(
      fc.property(sats, u64, fc.integer({ min: 0, max: 9 }), (reserve, atoms, decimals) => {
        const { state, gapSatoshis, ratio } = of(reserve, atoms, decimals);
        const isShort = atoms > reserve * 10n ** BigInt(decimals);
        expect(state).toBe(isShort ? 'short' : 'covered');
        expect(gapSatoshis?.startsWith('-')).toBe(isShort);
        // 2^53 is the limit of exact integers.
        if (ratio !== null && reserve < 2n ** 53n / 100_000_000n) expect(ratio >= 1).toBe(!isShort);
      }),
    );
  });

  it('rounds a fraction of a sat of supply up to a whole sat, and returns no ratio without tokens', () => {
    expect(of(10n, 9_001n, 3).gapSatoshis).toBe('0');
    expect(of(10n, 0n, 3)).toMatchObject({ gapSatoshis: '10', ratio: null, state: 'covered' });
  });
});
