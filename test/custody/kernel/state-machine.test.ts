import { describe, expect, it } from 'vitest';
import { lamports } from '../../../src/core/amount.ts';
import type { Observation } from '../../../src/custody/kernel/observation.ts';
import type { KindRules, Landing, Operation, State } from '../../../src/custody/kernel/operation.ts';
import { code, parseReason, reasonText, upstream } from '../../../src/custody/kernel/reason.ts';
import { effectOf, step } from '../../../src/custody/kernel/state-machine.ts';
import {
  closed,
  deathProof,
  done,
  FEE,
  NOW,
  outstanding,
  PAYOUT,
  planned,
  SOL,
  SWAP,
  settling,
  signed,
  signingOf,
  statusOf,
  view,
} from '../../kit/sample-operations.ts';
import { msOf, playScenes } from '../../kit/scenes.ts';

const LATER = NOW + 5_000;
const LANDING: Landing = { slot: 940n, blockTime: 1, fee: lamports(FEE), debit: lamports(SOL + FEE) };
const ROWS = { planned, signed, settling, done, outstanding, closed } as const;
type Row = keyof typeof ROWS;

const viewed = (views: Extract<Observation, { type: 'viewed' }>['views'], landing: Landing | null = null) =>
  ({ type: 'viewed', quorum: 1, views, landing }) as const;
const shown = (commitment: 'confirmed' | 'finalized', failed = false) =>
  view({ status: statusOf(commitment, failed) });
const settled = (settlement: Extract<Observation, { type: 'settlement' }>['settlement']) =>
  ({ type: 'settlement', settlement }) as const;
const returned = { state: 'incomplete', reason: 'refunded', arrived: true, outcome: {} } as const;

const SEEN = {
  refused: { type: 'refused', reason: code('quote_amount') },
  found: { type: 'found', outcome: { mint: 'x' } },
  unprepared: { type: 'unprepared', reason: upstream('timeout'), waiting: 1 },
  unsigned: { type: 'unsigned', reason: upstream('timeout') },
  signed: { type: 'signed', signing: signingOf('two'), plan: { a: '1' }, cost: 5n },
  unfinished: {
    type: 'signed',
    signing: { ...signingOf('two'), lacksSignature: true },
    plan: {},
    cost: 0n,
  },
  incomplete: { type: 'incomplete', reason: upstream('witness_unreachable') },
  completed: { type: 'completed', wire: 'complete' },
  accepted: { type: 'sent', accepted: true },
  unaccepted: { type: 'sent', accepted: false },
  nothing: viewed([view()]),
  confirmed: viewed([shown('confirmed')]),
  finalized: viewed([shown('finalized')]),
  landed: viewed([shown('finalized')], LANDING),
  /** Two nodes agree; the slot of the first is a lie. */
  rejected: viewed([
    view({ status: { ...statusOf('finalized', true), slot: 10n ** 15n } }),
    ...[shown('finalized', true), shown('finalized', true)],
  ]),
  expired: viewed([deathProof()]),
  pending: settled({ state: 'pending', detail: 'settling' }),
  awaited: settled({ state: 'pending', detail: 'settling', awaitsBlock: true }),
  moved: settled({ state: 'pending', detail: 'settling', hasMoved: true }),
  searching: settled({ state: 'pending', detail: 'settling', progress: { page: 2 }, continues: true }),
  paid: settled({ state: 'complete', outcome: { btcSats: '1' } }),
  returned: settled(returned),
  'returned at 9': settled({ ...returned, cost: lamports(9n) }),
  broken: settled({ state: 'incomplete', reason: 'bridge_failed', arrived: false, outcome: {} }),
  unreachable: { type: 'unreachable' },
} as const satisfies Record<string, Observation>;
type Seen = keyof typeof SEEN;

/** The observations that change a row of each state; every other pair must leave it unchanged. */
const WATCHED: Seen[] = ['nothing', 'confirmed', 'finalized', 'landed', 'rejected', 'expired'];
const SETTLED: Seen[] = [
  'pending',
  'awaited',
  'moved',
  'searching',
  'paid',
  'returned',
  'returned at 9',
  'broken',
];
const TAKES: Record<Row, Seen[]> = {
  planned: ['refused', 'found', 'unprepared', 'unsigned', 'signed', 'unfinished'],
  signed: ['incomplete', 'completed', 'accepted', 'unaccepted', ...WATCHED, 'unreachable'],
  settling: [...SETTLED, 'unreachable'],
  done: [],
  outstanding: [...SETTLED, 'unreachable'],
  closed: [],
};

