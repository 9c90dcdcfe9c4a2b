import { expect, it } from 'vitest';
import type { Signing } from '../../../src/custody/kernel/operation.ts';
import { SolanaView } from '../../../src/custody/nodes/solana-view.ts';
import { within } from '../../../src/http/within.ts';
import { createSolanaRpc } from '../../../src/providers/solana-rpc.ts';
import { eachScene } from '../../kit/scenes.ts';
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

const statusOf = (commitment: Parameters<typeof statusBody>[1], err: unknown = null) =>
  statusBody({ slot: 90, err }, commitment, 93);
const STATUSES: Readonly<Record<string, unknown>> = {
  none: null,
  processed: statusOf('processed'),
  confirmed: statusOf('confirmed'),
  final: statusOf('finalized'),
  failed: statusOf('finalized', 'x'),
  'failed-confirmed': statusOf('confirmed', 'x'),
};
const failing = (post?: number, more = {}) =>
  result(transactionWith({ err: 'x', ...(post && { post }), ...more }));
const WORDS: Readonly<Record<string, Answer>> = {
  down,
  limited: HTML_429,
  refused: refusal(RPC_ERRORS.methodNotFound),
  unhealthy: refusal(RPC_ERRORS.unhealthy),
  behind: refusal(RPC_ERRORS.behind(249)),
  already: refusal(RPC_ERRORS.preflight('AlreadyProcessed')),
  ok: result(SIGNATURE),
  absent: result(null),
  nothing: resultAt([]),
  found: result(transactionWith()),
  'another-slot': result(transactionWith({ slot: 322 })),
  'an-error': failing(),
  'other-balances': result(transactionWith({ post: 1 })),
  'other-accounts': result(transactionWith({ accounts: [RESERVE, 'attacker'] })),
  'another-signature': result(transactionWith({ signature: 'other' })),
  'of-others': result(transactionWith({ accounts: ['a', 'b'] })),
  'one-token': withTokens('1'),
  'two-tokens': withTokens('2'),
  charged: failing(994_100),
  uncharged: failing(1_000_000),
  'failed-other': failing(994_100, { signature: 'other' }),
  'failed-of-others': failing(994_100, { accounts: ['a', 'b'] }),
};
/** The method of each member of a node, and its response to a value such as `9@300`. */
const MEMBERS: Readonly<Record<string, readonly [method: string, (value: string, slot: number) => Answer]>> =
  {
    height: ['getEpochInfo', (value, slot) => result(epochBody(slot || 500, Number(value)))],
    status: ['getSignatureStatuses', (value) => resultAt([STATUSES[value]], 510)],
    first: ['getFirstAvailableBlock', (value) => result(Number(value))],
    send: ['sendTransaction', () => down],
    balance: ['getBalance', (value, slot) => resultAt(Number(value), slot)],
    tx: ['getTransaction', () => down],
    tip: [
      'getLatestBlockhash',
      (value, slot) => resultAt({ blockhash: value, lastValidBlockHeight: 1 }, slot),
    ],
    valid: ['isBlockhashValid', (value, slot) => resultAt(value === 'yes', slot)],
  };
/** A node as `height:1001 status:none first:7`; it is down for what is not named. */
const nodeOf = (text: string): Record<string, Answer> =>
  Object.fromEntries(
    Object.entries(MEMBERS).map(([name, [method, answer]]) => {
      const word = text.split(' ').find((each) => each.startsWith(`${name}:`));
      const [value = '', slot] = word?.slice(name.length + 1).split('@') ?? ['down'];
      return [method, WORDS[value] ?? answer(value, Number(slot))];
    }),
  );

