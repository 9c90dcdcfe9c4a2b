import { describe, expect, it } from 'vitest';
import type { Signing } from '../../../src/custody/kernel/operation.ts';
import { SolanaView } from '../../../src/custody/nodes/solana-view.ts';
import { within } from '../../../src/http/within.ts';
import { createSolanaRpc } from '../../../src/providers/solana-rpc.ts';
import { scenes } from '../../kit/scenes.ts';
import { HTML_429, type Recorded, refusal, replay, result, resultAt } from '../../providers/replay.ts';
import {
  chainTransaction,
  epochBody,
  listedBody,
  RPC_ERRORS,
  statusBody,
  tokenAmountBody,
  transactionBody,
} from '../../world/solana-shapes.ts';
import { signature } from '../payments/payment-world.ts';

const RESERVE = 'reserve';
const SIGNATURE = signature(1);

type Answer = Recorded | Error;
const down = new TypeError('fetch failed');

/** Both nodes are witnesses of the attempt at the height 818: it expires at 1,000. */
const signingOf = (ids: readonly string[]): Signing => ({
  signature: SIGNATURE,
  wire: 'wire',
  slot: 900n,
  witnesses: ids.map((node) => ({ node, slot: 900n, height: 818n })),
});

/** Two nodes, each with its own answers by method. */
function setUp(first: Record<string, Answer>, second: Record<string, Answer> = {}, count = 2) {
  const answers = [first, second].flatMap((methods, index) =>
    Object.entries(methods).map(([method, answer]) => [`POST https://${index}.test ${method}`, answer]),
  );
  const { fetch, requests } = replay(Object.fromEntries(answers));
  const urls = ['https://0.test', 'https://1.test'].slice(0, count);
  const { nodes } = createSolanaRpc({ urls, fetch });
  const logged: Readonly<Record<string, unknown>>[] = [];
  const clock = { now: 1_790_000_000_000 };
  const chain = new SolanaView({
    nodes,
    reserveAddress: RESERVE,
    now: () => clock.now,
    within,
    log: (line) => logged.push(line),
  });
  const ids = nodes.map(({ id }) => id);
  const methods = () =>
    requests.map(({ url, body }) => `${url.slice(8, 9)} ${Reflect.get(Object(body), 'method')}`);
  return { chain, requests, methods, logged, clock, ids };
}

const SEEN = statusBody({ slot: 90, err: null }, 'finalized', 510);
const node = (height: number, status: unknown, first = 0): Record<string, Answer> => ({
  getEpochInfo: result(epochBody(500, height)),
  getSignatureStatuses: resultAt([status], 510),
  getFirstAvailableBlock: result(first),
});