describe('every state with every observation', () => {
  const pairs = (Object.keys(ROWS) as Row[]).flatMap((row) =>
    (Object.keys(SEEN) as Seen[]).map((seen) => [row, seen] as const),
  );
  it.each(pairs)(
    'in the state %s, the observation %s changes the row only if it applies there',
    (row, seen) => {
      const before = ROWS[row]();
      const after = step(before, SEEN[seen], SWAP, LATER);
      if (TAKES[row].includes(seen))
        expect(after).toMatchObject({ updatedAt: LATER, seq: before.seq, id: before.id });
      // The very same row: nothing is written for it.
      else expect(after).toBe(before);
    },
  );

  it('ignores every observation in a state of a newer version', () => {
    const unknown = planned({ state: 'melting' as State });
    for (const seen of Object.values(SEEN)) expect(step(unknown, seen, SWAP, LATER)).toBe(unknown);
    expect(effectOf(unknown)).toBe('none');
  });
});

const NAMED: readonly (readonly [bigint, string])[] = [
  [SOL, 'SOL'],
  [SOL + FEE, 'SOL+fee'],
  [FEE, 'fee'],
  [2n * FEE, '2fee'],
];
const written = (atoms: bigint): string => NAMED.find(([value]) => value === atoms)?.[1] ?? String(atoms);
const readAtoms = (text: string): bigint => NAMED.find(([, name]) => name === text)?.[0] ?? BigInt(text);

function valueIn(name: string, text: string): unknown {
  if (['reserved', 'cost', 'unsettled'].includes(name)) return lamports(readAtoms(text));
  if (name === 'reason') return parseReason(text);
  return /^\d+$/.test(text) ? Number(text) : text;
}

/** Plays the observations of one operation. `at` is the time since it was requested. */
function createVerbs() {
  let rules: KindRules = SWAP;
  let row: Operation = planned();
  let now = LATER;
  const start = (own: KindRules, change: Partial<Operation>) => (state: string, words: string[]) => {
    rules = own;
    const changes = words.map((word) => word.split('=') as [string, string]);
    const more = Object.fromEntries(changes.map(([name, text]) => [name, valueIn(name, text)]));
    row = ROWS[state as Row]({ ...change, ...more });
  };
  const money = ['amount', 'reserved', 'unsettled', 'cost'] as const;
  const see = (seen: Observation, times = '1') => {
    for (let time = 0; time < Number(times); time++) row = step(row, seen, rules, now);
  };
  return {
    swap: (state: string, ...words: string[]) => start(SWAP, {})(state, words),
    payout: (state: string, ...words: string[]) =>
      start(PAYOUT, { kind: 'asry', unsettled: lamports(0n) })(state, words),
    'ends-when-rejected': () => {
      rules = { ...rules, endsWhenRejected: true };
    },
    at: (time: string) => {
      now = NOW + msOf(time);
    },
    see: (name: string, times?: string) => see(SEEN[name.replaceAll('-', ' ') as Seen], times),
    /** Nodes that show the attempt with these numbers of slots until it is final. */
    lags: (...slots: string[]) =>
      see(
        viewed(
          slots.map((missing) =>
            view({ status: statusOf('confirmed'), finalizedSlot: 940n - BigInt(missing) }),
          ),
        ),
      ),
    /** A preparation that failed while this number of operations wait. */
    waiting: (count: string) => see({ ...SEEN.unprepared, waiting: Number(count) }),
    row: () => [row.state, row.detail, reasonText(row.reason) ?? 'no-reason'].join(' '),
    money: () => money.map((name) => written(row[name])).join(' '),
    due: () => (row.dueAt === null ? 'never' : `${Math.round(row.dueAt - now)}ms`),
    looks: () => row.looks,
    attempt: () => row.attempt,
    next: () => effectOf(row),
    released: () => row.releasedSlot ?? 'not',
    signature: () => row.signing?.signature ?? 'none',
    lacks: () => (row.signing?.lacksSignature ? 'signature' : 'nothing'),
    outcome: () => JSON.stringify(row.outcome),
    plan: () => JSON.stringify(row.plan),
    landing: () => row.landing?.slot,
  };
}

