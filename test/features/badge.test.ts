import { describe, expect, it } from 'vitest';
import { type Coverage, coverageOf } from '../../src/core/coverage.ts';
import { type AbsrDeps, absrRoutes, badgeSvg, badgeText } from '../../src/features/reserves/absr-routes.ts';
import { Cache } from '../../src/http/cached.ts';
import { routerOver } from '../kit/router.ts';

const GREEN = '#0b6b50';
const RED = '#b3261e';
const GRAY = '#5f6368';
const AS_OF = '(as of 2026-11-20 10:42 UTC)';
const dated = <T>(value: T, stale: boolean) => ({ value, asOf: Date.UTC(2026, 10, 20, 10, 42), stale });
/** @param sats confirmed sats; null when unknown. @param absr whole tokens; null when unknown */
const state = (sats: number | null, absr: number | null, stale = false, hasToken = true) =>
  coverageOf(
    sats === null ? null : dated({ confirmed: String(sats) }, stale),
    absr === null ? null : dated({ atoms: String(absr), decimals: 0 }, stale),
    hasToken,
  );

it.each<[string, Coverage, string, string]>([
  ['covered', state(1_061_975, 1_000_000), '1,061,975 sats ≥ 1,000,000 ABSR', GREEN],
  ['covered to the sat', state(1_000_000, 1_000_000), '1,000,000 sats ≥ 1,000,000 ABSR', GREEN],
  ['short of one sat', state(999_999, 1_000_000), '999,999 sats < 1,000,000 ABSR', RED],
  ['without tokens', state(1_061_975, 0), '1,061,975 sats ≥ 0 ABSR', GREEN],
  ['without a mint', state(1_061_975, null, false, false), '1,061,975 sats', GRAY],
  ['of unknown supply', state(1_061_975, null), '1,061,975 sats', GRAY],
  ['unknown', state(null, 1_000_000), 'unknown', GRAY],
  ['stale', state(1_061_975, 1_000_000, true), `1,061,975 sats ≥ 1,000,000 ABSR ${AS_OF}`, GRAY],
  ['stale and short', state(5, 1_000_000, true), `5 sats < 1,000,000 ABSR ${AS_OF}`, RED],
])('the badge shows in text and color a reserve that is %s', (_name, coverage, text, color) => {
  expect(badgeText(coverage)).toEqual({ text, color });
  const svg = badgeSvg(coverage);
  expect(svg).toContain(`fill="${color}"`);
  expect(svg).toContain(`<title>reserve: ${text.replace('<', '&lt;')}</title>`);
  expect(svg.replaceAll(/<\/?(svg|title|rect|path|g|text)\b[^<>]*>/g, '')).not.toMatch(/[<>]/);
});

describe('GET /api/badge/reserve.svg', () => {
  const now = Date.parse('2026-11-20T12:00:00.000Z');

  async function get(confirmed: string, atoms: bigint) {
    const deps: Partial<AbsrDeps> = {
      cache: new Cache({ now: () => now, defer: () => undefined }),
      ...{ readPrices: async () => [], absrMint: 'mint', asryMint: null, sleep: async () => undefined },
      supplySources: [{ name: 'a', tokenSupply: async () => ({ atoms, decimals: 6, slot: 1n }) }],
      readReserve: async () => ({ value: { confirmed }, asOf: now, stale: false }),
    };
    const response = await routerOver(
      () => ({ reserves: deps as AbsrDeps }),
      (app) => app.route('/api', absrRoutes),
    )('/api/badge/reserve.svg');
    const { headers, status } = response;
    expect([status, headers.get('content-type')]).toEqual([200, 'image/svg+xml']);
    return response.text();
  }

  it('GET /api/badge/reserve.svg is red even when the reserve is short by less than one ABSR', async () => {
    const text = await get('1000000', 1_000_000_000_001n);
    expect(text).toContain('1,000,000 sats &lt; 1,000,001 ABSR');
    expect(text).toContain(RED);
  });
});
