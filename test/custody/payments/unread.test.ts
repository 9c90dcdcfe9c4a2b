import { describe, expect, it } from 'vitest';
import { DAY_MS } from '../../../src/core/durations.ts';
import { Agenda } from '../../../src/custody/kernel/agenda.ts';
import { bookPayment } from '../../../src/custody/payments/confirm.ts';
import { listUnmatched } from '../../../src/custody/payments/owed.ts';
import { payerOf } from '../../../src/custody/payments/treasury-payment.ts';
import { MOST_UNREAD, TreasuryStore } from '../../../src/custody/payments/treasury-store.ts';
import { UNREAD, UnreadTransactions } from '../../../src/custody/payments/unread.ts';
import type { ChainTransaction } from '../../../src/providers/solana-rpc.ts';
import { scenes } from '../../kit/scenes.ts';
import { createSqliteStorage } from '../../kit/sqlite-storage.ts';
import { chainTransaction } from '../../world/solana-shapes.ts';
import { createPaymentWorld } from './payment-world.ts';

const NOW = 1_790_000_000_000;
const FEE = 5_000n;

const transactionOf = (
  signature: string,
  changes: Readonly<Record<string, bigint>>,
  signers: readonly string[] = ['payer'],
): ChainTransaction =>
  chainTransaction(signature, changes, {
    slot: 7n,
    blockTime: NOW / 1_000,
    signers,
  });
const paying = (signature: string, lamports: bigint): ChainTransaction =>
  transactionOf(signature, { payer: -lamports - FEE, treasury: lamports });

const entry = (signature: string) => ({ signature, slot: 1n, err: null, blockTime: null });

function setUp() {
  const storage = createSqliteStorage();
  const payments = new TreasuryStore(storage);
  const logged: Readonly<Record<string, unknown>>[] = [];
  const state = {
    now: NOW,
    transaction: (_signature: string): ChainTransaction | null => null,
    /** The text of the error with which every booking fails. */
    error: undefined as string | undefined,
  };
  const log = (line: Readonly<Record<string, unknown>>) => void logged.push(line);
  const agenda = new Agenda(storage, () => state.now, log);
  const context = {
    agenda,
    storage,
    treasury: payments,
    treasuryAddress: 'treasury',
    transaction: async (signature: string) => state.transaction(signature),
    now: () => state.now,
    log,
  };
  const unread = new UnreadTransactions(context, async (transaction) => {
    if (state.error !== undefined) throw new Error(state.error);
    payments.record({ ...transaction, lamports: 0n, payee: 'treasury', payer: null }, null);
    return undefined;
  });
  return { unread, agenda, payments, state, logged };
}

describe('a transaction that no quorum returns', () => {
  it('an absent transaction is read again after 2 s to an hour, and is reported at the seventh read', async () => {
    const { unread, agenda, state, logged } = setUp();
    const waits: number[] = [];
    for (let reads = 1; reads <= 13; reads++) {
      await unread.read('one', 'node');
      expect(logged.length).toBe(reads < 7 ? 0 : 1);
      waits.push(((agenda.dueAt(UNREAD, 'one') ?? 0) - state.now) / 1_000);
    }
    expect(waits).toEqual([2, 4, 8, 16, 32, 64, 128, 256, 512, 1_024, 2_048, 3_600, 3_600]);
    expect(logged).toEqual([
      { level: 'alarm', event: 'payment_unbooked', signature: 'one', error: 'absent' },
    ]);
  });

  it.each([
    ['is deleted', 'a day', 'no node has it', DAY_MS, null],
    ['is read once a day', 'thirty days', 'the nodes fail', 30 * DAY_MS, new Error('the node is down')],
  ])(
    'an unread transaction %s from the eighth read on, after more than %s in which %s',
    async (_effect, _days, _why, life, failure) => {
      const { unread, agenda, payments, state } = setUp();
      if (failure)
        state.transaction = () => {
          throw failure;
        };
      await unread.read('one', 'node');
      state.now += life;
      await unread.read('one', 'node');
      state.now += 1;
      for (let reads = 3; reads <= 7; reads++) await unread.read('one', 'node');
      expect(payments.unread('one')).toMatchObject({ firstAt: NOW });
      await unread.read('one', 'node');
      expect(agenda.dueAt(UNREAD, 'one')).toBe(failure ? state.now + DAY_MS : undefined);
      await (failure && unread.read('one', 'node'));
      expect(agenda.dueAt(UNREAD, 'one')).toBe(failure ? state.now + DAY_MS : undefined);
      expect(payments.unbooked(9)).toEqual(failure ? [{ signature: 'one', firstAt: NOW }] : []);
      expect(payments.unread('one')?.state).toBe(failure ? 'waiting' : undefined);
    },
  );

  it.each([
    ['a day in which no node has it', DAY_MS, null, 512],
    ['thirty days in which the nodes fail', 30 * DAY_MS, new Error('the node is down'), 360],
  ])('an unread transaction is read as before until more than %s', async (_what, life, failure, wait) => {
    const { unread, agenda, state } = setUp();
    if (failure)
      state.transaction = () => {
        throw failure;
      };
    await unread.read('one', 'node');
    state.now += life;
    for (let reads = 2; reads <= 9; reads++) await unread.read('one', 'node');
    expect(agenda.dueAt(UNREAD, 'one')).toBe(state.now + wait * 1_000);
  });

  it('an absent transaction is not read again after another call has recorded it', async () => {
    const { unread, agenda, payments } = setUp();
    await unread.read('one', 'node');
    payments.deleteUnread('one');
    await unread.readAgain(['one']);
    expect(agenda.ids(UNREAD)).toEqual([]);
  });
});