describe('views', () => {
  it('reads the block height of a node first, then the status, and the first slot of its history last', async () => {
    const { chain, methods, ids } = setUp(node(1_001, null), { getEpochInfo: down });
    await chain.views(signingOf(ids), RESERVE);
    expect(methods().filter((call) => call.startsWith('0'))).toEqual([
      '0 getEpochInfo',
      '0 getSignatureStatuses',
      '0 getFirstAvailableBlock',
    ]);
  });

  it('requests finalized data from all nodes, and statuses with a search of the history', async () => {
    const { chain, requests, ids } = setUp(node(1_001, null), node(1_001, null));
    await chain.views(signingOf(ids), RESERVE);
    const of = (method: string) =>
      requests.find(({ body }) => Reflect.get(Object(body), 'method') === method)?.body;
    expect(of('getEpochInfo')).toMatchObject({ params: [{ commitment: 'finalized' }] });
    expect(of('getSignatureStatuses')).toMatchObject({
      params: [[SIGNATURE], { searchTransactionHistory: true }],
    });
  });

  it.each([
    ['while the last valid block of the attempt may still come', node(1_000, null)],
    ['when a status was seen', node(1_001, SEEN)],
  ])('does not read the start of the history of a node %s', async (_name, answers) => {
    const { chain, methods, ids } = setUp(answers, answers);
    const views = await chain.views(signingOf(ids), RESERVE);
    expect(methods()).not.toContain('0 getFirstAvailableBlock');
    expect(views.map((view) => view.firstAvailableSlot)).toEqual([null, null]);
  });

  it('the view of one node never contains data of another node', async () => {
    const { chain, ids } = setUp(
      node(1_001, null, 7),
      node(900, { ...SEEN, err: 'x', confirmationStatus: 'confirmed', confirmations: 1 }),
    );
    expect(await chain.views(signingOf(ids), RESERVE)).toEqual([
      {
        node: ids[0],
        finalizedSlot: 500n,
        finalizedHeight: 1_001n,
        statusSlot: 510n,
        status: null,
        firstAvailableSlot: 7n,
      },
      {
        node: ids[1],
        finalizedSlot: 500n,
        finalizedHeight: 900n,
        statusSlot: 510n,
        status: { slot: 90n, failed: true, commitment: 'confirmed', charged: null },
        firstAvailableSlot: null,
      },
    ]);
  });

  it.each<[string, Record<string, Answer>]>([
    ['no heights', { ...node(1_001, null), getEpochInfo: down }],
    ['no status', { ...node(1_001, null), getSignatureStatuses: HTML_429 }],
    ['an empty status list', { ...node(1_001, null), getSignatureStatuses: resultAt([]) }],
    ['no history', { ...node(1_001, null), getFirstAvailableBlock: refusal(RPC_ERRORS.methodNotFound) }],
  ])('leaves out the view of a node that gives %s', async (_name, broken) => {
    const { chain, ids } = setUp(broken, node(1_001, null));
    expect((await chain.views(signingOf(ids), RESERVE)).map((view) => view.node)).toEqual([ids[1]]);
  });

  it('there are no views when every node is down', async () => {
    const { chain, ids } = setUp({ getEpochInfo: down }, { getEpochInfo: down });
    expect(await chain.views(signingOf(ids), RESERVE)).toEqual([]);
  });
});

const already = refusal(RPC_ERRORS.preflight('AlreadyProcessed'));
it.each<[string, Answer, Answer, boolean]>([
  ['both take it', result(SIGNATURE), result(SIGNATURE), true],
  ['one takes it', down, result(SIGNATURE), true],
  ['one reports that it is on the chain', already, down, true],
  ['both refuse it', refusal(RPC_ERRORS.unhealthy), HTML_429, false],
  ['both are down', down, down, false],
])('reports whether a node accepted a sent transaction: %s', async (_name, first, second, accepted) => {
  const { chain, methods } = setUp({ sendTransaction: first }, { sendTransaction: second });
  expect(await chain.send('AQID')).toBe(accepted);
  // The transaction is sent to every node, because one may drop it and another may forward it.
  expect(methods()).toEqual(['0 sendTransaction', '1 sendTransaction']);
});

