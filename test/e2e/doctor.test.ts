/** @module-tag deep */

import { chmodSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { examine } from '../../scripts/doctor/examine.ts';
import { hideSecrets, SECRETS, type Settings } from '../../scripts/doctor/finding.ts';
import { VENUE_NAMES } from '../../src/providers/price-venues.ts';
import { runScript } from '../kit/run-script.ts';
import { scenes } from '../kit/scenes.ts';
import { writeSettings } from '../kit/settings-file.ts';
import { useFolder } from '../kit/use-folder.ts';
import type { UpstreamName } from '../world/bindings.ts';
import { createBitcoinKey, createQuoteKey } from '../world/keys.ts';
import { useWorld } from '../world/use-world.ts';
import { until } from './swap-caller.ts';

/** Nothing listens there. */
const DEAD = 'http://127.0.0.1:9';

const folder = useFolder('sluice-doctor-');
const world = useWorld({ cron: false, blockMs: 0, slotMs: 20 }, async (world) => {
  // An index may be six blocks behind.
  await world.control.mine(6);
  await world.control.cron('* * * * *');
  await until('the service is ready', async () => ((await world.fetch('/api/ready')).ok ? true : undefined));
});
const file = join(folder, 'settings');
const write = (settings: Settings) => writeSettings(folder, 'settings', settings);

async function look(change: Readonly<Record<string, string | undefined>> = {}, wrangler?: string) {
  const settings = Object.fromEntries(
    Object.entries({ ...world.bindings, ...change }).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, value]],
    ),
  );
  write(settings);
  const findings = await examine({
    settings,
    files: { settings: file, wrangler },
    service: world.url,
  });
  return {
    settings,
    findings,
    problems: findings.filter(({ level }) => level === 'problem').map(({ name }) => name),
  };
}

const wranglerWith = (edit: (text: string) => string): string => {
  const path = join(folder, 'wrangler.toml');
  writeFileSync(path, edit(readFileSync('wrangler.toml', 'utf8')));
  return path;
};

it('the doctor reports a healthy service in the terminal and ends with exit code 0', async () => {
  write(world.bindings);
  const { stdout } = await runScript('doctor', ['--settings', file, '--service', world.url]);
  expect(stdout).toMatch(/No problem found\.\n$/);
});
/** Faults that the doctor finds by asking: the finding, a wrong setting, and an upstream with its fault. */
const PLANTED = scenes(`
  service-other-reserve   | RESERVE_SOLANA_ADDRESS={treasury}                                  |
  bridge-key-unproven     | NEAR_INTENTS_QUOTE_KEY={quoteKey}                                  |
  rpc-unreachable         | SOLANA_RPC_URL={rpc1},{dead}/key-in-path                           |
  esplora-unreachable     | ESPLORA_API_URLS={esplora1}/api,{dead}                             |
  price-unreachable       | PRICE_API_URLS=kraken={dead},coinbase={coinbase}                   |
  bridge-request-rejected | NEAR_INTENTS_JWT=expired-token-of-yesterday                        |
  address-not-a-wallet    | TREASURY_SOLANA_ADDRESS=11111111111111111111111111111111           |
  ops-secret-other        | OPS_SECRET={MINT_KEY_SEED}; MINT_KEY_SEED={OPS_SECRET}             |
  mint-seed-other         | MINT_KEY_SEED=another-seed-of-at-least-32-characters               |
  webhook-dead            | ALARM_WEBHOOK_URL={dead}/hook                                      |
  rpc-behind              |                                                                    | rpc2 {"kind":"lag","by":300}
  esplora-disagree        |                                                                    | esplora2 {"kind":"wrongBalance","by":5}
  esplora-apart           |                                                                    | esplora2 {"kind":"staleTip","by":6}
  bridge-quote-refused    |                                                                    | oneclick {"kind":"wrongRecipient"}
  bridge-key-unproven     |                                                                    | oneclick {"kind":"wrongSignature"}
  bridge-fees-over-cap    |                                                                    | oneclick {"kind":"fee","by":26}
`);

it.each(PLANTED)(
  'the doctor finds %s by asking upstreams and the service: %s%s',
  async (name, line, fault) => {
    const { endpoints, treasury } = world;
    const words: Readonly<Record<string, string | undefined>> = {
      ...{ ...world.bindings, ...endpoints, treasury },
      ...{ quoteKey: createQuoteKey().publicKey, dead: DEAD },
    };
    const filled = (line ?? '').replaceAll(/\{(\w+)\}/g, (_, word: string) => String(words[word]));
    const change = filled.split('; ').map((setting) => setting.split(/=(.*)/).slice(0, 2));
    const [upstream, form] = (fault ?? '').split(' ');
    if (upstream && form) world.faults.set(upstream as UpstreamName, JSON.parse(form));
    const { problems, findings, settings } = await look(line ? Object.fromEntries(change) : {});
    expect(problems).toContain(name);
    const text = JSON.stringify(findings);
    for (const secret of SECRETS) if (settings[secret]) expect(text).not.toContain(settings[secret]);
    for (const finding of findings) expect(finding.fix).toMatch(/\S{3}/);
  },
);

