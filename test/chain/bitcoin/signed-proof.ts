/** Proofs of a reserve whose keys are in the tests. */
import { ed25519 } from '@noble/curves/ed25519.js';
import { base58 } from '@scure/base';
import { signMessage } from '../../../src/chain/bitcoin/signed-message.ts';
import { deriveAddress } from '../../../src/chain/bitcoin/wif.ts';
import { wifOf } from './peers.ts';

export const secretKey = new Uint8Array(32).fill(21);
const seed = new Uint8Array(32).fill(22);
const wif = wifOf({ secretKey, compressed: true });
export const bitcoinAddress = deriveAddress(secretKey, 'p2wpkh');
export const solanaAddress = base58.encode(ed25519.getPublicKey(seed));

export const signProof = (message: string) => ({
  message,
  bitcoin: {
    address: bitcoinAddress,
    signature: signMessage({ wif, address: bitcoinAddress, message }).signature,
  },
  solana: {
    address: solanaAddress,
    signature: base58.encode(ed25519.sign(new TextEncoder().encode(message), seed)),
  },
});
