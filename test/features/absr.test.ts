import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { coverageOf } from '../../src/core/coverage.ts';
import { upstreamFailed } from '../../src/core/errors.ts';
import type { PriceReport } from '../../src/core/price.ts';
import { getSummary, type SummaryDeps } from '../../src/features/reserves/get-summary.ts';
import { Cache } from '../../src/http/cached.ts';
import { RpcRefusal } from '../../src/providers/solana-rpc.ts';
import { RPC_ERRORS } from '../world/solana-shapes.ts';

const MINT = '7Np41oeYqPefeNQEHSv1UDhYrehxin3NStELsSKCT4K2';
const ASRY = '7kLh5EwWsfm18XUodfmF2ABJnQJRxJPxwTkEj9q7pjZK';

const isolate = (clock: { ms: number }) => new Cache({ now: () => clock.ms, defer: () => undefined });

const usd = (source: string, btc: number, sol = 100): PriceReport => ({
  source,
  btcUsd: BigInt(btc) * 1_000_000n,
  solUsd: BigInt(sol) * 1_000_000n,
});

type Upstreams = {
  prices: PriceReport[];
  reserve: bigint | null;
  supplies: ({ atoms: bigint; decimals: number; slot: bigint } | null)[];
};

/** A summary over upstreams that a test may change; null is down. */
function service(p: Partial<Upstreams> = {}, cache = isolate({ ms: 0 })) {
  const upstreams: Upstreams = {
    prices: [usd('hyperliquid', 80_000), usd('coinbase', 80_010), usd('kraken', 79_990)],
    reserve: 1_250_000n,
    supplies: [{ atoms: 1_000_000n, decimals: 0, slot: 5n }],
    ...p,
  };
  const calls = { prices: 0, reserve: 0, supply: 0 };
  const d: SummaryDeps = {
    cache,
    async readPrices() {
      calls.prices++;
      return upstreams.prices;
    },
    absrMint: MINT,
    asryMint: ASRY,
    supplySources: upstreams.supplies.map((_, index) => ({
      name: `rpc-${index + 1}`,
      async tokenSupply() {
        calls.supply++;
        const supply = upstreams.supplies[index];
        const { code, message } = RPC_ERRORS.unhealthy;
        if (!supply) throw new RpcRefusal(code, message, undefined);
        return supply;
      },
    })),
    readReserve: () =>
      cache.read('reserve', { freshMs: 15_000, revalidateMs: 0, staleMs: 900_000 }, async () => {
        calls.reserve++;
        if (upstreams.reserve === null) throw upstreamFailed('esplora', 'unreachable');
        return { confirmed: upstreams.reserve.toString() };
      }),
    sleep: async () => undefined,
  };
  return { d, upstreams, calls, read: () => getSummary(d) };
}

describe('the summary', () => {
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

  it('the summary without a mint has no supply and no error', async () => {
    const { d } = service();
    const summary = await getSummary({ ...d, absrMint: null });
    const unknown = { absrMint: null, absrTokenSupply: null, ratio: null, gapSats: null };
    expect(summary).toMatchObject({ ...unknown, absrSupplySats: 1_250_000 });
    expect(summary).not.toHaveProperty('errors');
  });

  it("shows the highest supply of all nodes, or the other node's supply while one is down", async () => {
    const behind = { atoms: 900_000n, decimals: 0, slot: 10n ** 15n };
    const ahead = { atoms: 1_000_000n, decimals: 0, slot: 9n };
    expect((await service({ supplies: [behind, ahead] }).read()).absrTokenSupply).toBe(1_000_000);
    expect((await service({ supplies: [null, behind] }).read()).absrTokenSupply).toBe(900_000);
  });

  it('returns null and an error for a figure that was never read, and 503 if no figure was read', async () => {
    expect(await service({ supplies: [null] }).read()).toMatchObject({
      ...{ absrTokenSupply: null, ratio: null, absrSupplySats: 1_250_000 },
      errors: [{ part: 'supply', error_code: 'UPSTREAM_FAILED' }],
    });
    const dead = service({ supplies: [null], reserve: null, prices: [] });
    await expect(dead.read()).rejects.toMatchObject({ code: 'UPSTREAM_FAILED', status: 503 });
  });
});

describe('the price', () => {
  it('the summary shows the price of the only venue that responds', async () => {
    const summary = await service({ prices: [usd('kraken', 80_200)] }).read();
    expect(summary).toMatchObject({ priceSource: 'kraken', btcPriceUsd: 80_200 });
  });

  it("refuses the price when the venues contradict each other, and shows each venue's price", async () => {
    const prices = [usd('hyperliquid', 80_000), usd('coinbase', 81_000)];
    const priceVenues = [
      { name: 'hyperliquid', btcPriceUsd: 80_000, agreed: false },
      { name: 'coinbase', btcPriceUsd: 81_000, agreed: false },
    ];
    expect(await service({ prices }).read()).toMatchObject({
      ...{ btcPriceUsd: null, absrSupplyUsd: null, priceSource: null, priceVenues },
      errors: [{ part: 'prices', error_code: 'PRICE_DIVERGENT' }],
    });
  });

  it('a price is stale after a cron run that read no venue', async () => {
    const clock = { ms: 0 };
    const { d, upstreams, read } = service({}, isolate(clock));
    await getSummary(d, true);
    upstreams.prices = [];
    clock.ms = 60_000;
    await getSummary(d, true);
    expect(await read()).toMatchObject({
      ...{ btcPriceUsd: 80_000, stale: true, coverage: { stale: false } },
      price_as_of: '1970-01-01T00:00:00.000Z',
    });
  });

  it('shows the last good price, marked stale, while the venues contradict each other', async () => {
    const clock = { ms: 0 };
    const { upstreams, read } = service({}, isolate(clock));
    await read();
    upstreams.prices = [usd('hyperliquid', 50_000), usd('coinbase', 80_000)];
    clock.ms = 10 * 60_000;
    expect(await read()).toMatchObject({
      ...{ btcPriceUsd: 80_000, stale: true },
      priceVenues: [
        { name: 'hyperliquid', btcPriceUsd: 50_000, agreed: false },
        { name: 'coinbase', btcPriceUsd: 80_000, agreed: false },
      ],
    });
  });
});

describe('backing', () => {
  const u64 = fc.bigInt({ min: 0n, max: 2n ** 64n - 1n });
  const sats = fc.bigInt({ min: 0n, max: 2_100_000_000_000_000n });

  const known = <V>(value: V, stale = false) => ({ value, asOf: 0, stale });
  const of = (reserve: bigint, atoms: bigint, decimals: number, stale = false) =>
    coverageOf(known({ confirmed: String(reserve) }, stale), known({ atoms: String(atoms), decimals }), true);

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

  it('an older figure can show a shortage, but never full coverage', () => {
    expect(of(10n, 9n, 0, true).state).toBe('unknown');
    expect(of(10n, 11n, 0, true).state).toBe('short');
  });
});