describe('a listed transaction', () => {
  it('a node whose transactions cannot be read does not end the reads of the other nodes', async () => {
    const { unread, payments, state } = setUp();
    state.transaction = (signature) => {
      if (signature.startsWith('invented')) throw new Error('rpc_-32602');
      return paying(signature, 1n);
    };
    unread.queue([entry('invented 1'), entry('invented 2')], 'a', NOW);
    unread.queue([entry('honest')], 'b', NOW);
    await unread.readQueue({ reads: 40 });
    expect(payments.hasRecord('honest', 'treasury')).toBe(true);
    expect(['invented 1', 'invented 2'].map((name) => payments.unread(name)?.state)).toContain('queued');
  });

  it('at most 20,000 transactions of a node are queued, and a full queue accepts no more from its list', () => {
    const { unread, payments } = setUp();
    const entries = Array.from({ length: 20_000 }, (_, n) => entry(`s${n}`));
    expect(unread.queue(entries, 'node', NOW)).toBe(true);
    expect(unread.queue([entry('new')], 'node', NOW)).toBe(false);
    expect([payments.countQueued('node'), payments.unread('new')]).toEqual([20_000, undefined]);
    expect(unread.queue([entry('new')], 'another node', NOW)).toBe(true);
  });

  it('at most 1,000 absent transactions of a node are kept, and the oldest are dropped first', async () => {
    const { unread, payments, state } = setUp();
    await unread.read('old', 'node');
    state.now += 1;
    for (let number = 0; number < 1_000; number++) await unread.read(`unread ${number}`, 'node');
    const isDropped = [
      payments.trimUnread('another node', 'absent', MOST_UNREAD.absent),
      payments.trimUnread('node', 'absent', MOST_UNREAD.absent),
    ];
    const left = ['old', 'unread 0', 'unread 999'].filter((signature) => payments.unread(signature));
    expect([isDropped, left]).toEqual([
      [false, true],
      ['unread 0', 'unread 999'],
    ]);
  });

  it('lists the newest unrecordable transactions first, and drops the oldest at the limit', async () => {
    const { unread, payments, state } = setUp();
    state.transaction = (signature) => paying(signature, 20_000n);
    state.error = 'broken';
    for (const signature of ['first', 'second', 'third']) {
      await unread.read(signature, 'node');
      state.now += 1;
    }
    expect(payments.countUnbooked()).toBe(3);
    expect(payments.unbooked(1).map(({ signature }) => signature)).toEqual(['third']);
    expect(payments.trimUnread('node', 'waiting', 2)).toBe(true);
    expect(payments.unbooked(9).map(({ signature }) => signature)).toEqual(['third', 'second']);
  });

  it('a transaction that cannot be recorded is not dropped to make room for absent ones', async () => {
    const { unread, payments, state } = setUp();
    state.transaction = (signature) => paying(signature, 20_000n);
    state.error = 'broken';
    for (let number = 0; number <= 1_000; number++) await unread.read(`broken ${number}`, 'node');
    expect(payments.trimUnread('node', 'absent', MOST_UNREAD.absent)).toBe(false);
    expect(payments.unread('broken 0')).toBeDefined();
  });

  it('a transaction that pays nothing is read once', async () => {
    const { unread, state } = setUp();
    state.transaction = (signature) => transactionOf(signature, { payer: -FEE, treasury: 0n });
    await unread.read('own', 'node');
    expect(unread.isKnown('own')).toBe(true);
  });

  it('reports a listed transaction that cannot be recorded, with 200 characters of the error', async () => {
    const { unread, state, logged } = setUp();
    state.transaction = (signature) => paying(signature, 20_000n);
    state.error = 'x'.repeat(300);
    for (let reads = 0; reads < 3; reads++) await unread.read('one', 'node');
    const error = `Error: ${'x'.repeat(200 - 'Error: '.length)}`;
    expect(logged.at(-1)).toMatchObject({
      level: 'alarm',
      event: 'work_failed',
      work: UNREAD,
      id: 'one',
      error,
    });
  });
});

it('the command unmatched shows how many transactions could not be recorded, and the newest 200', async () => {
  const { context } = createPaymentWorld();
  for (let number = 1; number <= 201; number++) {
    const row = { signature: `s${number}`, source: 'node', state: 'waiting', finalAt: NOW } as const;
    context.treasury.putUnread({ ...row, firstAt: NOW + number });
  }
  const { message, rows = [] } = listUnmatched(context);
  expect(message).toContain('201 transactions could not be recorded');
  expect(rows[0]?.since).toBe(new Date(NOW + 201).toISOString());
  expect([rows.length, rows[0]?.payment, rows.at(-1)?.payment]).toEqual([200, 's201', 's2']);
});

