import { expect, it } from 'vitest';
import type { BudgetTerms } from '../../../src/core/budget.ts';
import { AppError } from '../../../src/core/errors.ts';
import { type Lookup, SignatureLookups } from '../../../src/custody/nodes/signature-lookups.ts';
import type { SignatureState } from '../../../src/custody/nodes/solana-view.ts';
import { Admission, CallSlots } from '../../../src/providers/admission.ts';
import { msOf, playScenes } from '../../kit/scenes.ts';
import { createScheduler } from '../../simulator/scheduler.ts';
import { chainTransaction } from '../../world/solana-shapes.ts';

const SECOND = 1_000;
/** What one node shows, unlike the quorum. */
const ONE_NODES_FEE = 666n;
const OWN = '203.0.113.7';
const OTHER = '198.51.100.9';
const times = <T>(count: number, make: (at: number) => T): T[] =>
  Array.from({ length: count }, (_, at) => make(at));

/** Lookups on a virtual clock; a node answers each call after a tenth of a second. @param terms of reads; not limited if absent */
function setUp(terms?: BudgetTerms) {
  const scheduler = createScheduler();
  const states = new Map<string, SignatureState>();
  const state = {
    down: false,
    quorum: true,
    spent: false,
    oneNodeMs: 0,
    polls: [] as (readonly string[])[],
    reads: [] as string[],
    /** What the node lists for each payee, and the payees whose list was read. */
    payments: [] as string[],
    lists: [] as string[],
  };
  const now = () => 1_800_000_000_000 + scheduler.now();
  const clock = { now, after: scheduler.after };
  const slots = new CallSlots(clock);
  const admission = new Admission(() => terms, clock);
  const lookups = new SignatureLookups({
    now,
    sleep: scheduler.sleep,
    payees: ['wallet', 'account'],
    chain: {
      async signatureStates(signatures) {
        state.polls.push(signatures);
        await scheduler.sleep(100);
        if (state.down) throw new Error('no node answers');
        return signatures.map((signature) => states.get(signature) ?? 'unknown');
      },
      async transaction(signature) {
        if (state.spent) throw new AppError('RATE_LIMITED', 'The share of this caller is used up.');
        const end = await admission.admit('node', 'https://node.test');
        state.reads.push(signature);
        await scheduler.sleep(100);
        end(false);
        return states.get(signature) === 'final' && state.quorum ? chainTransaction(signature) : null;
      },
      async confirmedTransaction(signature) {
        await scheduler.sleep(state.oneNodeMs);
        return { ...chainTransaction(signature), fee: ONE_NODES_FEE };
      },
      async newestOf(payee) {
        state.lists.push(payee);
        await scheduler.sleep(100);
        return state.payments;
      },
    },
  });
  /** The results of lookups that begin together. */
  async function find(asked: readonly (Pick<Lookup, 'signature'> & Partial<Lookup>)[]) {
    let ended = 0;
    const found = asked.map(
      async ({ signature, client = OWN, waitMs = 0, unknownMs = waitMs, until = 'final' }) => {
        try {
          const lookup = { signature, client, waitMs, unknownMs, until };
          return await slots.run('own', () => lookups.find(lookup));
        } finally {
          ended++;
        }
      },
    );
    const settled = Promise.allSettled(found);
    await scheduler.run(scheduler.now() + 60 * SECOND, () => ended === asked.length);
    return (await settled).map((each) =>
      each.status === 'fulfilled'
        ? each.value.type === 'refused'
          ? each.value.refusal.details?.limit
          : each.value.type
        : 'failed',
    );
  }
  return { scheduler, slots, lookups, states, state, find };
}