type Stage = ReturnType<typeof setUp>;
const ASKS: Readonly<Record<string, (stage: Stage, value: string) => Promise<unknown>>> = {
  /** Of each view: node, finalized slot and height, status and its slot, first available slot. */
  async views({ chain, ids }) {
    const views = await chain.views(signingOf(ids), RESERVE);
    const shown = views.map(
      ({ node, finalizedSlot, finalizedHeight, status, statusSlot, firstAvailableSlot }) => {
        const seen = status
          ? `${status.commitment}${status.failed ? ' failure' : ''} in ${status.slot}`
          : 'none';
        const place = `${ids.indexOf(node)} at ${finalizedSlot}/${finalizedHeight}`;
        return `${place} ${seen} at ${statusSlot} from ${firstAvailableSlot}`;
      },
    );
    return shown.join(', ') || 'no views';
  },
  charge: async ({ chain, ids }) => (await chain.views(signingOf(ids), RESERVE))[0]?.status?.charged,
  async send({ chain, methods }) {
    const isAccepted = await chain.send('AQID');
    // The transaction is sent to every node, because one may drop it and another may forward it.
    expect(methods()).toEqual(['0 sendTransaction', '1 sendTransaction']);
    return isAccepted;
  },
  async balance({ chain, requests }, least) {
    const asked = { commitment: 'finalized', ...(least !== '0' && { minContextSlot: Number(least) }) };
    const { lamports, slot } = await chain.balance(BigInt(least)).finally(() => {
      expect(requests[0]?.body).toMatchObject({ params: [RESERVE, asked] });
      expect(Object.keys(Object(requests[0]?.body).params[1])).toEqual(Object.keys(asked));
    });
    return `${lamports} at ${slot}`;
  },
  async landing({ chain, requests }) {
    const found = await chain.landing(SIGNATURE, RESERVE);
    expect(requests[0]?.body).toMatchObject({ params: [SIGNATURE, { commitment: 'finalized' }] });
    return found && `${found.debit} with fee ${found.fee} in ${found.slot} at ${found.blockTime}`;
  },
  /** With the alarm and the stored disagreement, which lasts for an hour. */
  async transaction({ chain, logged, clock }) {
    const shown = await chain.transaction(SIGNATURE).then(
      (found) => (found?.slot === 321n ? `accepted${found.preTokens ? ' with tokens' : ''}` : 'other'),
      ({ details }) => details.reason,
    );
    const isDisputed = shown === 'nodes_disagree';
    expect(logged).toMatchObject(isDisputed ? [{ level: 'alarm', event: 'nodes_disagree' }] : []);
    const question = { question: `transaction ${SIGNATURE}` };
    expect(chain.agreement().disagreement).toEqual(isDisputed ? expect.objectContaining(question) : null);
    clock.now += 3_600_001;
    expect(chain.agreement().disagreement).toBeNull();
    return shown;
  },
  /** Twice, each from one node. */
  async unfinal({ chain, methods }) {
    const shown = await chain.confirmedTransaction(SIGNATURE);
    await chain.confirmedTransaction(SIGNATURE);
    expect(methods()).toEqual(['0 getTransaction', '1 getTransaction']);
    return shown?.slot ?? null;
  },
  state: async ({ chain }) => (await chain.signatureStates([SIGNATURE]))[0],
  async blockhash({ chain, ids }) {
    const { blockhash, slot, version, witnesses } = await chain.latestBlockhash();
    expect(version).toBe(0);
    const heights = witnesses.map((each) => `${ids.indexOf(each.node)} at ${each.slot}/${each.height}`);
    return [`${blockhash} at ${slot}`, ...heights].join(', ');
  },
};

