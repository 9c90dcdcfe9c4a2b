import { randomBytes } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { checkFiles } from '../../scripts/doctor/check-files.ts';
import { examine } from '../../scripts/doctor/examine.ts';
import type { Settings } from '../../scripts/doctor/finding.ts';
import { parseSettings } from '../../scripts/doctor/read-settings.ts';
import { freshKeys } from '../../scripts/ops/keygen.ts';
import { useFolder } from '../kit/use-folder.ts';

const fresh = () => freshKeys(randomBytes).settings;
const HEALTHY: Settings = {
  ...parseSettings(fresh()),
  PUBLIC_BASE_URL: 'https://reserve.test',
  SOLANA_RPC_URL: 'https://one.test/key,https://two.test/key,https://three.test/key',
  SOLANA_READ_RPC_URL: 'https://reads.test/key',
  TREASURY_SOLANA_ADDRESS: parseSettings(fresh()).RESERVE_SOLANA_ADDRESS ?? '',
  ALARM_WEBHOOK_URL: 'https://hooks.test/1',
  SECURITY_CONTACT: 'mailto:security@reserve.test',
  NEAR_INTENTS_JWT: 'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl',
};
const OTHER = parseSettings(fresh());
const WIF = /BTC_PRIVATE_KEY_WIF=(\w+)/.exec(fresh())?.[1] ?? '';
const TESTNET = 'tb1qw508d6qejxtdg4y5r3zarvary0c5xw7kxpjzsx';
const TESTNET_WIF = 'cTpB4YiyKiBcPxnefsDpbnDxFDffjqJob8wGCEDXxgQ7zQoMXJdH';
const USDC = 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v';
const wallet = (): string => parseSettings(fresh()).RESERVE_SOLANA_ADDRESS ?? '';
const [absr, asry, other, pool1, pool2, pool3] = Array.from({ length: 6 }, wallet);
const ADDRESS = { absr, asry, other, pool1, pool2, pool3 };
const USDT = 'Es9vMFrzaCERmJfrF4H2FYD4KCoNkY11McCe8BenwNYB';

type Change = Readonly<Record<string, string | undefined>>;

async function problems(change: Change) {
  const settings = Object.fromEntries(
    Object.entries({ ...HEALTHY, ...change }).flatMap(([name, text]) =>
      text === undefined ? [] : [[name, text]],
    ),
  );
  const findings = (await examine({ settings, files: {}, offline: true })).filter(
    ({ level }) => level === 'problem',
  );
  for (const { what, fix } of findings) {
    expect(fix).toMatch(/\S{3}/);
    for (const secret of [settings.SOLANA_PRIVATE_KEY, settings.OPS_SECRET, settings.MINT_KEY_SEED, WIF])
      if (secret && secret.length > 8) expect(`${what} ${fix}`).not.toContain(secret);
  }
  return findings;
}

it('the doctor finds no problem in complete settings', async () => {
  expect(await problems({})).toEqual([]);
});

it('the doctor finds no problem in complete settings with every optional setting', async () => {
  const change = {
    DAILY_LIMITS: 'rent_day=0.1, payouts_day=10',
    PRICES_SOL: 'listing=0.05',
    ABSR_MINT_ADDRESS: ADDRESS.absr,
    ABSR_MINT_AUTHORITY: ADDRESS.other,
    ABSR_WITNESS_URL: 'https://witness.test',
    ASRY_MINT_ADDRESS: ADDRESS.asry,
    HEARTBEAT_URL: 'https://beats.test/2',
    POOL_ADDRESSES: `default=${ADDRESS.pool1},saeth-sausd=${ADDRESS.pool2},sausd-usdc=${ADDRESS.pool3}`,
  };
  expect(await problems(change)).toEqual([]);
});

/** Three nodes with this one in front. */
const nodes = (first: string) => `${first},https://two.test/key,https://three.test/key`;
const RESERVE = HEALTHY.RESERVE_SOLANA_ADDRESS;
const TREASURY = HEALTHY.TREASURY_SOLANA_ADDRESS;
const RANDOM = OTHER.OPS_SECRET ?? '';
const EXPIRED = `eyJhbGciOiJIUzI1NiJ9.${btoa('{"exp":1}').replaceAll('=', '')}.c2ln`;
const PAIR = { ABSR_MINT_ADDRESS: absr, ABSR_MINT_AUTHORITY: other };

