/**
 * The custodian's computations: the policy, proofs, the feed's signatures, compared with the plain library
 * call.
 */
import { secp256k1 } from '@noble/curves/secp256k1.js';
import { sha256 } from '@noble/hashes/sha2.js';
import { base64 } from '@scure/base';
import { WIF } from '@scure/btc-signer';
import { getCompiledTransactionMessageDecoder, getTransactionDecoder } from '@solana/web3.js';
import { finalizeEvent, generateSecretKey, verifyEvent } from 'nostr-tools/pure';
import { signMessage } from '../../src/chain/bitcoin/signed-message.ts';
import { isAuthentic } from '../../src/chain/nostr/nip01.ts';
import { decodeTransactionText } from '../../src/chain/solana/message.ts';
import { checkSwapPolicy } from '../../src/custody/policy/policy.ts';
import { draftSwap, finish } from '../../test/custody/policy/draft.ts';
import { createBitcoinKey } from '../../test/world/keys.ts';
import { inTurns, micros, type Row } from './row.ts';

const EVENTS = 100;

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

async function feedRow(): Promise<Row> {
  const secret = generateSecretKey();
  const events = Array.from({ length: EVENTS }, (_, index) =>
    finalizeEvent(
      { kind: 1111, created_at: 1_790_000_000 + index, tags: [['l', 'x']], content: `Note ${index}` },
      secret,
    ),
  );
  // nostr-tools marks the objects that it creates; text has no mark.
  const texts = events.map((event) => JSON.stringify(event));
  const times = await inTurns(
    () => texts.every((text) => isAuthentic(JSON.parse(text))),
    () => texts.every((text) => verifyEvent(JSON.parse(text))),
    { calls: 1, rounds: 10 },
  );
  return {
    what: `feed: ids and signatures of ${EVENTS} events`,
    ours: `${(times.ours / 1_000).toFixed(1)} ms`,
    limit: `nostr-tools alone, ${(times.limit / 1_000).toFixed(1)} ms`,
    ratio: times.ours / times.limit,
    aim: null,
  };
}

export const signing = async (): Promise<Row[]> => [
  ...(await policyRows()),
  await proofRow(),
  await feedRow(),
];