describe('balance', () => {
  it('reads a finalized balance that is at least as new as the requested slot', async () => {
    const { chain, requests } = setUp({ getBalance: resultAt(5, 300) }, {}, 1);
    expect(await chain.balance(250n)).toEqual({ lamports: 5n, slot: 300n });
    expect(requests[0]?.body).toMatchObject({
      params: [RESERVE, { commitment: 'finalized', minContextSlot: 250 }],
    });
  });

  it('a read of the balance without a minimum slot does not send one to the nodes', async () => {
    const { chain, requests } = setUp({ getBalance: resultAt(5) }, {}, 1);
    await chain.balance(0n);
    expect(requests[0]?.body).toEqual(
      expect.objectContaining({ params: [RESERVE, { commitment: 'finalized' }] }),
    );
  });

  it.each(
    scenes(`
      a balance is the lower one of two nodes, at the older of their slots                 | 9 at 300 | 5 at 310 | 5 at 300
      a balance is unknown when one of two nodes reports that it is behind                 | behind   | 5 at 300 | quorum_missing
      a balance is unknown when one of two nodes is behind and does not report it          | 9 at 249 | 5 at 300 | quorum_missing
      a balance is unknown when one of two nodes is down                                   | down     | 5 at 300 | quorum_missing
    `),
  )('%s', async (_title, first = '', second = '', shown) => {
    const answers = [first, second].map((text) => {
      if (text === 'down') return down;
      if (text === 'behind') return refusal(RPC_ERRORS.behind(249));
      const [sum, slot] = text.split(' at ').map(Number);
      return resultAt(sum, slot);
    });
    const [one = down, two = down] = answers;
    const read = setUp({ getBalance: one }, { getBalance: two }).chain.balance(250n);
    const outcome = read.then(
      ({ lamports, slot }) => `${lamports} at ${slot}`,
      ({ details }) => details.reason,
    );
    expect(await outcome).toBe(shown);
  });

  it.each(
    scenes(`
      a node that responds first with 0 does not lower the balance          | 0 9 9    | 9
      a node that responds second with 0 does not lower the balance         | 9 0 9    | 9
      a node that responds first with ten times as much does not raise it   | 90 9 9   | 9
      the balance of two nodes does not wait for the third                  | 9 9 hang | 9
      nodes that differ give the balance that two of them reach             | 7 9 8    | 8
      with one node down, the balance is the lower one of the other two     | 7 9 down | 7
    `),
  )('%s', async (_title, shown = '', expected = '') => {
    let earlier = Promise.resolve();
    const nodes = shown.split(' ').map((sum, index) => {
      const turn = earlier.then(async () => {
        if (sum === 'hang') await new Promise(() => {});
        if (sum === 'down') throw down;
        return { lamports: BigInt(sum), slot: 300n };
      });
      earlier = turn.then(
        () => new Promise((resolve) => setImmediate(resolve)),
        () => {},
      );
      return { name: `${index}`, id: `${index}`, balance: () => turn };
    }) as never[];
    const view = new SolanaView({ nodes, reserveAddress: RESERVE, now: () => 0, within, log: () => {} });
    expect((await view.balance(0n)).lamports).toBe(BigInt(expected));
  });
});

type Shown = { signature?: string; err?: unknown; accounts?: string[]; slot?: number; post?: number };
const transactionWith = ({
  err = null,
  accounts = [RESERVE, 'deposit'],
  slot = 321,
  ...shown
}: Shown = {}) => {
  const { signature = SIGNATURE, post = 494_100 } = shown;
  const moved = { preLamports: [1_000_000n, 0n], postLamports: [BigInt(post), 500_000n] };
  const facts = { slot: BigInt(slot), fee: 5_900n, signers: ['reserve'], accounts, ...moved };
  const other = { ...facts, preTokens: null, postTokens: null };
  return transactionBody(chainTransaction(signature, {}, other), err);
};

describe('a finalized failure', () => {
  const failed = { ...SEEN, err: 'x' };
  const charge = async (status: unknown, transaction: Answer): Promise<unknown> => {
    const answers = { ...node(900, status), getTransaction: transaction };
    const { chain, ids } = setUp(answers, {}, 1);
    return (await chain.views(signingOf(ids), RESERVE))[0]?.status?.charged;
  };
  const shown = (change: Parameters<typeof transactionWith>[0]) =>
    result(transactionWith({ err: 'x', ...change }));

  it.each<[string, Answer, boolean | null]>([
    ['was charged if it took lamports from the reserve', shown({ post: 994_100 }), true],
    ['was not charged if the reserve kept its lamports', shown({ post: 1_000_000 }), false],
    ['is unread while the node does not have it', result(null), null],
    ['is unread while the node is down', down, null],
    ['is unread if the node shows a success', result(transactionWith()), null],
    ['is unread if the node shows another transaction', shown({ signature: 'other' }), null],
    ['is unread if the reserve has no part in the transaction', shown({ accounts: ['a', 'b'] }), null],
  ])('the fee of a finalized failure %s', async (_name, answer, charged) => {
    expect(await charge(failed, answer)).toBe(charged);
  });

  it('reads the charged fee only for a finalized failure, not for other statuses', async () => {
    const answer = shown({ post: 994_100 });
    expect(await charge(SEEN, answer)).toBeNull();
    expect(await charge({ ...failed, confirmationStatus: 'confirmed' }, answer)).toBeNull();
  });
});

