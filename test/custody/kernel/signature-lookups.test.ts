import { describe, expect, it } from 'vitest';
import type { BudgetTerms } from '../../../src/core/budget.ts';
import { AppError } from '../../../src/core/errors.ts';
import { type Lookup, SignatureLookups } from '../../../src/custody/kernel/signature-lookups.ts';
import type { SignatureState } from '../../../src/custody/kernel/solana-view.ts';
import { Admission, CallSlots } from '../../../src/providers/admission.ts';
import type { ChainTransaction } from '../../../src/providers/solana-rpc.ts';
import { createScheduler } from '../../simulator/scheduler.ts';

const SECOND = 1_000;
const OWN = '203.0.113.7';
const OTHER = '198.51.100.9';

const transactionOf = (signature: string): ChainTransaction => ({
  signature,
  slot: 1n,
  blockTime: 1,
  failed: false,
  fee: 5_000n,
  accounts: [],
  signers: [],
  preLamports: [],
  postLamports: [],
  preTokens: [],
  postTokens: [],
});

/** Lookups on a virtual clock; a node answers each call after a tenth of a second. @param terms of reads; not limited if absent */
function setUp(terms?: BudgetTerms) {
  const scheduler = createScheduler();
  const states = new Map<string, SignatureState>();
  const state = {
    down: false,
    quorum: true,
    spent: false,
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
        return states.get(signature) === 'final' && state.quorum ? transactionOf(signature) : null;
      },
      confirmedTransaction: async (signature) => transactionOf(signature),
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
  return { scheduler, lookups, states, state, find };
}

describe('the poll of signatures that callers name', () => {
  it('one poll asks the nodes for all waiting signatures', async () => {
    const { find, state } = setUp();
    const asked = Array.from({ length: 20 }, (_, at) => ({ signature: `s${at}`, client: `198.51.${at}.1` }));
    expect(new Set(await find(asked))).toEqual(new Set(['unknown']));
    // The first poll began with the first signature.
    expect(state.polls.map((signatures) => signatures.length)).toEqual([1, 19]);
  });

  it('polls less and less often for a signature that no node has', async () => {
    const { find, state } = setUp();
    expect(await find([{ signature: 'invented', waitMs: 50 * SECOND }])).toEqual(['unknown']);
    expect(state.polls.length).toBeLessThan(9);
    const { length } = state.polls;
    expect(await find(Array.from({ length: 20 }, () => ({ signature: 'invented' })))).toContain('unknown');
    expect(state.polls).toHaveLength(length);
  });

  it('makes only six polls in four seconds for a client that makes 600 calls a minute', async () => {
    const { scheduler, lookups, state } = setUp();
    for (let call = 0; call < 40; call++)
      scheduler.after(call * 100, () => {
        const signature = `invented ${call}`;
        void lookups.find({
          signature,
          client: OWN,
          waitMs: 15 * SECOND,
          unknownMs: 15 * SECOND,
          until: 'final',
        });
      });
    await scheduler.run(scheduler.now() + 4 * SECOND, () => false);
    expect(state.polls).toHaveLength(6);
    expect(state.reads).toEqual([]);
  });

  it('the poll continues while the nodes fail for a moment, and fails when its time limit has passed', async () => {
    const { scheduler, find, state, states } = setUp();
    states.set('paid', 'final');
    state.down = true;
    expect(await find([{ signature: 'paid' }])).toEqual(['failed']);
    scheduler.after(3 * SECOND, () => {
      state.down = false;
    });
    expect(await find([{ signature: 'paid', waitMs: 10 * SECOND }])).toEqual(['final']);
  });
});

