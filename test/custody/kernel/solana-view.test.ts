import { describe, expect, it } from 'vitest';
import { createChainPort } from '../../../src/custody/kernel/solana-view.ts';
import { createSolanaRpc } from '../../../src/providers/solana-rpc.ts';
import { HTML_429, type Recorded, replay } from '../../providers/replay.ts';
import { signingOf } from '../sample-operations.ts';

const RESERVE = 'reserve';
const SIGNATURE = 'signature-one';

type Answer = Recorded | Error;
const result = (value: unknown): Recorded => ({ body: { jsonrpc: '2.0', id: 1, result: value } });
const refusal = (code: number, message: string, data?: unknown): Recorded => ({
  body: { jsonrpc: '2.0', id: 1, error: { code, message, data } },
});
const inContext = (value: unknown, slot = 100) => result({ context: { slot }, value });
const down = new TypeError('fetch failed');

/** Two nodes, each with its own answers by method. */
function setUp(first: Record<string, Answer>, second: Record<string, Answer> = {}) {
  const answers = [first, second].flatMap((methods, index) =>
    Object.entries(methods).map(([method, answer]) => [`POST https://${index}.test ${method}`, answer]),
  );
  const { fetch, requests } = replay(Object.fromEntries(answers));
  const rpc = createSolanaRpc({ urls: ['https://0.test', 'https://1.test'], fetch });
  const methods = () =>
    requests.map(({ url, body }) => `${url.slice(8, 9)} ${Reflect.get(Object(body), 'method')}`);
  return { chain: createChainPort(rpc, RESERVE), requests, methods };
}

const SEEN = { slot: 90, confirmations: null, err: null, confirmationStatus: 'finalized' };
const node = (height: number, status: unknown, first = 0): Record<string, Answer> => ({
  getEpochInfo: result({ absoluteSlot: 500, blockHeight: height }),
  getSignatureStatuses: inContext([status], 510),
  getFirstAvailableBlock: result(first),
});

describe('views', () => {
  it('heights are read before the status, and the history last', async () => {
    const { chain, methods } = setUp(node(1_001, null), { getEpochInfo: down });
    await chain.views(signingOf('one'));
    expect(methods().filter((call) => call.startsWith('0'))).toEqual([
      '0 getEpochInfo',
      '0 getSignatureStatuses',
      '0 getFirstAvailableBlock',
    ]);
  });

  it('are all finalized, with history search', async () => {
    const { chain, requests } = setUp(node(1_001, null), node(1_001, null));
    await chain.views(signingOf('one'));
    const of = (method: string) =>
      requests.find(({ body }) => Reflect.get(Object(body), 'method') === method)?.body;
    expect(of('getEpochInfo')).toMatchObject({ params: [{ commitment: 'finalized' }] });
    expect(of('getSignatureStatuses')).toMatchObject({
      params: [[SIGNATURE], { searchTransactionHistory: true }],
    });
  });

  it.each([
    ['while its last block may still come', node(1_000, null)],
    ['when a status was seen', node(1_001, SEEN)],
  ])('how far the history reaches is not asked %s', async (_name, answers) => {
    const { chain, methods } = setUp(answers, answers);
    const views = await chain.views(signingOf('one'));
    expect(methods()).not.toContain('0 getFirstAvailableBlock');
    expect(views.map((view) => view.firstAvailableSlot)).toEqual([null, null]);
  });

  it("are each node's own: nothing of one is filled in from another", async () => {
    const { chain } = setUp(
      node(1_001, null, 7),
      node(900, { ...SEEN, err: 'x', confirmationStatus: 'confirmed', confirmations: 1 }),
    );
    expect(await chain.views(signingOf('one'))).toEqual([
      {
        node: 'solana-rpc-1',
        finalizedSlot: 500n,
        finalizedHeight: 1_001n,
        statusSlot: 510n,
        status: null,
        firstAvailableSlot: 7n,
      },
      {
        node: 'solana-rpc-2',
        finalizedSlot: 500n,
        finalizedHeight: 900n,
        statusSlot: 510n,
        status: { slot: 90n, failed: true, commitment: 'confirmed' },
        firstAvailableSlot: null,
      },
    ]);
  });

  it.each<[string, Record<string, Answer>]>([
    ['no heights', { ...node(1_001, null), getEpochInfo: down }],
    ['no status', { ...node(1_001, null), getSignatureStatuses: HTML_429 }],
    ['an empty status list', { ...node(1_001, null), getSignatureStatuses: inContext([]) }],
    ['no history', { ...node(1_001, null), getFirstAvailableBlock: refusal(-32601, 'Method not found') }],
  ])('of a node that gives %s are left out', async (_name, broken) => {
    const { chain } = setUp(broken, node(1_001, null));
    expect((await chain.views(signingOf('one'))).map((view) => view.node)).toEqual(['solana-rpc-2']);
  });

  it('are none when every node is down', async () => {
    const { chain } = setUp({ getEpochInfo: down }, { getEpochInfo: down });
    expect(await chain.views(signingOf('one'))).toEqual([]);
  });
});