it('the doctor reports unreachable price venues, and no divergence', async () => {
  const { problems } = await look({
    PRICE_API_URLS: VENUE_NAMES.map((name) => `${name}=${DEAD}/${name}`).join(','),
  });
  expect(problems).toEqual(VENUE_NAMES.map(() => 'price-unreachable'));
});

it.each([
  ['cron-not-set', (text: string) => text.replace('"* * * * *", ', '')],
  ['secret-in-vars', (text: string) => `${text}\n[vars]\nOPS_SECRET = "0123456789"\n`],
])('the doctor finds %s in the files', async (name, edit) => {
  expect((await look({}, wranglerWith(edit))).problems).toEqual([name]);
});

it('the doctor finds a settings file that is readable by others, tracked by git, or missing', async () => {
  const settings = world.bindings;
  const check = async (path: string) =>
    (await examine({ settings, files: { settings: path }, offline: true })).map(({ name }) => name);
  write(settings);
  chmodSync(file, 0o644);
  expect(await check(file)).toContain('settings-readable');
  expect(await check('schema.sql')).toContain('settings-tracked');
  expect(await check(join(folder, 'nothing'))).toContain('settings-missing');
});
it('the doctor notes the bridge fee without NEAR_INTENTS_JWT, and a bridge that returns no quote', async () => {
  const noted = async (change: Readonly<Record<string, string | undefined>> = {}) =>
    (await look(change)).findings.filter(({ level }) => level === 'note').map(({ name }) => name);
  expect(await noted()).not.toContain('bridge-keyless');
  expect(await noted({ NEAR_INTENTS_JWT: undefined })).toContain('bridge-keyless');
  world.faults.set('oneclick', { kind: 'refusal' });
  expect(await noted()).toContain('bridge-no-route');
  expect((await look()).problems).toEqual([]);
});

it('the doctor finds price-divergent when the venues contradict each other', async () => {
  for (const [at, venue] of VENUE_NAMES.entries()) world.prices.set({ SOL: String(50 + 50 * at) }, venue);
  expect((await look()).problems).toContain('price-divergent');
  world.prices.set({ SOL: '100' });
});
it('the doctor finds schema-outdated when the database has another column', async () => {
  await world.worker.query('ALTER TABLE mirror_marks ADD COLUMN planted TEXT');
  await until('the status knows', async () =>
    (await look()).problems.includes('schema-outdated') ? true : undefined,
  );
  await world.worker.query('ALTER TABLE mirror_marks DROP COLUMN planted');
});
it('the doctor prints each problem with its fix, prints no secret, and ends with exit code 1', async () => {
  const planted = {
    ...world.bindings,
    RESERVE_FLOOR_SOL: '0',
    SOLANA_RPC_URL: `${world.endpoints.rpc1},http://127.0.0.1:9/v2/secret-node-key?token=abcdef123`,
    ALARM_WEBHOOK_URL: 'https://hooks.example.com/services/T000/B000/very-secret-hook',
    BTC_PRIVATE_KEY_WIF: createBitcoinKey().wif,
  };
  write(planted);
  const failed = await runScript('doctor', ['--settings', file, '--service', world.url]);
  expect(failed.code).toBe(1);
  const said = `${failed.stdout}${failed.stderr}`;
  for (const name of ['floor-low', 'rpc-unreachable', 'btc-key-mismatch'])
    expect(said).toMatch(new RegExp(`PROBLEM ${name}: .+\\n {8}\\S.+`));
  for (const secret of SECRETS) {
    const value = Reflect.get(planted, secret);
    if (typeof value === 'string') expect(said).not.toContain(value);
  }
  for (const part of ['secret-node-key', 'abcdef123', 'very-secret-hook']) expect(said).not.toContain(part);
});

it('the doctor prints the same findings as JSON', async () => {
  write({ ...world.bindings, RESERVE_FLOOR_SOL: '0' });
  const { stdout } = await runScript('doctor', ['--settings', file, '--offline', '--json']);
  expect(JSON.parse(stdout)).toMatchObject({
    ok: false,
    findings: [{ name: 'floor-low', level: 'problem' }],
  });
});
it('the doctor hides secrets in all its output', () => {
  const settings = { OPS_SECRET: 'abcdefghij', SOLANA_RPC_URL: 'https://node.test/v2/key123?x=1' };
  expect(hideSecrets('a abcdefghij b v2/key123?x=1 c', settings)).toBe('a [hidden] b [hidden] c');
});