/** Groups of mistakes: the setting that the doctor names, its wrong value, other settings, and the finding. */
type Mistake = readonly [string, string | undefined, string, Change?];
const MISTAKES: Readonly<Record<string, readonly Mistake[]>> = {
  'a value that is empty, quoted, or has a blank': [
    ['RESERVE_BTC_ADDRESS', '', 'variable-missing'],
    ['OPS_SECRET', undefined, 'variable-missing'],
    ['SOLANA_PRIVATE_KEY', undefined, 'variable-missing'],
    ['MINT_KEY_SEED', '   ', 'variable-missing'],
    ['OPS_SECRET', `"${RANDOM}"`, 'value-quoted'],
    ['RESERVE_SOLANA_ADDRESS', `'${RESERVE}'`, 'value-quoted'],
    ['SECURITY_CONTACT', 'mailto:security@reserve.test ', 'value-with-spaces'],
    ['MINT_KEY_SEED', `${RANDOM}\n`, 'value-with-spaces'],
    ['NEAR_INTENTS_JWT', `Bearer ${HEALTHY.NEAR_INTENTS_JWT}`, 'value-with-spaces'],
    ['OPS_SECRET', `\u201c${RANDOM}\u201d`, 'value-not-plain'],
    ['CHANGENOW_API_KEY', `${RANDOM}\u200b`, 'value-not-plain'],
    ['OPS_SECRET', '$' + '{PRODUCTION_SECRET}', 'value-not-expanded'],
    ['RESERVE_FLOOR_SOL', '0.1;', 'value-punctuation'],
    ['CHANGENOW_API_KEY', 'api-key', 'placeholder'],
  ],
  'a name that the service does not know': [
    ['RESERVE_SOLANA_ADRESS', RESERVE, 'variable-unknown'],
    ['ops_secret', RANDOM, 'variable-unknown'],
    ['NEAR_INTENTS_QUOTE_KEY', 'ed25519:other', 'variable-unknown'],
    ['DOLLAR_MINTS', `USDC=${USDT},USDT=${USDC}`, 'variable-unknown'],
  ],
  'an example that nobody replaced': [
    ['NEAR_INTENTS_JWT', '...', 'placeholder'],
    ['CHANGENOW_API_KEY', '<your key>', 'placeholder'],
    ['OPS_SECRET', 'changeme', 'placeholder'],
    ['PUBLIC_BASE_URL', 'https://sluice.example', 'placeholder'],
    ['SOLANA_RPC_URL', nodes('https://your-own-node.example/key'), 'placeholder'],
    ['SOLANA_READ_RPC_URL', 'https://node.test/?api-key={API_KEY}', 'placeholder'],
    ['SECURITY_CONTACT', 'mailto:security@sluice.example', 'placeholder'],
    ['SECURITY_CONTACT', 'https://github.com/sluice-example/sluice/security', 'placeholder'],
    ['HEARTBEAT_URL', 'https://hc-ping.com/your-token', 'placeholder'],
  ],
  'an address that is wrong': [
    ['TREASURY_SOLANA_ADDRESS', 'treasury.sol', 'variable-invalid'],
    ['TREASURY_SOLANA_ADDRESS', `${TREASURY?.slice(0, -1)}0`, 'variable-invalid'],
    ['RESERVE_BTC_ADDRESS', TESTNET, 'variable-invalid'],
    ['RESERVE_BTC_ADDRESS', 'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t5', 'variable-invalid'],
    ['RESERVE_BTC_ADDRESS', RESERVE, 'variable-invalid'],
    ['RESERVE_SOLANA_ADDRESS', '0x71C7656EC7ab88b098defB751B7401B5f6d8976F', 'variable-invalid'],
    ['TREASURY_SOLANA_ADDRESS', RESERVE, 'treasury-is-reserve'],
    ['TREASURY_SOLANA_ADDRESS', undefined, 'treasury-is-reserve'],
    ['TREASURY_SOLANA_ADDRESS', '11111111111111111111111111111111', 'address-well-known'],
    ['ASRY_SOURCE_ACCOUNT', RESERVE, 'address-reused'],
    ['ABSR_MINT_ADDRESS', TREASURY, 'address-reused'],
    ['ASRY_HELD_SENDERS', TREASURY, 'address-reused'],
    ['ASRY_HELD_SENDERS', `${ADDRESS.other},${ADDRESS.other}`, 'list-repeated'],
    ['TREASURY_SOLANA_ADDRESS', 'SysvarC1ock11111111111111111111111111111111', 'address-well-known'],
    ['TREASURY_SOLANA_ADDRESS', '9WzDXwBbmkg8ZTbNMqUxvQRAyrZzDsGYdLVL9zYtAWWM', 'address-well-known'],
    ['TREASURY_SOLANA_ADDRESS', USDC, 'address-reused'],
    ['EVACUATION_ADDRESS', RESERVE, 'address-reused'],
    ['EVACUATION_ADDRESS', ADDRESS.absr, 'address-reused', { ABSR_MINT_ADDRESS: ADDRESS.absr }],
    ['RESERVE_BTC_ADDRESS', 'bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq', 'address-well-known'],
    ['NOSTR_NPUB', 'npub1broken', 'variable-invalid'],
    ['CUSTODIAN_LOCATION', 'frankfurt', 'variable-invalid'],
  ],
  'mints and pools that are equal or incomplete': [
    ['ABSR_MINT_ADDRESS', USDC, 'address-reused'],
    ['ASRY_MINT_ADDRESS', ADDRESS.absr, 'address-reused', { ABSR_MINT_ADDRESS: ADDRESS.absr }],
    ['POOL_ADDRESSES', `default=${ADDRESS.pool1}`, 'pools-incomplete'],
    ['POOL_ADDRESSES', `default=${ADDRESS.pool1},saeth-sausd=${ADDRESS.pool1}`, 'address-reused'],
    ['POOL_ADDRESSES', ADDRESS.pool1, 'variable-invalid'],
    ['POOL_ADDRESSES', `default=${RESERVE}`, 'address-reused'],
    ['ASRY_PRICE_USD', '0.25', 'setting-alone'],
    ['ASRY_SOURCE_ACCOUNT', ADDRESS.other, 'setting-alone'],
    ['ABSR_WITNESS_URL', 'https://witness.test', 'setting-alone'],
    ['ABSR_MINT_AUTHORITY', ADDRESS.other, 'setting-alone', { ABSR_WITNESS_URL: 'https://witness.test' }],
  ],
  'a key of another kind, account or network': [
    ['SOLANA_PRIVATE_KEY', OTHER.SOLANA_PRIVATE_KEY, 'solana-key-mismatch'],
    ['SOLANA_PRIVATE_KEY', `${HEALTHY.SOLANA_PRIVATE_KEY?.slice(0, -3)}aaa`, 'solana-key-malformed'],
    ['SOLANA_PRIVATE_KEY', RANDOM, 'solana-key-malformed'],
    ['SOLANA_PRIVATE_KEY', '[1,2,3]', 'solana-key-malformed'],
    ['SOLANA_PRIVATE_KEY', WIF, 'secret-swapped'],
    ['OPS_SECRET', OTHER.SOLANA_PRIVATE_KEY, 'secret-swapped'],
    ['MINT_KEY_SEED', OTHER.SOLANA_PRIVATE_KEY, 'secret-swapped'],
    ['OPS_SECRET', WIF, 'secret-swapped'],
    ['CHANGENOW_API_KEY', HEALTHY.NEAR_INTENTS_JWT, 'secret-swapped'],
    ['OPS_SECRET', 'https://hooks.test/services/T0/B0/xyzxyz', 'secret-swapped'],
    ['BTC_PRIVATE_KEY_WIF', WIF, 'btc-key-mismatch'],
    ['BTC_PRIVATE_KEY_WIF', TESTNET_WIF, 'btc-key-mismatch'],
    ['NEAR_INTENTS_JWT', 'not-a-token', 'token-malformed'],
    ['NEAR_INTENTS_JWT', EXPIRED, 'token-expired'],
  ],
  'a secret that is weak, reused, or shown': [
    ['OPS_SECRET', 'short', 'variable-invalid'],
    ['MINT_KEY_SEED', 'a'.repeat(40), 'secret-weak'],
    ['OPS_SECRET', '0123456789abcdef0123456789abcdef', 'secret-weak'],
    ['MINT_KEY_SEED', 'my-very-long-password-for-the-mints-8', 'secret-weak'],
    ['MINT_KEY_SEED', HEALTHY.OPS_SECRET, 'secret-reused'],
    ['OPS_SECRET', `${HEALTHY.MINT_KEY_SEED}1`, 'secret-reused'],
    ['OPS_SECRET', TREASURY, 'secret-public'],
    ['NOSTR_NPUB', 'nsec1vl029mgpspedva04g90vltkh6fvh240zqtv9k0t9af8935ke9laqsnlfe5', 'secret-exposed'],
    ['SECURITY_CONTACT', OTHER.SOLANA_PRIVATE_KEY, 'secret-exposed'],
    ['SOLANA_READ_RPC_URL', `https://reads.test/${HEALTHY.OPS_SECRET}`, 'secret-exposed'],
  ],
  'a URL that a Worker cannot or must not call': [
    ['PUBLIC_BASE_URL', 'https://reserve.test/api', 'base-url-path'],
    ['PUBLIC_BASE_URL', 'http://reserve.test', 'base-url-insecure'],
    ['PUBLIC_BASE_URL', 'https://reserve', 'base-url-host'],
    ['PUBLIC_BASE_URL', 'reserve.test', 'variable-invalid'],
    ['PUBLIC_BASE_URL', 'HTTPS://Reserve.test', 'base-url-form'],
    ['PUBLIC_BASE_URL', 'https://reserve.test:8443', 'base-url-host'],
    ['PUBLIC_BASE_URL', 'https://[2606:2800:220:1::1]', 'base-url-host'],
    ['SOLANA_READ_RPC_URL', 'http://node.test/key', 'url-insecure'],
    ['NOSTR_RELAYS', 'ws://relay.test', 'url-insecure'],
    ['ESPLORA_API_URLS', 'https://one.test/api,https://user:pass@two.test/api', 'url-credentials'],
    ['HEARTBEAT_URL', 'https://beats.test/2#key', 'url-fragment'],
    ['SOLANA_READ_RPC_URL', 'http://127.0.0.1:8899', 'url-private'],
    ['ESPLORA_API_URLS', 'https://one.test/api,https://10.0.0.7/api', 'url-private'],
    ['SOLANA_RPC_URL', nodes('https://[fd00::1]/key'), 'url-private'],
    ['SOLANA_RPC_URL', nodes('https://[::ffff:10.0.0.1]/key'), 'url-private'],
    ['SOLANA_RPC_URL', nodes('https://100.64.0.1/key'), 'url-private'],
    ['SOLANA_RPC_URL', nodes('https://https://one.test/key'), 'url-private'],
    ['SOLANA_RPC_URL', nodes('https://eth-mainnet.node.test/key'), 'url-other-network'],
    ['SOLANA_RPC_URL', nodes('https://dashboard.node.test/key'), 'url-page'],
    ['SOLANA_RPC_URL', nodes('https://node.test/?api-key='), 'url-without-key'],
    ['SOLANA_RPC_URL', nodes('https://api.devnet.solana.com'), 'url-other-network'],
    ['ESPLORA_API_URLS', 'https://mempool.space/testnet4/api,https://b.info/api', 'url-other-network'],
    ['HEARTBEAT_URL', 'https://reserve.test/api/health', 'url-own-service'],
    ['HEARTBEAT_URL', 'https://www.reserve.test/x', 'url-own-service'],
    ['HEARTBEAT_URL', 'https://healthchecks.io/checks/1/details', 'webhook-form'],
    ['HEARTBEAT_URL', 'https://hc-ping.com/', 'webhook-form'],
    ['ALARM_WEBHOOK_URL', 'https://t.me/channel', 'webhook-form'],
    ['ALARM_WEBHOOK_URL', 'https://hooks.slack.com/', 'webhook-form'],
    ['ALARM_WEBHOOK_URL', 'https://events.pagerduty.com/v2/enqueue', 'webhook-form'],
    ['ALARM_WEBHOOK_URL', 'https://one.test/hook,https://two.test/hook', 'webhook-form'],
    ['ALARM_WEBHOOK_URL', undefined, 'webhook-missing'],
    ['ALARM_WEBHOOK_URL', 'https://discord.com/channels/1/2', 'webhook-form'],
    ['NOSTR_RELAYS', 'https://relay.test', 'variable-invalid'],
    ['SECURITY_CONTACT', 'security@reserve.test', 'variable-invalid'],
    ['SECURITY_CONTACT', 'mailto:security', 'contact-form'],
    ['SECURITY_CONTACT', 'mailto:a@reserve.test,b@reserve.test', 'contact-form'],
  ],
  'sources that are not independent': [
    ['SOLANA_RPC_URL', 'https://one.test,https://two.test', 'rpc-few-operators'],
    ['SOLANA_RPC_URL', 'https://a.one.test,https://b.one.test,https://two.test', 'rpc-few-operators'],
    [
      'SOLANA_RPC_URL',
      'https://x.quiknode.pro/1,https://y.quicknode.com/2,https://a.test',
      'rpc-few-operators',
    ],
    ['SOLANA_RPC_URL', 'https://192.0.2.1,https://192.0.2.2,https://192.0.2.3', 'rpc-few-operators'],
    ['SOLANA_RPC_URL', 'https://[2606:1:1::1],https://[2606:1:1::2],https://two.test', 'rpc-few-operators'],
    ['SOLANA_RPC_URL', 'https://one.test./a,https://one.test/b,https://two.test', 'rpc-few-operators'],
    ['SOLANA_RPC_URL', undefined, 'rpc-public'],
    ['SOLANA_RPC_URL', nodes('https://api.mainnet-beta.solana.com'), 'rpc-public'],
    ['SOLANA_RPC_URL', nodes('https://two.test/key/'), 'list-repeated'],
    ['SOLANA_READ_RPC_URL', 'https://two.test/other', 'rpc-shared'],
    ['SOLANA_READ_RPC_URL', 'https://two.test:8443/other', 'rpc-shared'],
    ['ABSR_WITNESS_URL', 'https://witness.reserve.test', 'witness-own', PAIR],
    ['ABSR_WITNESS_URL', 'https://witness.test/cosign', 'witness-path', PAIR],
    ['ESPLORA_API_URLS', 'https://esplora.test', 'esplora-single'],
    ['ESPLORA_API_URLS', 'https://a.esplora.test/api,https://b.esplora.test/api', 'esplora-single'],
    ['ESPLORA_API_URLS', 'https://mempool.space,https://blockstream.info/api', 'esplora-path'],
    ['PRICE_API_URLS', 'kraken=https://api.kraken.com', 'price-single'],
    ['PRICE_API_URLS', 'kraken=https://prices.test/a,coinbase=https://prices.test/b', 'price-single'],
    ['PRICE_API_URLS', 'kraken=https://api.coinbase.com,coinbase=https://api.kraken.com', 'price-swapped'],
    ['PRICE_API_URLS', 'binance=https://api.binance.com', 'variable-invalid'],
    ['PRICE_API_URLS', 'kraken=https://api.kraken.com/0,coinbase=https://api.coinbase.com', 'price-path'],
  ],
  'an amount in the wrong unit or out of range': [
    ['SWAP_MAX_SOL', '2000000000', 'amount-unit'],
    ['RESERVE_FLOOR_SOL', '100000000', 'amount-unit'],
    ['PRICES_SOL', 'creation=10000000', 'amount-unit'],
    ['ASRY_PRICE_USD', '250000', 'amount-unit'],
    ['PRICES_SOL', 'listing=5000', 'amount-unit'],
    ['PRICES_SOL', 'listing=0', 'price-steps'],
    ['PRICES_SOL', 'creation=0.010000001', 'price-steps'],
    ['ASRY_PRICE_USD', '0.000000000001', 'amount-unit'],
    ['RESERVE_FLOOR_SOL', '5000', 'floor-high'],
    ['SWAP_MAX_SOL', '0,5', 'variable-invalid'],
    ['SWAP_MAX_SOL_DAY', '10 SOL', 'variable-invalid'],
    ['SWAP_MAX_SOL', '-1', 'variable-invalid'],
    ['SWAPS_DISABLED', 'no', 'variable-invalid'],
    ['DAILY_LIMITS', 'creations=5', 'variable-invalid'],
    ['DAILY_LIMITS', 'rent_day=0', 'limit-zero'],
    ['SWAP_MAX_SOL', '0', 'limit-zero'],
    ['SWAP_MAX_SOL_DAY', '10', 'limit-below-another', { SWAP_MAX_SOL_HOUR: '20' }],
    ['SWAP_MAX_SOL_HOUR', '1', 'limit-below-another'],
    ['SWAP_MAX_UNSETTLED_SOL', '1', 'limit-below-another'],
    ['SWAP_MAX_COST_SOL_DAY', '0.01', 'limit-below-another'],
    ['SWAP_MAX_COST_SOL_DAY', '5', 'limit-never-reached'],
    ['RESERVE_FLOOR_SOL', '0', 'floor-low'],
    ['SOLANA_RPC_RATE', '0', 'rate-range'],
    ['BRIDGE_QUOTES_2H', '0', 'quotes-range'],
    ['BRIDGE_QUOTES_2H', '20', 'quotes-range'],
    ['BRIDGE_QUOTES_2H', '5000', 'quotes-range', { NEAR_INTENTS_JWT: undefined }],
    ['PAGE_VIEW_OBJECTS', '0', 'variable-invalid'],
    ['SWAPS_DISABLED', 'true', 'swaps-disabled'],
  ],
};

