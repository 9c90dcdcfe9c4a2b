/** @module-tag deep */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { base58, hex } from '@scure/base';
import { afterAll, expect, it } from 'vitest';
import type { ApiDocument } from '../../scripts/documents/shared-parts.ts';
import { decodeWif } from '../../src/chain/bitcoin/wif.ts';
import { startWebhook } from '../kit/serve.ts';
import { isUpstream } from '../world/bindings.ts';
import { useWorld } from '../world/use-world.ts';
import type { World } from '../world/world.ts';
import { tourService } from './service-tour.ts';

const WEBHOOK_PATH = 'hook-canary-a91f4c7d20';

/** Address of a caller, which no log, page or message may show. */
const CALLER = '203.0.113.77';

/** Pages, which name the world's public sources so that a browser can ask them. */
const pages: string[] = [];
/** All responses to all callers. */
const said: string[] = [];
/**
 * Each secret in its configured form, and its key in the other forms that a dump might contain. Also the address of each
 * upstream except the relays, because an address may have a key in it.
 */
let secrets: [string, string | Uint8Array][];

let webhook: Awaited<ReturnType<typeof startWebhook>>;
afterAll(() => webhook?.stop());
const world = useWorld(async () => {
  webhook = await startWebhook();
  return { vars: { ALARM_WEBHOOK_URL: `${webhook.url}/${WEBHOOK_PATH}` } };
}, prepare);

async function prepare(world: World): Promise<void> {
  const { bindings } = world;
  const { relay1: _, relay2: __, ...upstreams } = world.endpoints;
  const text = (name: string): string => bindings[name] ?? '';
  const solana = base58.decode(text('SOLANA_PRIVATE_KEY'));
  const bitcoin = decodeWif(text('BTC_PRIVATE_KEY_WIF')).secretKey;
  const named = [
    'SOLANA_PRIVATE_KEY',
    'BTC_PRIVATE_KEY_WIF',
    'NEAR_INTENTS_JWT',
    'CHANGENOW_API_KEY',
    'MINT_KEY_SEED',
    'OPS_SECRET',
  ];
  secrets = [
    ...named.map((name): [string, string] => [name, text(name)]),
    ['ALARM_WEBHOOK_URL', WEBHOOK_PATH],
    ['the Solana seed', solana.slice(0, 32)],
    ['the Solana seed in hex', hex.encode(solana.slice(0, 32))],
    ['the Solana seed as numbers', solana.slice(0, 32).join(',')],
    ['the Bitcoin key', bitcoin],
    ['the Bitcoin key in hex', hex.encode(bitcoin)],
    ...Object.entries(upstreams),
  ];
  for (const visit of await tourService(
    world,
    (await (await world.fetch('/api/openapi.json')).json()) as ApiDocument,
  ))
    said.push(JSON.stringify(visit.body));
  await complain();
}

/**
 * The responses of the service while every upstream fails, and to callers that send invalid values or its own
 * secrets.
 */
async function complain(): Promise<void> {
  const ask = async (path: string, init: RequestInit = {}) => {
    const headers = { ...init.headers, 'x-world-client-ip': CALLER };
    const response = await world.fetch(path, { ...init, headers });
    said.push(JSON.stringify([...response.headers]), await response.text());
  };
  const post = (path: string, body: unknown) =>
    ask(path, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
  for (const kind of ['500', 'html', 'drop']) {
    for (const name of Object.keys(world.endpoints))
      if (isUpstream(world.endpoints, name)) world.faults.set(name, { kind });
    for (const path of [
      '/api/reserves',
      '/api/swap/estimate?amountSol=0.5',
      '/api/ready',
      '/api/status',
      '/api/nostr/feed',
    ])
      await ask(path);
    await post('/api/swap/create', { amountSol: 0.5 });
    await post('/api/exchanges/create', { from: 'sol', to: 'btc', amount: '1', payoutAddress: 'x' });
    await world.control.cron();
    world.faults.clear();
  }
  await post('/api/analytics/pageview', { path: '/' });
  for (const path of ['/', '/status', '/reserves', '/runbook'])
    pages.push(await (await world.fetch(path)).text());
  await ask('/api/ops', { method: 'POST', headers: { authorization: 'Bearer wrong' } });
  await ask('/api/ops', {
    method: 'POST',
    headers: { authorization: `Bearer ${world.bindings.OPS_SECRET}`, 'content-type': 'application/json' },
    body: JSON.stringify({ name: 'state' }),
  });
}

const holds = (bytes: Buffer, secret: string | Uint8Array): boolean =>
  bytes.includes(typeof secret === 'string' ? Buffer.from(secret, 'utf8') : Buffer.from(secret));

it.each<[string, () => readonly string[], string]>([
  ['response or state for the operator', () => said, '"unexplainedSpends"'],
  ['page', () => pages, 'data-island="status"'],
  ['line of the log', () => world.worker.logs(), '"level":"error"'],
  ['message to the operator', () => webhook.messages, 'RAISED'],
])('no %s contains a secret or the address of a caller', (_what, texts, part) => {
  const all = Buffer.from(texts().join('\n'));
  expect(all.toString()).toContain(part);
  const shown = texts() === pages ? secrets.filter(([name]) => !(name in world.endpoints)) : secrets;
  const planted: typeof secrets = [...shown, ['the caller', CALLER]];
  expect(planted.filter(([, secret]) => holds(all, secret)).map(([name]) => name)).toEqual([]);
});

it('the Worker stores none of its secrets in D1, KV or the custodian', () => {
  const folder = join(world.folder, 'storage');
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((file) => file.isFile());
  const found = files.flatMap((file) => {
    const bytes = readFileSync(join(file.parentPath, file.name));
    return secrets.filter(([, secret]) => holds(bytes, secret)).map(([name]) => `${name} in ${file.name}`);
  });
  const size = (name: RegExp) => files.filter((file) => name.test(file.parentPath)).length;
  expect([size(/d1/i), size(/kv/i), size(/do|durable/i)].every((count) => count > 0)).toBe(true);
  expect(found).toEqual([]);
});