playScenes(`
  an intent is prepared, even after its first attempt expired
    | swap planned; next = prepare; swap planned reason=expired attempt=2; next = prepare
  an intent that is held waits for the operator
    | swap planned reason=held_unknown_state; next = none
  stored bytes that were not sent are sent
    | swap signed detail=signed looks=0; next = send
  sent bytes are watched even if no node accepted them, because a node may have done so without a response
    | swap signed looks=1; next = watch; swap signed detail=signed looks=1; next = watch
  a swap is checked while one lamport is outstanding, and ends when no lamport is outstanding
    | swap settling; next = settle; swap outstanding; next = settle; swap outstanding unsettled=1; next = settle; swap outstanding unsettled=0; next = none
  an ended operation needs no further step
    | swap closed; next = none; swap done; next = none
  a refusal ends a swap that is not signed, and frees what it reserved
    | swap planned; see refused; row = failed refused quote_amount; money = 0 0 0 0; due = never; released = not; plan = {"bodyHash":null,"askedLamports":"1000000000"}
  a failed preparation ends a swap, and frees what it reserved
    | swap planned; see unprepared; row = failed refused upstream_timeout; money = 0 0 0 0; due = never; released = not; plan = {"bodyHash":null,"askedLamports":"1000000000"}
  a payout whose preparation failed keeps its reservation and is retried with growing delays
    | payout planned; see unprepared; row = planned planned upstream_timeout; money = SOL SOL+fee 0 0; looks = 1; due = 2000ms; see unprepared; due = 2600ms; see unprepared 28; looks = 30; due = 60000ms
  a failed preparation is repeated at least once a minute while few operations wait
    | payout planned looks=100; waiting 6; due = 60000ms
  a failed preparation is repeated less often when more operations wait: 10 s for each, at most an hour
    | payout planned looks=100; waiting 7; due = 70000ms; payout planned looks=100; waiting 360; due = 3600000ms; payout planned looks=100; waiting 100000; due = 3600000ms
  an operation whose outcome is already on the chain is done without a signature
    | payout planned kind=token; see found; row = done done no-reason; money = SOL 0 0 0; due = never; signature = none; outcome = {"mint":"x"}
  signing stores the signed bytes and records the amount as unsettled
    | swap planned; see signed; row = signed signed no-reason; money = SOL SOL+fee SOL 5; signature = signature-two; looks = 0; due = 0ms; plan = {"bodyHash":null,"a":"1"}; next = send
  a signed payout has no exposure, because nothing is expected in return
    | payout planned; see signed; money = SOL SOL+fee 0 5
  an attempt that lacks a signature of another key is watched like any other, and completed with growing delays
    | payout planned; see unfinished; row = signed signed no-reason; lacks = signature; due = 2000ms; next = send; see incomplete; row = signed signed upstream_witness_unreachable; due = 2000ms; next = watch; see nothing; row = signed signed upstream_witness_unreachable; see incomplete; due = 3380ms; see completed; row = signed signed no-reason; lacks = nothing; next = send; see accepted; row = signed sent no-reason
  an attempt that lacks a signature ends only after a proven expiry, is not counted, and keeps its reason
    | payout planned attempt=3; see unfinished; see incomplete; see expired; row = planned planned upstream_witness_unreachable; attempt = 3; signature = none; next = prepare; see unfinished; row = signed signed upstream_witness_unreachable
  an attempt that lacks a signature waits for the operator until its end is proven
    | payout planned; see unfinished; see nothing 501; row = signed signed held_unproven; see incomplete; row = signed signed held_unproven
  a failure on the chain proves that the other key has signed, so the attempt is counted
    | payout planned attempt=3; see unfinished; see rejected; row = failed rejected rejected
  an attempt that the other key has completed and sent itself is done once it has landed
    | payout planned; see unfinished; see incomplete; see landed; row = done done no-reason
  an operation with an expiring quote waits at most two minutes for its signature
    | at 119999ms; swap planned; see unsigned; row = planned planned upstream_timeout; at 2m; swap planned; see unsigned; row = failed refused upstream_timeout
  an operation without an expiring quote waits for its signature without limit, and is first retried after 2 s
    | at 1d; payout planned; see unsigned; row = planned planned upstream_timeout; due = 2000ms
  a send is reported as sent only if a node accepted it, and the chain is checked either way
    | swap signed detail=signed looks=0; see accepted; row = signed sent no-reason; looks = 1; next = watch; swap signed detail=signed looks=0; see unaccepted; row = signed signed no-reason; looks = 1; next = watch
  the interval of the checks grows by a factor of 1.3
    | swap signed looks=0; see nothing; due = 100ms; see nothing; due = 130ms; see nothing; due = 169ms; swap signed looks=10; see nothing; due = 1379ms
  the next check of a transaction that a node shows is planned from the slots that are not final
    | swap signed looks=0; lags 32; due = 2000ms; swap signed looks=0; lags 9 5; due = 500ms; swap signed looks=0; lags 1; due = 100ms
  a node that never shows a transaction as final is not asked more and more often
    | swap signed looks=9; lags 0; due = 1060ms; swap signed looks=150; lags 1; due = 60000ms
  without proof of landing or expiry, checks become rare after the 150th
    | swap signed looks=149; see nothing; due = 2000ms; see nothing; due = 60000ms
  the 500th check without proof alerts the operator, and the final result of the chain is still recorded
    | swap signed looks=499; see nothing; row = signed sent no-reason; see nothing; row = signed sent held_unproven; next = watch; see landed; row = settling settling no-reason
  a confirmed attempt is shown as landed, but its operation stays signed until it is final
    | swap signed; see confirmed; row = signed landed no-reason; money = SOL SOL+fee SOL 10000000; see nothing; row = signed sent no-reason
  a final success releases no reservation until the transaction itself has been read
    | swap signed looks=9; see finalized; row = signed landed no-reason; money = SOL SOL+fee SOL 10000000; released = not; see landed; row = settling settling no-reason; money = SOL 0 SOL 10000000; released = 940; landing = 940; looks = 0; due = 0ms
  a payout is done once it has landed, because nothing is expected in return
    | payout signed; see landed; row = done done no-reason; money = SOL 0 0 0; released = 940; due = never
  a final failure ends the whole reservation, for balances of its slot or later
    | swap signed; see rejected; row = failed rejected rejected; money = 0 0 0 fee; released = 940; due = never
  a rejected swap costs its fee and priority fee, or its cost when that is less
    | swap signed cost=5899; see rejected; money = 0 0 0 5899; swap signed reserved=1000011800; see rejected; money = 0 0 0 2fee
  a proven expiry ends a swap at no cost, because nothing was spent
    | swap signed; see expired; row = failed expired expired; money = 0 0 0 0; signature = signature-one
  an operation of a kind that ends when it is rejected is signed again only after an expiry
    | payout signed; ends-when-rejected; see rejected; row = failed rejected rejected; attempt = 1; payout signed; ends-when-rejected; see expired; row = planned planned expired; attempt = 2
  a payout is planned again after a proven expiry, up to its maximum of attempts
    | payout signed; see expired; row = planned planned expired; money = SOL SOL+fee 0 0; attempt = 2; signature = none; looks = 0; due = 0ms; payout signed attempt=2; see expired; attempt = 3; payout signed attempt=3; see expired; row = failed expired expired; money = 0 0 0 0; attempt = 3
  a payout is planned again after a final failure, up to its maximum of attempts
    | payout signed; see rejected; row = planned planned rejected; money = SOL SOL+fee 0 0; attempt = 2; signature = none; payout signed attempt=3; see rejected; row = failed rejected rejected; attempt = 3
  the checks of a settlement begin 0.1 seconds apart and end a minute apart, or ten seconds while a block is awaited
    | swap settling looks=0; see pending; due = 100ms; see pending 59; due = 60000ms; swap settling looks=0; see awaited; due = 100ms; see awaited 59; due = 10000ms
  the next check of a settlement is soon if the counterpart has moved
    | swap settling looks=20; see moved; looks = 1; due = 100ms
  checks of an unfinished search are a second apart, keep its progress, and do not increase the number of checks
    | swap settling looks=5; see searching; looks = 5; due = 1000ms; outcome = {"page":2}
  a settlement that waits for six hours alerts the operator, and the checks continue
    | at 6h; swap settling; see pending; row = settling settling no-reason; at 6h1ms; see pending; row = settling held held_unsettled; money = SOL 0 SOL 10000000; next = settle; see paid; row = done done no-reason; money = SOL 0 0 10000000
  a settlement that is unreachable for six hours alerts the operator
    | at 6h; swap settling; see unreachable; row = settling settling no-reason; at 6h1ms; see unreachable; row = settling held held_unsettled
  a refunded swap is not a success, and its exposure ends
    | swap settling looks=9; see returned; row = failed refunded refunded; money = SOL 0 0 10000000; due = never; looks = 0
  the cost of a refund is recorded as the settlement states it, otherwise as agreed
    | swap settling cost=5; see returned-at-9; money = SOL 0 0 9; swap settling cost=5; see returned; money = SOL 0 0 5
  a swap that the bridge failed keeps its exposure, and is checked once an hour
    | swap settling; see broken; row = failed bridge_failed bridge_failed; money = SOL 0 SOL 10000000; due = 3600000ms; at 6s; see broken; due = 3600000ms; at 7s; see unreachable; money = SOL 0 SOL 10000000; due = 3600000ms
  checks for money that may still arrive are an hour apart, and increase the number of checks
    | swap outstanding looks=5; see pending; looks = 6; due = 3600000ms
  money that arrives after a failure is recorded, and the swap stays failed
    | swap outstanding; see paid; row = failed late bridge_failed; money = SOL 0 0 10000000; due = never; outcome = {"btcSats":"1"}; swap outstanding; see returned; row = failed refunded refunded; money = SOL 0 0 10000000; due = never
`)(createVerbs);