describe('a recorded transaction', () => {
  const booked = async (transaction: ChainTransaction) => {
    const { context, storage } = createPaymentWorld();
    const logged: unknown[] = [];
    const log = ({ event, reason }: Readonly<Record<string, unknown>>) => void logged.push(reason ?? event);
    for (let calls = 0; calls < 2; calls++) await bookPayment({ ...context, log }, transaction);
    return { rows: storage.exec('SELECT signature, used_by FROM treasury_payments'), logged };
  };

  it.each(['treasury', 'reserve'])('a transaction that the %s signed pays for nothing', async (own) => {
    const changes = { payer: -20_001n - FEE, treasury: 20_001n };
    expect(await booked(transactionOf('one', changes, ['payer', own]))).toEqual({
      rows: [{ signature: 'one', used_by: 'own' }],
      logged: [],
    });
  });

  it.each([
    ['is not reported', 'dust', 10_000n, []],
    ['is reported once', 'more than dust', 10_001n, ['no_request']],
  ])('a payment %s when it matches no request and pays %s', async (_effect, _name, lamports, reasons) => {
    expect(await booked(paying('one', lamports))).toEqual({
      rows: [{ signature: 'one', used_by: null }],
      logged: reasons,
    });
  });
});

it.each(
  scenes(`
    the only signer that lost more than the fee                   | a b | a -5000, b -9, treasury 9              | b
    the first signer, if it lost more than the fee                | a b | a -5009, b 0, treasury 9               | a
    unknown when two signers paid                                 | a b | a -5005, b -4, treasury 9              | null
    unknown when two signers paid, one of them the whole sum      | a b | a -5009, b -1, treasury 9              | null
    unknown when no signer paid                                   | a   | a -5000, c -9, treasury 9              | null
    unknown when an account that did not sign paid a part         | a   | a -5008, c -1, treasury 9              | null
    known if another account did not lose anything                | a   | a -5009, c 0, treasury 9               | a
    known even if it also paid the rent of an account             | a   | a -5012, opened 3, treasury 9          | a
    unknown if it lost less than the payment and the rent         | a   | a -5008, opened 3, treasury 9          | null
    unknown when a vault paid and its executor lost as much       | executor | executor -5009, vault -9, opened 9, treasury 9 | null
    unknown when a vault paid for a member with a relay           | relay member | relay -5000, member -9, vault -9, opened 9, treasury 9 | null
    never the treasury                                            |     | treasury -5009                         | null
  `),
)('the payer is %s', (_what, signers = '', changes = '', payer) => {
  const accounts = changes.split(', ').map((each) => each.split(' ') as [string, string]);
  const moved = Object.fromEntries(accounts.map(([name, change]) => [name, BigInt(change)]));
  expect(String(payerOf(transactionOf('one', moved, signers.split(' ')), 'treasury'))).toBe(payer);
});

/** Rows of transactions that a node lists and no quorum shows, each with this number of checks, due a second ago. */
function absentFrom(
  { agenda, payments, state }: ReturnType<typeof setUp>,
  source: string,
  rows: string[],
  checks: number,
) {
  for (const signature of rows) {
    const row = { signature, source, state: 'absent', finalAt: NOW, firstAt: NOW } as const;
    payments.putUnread(row);
    agenda.plan(UNREAD, signature, state.now - 1_000, checks);
  }
}

it('1,000 transactions that one node invents do not delay the second read of a payment that another node lists', () => {
  const w = setUp();
  absentFrom(
    w,
    'liar',
    Array.from({ length: 1_000 }, (_, at) => `invented-${at}`),
    1,
  );
  w.state.now += 1_000;
  absentFrom(w, 'honest', ['payment'], 3);
  expect(w.payments.dueUnread(w.state.now, 8)).toContain('payment');
});

it('1,000 transactions that every check misses do not delay the second read of a new payment', () => {
  const w = setUp();
  absentFrom(
    w,
    'node',
    Array.from({ length: 1_000 }, (_, at) => `unreadable-${at}`),
    12,
  );
  w.state.now += 1_000;
  absentFrom(w, 'node', ['payment'], 1);
  expect(w.payments.dueUnread(w.state.now, 8)[0]).toBe('payment');
});

it('a planned second read becomes due even if the clock was set back or its transaction was deleted', () => {
  const w = setUp();
  absentFrom(w, 'node', ['one'], 1);
  w.payments.deleteUnread('one');
  w.agenda.plan(UNREAD, 'later', w.state.now + 1);
  w.agenda.plan('other', 'two', w.state.now);
  expect(w.payments.dueUnread(w.state.now, 8)).toEqual(['one']);
  w.state.now -= 60_000;
  expect(w.payments.dueUnread(w.state.now, 8).toSorted()).toEqual(['later', 'one']);
});