eachScene(`
  the view of one node never contains data of another node | views | height:1001 status:none first:7 | height:900 status:failed-confirmed first:0 | 0 at 500/1001 none at 510 from 7, 1 at 500/900 confirmed failure in 90 at 510 from null
  a view does not read the history while the last valid block of the attempt may still come | views | height:1000 status:none | height:1000 status:none | 0 at 500/1000 none at 510 from null, 1 at 500/1000 none at 510 from null
  a view does not read the history when a status was seen       | views | height:1001 status:final | height:1001 status:confirmed | 0 at 500/1001 finalized in 90 at 510 from null, 1 at 500/1001 confirmed in 90 at 510 from null
  leaves out the view of a node that gives no heights           | views | status:none first:0                | height:1001 status:none first:0 | 1 at 500/1001 none at 510 from 0
  leaves out the view of a node that limits reads of the status | views | height:1001 status:limited first:0 | height:1001 status:none first:0 | 1 at 500/1001 none at 510 from 0
  leaves out the view of a node that gives an empty status list | views | height:1001 status:nothing first:0 | height:1001 status:none first:0 | 1 at 500/1001 none at 510 from 0
  leaves out the view of a node that gives no history           | views | height:1001 status:none first:refused | height:1001 status:none first:0 | 1 at 500/1001 none at 510 from 0
  there are no views when every node is down                    | views | | | no views
  a sent transaction is accepted if both nodes take it                          | send | send:ok        | send:ok      | true
  a sent transaction is accepted if one node takes it                           | send | send:down      | send:ok      | true
  a sent transaction is accepted if one node reports that it is on the chain    | send | send:already   | send:down    | true
  a sent transaction is not accepted if both nodes refuse it                    | send | send:unhealthy | send:limited | false
  a sent transaction is not accepted if both nodes are down                     | send | send:down      | send:down    | false
  one node reads a finalized balance that is at least as new as the requested slot | balance 250 | balance:5@300 | alone | 5 at 300
  a read of the balance without a minimum slot does not send one to the nodes      | balance 0   | balance:5@300 | alone | 5 at 300
  a balance is the lower one of two nodes, at the older of their slots             | balance 250 | balance:9@300 | balance:5@310 | 5 at 300
  a balance is unknown when one of two nodes reports that it is behind             | balance 250 | balance:behind | balance:5@300 | quorum_missing
  a balance is unknown when one of two nodes is behind and does not report it      | balance 250 | balance:9@249 | balance:5@300 | quorum_missing
  a balance is unknown when one of two nodes is down                               | balance 250 | balance:down | balance:5@300 | quorum_missing
  the fee of a finalized failure was charged if it took lamports from the reserve            | charge | height:900 status:failed tx:charged          | alone | true
  the fee of a finalized failure was not charged if the reserve kept its lamports            | charge | height:900 status:failed tx:uncharged        | alone | false
  the fee of a finalized failure is unread while the node does not have it                   | charge | height:900 status:failed tx:absent           | alone | null
  the fee of a finalized failure is unread while the node is down                            | charge | height:900 status:failed tx:down             | alone | null
  the fee of a finalized failure is unread if the node shows a success                       | charge | height:900 status:failed tx:found            | alone | null
  the fee of a finalized failure is unread if the node shows another transaction             | charge | height:900 status:failed tx:failed-other     | alone | null
  the fee of a finalized failure is unread if the reserve has no part in the transaction     | charge | height:900 status:failed tx:failed-of-others | alone | null
  the charged fee is read only for a failure                                                 | charge | height:900 status:final tx:charged           | alone | null
  the charged fee is read only for a finalized failure                                       | charge | height:900 status:failed-confirmed tx:charged | alone | null
  the debit of a landed transaction is the sum that it took from the reserve, fee included   | landing | tx:found             | tx:found             | 505900 with fee 5900 in 321 at 1790000000
  the debit of a landed transaction is null when the nodes do not have it                    | landing | tx:absent            | tx:absent            | null
  the debit of a landed transaction is null when the nodes give another transaction          | landing | tx:another-signature | tx:another-signature | null
  the debit of a landed transaction is null when the nodes show it failed                    | landing | tx:an-error          | tx:an-error          | null
  the debit of a landed transaction is null when the reserve has no part in it               | landing | tx:of-others         | tx:of-others         | null
  the debit of a landed transaction is null while one of two nodes does not have it          | landing | tx:found             | tx:absent            | null
  a finalized transaction is accepted when both nodes return the same data                   | transaction | tx:found             | tx:found      | accepted
  a finalized transaction is accepted from one node if only one is configured                | transaction | tx:found             | alone         | accepted
  a finalized transaction is unknown while one of two nodes is down                          | transaction | tx:found             | tx:down       | quorum_missing
  a finalized transaction with another slot on one node raises an alarm                      | transaction | tx:another-slot      | tx:found      | nodes_disagree
  a finalized transaction with an error on one node raises an alarm                          | transaction | tx:an-error          | tx:found      | nodes_disagree
  a finalized transaction with other balances on one node raises an alarm                    | transaction | tx:other-balances    | tx:found      | nodes_disagree
  a finalized transaction with other accounts on one node raises an alarm                    | transaction | tx:other-accounts    | tx:found      | nodes_disagree
  a finalized transaction with another signature on one node raises an alarm                 | transaction | tx:another-signature | tx:found      | nodes_disagree
  a finalized transaction with other token balances on one node raises an alarm              | transaction | tx:one-token         | tx:two-tokens | nodes_disagree
  the token balances of a finalized transaction are unknown if one node lacks them           | transaction | tx:one-token         | tx:found      | accepted
  the token balances of a finalized transaction are accepted if both nodes show them         | transaction | tx:one-token         | tx:one-token  | accepted with tokens
  a transaction that is not final is read from one node only, and from the next node the next time | unfinal | tx:found | tx:found | 321
  a transaction that is not final is unknown while the node is down                          | unfinal | tx:down          | tx:found         | null
  the state of a signature is final if any node shows it finalized                           | state   | status:processed | status:final     | final
  the state of a signature is confirmed if a node shows it confirmed and another has none    | state   | status:none      | status:confirmed | confirmed
  the state of a signature is pending if a node shows it processed                           | state   | status:none      | status:processed | pending
  the state of a signature is unknown if every node responds and none has it                 | state   | status:none      | status:none      | unknown
  the state of a signature is pending while one node is down and the other has none          | state   | status:none      | status:down      | pending
  the state of a signature cannot be read while every node is down                           | state   | status:down      | status:down      | unreachable
  a blockhash is returned with the block height of each node, read after that node has seen the blockhash | blockhash | tip:a@100 valid:yes@101 height:71@101 | tip:b@103 valid:yes@104 height:74@104 | a at 101, 0 at 101/71, 1 at 104/74
  a blockhash is refused when the second node does not accept it                             | blockhash | tip:a@100 valid:yes@101 height:71@101 | valid:no@104 height:74@104  | quorum_missing
  a blockhash is refused when the second node is down                                        | blockhash | tip:a@100 valid:yes@101 height:71@101 | height:74@104               | quorum_missing
  a blockhash is refused when the height of the second node is from long before it has seen it | blockhash | tip:a@100 valid:yes@101 height:71@101 | valid:yes@104 height:57@87 | quorum_missing
  a blockhash that both nodes return long after it was the newest is refused                 | blockhash | tip:a@100 valid:no@117 height:88@117  | tip:a@100 valid:no@117 height:88@117  | quorum_missing
  a blockhash that both nodes accept long after it was the newest is returned                | blockhash | tip:a@100 valid:yes@117 height:88@117 | tip:a@100 valid:yes@117 height:88@117 | a at 117, 0 at 117/88, 1 at 117/88
  a blockhash that two nodes return as their newest is not requested again                   | blockhash | tip:a@100 valid:no@100 height:71@100  | tip:a@101 valid:no@101 height:72@101  | a at 100, 0 at 100/71, 1 at 101/72
`)('%s', async (_title, asked = '', first = '', second = '', expected) => {
  const [name = '', value = ''] = asked.split(' ');
  const stage = setUp(nodeOf(first), nodeOf(second), second === 'alone' ? 1 : 2);
  const shown = await ASKS[name]?.(stage, value).catch(({ code, details }) => details.reason ?? code);
  expect(String(shown)).toBe(expected);
});