describe('landing', () => {
  const landed = { slot: 321n, blockTime: 1_790_000_000, fee: 5_900n, debit: 505_900n };
  const both = (answer: Answer) => setUp({ getTransaction: answer }, { getTransaction: answer });

  it('the debit of a landed transaction is the sum that it took from the reserve, fee included', async () => {
    const { chain, requests } = both(result(transactionWith()));
    expect(await chain.landing(SIGNATURE, RESERVE)).toEqual(landed);
    expect(requests[0]?.body).toMatchObject({ params: [SIGNATURE, { commitment: 'finalized' }] });
  });

  it.each<[string, Answer]>([
    ['do not have it', result(null)],
    ['give another transaction', result(transactionWith({ signature: 'other' }))],
    ['show it failed, which the finalized status did not', result(transactionWith({ err: 'x' }))],
    ['show one that the reserve has no part in', result(transactionWith({ accounts: ['a', 'b'] }))],
  ])('the debit of a landed transaction is null when the nodes %s', async (_name, answer) => {
    expect(await both(answer).chain.landing(SIGNATURE, RESERVE)).toBeNull();
  });

  it('the debit of a landed transaction is null while one of two nodes does not have it', async () => {
    const { chain } = setUp({ getTransaction: result(transactionWith()) }, { getTransaction: result(null) });
    expect(await chain.landing(SIGNATURE, RESERVE)).toBeNull();
  });
});

describe('a finalized transaction', () => {
  const found = result(transactionWith());
  const withTokens = (amount: string) => {
    const { meta, ...rest } = transactionWith();
    const row = {
      accountIndex: 1,
      mint: 'm',
      owner: RESERVE,
      uiTokenAmount: tokenAmountBody(BigInt(amount), 6),
    };
    return result({ ...rest, meta: { ...meta, preTokenBalances: [], postTokenBalances: [row] } });
  };
  const ANSWERS: Readonly<Record<string, Answer>> = {
    found,
    down,
    'another slot': result(transactionWith({ slot: 322 })),
    'an error': result(transactionWith({ err: 'x' })),
    'other balances': result(transactionWith({ post: 1 })),
    'other accounts': result(transactionWith({ accounts: [RESERVE, 'attacker'] })),
    'another signature': result(transactionWith({ signature: 'other' })),
    'one token': withTokens('1'),
    'two tokens': withTokens('2'),
  };

  it.each(
    scenes(`
      is accepted when both nodes return the same data        | 2 | found             | found      | accepted
      is accepted from one node if only one is configured     | 1 | found             | down       | accepted
      is unknown while one of two nodes is down               | 2 | found             | down       | quorum_missing
      with another slot on one node raises an alarm           | 2 | another slot      | found      | nodes_disagree
      with an error on one node raises an alarm               | 2 | an error          | found      | nodes_disagree
      with other balances on one node raises an alarm         | 2 | other balances    | found      | nodes_disagree
      with other accounts on one node raises an alarm         | 2 | other accounts    | found      | nodes_disagree
      with another signature on one node raises an alarm      | 2 | another signature | found      | nodes_disagree
      with other token balances on one node raises an alarm   | 2 | one token         | two tokens | nodes_disagree
    `),
  )('a finalized transaction %s', async (_title, nodes, first = '', second = '', outcome) => {
    const [one = down, two = down] = [ANSWERS[first], ANSWERS[second]];
    const { chain, logged, clock } = setUp({ getTransaction: one }, { getTransaction: two }, Number(nodes));
    const read = chain.transaction(SIGNATURE).then(
      (transaction) => (transaction?.slot === 321n ? 'accepted' : 'other'),
      ({ details }) => details.reason,
    );
    expect(await read).toBe(outcome);
    const isDisputed = outcome === 'nodes_disagree';
    expect(logged).toMatchObject(isDisputed ? [{ level: 'alarm', event: 'nodes_disagree' }] : []);
    const question = { question: `transaction ${SIGNATURE}` };
    expect(chain.agreement().disagreement).toEqual(isDisputed ? expect.objectContaining(question) : null);
    clock.now += 3_600_001;
    expect(chain.agreement().disagreement).toBeNull();
  });

  it('the token balances of a finalized transaction are unknown if one node lacks them', async () => {
    const { chain } = setUp({ getTransaction: withTokens('1') }, { getTransaction: found });
    expect(await chain.transaction(SIGNATURE)).toMatchObject({
      slot: 321n,
      preTokens: null,
      postTokens: null,
    });
  });

  it('waits for a finalized transaction that only one of two nodes shows, with an alarm after ten minutes', async () => {
    const { chain, logged, clock } = setUp({ getTransaction: found }, { getTransaction: result(null) });
    expect(await chain.transaction(SIGNATURE)).toBeNull();
    clock.now += 600_001;
    expect(await chain.transaction(SIGNATURE)).toBeNull();
    expect(await chain.transaction(SIGNATURE)).toBeNull();
    expect(logged).toMatchObject([{ level: 'alarm', event: 'quorum_missing', answered: expect.any(Array) }]);
    expect(chain.agreement().quorumMissingSince).toBe(clock.now - 600_001);
  });
});