describe('sending', () => {
  const already = refusal(-32002, 'Transaction simulation failed', { err: 'AlreadyProcessed' });
  it.each<[string, Answer, Answer, boolean]>([
    ['both take it', result(SIGNATURE), result(SIGNATURE), true],
    ['one takes it', down, result(SIGNATURE), true],
    ['one says that it is on the chain', already, down, true],
    ['both refuse it', refusal(-32005, 'behind'), HTML_429, false],
    ['both are down', down, down, false],
  ])('%s', async (_name, first, second, accepted) => {
    const { chain, methods } = setUp({ sendTransaction: first }, { sendTransaction: second });
    expect(await chain.send('AQID')).toBe(accepted);
    // Every node is told: one may drop what another passes on.
    expect(methods()).toEqual(['0 sendTransaction', '1 sendTransaction']);
  });
});

describe('balance', () => {
  it('is finalized and not older than asked', async () => {
    const { chain, requests } = setUp({ getBalance: inContext(5, 300) });
    expect(await chain.balance(250n)).toEqual({ lamports: 5n, slot: 300n });
    expect(requests[0]?.body).toMatchObject({
      params: [RESERVE, { commitment: 'finalized', minContextSlot: 250 }],
    });
  });

  it('without a slot to reach asks for none', async () => {
    const { chain, requests } = setUp({ getBalance: inContext(5) });
    await chain.balance(0n);
    expect(requests[0]?.body).toEqual(
      expect.objectContaining({ params: [RESERVE, { commitment: 'finalized' }] }),
    );
  });

  it.each<[string, Answer]>([
    ['says that it is behind', refusal(-32016, 'Minimum context slot has not been reached')],
    ['is behind and does not say so', inContext(9, 249)],
  ])('is read from the next node when the first %s', async (_name, answer) => {
    const { chain } = setUp({ getBalance: answer }, { getBalance: inContext(5, 300) });
    expect(await chain.balance(250n)).toEqual({ lamports: 5n, slot: 300n });
    const { chain: alone } = setUp({ getBalance: answer }, { getBalance: answer });
    await expect(alone.balance(250n)).rejects.toMatchObject({ code: 'UPSTREAM_FAILED' });
  });
});

describe('landing', () => {
  const transaction = (change: { signature?: string; err?: unknown; accounts?: string[] } = {}) => ({
    slot: 321,
    blockTime: 1_790_000_000,
    transaction: {
      signatures: [change.signature ?? SIGNATURE],
      message: { accountKeys: change.accounts ?? [RESERVE, 'deposit'], header: { numRequiredSignatures: 1 } },
    },
    meta: {
      err: change.err ?? null,
      fee: 5_900,
      preBalances: [1_000_000, 0],
      postBalances: [494_100, 500_000],
    },
  });
  const landed = { slot: 321n, blockTime: 1_790_000_000, fee: 5_900n, debit: 505_900n };

  it('is what the transaction took from the reserve, fee included', async () => {
    const { chain, requests } = setUp({ getTransaction: result(transaction()) });
    expect(await chain.landing(SIGNATURE)).toEqual(landed);
    expect(requests[0]?.body).toMatchObject({ params: [SIGNATURE, { commitment: 'finalized' }] });
  });

  it.each<[string, Answer]>([
    ['does not have it', result(null)],
    ['is down', down],
    ['gives another transaction', result(transaction({ signature: 'other' }))],
    ['says that it failed, which the finalized status did not', result(transaction({ err: 'x' }))],
    ['shows one that the reserve has no part in', result(transaction({ accounts: ['a', 'b'] }))],
  ])('is read from the next node when the first %s', async (_name, answer) => {
    const { chain } = setUp({ getTransaction: answer }, { getTransaction: result(transaction()) });
    expect(await chain.landing(SIGNATURE)).toEqual(landed);
    const { chain: alone } = setUp({ getTransaction: answer }, { getTransaction: answer });
    expect(await alone.landing(SIGNATURE)).toBeNull();
  });
});
