import { randomBytes } from 'node:crypto';
import { expect, it } from 'vitest';
import { examine } from '../../scripts/doctor/examine.ts';
import type { Settings } from '../../scripts/doctor/finding.ts';
import { parseSettings } from '../../scripts/doctor/read-settings.ts';
import { freshKeys } from '../../scripts/ops/keygen.ts';

const fresh = () => freshKeys(randomBytes).settings;
const HEALTHY: Settings = {
  ...parseSettings(fresh()),
  PUBLIC_BASE_URL: 'https://reserve.test',
  SOLANA_RPC_URL: 'https://one.test/key,https://two.test/key,https://three.test/key',
  ALARM_WEBHOOK_URL: 'https://hooks.test/1',
  NEAR_INTENTS_JWT: 'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl',
};
const OTHER = parseSettings(fresh());
const WIF = /BTC_PRIVATE_KEY_WIF=(\w+)/.exec(fresh())?.[1] ?? '';
const TESTNET = 'tb1qw508d6qejxtdg4y5r3zarvary0c5xw7kxpjzsx';
const TESTNET_WIF = 'cTpB4YiyKiBcPxnefsDpbnDxFDffjqJob8wGCEDXxgQ7zQoMXJdH';
const USDC = 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v';
const USDT = 'Es9vMFrzaCERmJfrF4H2FYD4KCoNkY11McCe8BenwNYB';

async function problems(change: Readonly<Record<string, string | undefined>>) {
  const settings = Object.fromEntries(
    Object.entries({ ...HEALTHY, ...change }).flatMap(([name, text]) =>
      text === undefined ? [] : [[name, text]],
    ),
  );
  const findings = await examine({ settings, files: {}, offline: true });
  for (const { what, fix } of findings)
    for (const secret of [settings.SOLANA_PRIVATE_KEY, settings.OPS_SECRET, settings.MINT_KEY_SEED, WIF])
      if (secret && secret.length > 8) expect(`${what} ${fix}`).not.toContain(secret);
  return findings.filter(({ level }) => level === 'problem').map(({ name }) => name);
}

it('the doctor finds no problem in complete settings', async () => {
  expect(await problems({})).toEqual([]);
});