describe('a transaction that is not final', () => {
  const confirmed = { ...SEEN, confirmations: 3, confirmationStatus: 'confirmed' };

  it('reads a transaction that is not final from one node only, and from the next node the next time', async () => {
    const shown = { ...node(1, confirmed), getTransaction: result(transactionWith({ slot: 90 })) };
    const { chain, methods } = setUp(shown, shown);
    expect(await chain.confirmedTransaction(SIGNATURE)).toMatchObject({ slot: 90n });
    await chain.confirmedTransaction(SIGNATURE);
    expect(methods()).toEqual(['0 getTransaction', '1 getTransaction']);
  });

  it('a transaction that is not final is unknown while the node is down', async () => {
    const { chain } = setUp({ ...node(1, confirmed), getTransaction: down });
    expect(await chain.confirmedTransaction(SIGNATURE)).toBeNull();
  });
});

it('reads the newest signatures of an address from one node, and none while that node is down', async () => {
  const shown = { signature: SIGNATURE, slot: 90, err: null, memo: null, blockTime: null };
  const listed = result([listedBody(shown, 'confirmed')]);
  const { chain, methods } = setUp(
    { ...node(1, null), getSignaturesForAddress: listed },
    { ...node(1, null), getSignaturesForAddress: down },
  );
  expect(await chain.newestOf(RESERVE)).toEqual([SIGNATURE]);
  expect(await chain.newestOf(RESERVE)).toEqual([]);
  expect(methods()).toEqual(['0 getSignaturesForAddress', '1 getSignaturesForAddress']);
});

describe('the state of a signature', () => {
  const row = (commitment: string) => ({ ...SEEN, confirmations: 3, confirmationStatus: commitment });
  const states = async (...nodes: Parameters<typeof setUp>) =>
    (await setUp(...nodes).chain.signatureStates([SIGNATURE]))[0];

  it('the state of a signature is the most advanced one of all nodes', async () => {
    expect(await states(node(1, row('processed')), node(1, row('finalized')))).toBe('final');
    expect(await states(node(1, null), node(1, row('confirmed')))).toBe('confirmed');
    expect(await states(node(1, null), node(1, row('processed')))).toBe('pending');
  });

  it('the state of a signature is unknown only if every node responds and none has it', async () => {
    expect(await states(node(1, null), node(1, null))).toBe('unknown');
    expect(await states(node(1, null), { getSignatureStatuses: down })).toBe('pending');
    await expect(states({ getSignatureStatuses: down })).rejects.toMatchObject({ code: 'UPSTREAM_FAILED' });
  });
});

