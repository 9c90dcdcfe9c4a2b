/**
 * Creates the keys and secrets of a deployment as lines of a settings file, only from this machine's
 * randomness.
 */
import { ed25519 } from '@noble/curves/ed25519.js';
import { secp256k1 } from '@noble/curves/secp256k1.js';
import { base58, hex } from '@scure/base';
import { NETWORK, WIF } from '@scure/btc-signer';
import { deriveAddress } from '../../src/chain/bitcoin/wif.ts';

/** Settings that no machine can generate, each with its source or meaning. The first two are required. */
export const YOURS = [
  ['PUBLIC_BASE_URL', 'origin of the service, such as https://sluice.example'],
  ['SOLANA_RPC_URL', 'your Solana nodes with their keys, separated by commas'],
  ['SOLANA_READ_RPC_URL', 'other Solana nodes, for what the API shows'],
  ['NEAR_INTENTS_JWT', 'from partners.near-intents.org; without it each swap costs 0.2 % more'],
  ['ALARM_WEBHOOK_URL', 'webhook of Slack, Discord or another service that wakes you'],
  ['TREASURY_SOLANA_ADDRESS', 'a wallet of yours that receives fees and deposits; not the reserve'],
  ['ABSR_MINT_ADDRESS', 'the mint of ABSR, whose authority is the reserve'],
  ['ASRY_MINT_ADDRESS', 'the mint of ASRY'],
] as const;

/** The settings and the address of a new key of a mint witness. */
export function freshWitnessKey(randomBytes: (length: number) => Uint8Array): string {
  const seed = randomBytes(32);
  const publicKey = ed25519.getPublicKey(seed);
  return `# The witness ${base58.encode(publicKey)}\nWITNESS_PRIVATE_KEY=${base58.encode(new Uint8Array([...seed, ...publicKey]))}\n`;
}

/**
 * The addresses of new keys, and settings as lines `NAME=value` with comments, which contain every secret.
 * @param randomBytes of cryptographic quality
 */
export function freshKeys(randomBytes: (length: number) => Uint8Array) {
  const seed = randomBytes(32);
  const publicKey = ed25519.getPublicKey(seed);
  const solanaAddress = base58.encode(publicKey);
  const bitcoinKey = secp256k1.utils.randomSecretKey(randomBytes(48));
  const bitcoinAddress = deriveAddress(bitcoinKey, 'p2wpkh');
  const lines = [
    '# The reserve on Solana. A hot key: its holder can spend all SOL of the reserve.',
    `RESERVE_SOLANA_ADDRESS=${solanaAddress}`,
    `SOLANA_PRIVATE_KEY=${base58.encode(new Uint8Array([...seed, ...publicKey]))}`,
    '',
    '# The reserve on Bitcoin. Keep its key offline; set it here only if the service is to sign proofs itself.',
    `RESERVE_BTC_ADDRESS=${bitcoinAddress}`,
    `# BTC_PRIVATE_KEY_WIF=${WIF(NETWORK).encode(bitcoinKey)}`,
    '',
    '# The mint keys of sold tokens are derived from this seed and the invoice. Never change it while an invoice is open.',
    `MINT_KEY_SEED=${hex.encode(randomBytes(32))}`,
    '',
    '# For `npm run ops`.',
    `OPS_SECRET=${hex.encode(randomBytes(32))}`,
    '',
    '# Yours to fill in; remove the # of each line that you have a value for.',
    ...YOURS.map(([name, what]) => `# ${name}=   ${what}`),
  ];
  return { solanaAddress, bitcoinAddress, settings: `${lines.join('\n')}\n` };
}
