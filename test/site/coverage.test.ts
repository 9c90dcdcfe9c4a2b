/** Every page, field, badge and tool that says whether the reserve covers the supply, in each state of the sources. */
import { expect, it, vi } from 'vitest';
import type { AbsrSummary, Status } from '../../packages/client/src/index.ts';
import { renderIslands } from '../../site/first-state.tsx';
import { coverageKind, coverageOf } from '../../site/parts/coverage.tsx';
import { StatusReport } from '../../site/parts/status-live.tsx';
import { statusSentence } from '../../site/parts/status-sentence.ts';
import { coverageOf as compareSats } from '../../src/core/coverage.ts';
import { absrRoutes } from '../../src/features/reserves/absr-routes.ts';
import { CHAIN_POLICY } from '../../src/features/reserves/get-reserves.ts';
import {
  alertUndercollateralized,
  readCoverage,
  type SummaryDeps,
} from '../../src/features/reserves/get-summary.ts';
import { alarmsOf } from '../../src/features/status/alarm-rules.ts';
import { Cache, type Cached } from '../../src/http/cached.ts';
import { callTool } from '../../src/mcp/server.ts';
import { TOOLS } from '../../src/mcp/tools/all-tools.ts';
import { exampleOf } from '../kit/example.ts';
import { routerOver } from '../kit/router.ts';

const NOW = Date.parse('2026-11-20T12:00:00.000Z');

/** The clients of the upstreams end a call after a similar time. */
const TIMEOUT_MS = 8_000;

type Source = 'responds' | 'fails' | 'hangs';

function service() {
  const world = { sats: 100n, supply: 90n, bitcoin: 'responds' as Source, solana: 'responds' as Source };
  const ask = <T>(source: Source, value: T): Promise<T> => {
    if (source === 'hangs')
      return new Promise((_, reject) => void setTimeout(() => reject(new Error('timeout')), TIMEOUT_MS));
    return source === 'fails' ? Promise.reject(new Error('down')) : Promise.resolve(value);
  };
  const cache = new Cache({ now: Date.now, lastChange: async () => 0, defer: () => undefined });
  const deps: SummaryDeps = {
    cache,
    absrMint: 'mint',
    asryMint: null,
    readPrices: async () => [{ source: 'kraken', btcUsd: 80_000_000_000n, solUsd: 200_000_000n }],
    supplySources: [
      { name: 'a', tokenSupply: () => ask(world.solana, { atoms: world.supply, decimals: 0, slot: 1n }) },
    ],
    readReserve: (): Promise<Cached<{ confirmed: string }>> =>
      cache.read('reserves:bitcoin', CHAIN_POLICY, () =>
        ask(world.bitcoin, { confirmed: String(world.sats) }),
      ),
    sleep: async () => undefined,
  };
  return { world, deps };
}

/** The pages that the Worker renders. */
const PAGES = ['/', '/reserves', '/trust', '/status', '/tokens', '/token', '/asry'];

/** What every tool of an agent shows, by name, with these responses in place of the examples. */
async function toolTexts(
  answers: Readonly<Record<string, unknown>>,
): Promise<Readonly<Record<string, string>>> {
  const call = async (name: string) => ({
    value: answers[name] ?? exampleOf(name),
    headers: new Headers(),
    status: 200,
  });
  const recent = { find: () => undefined, keep: () => undefined };
  const context = { api: { call } as never, recent, verifyProof: async () => ({}) };
  const shown = TOOLS.filter(({ annotations }) => annotations.readOnlyHint).map(async (tool) => {
    const { structuredContent = {} } = await callTool(tool, tool.example ?? {}, context);
    return [tool.name, JSON.stringify(structuredContent)] as const;
  });
  return Object.fromEntries(await Promise.all(shown));
}

/** Words of any place that say whether the reserve covers the supply. */
const SAYS_OK = /\bCovered: |is covered(?! is not known)|"covered"|covers? ABSR: yes|>yes<|verdict-line good/;
const SAYS_SHORT = /Not covered|NOT covered|exceeds the reserve|"short"|>NO<|verdict-line bad/;

