import { ed25519 } from '@noble/curves/ed25519.js';
import { base58 } from '@scure/base';
import { expect, it } from 'vitest';
import { DECLARATIONS } from '../../src/config.ts';
import { AppError } from '../../src/core/errors.ts';
import { openKeys } from '../../src/custody/secrets.ts';
import { RESERVE_BTC, RESERVE_WIF } from './reserve/bitcoin-model.ts';
import { createVaultPeer } from './vault-peer.ts';

const SEED = new Uint8Array(32).fill(5);
const PUBLIC = ed25519.getPublicKey(SEED);
const KEY = base58.encode(new Uint8Array([...SEED, ...PUBLIC]));
const RESERVE = { solanaAddress: base58.encode(PUBLIC), bitcoinAddress: RESERVE_BTC };
const OTHER = { ...RESERVE, solanaAddress: createVaultPeer(9).address };
const OTHER_BTC = { ...RESERVE, bitcoinAddress: 'bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq' };
const SEED_TEXT = 's'.repeat(32);

type Secrets = Readonly<Record<string, string>>;

const held = (SOLANA_PRIVATE_KEY = KEY): Secrets => ({ SOLANA_PRIVATE_KEY });
const REMOTE = 'https://hvs.test@vault.example/v1/transit/keys/sluice';

function open(env: Secrets, reserve = RESERVE) {
  return openKeys(env, {
    reserve,
    fetch: createVaultPeer(SEED).fetch,
    within: (work) => work,
    log: () => undefined,
  });
}

/** The variables that the refusal names. */
function refused(env: Secrets, reserve?: typeof RESERVE): unknown {
  try {
    open(env, reserve);
  } catch (error) {
    for (const text of Object.values(env)) if (text !== '') expect(String(error)).not.toContain(text);
    if (error instanceof AppError) return [error.code, error.details?.variables];
  }
  return undefined;
}

it('signs for the reserve with the secret key or with the key service', async () => {
  const message = Uint8Array.of(1, 2, 3);
  for (const keys of [open(held()), open(held(REMOTE))]) {
    expect(keys.signer.address).toBe(RESERVE.solanaAddress);
    expect(ed25519.verify(await keys.signer.sign(message), message, PUBLIC)).toBe(true);
    expect([keys.proofSigner.holdsBitcoinKey, keys.mintKeys]).toEqual([false, undefined]);
  }
});

it('opens the Bitcoin key and the seed of the mints when they are set', () => {
  const keys = open({ ...held(), BTC_PRIVATE_KEY_WIF: RESERVE_WIF, MINT_KEY_SEED: SEED_TEXT });
  expect(keys.proofSigner.holdsBitcoinKey).toBe(true);
  expect(keys.mintKeys?.address('invoice')).toMatch(/^\w{32,44}$/);
});

it.each<[string, Secrets, string, typeof RESERVE?]>([
  ['no key', held(''), 'SOLANA_PRIVATE_KEY'],
  ['a malformed key', held(KEY.slice(1)), 'SOLANA_PRIVATE_KEY'],
  ['the key of another address', held(), 'SOLANA_PRIVATE_KEY RESERVE_SOLANA_ADDRESS', OTHER],
  ['a key service without its token', held(REMOTE.replace('hvs.test@', '')), 'SOLANA_PRIVATE_KEY'],
  ['a key service without a path', held('https://vault.example'), 'SOLANA_PRIVATE_KEY'],
  ['a path outside the keys of its service', held(`${REMOTE.slice(0, -6)}..%2Fsys`), 'SOLANA_PRIVATE_KEY'],
  ['a key service of another protocol', held(REMOTE.replace('https', 'ftp')), 'SOLANA_PRIVATE_KEY'],
  [
    'the Bitcoin key of another address',
    { ...held(), BTC_PRIVATE_KEY_WIF: RESERVE_WIF },
    'BTC_PRIVATE_KEY_WIF',
    OTHER_BTC,
  ],
  ['a malformed Bitcoin key', { ...held(), BTC_PRIVATE_KEY_WIF: `${RESERVE_WIF}x` }, 'BTC_PRIVATE_KEY_WIF'],
  ['a seed of 31 characters', { ...held(), MINT_KEY_SEED: SEED_TEXT.slice(1) }, 'MINT_KEY_SEED'],
])('refuses %s, and names the variables in the error', (_name, env, variables, reserve) => {
  expect(refused(env, reserve)).toEqual(['NOT_CONFIGURED', variables.split(' ')]);
});

it('accepts a mint key seed if and only if the schema of MINT_KEY_SEED accepts it', () => {
  const [, declared] = DECLARATIONS.find(([name]) => name === 'MINT_KEY_SEED') ?? [];
  for (const length of [31, 32, 64]) {
    const MINT_KEY_SEED = 's'.repeat(length);
    const isRefused = refused({ ...held(), MINT_KEY_SEED }) !== undefined;
    expect(isRefused).toBe(declared?.schema.safeParse(MINT_KEY_SEED).success === false);
  }
});
