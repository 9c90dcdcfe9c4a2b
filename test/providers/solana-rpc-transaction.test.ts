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
const read = (value: unknown) =>
  nodeWith({ getTransaction: result(value) }).node.transaction('sig-1', 'finalized');

describe('transaction', () => {
  it('a transaction is requested with maxSupportedTransactionVersion 1, so that nodes refuse newer versions', async () => {
    const { node, requests } = nodeWith({ getTransaction: result(FOUND) });
    await node.transaction('sig-1', 'finalized');
    expect(requests[0]?.body).toMatchObject({
      params: ['sig-1', { encoding: 'json', commitment: 'finalized', maxSupportedTransactionVersion: 1 }],
    });
  });

  it('balances are indexed over static, loaded writable and loaded readonly accounts, in this order', async () => {
    const found = await read(FOUND);
    expect(found?.accounts).toEqual([...KEYS, 'loaded-writable', 'loaded-readonly']);
    expect(found?.signers).toEqual(['payer']);
    expect(found?.preLamports).toEqual([100n, 0n, 1n, 7n, 9n]);
    expect(found?.postTokens).toEqual([
      {
        ...{ account: 'loaded-writable', mint: 'mint', owner: 'owner', program: 'token-program' },
        ...{ atoms: 18_446_744_073_709_551_615n, decimals: 6 },
      },
    ]);
    expect(found).toMatchObject({ signature: 'sig-1', slot: 321n, fee: 5_900n, failed: false });
  });

  it('a loaded account is never a signer, whatever the header', async () => {
    const message = { accountKeys: KEYS, header: { numRequiredSignatures: 9 } };
    const transaction = { ...FOUND.transaction, message };
    expect((await read({ ...FOUND, transaction }))?.signers).toEqual(KEYS);
  });

  it.each(Object.entries(TRANSACTION_ERRORS))(
    'a transaction with the error %s has failed',
    async (_name, err) => {
      expect((await read({ ...FOUND, meta: { ...FOUND.meta, err } }))?.failed).toBe(true);
    },
  );

  it('a transaction that this node does not have is null', async () => {
    expect(await read(null)).toBeNull();
  });

  it('a block time and token balances that the node lacks are null, not zero', async () => {
    const {
      preTokenBalances: _pre,
      postTokenBalances: _post,
      loadedAddresses: _loaded,
      ...meta
    } = FOUND.meta;
    for (const blockTime of [null, 0]) {
      const found = await read({ ...FOUND, blockTime, meta });
      expect(found).toMatchObject({ blockTime: null, preTokens: null, postTokens: null, accounts: KEYS });
    }
  });

  const { err: _err, ...withoutErr } = FOUND.meta;
  it.each([
    ['no meta', { ...FOUND, meta: null }],
    ['meta without err, which would read as success', { ...FOUND, meta: withoutErr }],
    ['no signature', { ...FOUND, transaction: { ...FOUND.transaction, signatures: [] } }],
    ['a negative balance', { ...FOUND, meta: { ...FOUND.meta, postBalances: [-1] } }],
    ['a balance with a fraction', { ...FOUND, meta: { ...FOUND.meta, preBalances: [0.5] } }],
    ['no slot', { ...FOUND, slot: undefined }],
    ['an empty object', {}],
  ])('a transaction response with %s is an error', async (_name, value) => {
    await expect(read(value)).rejects.toMatchObject({ code: 'UPSTREAM_FAILED' });
  });
});

describe('a transaction of another version', () => {
  it('a transaction of version 1 is read from a recorded response of a production node', async () => {
    const { transaction } = versionOne;
    expect(await read(versionOne)).toEqual({
      ...{ signature: transaction.signatures[0], slot: 449_391_489n, blockTime: 1_790_083_456 },
      ...{ failed: true, fee: 5_003n, preTokens: [], postTokens: [] },
      ...{ accounts: transaction.message.accountKeys, signers: [transaction.message.accountKeys[0]] },
      preLamports: [588_947_744n, 1_781_760n, 1_141_440n],
      postLamports: [588_942_741n, 1_781_760n, 1_141_440n],
    });
  });

  it('a transaction of version 1 is read without loadedAddresses', async () => {
    const { loadedAddresses: _gone, ...meta } = versionOne.meta;
    expect((await read({ ...versionOne, meta }))?.accounts).toHaveLength(3);
  });

  it.each([
    ['the refusal of production', { body: unsupported }],
    ['the refusal of production under HTTP 400', { status: 400, body: unsupported }],
    ['version 2 shown in spite of the maximum', result({ ...FOUND, version: 2 })],
    ['version 2 in a shape that is not known', result({ version: 2, anything: [] })],
    ['a version that is text', result({ ...FOUND, version: 'v2' })],
  ])('a transaction of an unknown version is unsupported: %s', async (_name, answer) => {
    const { node } = nodeWith({ getTransaction: answer });
    const failure: unknown = await node.transaction('sig-1', 'finalized').catch((error: unknown) => error);
    expect(isUnsupportedVersion(failure)).toBe(true);
    // Also as the failure of all nodes.
    expect(isUnsupportedVersion(asUpstreamFailure(failure))).toBe(true);
  });

  it('a transaction of an unknown version is read on request if its JSON has the known members', async () => {
    const shown = (value: object) => {
      const { node } = nodeWith({ getTransaction: result(value) });
      return node.transaction('sig-1', 'finalized', ANY_VERSION).catch(isUnsupportedVersion);
    };
    expect(await shown({ ...FOUND, version: 2 })).toMatchObject({ signature: 'sig-1', signers: ['payer'] });
    expect(await shown({ version: 2, anything: [] })).toBe(true);
  });

  it('other failures are not treated as a transaction of an unknown version', async () => {
    for (const answer of [{ status: 400, body: 'bad' }, { status: 500, body: {} }, result({ version: 1 })]) {
      const { node } = nodeWith({ getTransaction: answer });
      const failure: unknown = await node.transaction('sig-1', 'finalized').catch((error: unknown) => error);
      expect(isUnsupportedVersion(failure)).toBe(false);
    }
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
