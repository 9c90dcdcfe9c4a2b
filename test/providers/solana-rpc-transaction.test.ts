import { describe, expect, it } from 'vitest';
import {
  ANY_VERSION,
  asUpstreamFailure,
  createSolanaRpc,
  isUnsupportedVersion,
} from '../../src/providers/solana-rpc.ts';
import { signature } from '../custody/payments/payment-world.ts';
import unsupported from '../fixtures/recorded/solana/error-version-1-unsupported.json' with { type: 'json' };
import versionOne from '../fixtures/recorded/solana/transaction-v1-failed.json' with { type: 'json' };
import { eachScene } from '../kit/scenes.ts';
import { accountBody, listedBody, TRANSACTION_ERRORS } from '../world/solana-shapes.ts';
import { type Recorded, replay, result, resultAt } from './replay.ts';

const URL = 'https://one.test';
const KEYS = ['payer', 'receiver', 'program'];

/** A version 0 transaction with one loaded writable and one loaded readonly account. */
const FOUND = {
  ...{ slot: 321, blockTime: 1_790_000_000, version: 0 },
  transaction: {
    signatures: ['sig-1', 'sig-2'],
    message: { accountKeys: KEYS, header: { numRequiredSignatures: 1 } },
  },
  meta: {
    ...{ err: null, fee: 5_900, preBalances: [100, 0, 1, 7, 9], postBalances: [90, 10, 1, 7, 9] },
    preTokenBalances: [],
    postTokenBalances: [
      {
        ...{ accountIndex: 3, mint: 'mint', owner: 'owner', programId: 'token-program' },
        uiTokenAmount: { amount: '18446744073709551615', decimals: 6 },
      },
    ],
    loadedAddresses: { writable: ['loaded-writable'], readonly: ['loaded-readonly'] },
  },
};

function nodeWith(answers: Record<string, Recorded>) {
  const recorded = Object.entries(answers).map(([method, answer]) => [`POST ${URL} ${method}`, answer]);
  const { fetch, requests } = replay(Object.fromEntries(recorded));
  const [node] = createSolanaRpc({ urls: [URL], fetch }).nodes;
  if (!node) throw new Error('no node');
  return { node, requests };
}

it('a transaction is requested with maxSupportedTransactionVersion 1, so that nodes refuse newer versions', async () => {
  const { node, requests } = nodeWith({ getTransaction: result(FOUND) });
  await node.transaction('sig-1', 'finalized');
  expect(requests[0]?.body).toMatchObject({
    params: ['sig-1', { encoding: 'json', commitment: 'finalized', maxSupportedTransactionVersion: 1 }],
  });
});

const textOf = (value: unknown): string => JSON.stringify(result(value).body);
/** The response with a transaction like `FOUND`, with changed members of its own, of its meta or of its transaction. */
const like = (change: object): string => textOf({ ...FOUND, ...change });
const withMeta = (change: object): string => like({ meta: { ...FOUND.meta, ...change } });
const withTransaction = (change: object): string =>
  like({ transaction: { ...FOUND.transaction, ...change } });
const message = { accountKeys: KEYS, header: { numRequiredSignatures: 9 } };
const noTokens = { preTokenBalances: undefined, postTokenBalances: undefined, loadedAddresses: undefined };
const TOKEN =
  '{"account":"loaded-writable","mint":"mint","owner":"owner","program":"token-program","atoms":"18446744073709551615","decimals":6}';

/** The response of a node, and what is read from it: some members, or a failure. Integers are written as text. */
eachScene(`
  balances are indexed over static, loaded writable and loaded readonly accounts, in this order | ${like({})} | {"accounts":["payer","receiver","program","loaded-writable","loaded-readonly"],"preLamports":["100","0","1","7","9"],"postTokens":[${TOKEN}]}
  a transaction has its first signature, slot, fee, signers and success      | ${like({})} | {"signature":"sig-1","slot":"321","fee":"5900","signers":["payer"],"failed":false}
  a loaded account is never a signer, whatever the header                    | ${withTransaction({ message })} | {"signers":["payer","receiver","program"]}
  a transaction that this node does not have is null                         | ${textOf(null)} | null
  a block time and token balances that the node lacks are null, not zero     | ${like({ blockTime: null, meta: { ...FOUND.meta, ...noTokens } })} | {"blockTime":null,"preTokens":null,"postTokens":null,"accounts":["payer","receiver","program"]}
  a block time of zero is null                                               | ${like({ blockTime: 0 })} | {"blockTime":null}
  a transaction response without meta is a failure                           | ${like({ meta: null })} | UPSTREAM_FAILED
  a transaction response without err, which would read as success, is a failure | ${withMeta({ err: undefined })} | UPSTREAM_FAILED
  a transaction response without a signature is a failure                    | ${withTransaction({ signatures: [] })} | UPSTREAM_FAILED
  a transaction response with a negative balance is a failure                | ${withMeta({ postBalances: [-1] })} | UPSTREAM_FAILED
  a transaction response with a fraction of a lamport is a failure           | ${withMeta({ preBalances: [0.5] })} | UPSTREAM_FAILED
  a transaction response without a slot is a failure                         | ${like({ slot: undefined })} | UPSTREAM_FAILED
  an empty object is not a transaction                                       | ${textOf({})} | UPSTREAM_FAILED
  a transaction of version 1 is read without loadedAddresses                 | ${textOf({ ...versionOne, meta: { ...versionOne.meta, loadedAddresses: undefined } })} | {"accounts":${JSON.stringify(versionOne.transaction.message.accountKeys)}}
  an unknown version is unsupported by the refusal of production             | ${JSON.stringify(unsupported)} | unsupported
  an unknown version is unsupported by the refusal of production under HTTP 400 | 400 ${JSON.stringify(unsupported)} | unsupported
  version 2 that is shown in spite of the maximum is unsupported             | ${like({ version: 2 })} | unsupported
  version 2 in a shape that is not known is unsupported                      | ${textOf({ version: 2, anything: [] })} | unsupported
  a version that is text is unsupported                                      | ${like({ version: 'v2' })} | unsupported
  HTTP 400 alone is not treated as an unknown version                        | 400 bad | UPSTREAM_FAILED
  HTTP 500 is not treated as an unknown version                              | 500 {} | UPSTREAM_FAILED
  a broken transaction of version 1 is not treated as an unknown version     | ${textOf({ version: 1 })} | UPSTREAM_FAILED
  a transaction of version 2 is read on request if its JSON has the known members | any ${like({ version: 2 })} | {"signature":"sig-1","signers":["payer"]}
  a transaction of version 2 in an unknown shape is unsupported on request too | any ${textOf({ version: 2, anything: [] })} | unsupported
`)('%s', async (_title, response = '', expected = '') => {
  const [, status = '200', version, body = ''] = /^(?:(\d{3}) )?(any )?(.*)$/.exec(response) ?? [];
  const { node } = nodeWith({ getTransaction: { status: Number(status), body } });
  const found = await node.transaction('sig-1', 'finalized', version ? ANY_VERSION : undefined).then(
    (shown) =>
      JSON.parse(JSON.stringify(shown, (_, value) => (typeof value === 'bigint' ? `${value}` : value))),
    // It stays recognizable as the failure of all nodes.
    (error) => ([error, asUpstreamFailure(error)].every(isUnsupportedVersion) ? 'unsupported' : error.code),
  );
  const isFailure = ['UPSTREAM_FAILED', 'unsupported', 'null'].includes(expected);
  expect(isFailure ? String(found) : found).toEqual(
    isFailure ? expected : expect.objectContaining(JSON.parse(expected)),
  );
});