/** Plays the lookups of callers. `find` gives the distinct results; `took` is the time of the last one. */
function createVerbs() {
  let w = setUp();
  let began = 0;
  const later = (after: string | undefined, act: () => unknown) =>
    after === undefined ? act() : w.scheduler.after(msOf(after), () => void act());
  return {
    /** Reads in a second. */
    rate: (total: string) => {
      w = setUp({ total: Number(total), windowMs: SECOND });
    },
    shows: (signature: string, state: string, after?: string) =>
      later(after, () => w.states.set(signature, state as SignatureState)),
    set: (name: 'down' | 'spent' | 'quorum', value: string, after?: string) =>
      later(after, () => Object.assign(w.state, { [name]: value === 'true' })),
    /** @param terms `wait:`, `unknown:` and `until:`, a `client:`, `calls:` of one signature, or `each:` of its own, and a last one of our client */
    async find(signature: string, ...terms: string[]) {
      const {
        wait = '0s',
        unknown = wait,
        client = 'own',
        until = 'final',
        calls = '1',
        each,
        and,
      } = Object.fromEntries(terms.map((term) => term.split(':'))) as Record<string, string>;
      began = w.scheduler.now();
      const asked = times(Number(each ?? calls), (at) => ({
        signature: each === undefined ? signature : `${signature}${at}`,
        client:
          {
            own: OWN,
            other: OTHER,
            strangers: `198.51.${at}.1`,
            network: `10.1.1.${at % 250}`,
            networks: `10.2.${at % 250}.1`,
          }[client] ?? '',
        waitMs: msOf(wait),
        unknownMs: msOf(unknown),
        until: until as Lookup['until'],
      }));
      const found = await w.find(and === undefined ? asked : [...asked, { signature: and }]);
      return [...new Set(found)]
        .map((name) => `${name} ${found.filter((other) => other === name).length}`)
        .join(' ');
    },
    /** Calls that name new signatures one after another. */
    async stream(count: string, pause: string, wait: string) {
      const lookup = { client: OWN, waitMs: msOf(wait), unknownMs: msOf(wait), until: 'final' } as const;
      for (let call = 0; call < Number(count); call++)
        w.scheduler.after(
          call * msOf(pause),
          () => void w.lookups.find({ ...lookup, signature: `new ${call}` }),
        );
      await w.scheduler.run(w.scheduler.now() + Number(count) * msOf(pause), () => false);
    },
    /** What the node lists for each payee. */
    lists: (...payments: string[]) => Object.assign(w.state, { payments }),
    polls: () => w.state.polls.map(({ length }) => length).join(' '),
    'polls-are-fewer-than': (count: string) => w.state.polls.length < Number(count),
    reads: () => w.state.reads.join(' ') || 'none',
    'first-reads': (count: string) => w.state.reads.slice(0, Number(count)).join(' '),
    'first-lists': (count: string) => w.state.lists.slice(0, Number(count)).join(' '),
    'lists-are-fewer-than': (count: string) => w.state.lists.length < Number(count),
    'reads-are-fewer-than': (count: string) => w.state.reads.length < Number(count),
    read: () => w.state.lists.join(' ') || 'none',
    'took-at-most': (time: string) => w.scheduler.now() - began <= msOf(time),
    'took-at-least': (time: string) => w.scheduler.now() - began >= msOf(time),
  };
}

playScenes(`
  after the first signature, one poll asks the nodes for all waiting signatures
    | find s each:20 client:strangers = unknown 20; polls = 1 19
  polls less and less often for a signature that no node has, however many callers name it
    | find invented wait:50s = unknown 1; polls-are-fewer-than 9 = true; find invented calls:20; polls-are-fewer-than 9 = true
  polls at most 29 times in 20 s for a client that looks up ten signatures a second
    | stream 200 100ms 15s; polls-are-fewer-than 30 = true; reads = none
  polls at once for a caller that arrives just after a poll for another caller: its poll and its read take 0.1 s each
    | shows one final; shows two final; find one wait:1s = final 1; find two wait:1s = final 1; took-at-most 200ms = true
  reads a payment before the transactions that strangers named earlier, and both payees' lists once a second meanwhile
    | rate 2; ${times(12, (at) => `shows s${at} final`).join('; ')}; shows paid final; lists paid another; find s each:12 client:strangers and:paid = final 13; first-reads 4 = s0 s1 paid s2; first-lists 2 = wallet account; lists-are-fewer-than 15 = true
  the poll continues while the nodes fail for a moment, and fails when its time limit has passed
    | shows paid final; set down true; find paid = failed 1; set down false 3s; find paid wait:10s = final 1
  a wait ends after its own limit when no node shows the signature
    | find none wait:10s unknown:0s = unknown 1; took-at-most 100ms = true; shows sent pending; find sent wait:10s unknown:0s = pending 1; took-at-least 10s = true
  a payment is found within half a second after it is final
    | shows paid confirmed; shows paid final 1s; find paid wait:10s = final 1; took-at-most 1499ms = true
  a wait fails after the nodes have failed for five seconds
    | set down true; find paid wait:25s = failed 1; took-at-most 6999ms = true
  a wait for a payment ends when the payment is confirmed or final, as the caller requested
    | shows paid confirmed 1s; find paid wait:10s until:confirmed = confirmed 1; shows paid final 12s; find paid wait:20s = final 1
  reads a finalized transaction once for all callers that wait for it
    | shows paid final; find paid calls:2 = final 2; find paid client:other = final 1; reads = paid
  reads no list of payments while only four reads wait
    | rate 2; shows s0 final; shows s1 final; shows s2 final; shows s3 final; find s each:4 client:strangers = final 4; read = none; shows later final; find later = final 1; read = none
  a caller without a share of the calls does not make the read of a payment fail for others
    | shows paid final; set spent true; find paid client:other = upstream_calls 1; set spent false; find paid = final 1
  a network may wait for one signature 512 times at once
    | find one calls:1000 client:network wait:1s = unknown 512 lookup_waits 488
  250 networks use at most half of the 4,096 waits, so that each new network still has two
    | find one calls:20000 client:networks wait:1s = unknown 1992 lookup_waits 18008
  repeated reads without a quorum do not use up the share of a network
    | shows foreign final; set quorum false; find foreign wait:55s = pending 1; reads-are-fewer-than 10 = true; set quorum true; find foreign wait:20s = final 1
`)(createVerbs);