describe('a blockhash', () => {
  const tip = (blockhash: string, slot: number) => resultAt({ blockhash, lastValidBlockHeight: 1 }, slot);
  const witness = (valid: boolean, slot: number, height: number): Record<string, Answer> => ({
    isBlockhashValid: resultAt(valid, slot),
    getEpochInfo: result(epochBody(slot, height)),
  });

  it('a blockhash is returned with the block height of each node, read after that node has seen the blockhash', async () => {
    const { chain, ids } = setUp(
      { getLatestBlockhash: tip('a', 100), ...witness(true, 101, 71) },
      { getLatestBlockhash: tip('b', 103), ...witness(true, 104, 74) },
    );
    expect(await chain.latestBlockhash()).toEqual({
      version: 0,
      blockhash: 'a',
      slot: 101n,
      witnesses: [
        { node: ids[0], slot: 101n, height: 71n },
        { node: ids[1], slot: 104n, height: 74n },
      ],
    });
  });

  it.each<[string, Record<string, Answer>]>([
    ['does not accept it', witness(false, 104, 74)],
    ['is down', { isBlockhashValid: down }],
    [
      'gives a height from long before it has seen it',
      { ...witness(true, 104, 74), getEpochInfo: result(epochBody(87, 57)) },
    ],
  ])('a blockhash is refused when the second node %s', async (_name, second) => {
    const { chain } = setUp(
      { getLatestBlockhash: tip('a', 100), ...witness(true, 101, 71) },
      { getLatestBlockhash: down, ...second },
    );
    await expect(chain.latestBlockhash()).rejects.toMatchObject({ details: { reason: 'quorum_missing' } });
  });

  it('a blockhash that both nodes return long after it was the newest is refused', async () => {
    const { chain } = setUp(
      { getLatestBlockhash: tip('a', 100), ...witness(false, 117, 88) },
      { getLatestBlockhash: tip('a', 100), ...witness(false, 117, 88) },
    );
    await expect(chain.latestBlockhash()).rejects.toMatchObject({ details: { reason: 'quorum_missing' } });
  });

  it('a blockhash that both nodes accept long after it was the newest is returned', async () => {
    const { chain } = setUp(
      { getLatestBlockhash: tip('a', 100), ...witness(true, 117, 88) },
      { getLatestBlockhash: tip('a', 100), ...witness(true, 117, 88) },
    );
    expect(await chain.latestBlockhash()).toMatchObject({ blockhash: 'a', slot: 117n });
  });

  it('a blockhash that two nodes return as their newest is not requested again', async () => {
    const { chain } = setUp(
      { getLatestBlockhash: tip('a', 100), ...witness(false, 100, 71) },
      { getLatestBlockhash: tip('a', 101), ...witness(false, 101, 72) },
    );
    expect(await chain.latestBlockhash()).toMatchObject({ blockhash: 'a', slot: 100n });
  });

  it.each([
    [9_999, 'quorum_missing'],
    [10_000, 10_000n],
    [19_999, 19_999n],
    [30_000, 20_000n],
    [30_001, 'quorum_missing'],
  ])(
    'while slot 20000 is final, a node that has seen the blockhash at slot %i gives %s',
    async (shown, expected) => {
      const honest = { getLatestBlockhash: tip('a', 20_000), ...witness(true, 20_000, 471) };
      const { chain } = setUp(honest, honest);
      await chain.checkFinality();
      const later = setUp(honest, {
        getLatestBlockhash: tip('a', shown),
        ...witness(true, shown, 471),
      }).chain;
      later.recall(chain.memory());
      const slot = later.latestBlockhash().then(
        (found) => found.slot,
        ({ details }) => details.reason,
      );
      expect(await slot).toBe(expected);
    },
  );
});