it.each([
  ['a treasury that is no address', { TREASURY_SOLANA_ADDRESS: 'treasury.sol' }, 'variable-invalid'],
  ['the key of another reserve', { SOLANA_PRIVATE_KEY: OTHER.SOLANA_PRIVATE_KEY }, 'solana-key-mismatch'],
  ['a Solana key in OPS_SECRET', { OPS_SECRET: OTHER.SOLANA_PRIVATE_KEY }, 'secret-swapped'],
  ['a Solana key in MINT_KEY_SEED', { MINT_KEY_SEED: OTHER.SOLANA_PRIVATE_KEY }, 'secret-swapped'],
  ['a Bitcoin key in OPS_SECRET', { OPS_SECRET: WIF }, 'secret-swapped'],
  ['a Bitcoin key in SOLANA_PRIVATE_KEY', { SOLANA_PRIVATE_KEY: WIF }, 'secret-swapped'],
  [
    'the bridge token in CHANGENOW_API_KEY',
    { CHANGENOW_API_KEY: HEALTHY.NEAR_INTENTS_JWT },
    'secret-swapped',
  ],
  ['the webhook in OPS_SECRET', { OPS_SECRET: 'https://hooks.test/services/T0/B0/xyzxyz' }, 'secret-swapped'],
  ['one value for two secrets', { MINT_KEY_SEED: HEALTHY.OPS_SECRET }, 'secret-reused'],
  ['a node over http', { SOLANA_READ_RPC_URL: 'http://node.test/key' }, 'url-insecure'],
  ['two nodes', { SOLANA_RPC_URL: 'https://one.test,https://two.test' }, 'rpc-few-operators'],
  [
    'three nodes of two providers',
    { SOLANA_RPC_URL: 'https://a.one.test,https://b.one.test,https://two.test' },
    'rpc-few-operators',
  ],
  ['one price venue', { PRICE_API_URLS: 'kraken=https://api.kraken.com' }, 'price-single'],
  ['a seed of one character', { MINT_KEY_SEED: 'a'.repeat(40) }, 'secret-weak'],
  ['a blank inside quotes', { SECURITY_CONTACT: 'mailto:security@reserve.test ' }, 'value-with-spaces'],
  ['one mint for two tokens', { ABSR_MINT_ADDRESS: USDC }, 'mints-equal'],
  ['a witness without its authority', { ABSR_WITNESS_URL: 'https://witness.test' }, 'witness-incomplete'],
  ['a secret that is too short', { OPS_SECRET: 'short' }, 'variable-invalid'],
  ['USDC and USDT swapped', { DOLLAR_MINTS: `USDC=${USDT},USDT=${USDC}` }, 'dollar-mints-swapped'],
  [
    'USDT in place of USDC',
    { DOLLAR_MINTS: `USDC=${USDT},USDT=So11111111111111111111111111111111111111112` },
    'dollar-mints-swapped',
  ],
  ['one mint for both', { DOLLAR_MINTS: `USDC=${USDC},USDT=${USDC}` }, 'dollar-mints-swapped'],
  ['three dots', { NEAR_INTENTS_JWT: '...' }, 'placeholder'],
  ['angle brackets', { CHANGENOW_API_KEY: '<your key>' }, 'placeholder'],
  ['changeme', { OPS_SECRET: 'changeme' }, 'placeholder'],
  ['the origin of the guide', { PUBLIC_BASE_URL: 'https://sluice.example' }, 'placeholder'],
  [
    'a node of the guide',
    { SOLANA_RPC_URL: 'https://one.test,https://your-own-node.example/key' },
    'placeholder',
  ],
  ['no webhook', { ALARM_WEBHOOK_URL: undefined }, 'webhook-missing'],
  ['a path in the origin', { PUBLIC_BASE_URL: 'https://reserve.test/api' }, 'base-url-path'],
  ['an origin without https', { PUBLIC_BASE_URL: 'http://reserve.test' }, 'base-url-insecure'],
  ['a node twice', { SOLANA_RPC_URL: 'https://one.test,https://one.test' }, 'rpc-repeated'],
  ['a node for both', { SOLANA_READ_RPC_URL: 'https://two.test/other' }, 'rpc-shared'],
  ['a testnet address', { RESERVE_BTC_ADDRESS: TESTNET }, 'variable-invalid'],
  ['a misspelt name', { RESERVE_SOLANA_ADRESS: HEALTHY.RESERVE_SOLANA_ADDRESS }, 'variable-unknown'],
  ['no Solana key', { SOLANA_PRIVATE_KEY: undefined }, 'variable-missing'],
  ['no OPS_SECRET', { OPS_SECRET: undefined }, 'variable-missing'],
  ['an empty Bitcoin address', { RESERVE_BTC_ADDRESS: '' }, 'variable-missing'],
  [
    'a Solana key with other last letters',
    { SOLANA_PRIVATE_KEY: `${HEALTHY.SOLANA_PRIVATE_KEY?.slice(0, -3)}aaa` },
    'solana-key-malformed',
  ],
  ['the Bitcoin key of another address', { BTC_PRIVATE_KEY_WIF: WIF }, 'btc-key-mismatch'],
  ['a Bitcoin key of testnet', { BTC_PRIVATE_KEY_WIF: TESTNET_WIF }, 'btc-key-mismatch'],
  ['a day below its hour', { SWAP_MAX_SOL_HOUR: '20', SWAP_MAX_SOL_DAY: '10' }, 'limit-below-another'],
  ['an hour below one swap', { SWAP_MAX_SOL_HOUR: '1' }, 'limit-below-another'],
  ['less unsettled than one swap', { SWAP_MAX_UNSETTLED_SOL: '1' }, 'limit-below-another'],
  ['a cost of half a swap', { SWAP_MAX_COST_BPS: '5000' }, 'cost-limit-loose'],
  ['no floor', { RESERVE_FLOOR_SOL: '0' }, 'floor-low'],
  ['a malformed key of the bridge', { NEAR_INTENTS_QUOTE_KEY: 'ed25519:short' }, 'quote-key-foreign'],
  ['one Bitcoin source', { ESPLORA_API_URLS: 'https://esplora.test' }, 'esplora-single'],
] as const)('the doctor finds an error that is easy to overlook: %s', async (_what, change, name) => {
  expect(await problems(change)).toContain(name);
});