/** What each place says: `ok`, `short` or `unknown`. */
async function said(deps: SummaryDeps): Promise<Readonly<Record<string, string>>> {
  const app = routerOver(
    () => ({ reserves: deps as never }),
    (router) => router.route('/api', absrRoutes),
  );
  const inTime = async <T>(work: Promise<T>): Promise<T> => {
    await vi.advanceTimersByTimeAsync(15_000);
    return work;
  };
  const badge = await (await inTime(app('/api/badge/reserve.svg'))).text();
  const summary = (await (await inTime(app('/api/arbitrage/summary'))).json()) as AbsrSummary;
  const coverage = await inTime(readCoverage(deps));
  const lines: object[] = [];
  await inTime(alertUndercollateralized({ ...deps, log: (line) => lines.push(line) }));
  const isOk = coverage.state === 'covered';
  const backing = { ok: isOk, ...coverage };
  const status = { ...exampleOf('getStatus'), ok: isOk, alarms: [], backing } as Status;
  const facts = { status: status as never, view: null, level: { balance: null, floor: 0n }, nowMs: NOW };
  const alarms = alarmsOf(facts).raised.map(({ name }) => name);
  const answers = {
    ...Object.fromEntries(
      ['getReserves', 'getProof', 'getAsryEpoch', 'listTokens', 'getToken'].map((name) => [
        `${name} {}`,
        exampleOf(name),
      ]),
    ),
    'getAbsrSummary {}': summary,
    'getStatus {}': status,
    'getToken {"id":"absr"}': { ...exampleOf('getToken'), official: { asset: 'ABSR', minter: 'reserve' } },
  };
  const bodies = PAGES.map((path) => Object.values(renderIslands(path, answers, 'absr')).join(' '));
  const tools = await toolTexts({ getStatus: status, getAbsrSummary: summary });
  const all = [...bodies, ...Object.values(tools)].join(' ');
  const page = renderIslands('/', answers).hero ?? '';
  const banners = PAGES.filter((path) =>
    /exceeds the reserve/.test(renderIslands(path, answers).alerts ?? ''),
  );
  const report = String(StatusReport({ status, bitcoin: null }));
  const read = (text: string, ok: RegExp, short: RegExp, unknown: RegExp): string =>
    [ok.test(text) && 'ok', short.test(text) && 'short', unknown.test(text) && 'unknown']
      .filter(Boolean)
      .join(' and ');
  return {
    badge: read(badge, /#0b6b50/, /#b3261e/, /fill="#5f6368"/),
    summary: read(summary.coverage.state, /covered/, /short/, /unknown/),
    reserves: read(
      renderIslands('/reserves', answers).verify ?? '',
      /verdict-line good/,
      /verdict-line bad/,
      /verdict-line warn/,
    ),
    token: read(
      renderIslands('/token', answers, 'absr').token ?? '',
      /verdict-line good/,
      /verdict-line bad/,
      /verdict-line warn/,
    ),
    html: read(page, /verdict-line good/, /verdict-line bad/, /verdict-line warn/),
    tile: read(report, />yes</, />NO</, />unknown</),
    headline: read(report, /verdict good/, /verdict bad/, /verdict warn/),
    sentence: read(statusSentence(status), /is covered/, /NOT/, /not known/),
    tool: read(tools.service_status ?? '', /"state":"covered"/, /"state":"short"/, /"state":"unknown"/),
    anywhere:
      [SAYS_OK.test(all) && 'ok', SAYS_SHORT.test(all) && 'short'].filter(Boolean).join(' and ') || 'unknown',
    banners: banners.length === PAGES.length ? 'short' : banners.join(' ') || 'no alarm',
    alarm: alarms.includes('supply_above_reserve') ? 'short' : 'no alarm',
    log: lines.length > 0 ? 'short' : 'no alarm',
  };
}

const everywhere = (state: 'ok' | 'short' | 'unknown') => {
  const places = [
    'badge',
    'summary',
    'reserves',
    'token',
    'html',
    'tile',
    'headline',
    'sentence',
    'tool',
    'anywhere',
  ];
  const alarm = state === 'short' ? 'short' : 'no alarm';
  return { ...Object.fromEntries(places.map((place) => [place, state])), alarm, log: alarm, banners: alarm };
};

const SCENES = `
before  sats supply bitcoin  solana   says
none    100  90     responds responds ok
none    100  100    responds responds ok
none    100  101    responds responds short
none    100  101    fails    responds unknown
none    100  101    responds fails    unknown
none    100  101    fails    fails    unknown
none    100  101    hangs    hangs    unknown
none    100  101    hangs    responds unknown
none    100  101    responds hangs    unknown
covered 100  101    responds responds short
covered 100  101    fails    responds short
covered 100  90     fails    responds unknown
covered 100  90     responds fails    unknown
covered 100  90     fails    fails    unknown
covered 100  90     hangs    responds unknown
covered 100  90     responds hangs    unknown
covered 100  90     hangs    hangs    unknown
short   100  90     responds responds ok
short   100  90     fails    fails    short
short   100  90     hangs    hangs    short
short   100  90     fails    responds unknown
short   100  90     hangs    responds unknown
short   100  90     responds fails    short
short   100  90     responds hangs    short
`;

it.each(
  SCENES.trim()
    .split('\n')
    .slice(1)
    .map((line) => line.split(/\s+/) as [string, string, string, Source, Source, 'ok' | 'short' | 'unknown']),
)(
  'after a %s reserve, with %s sats for %s ABSR while bitcoin %s and solana %s, every place says %s',
  async (before, sats, supply, bitcoin, solana, says) => {
    vi.useFakeTimers({ now: NOW });
    try {
      const { world, deps } = service();
      if (before !== 'none') {
        world.supply = before === 'short' ? 120n : 90n;
        await said(deps);
        // Older than the age to which a figure is shown without a new read.
        await vi.advanceTimersByTimeAsync(60_000);
      }
      Object.assign(world, { sats: BigInt(sats), supply: BigInt(supply), bitcoin, solana });
      expect(await said(deps)).toEqual(everywhere(says));
    } finally {
      vi.useRealTimers();
    }
  },
);

it('a page of an instance without a configured mint does not say that ABSR is covered or that none exists', () => {
  const reserve = { value: { confirmed: '5' }, asOf: 0, stale: false };
  const value = { ...({} as AbsrSummary), coverage: compareSats(reserve, null, false) };
  const covered = coverageOf({ value, failure: null });
  expect([covered, coverageKind(covered)]).toEqual([null, 'warn']);
});