describe('a wait for a payment', () => {
  it('a wait ends after its own limit when no node shows the signature', async () => {
    const { scheduler, find, states } = setUp();
    const began = scheduler.now();
    expect(await find([{ signature: 'unknown', waitMs: 10 * SECOND, unknownMs: 0 }])).toEqual(['unknown']);
    expect(scheduler.now() - began).toBe(100);
    states.set('sent', 'pending');
    expect(await find([{ signature: 'sent', waitMs: 10 * SECOND, unknownMs: 0 }])).toEqual(['pending']);
    expect(scheduler.now() - began).toBeGreaterThanOrEqual(10 * SECOND);
  });

  it('a payment is found within half a second after it is final', async () => {
    const { scheduler, find, states } = setUp();
    states.set('paid', 'confirmed');
    scheduler.after(SECOND, () => states.set('paid', 'final'));
    const began = scheduler.now();
    expect(await find([{ signature: 'paid', waitMs: 10 * SECOND }])).toEqual(['final']);
    expect(scheduler.now() - began).toBeLessThan(1_500);
  });

  it('a wait fails after the nodes have failed for five seconds', async () => {
    const { scheduler, find, state } = setUp();
    state.down = true;
    const began = scheduler.now();
    expect(await find([{ signature: 'paid', waitMs: 25 * SECOND }])).toEqual(['failed']);
    expect(scheduler.now() - began).toBeLessThan(7 * SECOND);
  });

  it('a wait for a payment ends when the payment is confirmed or final, as the caller requested', async () => {
    const { scheduler, find, states } = setUp();
    scheduler.after(SECOND, () => states.set('paid', 'confirmed'));
    expect(await find([{ signature: 'paid', waitMs: 10 * SECOND, until: 'confirmed' }])).toEqual([
      'confirmed',
    ]);
    scheduler.after(12 * SECOND, () => states.set('paid', 'final'));
    expect(await find([{ signature: 'paid', waitMs: 20 * SECOND }])).toEqual(['final']);
  });

  it('reads a finalized transaction once for all callers that wait for it', async () => {
    const { find, states, state } = setUp();
    states.set('paid', 'final');
    expect(await find([{ signature: 'paid' }, { signature: 'paid' }])).toEqual(['final', 'final']);
    expect(await find([{ signature: 'paid', client: OTHER }])).toEqual(['final']);
    expect(state.reads).toEqual(['paid']);
  });
});

describe('reads that wait for each other', () => {
  const strangers = (count: number) =>
    Array.from({ length: count }, (_, at) => ({ signature: `s${at}`, client: `198.51.${at}.1` }));

  it('the read of a payment is before the transactions that strangers named earlier', async () => {
    const { find, states, state } = setUp({ total: 2, windowMs: SECOND });
    const asked = [...strangers(12), { signature: 'paid' }];
    for (const { signature } of asked) states.set(signature, 'final');
    state.payments = ['paid', 'another'];
    expect(new Set(await find(asked))).toEqual(new Set(['final']));
    expect(state.reads.slice(0, 4)).toEqual(['s0', 's1', 'paid', 's2']);
    // While reads wait, the lists of both payees are read once a second.
    expect(state.lists.slice(0, 2)).toEqual(['wallet', 'account']);
    expect(state.lists.length).toBeLessThanOrEqual(2 * 7);
  });

  it('no list is read while only four reads wait', async () => {
    const { find, states, state } = setUp({ total: 2, windowMs: SECOND });
    for (const { signature } of strangers(4)) states.set(signature, 'final');
    await find(strangers(4));
    expect([state.reads.length, state.lists]).toEqual([4, []]);
    // A fifth one counts only while it waits.
    states.set('later', 'final');
    await find([{ signature: 'later' }]);
    expect(state.lists).toEqual([]);
  });
});

describe('the share of one network', () => {
  const many = (client: string, count: number) =>
    Array.from({ length: count }, (_, at) => ({ signature: `${client} ${at}`, client, waitMs: SECOND }));

  it('a caller without a share of the calls does not make the read of a payment fail for others', async () => {
    const { find, states, state } = setUp();
    states.set('paid', 'final');
    state.spent = true;
    expect(await find([{ signature: 'paid', client: OTHER }])).toEqual(['upstream_calls']);
    state.spent = false;
    expect(await find([{ signature: 'paid' }])).toEqual(['final']);
  });

  it('limits the signatures that one network waits for, so that other networks keep their share', async () => {
    const { find } = setUp();
    const found = await find([...many(OWN, 100), ...many(OTHER, 3)]);
    expect(found.slice(0, 100).filter((each) => each === 'signature_lookups')).toHaveLength(68);
    expect(found.slice(100)).toEqual(['unknown', 'unknown', 'unknown']);
    expect(await find(many(OWN, 1))).toEqual(['unknown']);
  });

  it('counts a signature once in the share of a network, however many callers wait for it', async () => {
    const { find } = setUp();
    const found = await find(
      Array.from({ length: 500 }, (_, at) => ({
        signature: 'one',
        client: `10.1.1.${at % 250}`,
        waitMs: SECOND,
      })),
    );
    expect(new Set(found)).toEqual(new Set(['unknown']));
  });

  it('repeated reads without a quorum do not use up the share of a network', async () => {
    const { find, states, state } = setUp();
    states.set('foreign', 'final');
    state.quorum = false;
    expect(await find([{ signature: 'foreign', waitMs: 55 * SECOND }])).toEqual(['pending']);
    expect(state.reads.length).toBeLessThan(10);
    state.quorum = true;
    expect(await find([{ signature: 'foreign', waitMs: 20 * SECOND }])).toEqual(['final']);
  });
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