it('limits how many signatures one network waits for, so that other networks can wait too', async () => {
  const { find } = setUp();
  const many = (client: string, count: number) =>
    times(count, (at) => ({ signature: `${client} ${at}`, client, waitMs: SECOND }));
  const found = await find([...many(OWN, 100), ...many(OTHER, 3)]);
  expect(found.slice(0, 100).filter((each) => each === 'signature_lookups')).toHaveLength(68);
  expect(found.slice(100)).toEqual(['unknown', 'unknown', 'unknown']);
  expect(await find(many(OWN, 1))).toEqual(['unknown']);
});

it('gives node calls for our own operations priority over lookups for callers', async () => {
  const slots = new CallSlots();
  const admission = new Admission();
  const order: string[] = [];
  async function call(name: string): Promise<void> {
    const leave = await admission.admit('node', 'https://node.test');
    order.push(name);
    leave(false);
  }
  const lookups = new SignatureLookups({
    now: () => 1_800_000_000_000,
    sleep: async () => undefined,
    payees: [],
    chain: {
      async signatureStates(signatures) {
        await call('lookup');
        return signatures.map(() => 'unknown');
      },
      transaction: async () => null,
      confirmedTransaction: async () => null,
      newestOf: async () => [],
    },
  });
  // Both connections of the host are busy while the others arrive.
  const busy = await Promise.all([slots.enter('node.test', 'own'), slots.enter('node.test', 'own')]);
  const work = slots.run('own', () =>
    Promise.all([
      lookups.find({ signature: 'any', client: OWN, waitMs: 0, unknownMs: 0, until: 'final' }),
      new Promise<void>((resolve) => setImmediate(resolve)).then(() => call('own')),
    ]),
  );
  await new Promise<void>((resolve) => setImmediate(() => setImmediate(resolve)));
  for (const entered of busy) if ('leave' in entered) entered.leave();
  await work;
  expect(order).toEqual(['own', 'lookup']);
});

it('never returns the response of one node as final, even if the transaction becomes final during the read', async () => {
  const { scheduler, slots, lookups, states, state } = setUp();
  state.oneNodeMs = 5 * SECOND;
  states.set('one', 'confirmed');
  scheduler.after(SECOND, () => void states.set('one', 'final'));
  const lookup = { signature: 'one', waitMs: 20 * SECOND, unknownMs: SECOND } as const;
  const ask = (client: string, until: 'confirmed' | 'final') =>
    slots.run('own', () => lookups.find({ ...lookup, client, until }));
  const found: Awaited<ReturnType<typeof ask>>[] = [];
  void ask(OWN, 'confirmed').then((result) => found.push(result));
  scheduler.after(2 * SECOND, () => void ask(OTHER, 'final').then((result) => found.push(result)));
  await scheduler.run(scheduler.now() + 30 * SECOND, () => found.length === 2);
  const fees = found.flatMap((result) => (result.type === 'final' ? [result.transaction.fee] : []));
  expect(found).toHaveLength(2);
  expect(fees.length).toBeGreaterThan(0);
  expect(fees).not.toContain(ONE_NODES_FEE);
});
