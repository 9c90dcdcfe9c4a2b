/** @module-tag deep */
import { mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type NostrEvent, verifyEvent } from 'nostr-tools/pure';
import { expect, it } from 'vitest';
import type { Exchange } from '../../scripts/probe/read-only-fetch.ts';
import { isSignedQuote } from '../../src/bridges/near-intents-signature.ts';
import { createEsplora } from '../../src/providers/esplora.ts';
import { BTC_ASSET, createNearIntents, SOL_ASSET } from '../../src/providers/near-intents.ts';
import { createPriceVenues } from '../../src/providers/price-venues.ts';
import { runScript } from '../kit/run-script.ts';
import { writeSettings } from '../kit/settings-file.ts';
import { useFolder } from '../kit/use-folder.ts';
import { replay } from '../providers/replay.ts';
import { isUpstream } from '../world/bindings.ts';
import { useWorld } from '../world/use-world.ts';

const NODE_KEY = 'node-key-in-the-path';

const world = useWorld({ cron: false, blockMs: 0, slotMs: 20 });
const folder = useFolder('sluice-probe-');

let runs = 0;
/** Runs the probe like an operator; returns the names of its RED lines, its output and its fixtures. */
async function probe(change: Readonly<Record<string, string>> = {}) {
  const out = join(folder, `run-${++runs}`);
  mkdirSync(out);
  const settings = { ...world.bindings, ...change };
  const file = writeSettings(out, 'settings.vars', settings);
  const done = await runScript('probe', ['--settings', file, '--out', join(out, 'kept')]);
  const red = [...done.stdout.matchAll(/^RED {2}(\S+)/gm)].map(([, name]) => name);
  const said = `${done.stdout}${done.stderr}`;
  const kept = readdirSync(join(out, 'kept')).map((name) => readFileSync(join(out, 'kept', name), 'utf8'));
  return { code: done.code, red, said, kept, settings };
}

type Kept = { host: string; recordedAt: string; exchanges: (Exchange & { event?: NostrEvent })[] };
const exchangesOf = (kept: readonly string[], url: string) =>
  kept
    .map((text) => JSON.parse(text) as Kept)
    .filter(({ host }) => host === new URL(url).host)
    .flatMap(({ exchanges }) => exchanges);
/** The recorded answers, as tests of providers use them. */
const replayed = (exchanges: readonly Exchange[]) =>
  replay(
    Object.fromEntries(
      exchanges.map(({ request, status, headers, text }) => [
        `${request.method} ${request.url}`,
        { status, headers, body: text },
      ]),
    ),
  ).fetch;

it('the probe calls every upstream and ends with exit code 0 when all is well', async () => {
  const { code, red, said, kept } = await probe();
  expect([code, red]).toEqual([0, []]);
  expect(said).toContain('ok   No problem found.');
  const uncalled = Object.entries(world.endpoints).filter(
    ([name, url]) => isUpstream(world.endpoints, name) && exchangesOf(kept, url).length === 0,
  );
  expect(uncalled.map(([name]) => name)).toEqual(['orca', 'changenow']);
});

it('the probe moves no funds: it requests one dry quote, but no deposit address, and sends no transaction', async () => {
  const before = world.solana.ledger.transactionsOf(world.reserve.solana).length;
  world.resetStats();
  const { kept } = await probe();
  const stats = world.stats();
  expect(stats.oneclick?.byLabel).toEqual({
    'POST /v0/quote': 1,
    'GET /v0/status': 1,
    'GET /v0/tokens': 1,
  });
  for (const name of ['rpc1', 'rpc2'])
    for (const method of Object.keys(stats[name]?.byLabel ?? {})) expect(method).toMatch(/^get/);
  const quote = exchangesOf(kept, world.endpoints.oneclick).find(({ request }) => request.method === 'POST');
  expect(quote?.request.body).toMatchObject({ dry: true });
  expect(JSON.parse(quote?.text ?? '')).not.toHaveProperty('quote.depositAddress');
  expect(world.solana.ledger.transactionsOf(world.reserve.solana).length).toBe(before);
});

it('the probe stores responses that the providers can parse again without a network', async () => {
  const { kept } = await probe();
  const { oneclick, esplora2, kraken, relay1 } = world.endpoints;
  const asked = exchangesOf(kept, oneclick).find(({ request }) => request.method === 'POST');
  const again = createNearIntents({ baseUrl: oneclick, fetch: replayed(asked ? [asked] : []) });
  const quote = await again.quote({
    dry: true,
    originAsset: SOL_ASSET,
    destinationAsset: BTC_ASSET,
    amount: 500_000_000n,
    slippageBps: 50,
    refundTo: world.reserve.solana,
    recipient: world.reserve.bitcoin,
    deadline: new Date().toISOString(),
  });
  if ('reason' in quote) throw new Error(quote.reason);
  expect(await isSignedQuote(quote, world.bindings.NEAR_INTENTS_QUOTE_KEY ?? '')).toBe(true);
  const esplora = createEsplora({
    name: 'recorded',
    baseUrl: `${esplora2}/api`,
    fetch: replayed(exchangesOf(kept, esplora2)),
  });
  expect(await esplora.balance(world.reserve.bitcoin)).toMatchObject({ confirmed: 1_000_000n });
  const [venue] = createPriceVenues({ kraken }, replayed(exchangesOf(kept, kraken)));
  expect(await venue?.read()).toMatchObject({ solUsd: 100_000_000n });
  const events = exchangesOf(kept, relay1).map(({ event }) => event);
  expect(events).toHaveLength(3);
  for (const event of events) expect(event && verifyEvent(event)).toBe(true);
});

it('the probe shows no secret, neither in its output nor in a recorded file', async () => {
  const node = `${world.endpoints.rpc1}/${NODE_KEY}`;
  const { said, kept, settings } = await probe({ SOLANA_RPC_URL: `${node},http://127.0.0.1:9/${NODE_KEY}` });
  const all = [said, ...kept].join('\n');
  expect(kept.length).toBeGreaterThan(5);
  for (const name of [
    'SOLANA_PRIVATE_KEY',
    'BTC_PRIVATE_KEY_WIF',
    'NEAR_INTENTS_JWT',
    'OPS_SECRET',
    'MINT_KEY_SEED',
  ])
    expect(all).not.toContain(Reflect.get(settings, name));
  expect(all).not.toContain(NODE_KEY);
});

it('the probe prints RED and exits with code 1 if the doctor finds a problem or a relay is unreachable', async () => {
  world.faults.set('oneclick', { kind: 'wrongSignature' });
  world.faults.set('relay1', { kind: 'drop' });
  const { code, red } = await probe();
  expect([code, red]).toEqual([1, ['bridge-key-unproven', 'relay-unreachable']]);
});