it('views read the block height of a node first, then the status, and the first slot of its history last', async () => {
  const { chain, methods, ids } = setUp(nodeOf('height:1001 status:none first:0'));
  await chain.views(signingOf(ids), RESERVE);
  expect(methods().filter((call) => call.startsWith('0'))).toEqual([
    '0 getEpochInfo',
    '0 getSignatureStatuses',
    '0 getFirstAvailableBlock',
  ]);
});

it('views request finalized data from all nodes, and statuses with a search of the history', async () => {
  const node = nodeOf('height:1001 status:none first:0');
  const { chain, requests, ids } = setUp(node, node);
  await chain.views(signingOf(ids), RESERVE);
  const of = (method: string) =>
    requests.find(({ body }) => Reflect.get(Object(body), 'method') === method)?.body;
  expect(of('getEpochInfo')).toMatchObject({ params: [{ commitment: 'finalized' }] });
  expect(of('getSignatureStatuses')).toMatchObject({
    params: [[SIGNATURE], { searchTransactionHistory: true }],
  });
});

eachScene(`
  a node that responds first with 0 does not lower the balance          | 0 9 9    | 9
  a node that responds second with 0 does not lower the balance         | 9 0 9    | 9
  a node that responds first with ten times as much does not raise it   | 90 9 9   | 9
  the balance of two nodes does not wait for the third                  | 9 9 hang | 9
  nodes that differ give the balance that two of them reach             | 7 9 8    | 8
  with one node down, the balance is the lower one of the other two     | 7 9 down | 7
`)('%s', async (_title, shown = '', expected = '') => {
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

it('waits for a finalized transaction that only one of two nodes shows, and raises an alarm after ten minutes', async () => {
  const { chain, logged, clock } = setUp(
    { getTransaction: WORDS.found ?? down },
    { getTransaction: result(null) },
  );
  expect(await chain.transaction(SIGNATURE)).toBeNull();
  clock.now += 600_001;
  expect(await chain.transaction(SIGNATURE)).toBeNull();
  expect(await chain.transaction(SIGNATURE)).toBeNull();
  expect(logged).toMatchObject([{ level: 'alarm', event: 'quorum_missing', answered: expect.any(Array) }]);
  expect(chain.agreement().quorumMissingSince).toBe(clock.now - 600_001);
});

it('reads the newest signatures of an address from one node, and none while that node is down', async () => {
  const shown = { signature: SIGNATURE, slot: 90, err: null, memo: null, blockTime: null };
  const listed = result([listedBody(shown, 'confirmed')]);
  const { chain, methods } = setUp({ getSignaturesForAddress: listed }, { getSignaturesForAddress: down });
  expect(await chain.newestOf(RESERVE)).toEqual([SIGNATURE]);
  expect(await chain.newestOf(RESERVE)).toEqual([]);
  expect(methods()).toEqual(['0 getSignaturesForAddress', '1 getSignaturesForAddress']);
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
    const honest = nodeOf('tip:a@20000 valid:yes@20000 height:471@20000');
    const { chain } = setUp(honest, honest);
    await chain.checkFinality();
    const later = setUp(honest, nodeOf(`tip:a@${shown} valid:yes@${shown} height:471@${shown}`)).chain;
    later.recall(chain.memory());
    const slot = later.latestBlockhash().then(
      (found) => found.slot,
      ({ details }) => details.reason,
    );
    expect(await slot).toBe(expected);
  },
);
