import { describe, expect, it } from 'vitest';
import {
  type AbsrDeps,
  absrRoutes,
  type BadgeState,
  badgeSvg,
  badgeText,
} from '../../src/features/reserves/absr-routes.ts';
import { Cache } from '../../src/http/cached.ts';
import { routerOver } from '../kit/router.ts';

const GREEN = '#0b6b50';
const RED = '#b3261e';
const GRAY = '#5f6368';
const state = (over: Partial<BadgeState>): BadgeState => ({
  sats: 1_061_975n,
  absr: 1_000_000n,
  staleSince: null,
  ...over,
});

it.each<[string, Partial<BadgeState>, string, string]>([
  ['covered', {}, '1,061,975 sats ≥ 1,000,000 ABSR', GREEN],
  ['covered to the sat', { sats: 1_000_000n }, '1,000,000 sats ≥ 1,000,000 ABSR', GREEN],
  ['short of one sat', { sats: 999_999n }, '999,999 sats < 1,000,000 ABSR', RED],
  ['without tokens', { absr: 0n }, '1,061,975 sats ≥ 0 ABSR', GREEN],
  ['of unknown supply', { absr: null }, '1,061,975 sats', GRAY],
  ['unknown', { sats: null }, 'unknown', GRAY],
  [
    'stale',
    { staleSince: '2026-11-20T10:42:31.000Z' },
    '1,061,975 sats ≥ 1,000,000 ABSR (as of 2026-11-20 10:42 UTC)',
    GRAY,
  ],
  [
    'stale and short',
    { sats: 5n, staleSince: '2026-11-20T10:42:31.000Z' },
    '5 sats < 1,000,000 ABSR (as of 2026-11-20 10:42 UTC)',
    RED,
  ],
])('the badge shows in text and color a reserve that is %s', (_name, over, text, color) => {
  expect(badgeText(state(over))).toEqual({ text, color });
  const svg = badgeSvg(state(over));
  expect(svg).toContain(`fill="${color}"`);
  expect(svg).toContain(`<title>reserve: ${text.replace('<', '&lt;')}</title>`);
  expect(svg.replaceAll(/<\/?(svg|title|rect|path|g|text)\b[^<>]*>/g, '')).not.toMatch(/[<>]/);
});

describe('GET /api/badge/reserve.svg', () => {
  const now = Date.parse('2026-11-20T12:00:00.000Z');

  async function get(
    reserve: (() => Promise<{ confirmed: string }>) | undefined,
    atoms = 1_000_000_000_000n,
  ) {
    const deps: Partial<AbsrDeps> = {
      cache: new Cache({ now: () => now, defer: () => undefined }),
      readPrices: async () => [],
      absrMint: 'mint',
      supplySources: [{ name: 'a', tokenSupply: async () => ({ atoms, decimals: 6, slot: 1n }) }],
      readReserve: reserve
        ? async () => ({ value: await reserve(), asOf: now, stale: false })
        : async () => Promise.reject(new Error('down')),
      sleep: () => Promise.resolve(),
    };
    const response = await routerOver(
      () => ({ reserves: deps as AbsrDeps }),
      (app) => app.route('/api', absrRoutes),
    )('/api/badge/reserve.svg');
    const { headers, status } = response;
    expect([status, headers.get('content-type')]).toEqual([200, 'image/svg+xml']);
    return response.text();
  }

  it('GET /api/badge/reserve.svg shows the figures of the summary', async () => {
    const text = await get(async () => ({ confirmed: '1061975' }));
    expect(text).toContain('1,061,975 sats ≥ 1,000,000 ABSR');
  });

  it('GET /api/badge/reserve.svg is red even when the reserve is short by less than one ABSR', async () => {
    const text = await get(async () => ({ confirmed: '1000000' }), 1_000_000_000_001n);
    expect(text).toContain('1,000,000 sats &lt; 1,000,001 ABSR');
    expect(text).toContain(RED);
  });

  it('GET /api/badge/reserve.svg shows the state "unknown" when the reserve cannot be read', async () => {
    const text = await get(undefined);
    expect(text).toContain('reserve: unknown');
  });
});