it.each(Object.entries(TRANSACTION_ERRORS))(
  'a transaction with the error %s has failed',
  async (_name, err) => {
    const { node } = nodeWith({ getTransaction: { body: withMeta({ err }) } });
    expect(await node.transaction('sig-1', 'finalized')).toMatchObject({ failed: true });
  },
);

it('a transaction of version 1 is read from a recorded response of a production node', async () => {
  const { transaction } = versionOne;
  const { node } = nodeWith({ getTransaction: result(versionOne) });
  expect(await node.transaction('sig-1', 'finalized')).toEqual({
    ...{ signature: transaction.signatures[0], slot: 449_391_489n, blockTime: 1_790_083_456 },
    ...{ failed: true, fee: 5_003n, preTokens: [], postTokens: [] },
    ...{ accounts: transaction.message.accountKeys, signers: [transaction.message.accountKeys[0]] },
    preLamports: [588_947_744n, 1_781_760n, 1_141_440n],
    postLamports: [588_942_741n, 1_781_760n, 1_141_440n],
  });
});

describe('signaturesFor', () => {
  const shown = { signature: signature(1), slot: 5, err: null, memo: null, blockTime: 9 };
  const entry = listedBody(shown, 'finalized');

  it('signaturesFor passes the page parameters on and keeps failed transactions', async () => {
    const failed = { ...entry, signature: signature(2), err: 'x', blockTime: null };
    const { node, requests } = nodeWith({ getSignaturesForAddress: result([entry, failed]) });
    const rows = await node.signaturesFor('addr', { limit: 50, before: 'b', commitment: 'finalized' });
    expect(rows).toEqual([
      { signature: signature(1), slot: 5n, err: null, blockTime: 9, memo: null },
      { signature: signature(2), slot: 5n, err: 'x', blockTime: null, memo: null },
    ]);
    expect(requests[0]?.body).toMatchObject({
      params: ['addr', { limit: 50, before: 'b', commitment: 'finalized' }],
    });
  });

  it.each([
    ['900 bytes that JSON escapes', '\0'.repeat(900)],
    ['the 4 KB of a version 1 transaction', '"'.repeat(4_000)],
    ['a cut in the middle of an escape', `${'m'.repeat(199)}${'\\'.repeat(700)}`],
  ])('reads a page of 1,000 memos of %s in one call', async (_name, memo) => {
    const list = Array.from({ length: 1_000 }, (_, at) => ({ ...entry, signature: signature(at), memo }));
    expect(JSON.stringify(list).length).toBeGreaterThan(1.5 * 1024 * 1024);
    const { node, requests } = nodeWith({ getSignaturesForAddress: result(list) });
    const rows = await node.signaturesFor('addr', { limit: 1_000, commitment: 'finalized' });
    expect(rows.map(({ signature }) => signature)).toEqual(list.map(({ signature }) => signature));
    expect(rows[999]?.memo).toBe(memo.slice(0, 200));
    expect(requests).toHaveLength(1);
  });
});

it('requests the beginning of each account, and returns empty data for one that may be longer', async () => {
  const state = { owner: 'system', lamports: 7, executable: false };
  const data = (bytes: number) => accountBody({ ...state, data: new Uint8Array(bytes) });
  const { node, requests } = nodeWith({ getMultipleAccounts: resultAt([data(12_287), data(12_288)]) });
  const { accounts } = await node.accounts(['a', 'b'], 'finalized');
  expect(accounts.map((each) => each?.data.length)).toEqual([12_287, 0]);
  expect(requests[0]?.body).toMatchObject({
    params: [['a', 'b'], { dataSlice: { offset: 0, length: 12_288 } }],
  });
});
