/**
 * The custodian's computations: the policy and proofs, compared with the plain library
 * call.
 */
import { secp256k1 } from '@noble/curves/secp256k1.js';
import { sha256 } from '@noble/hashes/sha2.js';
import { base64 } from '@scure/base';
import { WIF } from '@scure/btc-signer';
import { getCompiledTransactionMessageDecoder, getTransactionDecoder } from '@solana/web3.js';
import { signMessage } from '../../src/chain/bitcoin/signed-message.ts';
import { decodeTransactionText } from '../../src/chain/solana/message.ts';
import { checkSwapPolicy } from '../../src/custody/policy/policy.ts';
import { draftSwap, finish } from '../../test/custody/policy/draft.ts';
import { createBitcoinKey } from '../../test/world/keys.ts';
import { inTurns, micros, type Row } from './row.ts';

async function policyRows(): Promise<Row[]> {
  const input = finish(draftSwap('near', 7));
  const text = String(input.data);
  const transactions = getTransactionDecoder();
  const messages = getCompiledTransactionMessageDecoder();
  const plain = () => messages.decode(transactions.decode(base64.decode(text)).messageBytes);
  const decode = await inTurns(() => decodeTransactionText(text), plain);
  const policy = await inTurns(() => checkSwapPolicy(input), plain);
  const limit = (us: number): string => `web3.js decode, ${micros(us)}`;
  return [
    {
      what: 'decode of a third party’s transaction',
      ours: micros(decode.ours),
      limit: limit(decode.limit),
      ratio: decode.ours / decode.limit,
      aim: { most: 3 },
    },
    {
      what: 'policy, all checks, decode and new encoding included',
      ours: micros(policy.ours),
      limit: limit(policy.limit),
      ratio: policy.ours / policy.limit,
      aim: { most: 3 },
    },
  ];
}

async function proofRow(): Promise<Row> {
  const { address, wif } = createBitcoinKey();
  const message = 'Sluice proof of reserves\n'.padEnd(400, 'x');
  const key = WIF().decode(wif);
  const digest = sha256(new TextEncoder().encode(message));
  const times = await inTurns(
    () => signMessage({ wif, address, message }),
    () => secp256k1.sign(digest, key, { prehash: false }),
    { calls: 5 },
  );
  return {
    what: 'proof signature of Bitcoin (BIP-322), made',
    ours: micros(times.ours),
    limit: `one bare ECDSA signature, ${micros(times.limit)}`,
    ratio: times.ours / times.limit,
    aim: null,
  };
}

export const signing = async (): Promise<Row[]> => [...(await policyRows()), await proofRow()];
