/** The custodian's proof signature, compared with the plain library call. */
import { secp256k1 } from '@noble/curves/secp256k1.js';
import { sha256 } from '@noble/hashes/sha2.js';
import { WIF } from '@scure/btc-signer';
import { signMessage } from '../../src/chain/bitcoin/signed-message.ts';
import { createBitcoinKey } from '../../test/world/keys.ts';
import { inTurns, micros, type Row } from './row.ts';

export async function signing(): Promise<Row[]> {
  const { address, wif } = createBitcoinKey();
  const message = 'Sluice proof of reserves\n'.padEnd(400, 'x');
  const key = WIF().decode(wif);
  const digest = sha256(new TextEncoder().encode(message));
  const times = await inTurns(
    () => signMessage({ wif, address, message }),
    () => secp256k1.sign(digest, key, { prehash: false }),
    { calls: 5 },
  );
  return [
    {
      what: 'proof signature of Bitcoin (BIP-322), made',
      ours: micros(times.ours),
      limit: `one bare ECDSA signature, ${micros(times.limit)}`,
      ratio: times.ours / times.limit,
      aim: null,
    },
  ];
}