it.each(
  Object.entries(MISTAKES).flatMap(([kind, rows]) =>
    rows.map(([name, text, finding, more]) => ({ kind, name, text, finding, more })),
  ),
)('the doctor names $name with a fix for $kind: $finding', async ({ name, text, finding, more }) => {
  const found = (await problems({ ...more, [name]: text })).filter((one) => one.name === finding);
  expect(found.map(({ what }) => what).join(' ')).toContain(name);
});

it('the doctor reports the examples in package.json before a deployment, but not for a service on this machine', async () => {
  const files = { wrangler: 'wrangler.toml' };
  const names = async (PUBLIC_BASE_URL: string) =>
    (await examine({ settings: { ...HEALTHY, PUBLIC_BASE_URL }, files, offline: true })).map(
      ({ name }) => name,
    );
  const { repository } = JSON.parse(readFileSync('package.json', 'utf8')) as { repository: { url: string } };
  const isExample = repository.url.includes('sluice-example');
  expect((await names('https://reserve.test')).includes('repository-placeholder')).toBe(isExample);
  expect(await names('http://127.0.0.1:8787')).not.toContain('repository-placeholder');
});

it('the doctor refuses a localhost PUBLIC_BASE_URL in settings for a deployment', async () => {
  const settings = { ...HEALTHY, PUBLIC_BASE_URL: 'http://localhost:8787' };
  const named = async (isForDeployment: boolean) =>
    (await examine({ settings, files: {}, offline: true, isForDeployment })).map(({ name }) => name);
  expect(await named(true)).toContain('base-url-local');
  expect(await named(false)).not.toContain('base-url-local');
});

it('the doctor suggests the setting that a misspelt name means', async () => {
  const found = await problems({ SOLANA_RPC_URLS: 'https://one.test' });
  expect(found.find(({ name }) => name === 'variable-unknown')?.fix).toBe('Write SOLANA_RPC_URL.');
});

const folder = useFolder('sluice-lines-');
it.each([
  ['a line twice', 'OPS_SECRET=one\nOPS_SECRET=two\n', 'line-repeated'],
  ['a colon', 'OPS_SECRET: one\n', 'line-ignored'],
  ['a value that a # cuts', 'OPS_SECRET=one#two\n', 'line-cut'],
])('the doctor names the setting of a file with %s', (_what, text, finding) => {
  const file = join(folder, '.live.vars');
  writeFileSync(file, text, { mode: 0o600 });
  expect(checkFiles({ settings: file })).toMatchObject([
    { name: finding, level: 'problem', what: expect.stringContaining('OPS_SECRET') },
  ]);
});
