import { describe, expect, it } from 'vitest';
import { lamports } from '../../../src/core/amount.ts';
import { upstreamFailed } from '../../../src/core/errors.ts';
import { openJournal } from '../../../src/custody/kernel/journal.ts';
import { freeze } from '../../../src/custody/kernel/journal-integrity.ts';
import type { Operation } from '../../../src/custody/kernel/operation.ts';
import { reconcile } from '../../../src/custody/kernel/reconcile.ts';
import { effectOf, step } from '../../../src/custody/kernel/state-machine.ts';
import { recoveredSwap } from '../../../src/custody/swap/operation.ts';
import type { ChainTransaction } from '../../../src/providers/solana-rpc.ts';
import { createFakeMirror } from '../../kit/fake-mirror.ts';
import { historyOf } from '../../kit/history.ts';
import {
  deathProof,
  done,
  FEE,
  NOW,
  PAYOUT,
  planned,
  reserveTransfer,
  SOL,
  SWAP,
  settling,
  signed,
  signingOf,
} from '../../kit/sample-operations.ts';
import { createSqliteStorage } from '../../kit/sqlite-storage.ts';

const RESERVE = 'reserve';

/** The parts that the modules provide. */
const OF_THE_MODULES = {
  modules: [],
  provesItself: (kind: Operation['kind']) => kind === 'token' || kind === 'refund',
  adopt: (transaction: ChainTransaction, now: number) => recoveredSwap(transaction, RESERVE, now),
};

function setUp(rows: readonly Operation[], chain: readonly ChainTransaction[] = []) {
  const storage = createSqliteStorage();
  const journal = openJournal(storage);
  const mirror = createFakeMirror();
  const unreadable = new Set<string>();
  for (const operation of rows) {
    const { id, revision } = operation;
    mirror.rows.set(`operation ${id}`, { entity: 'operation', id, revision, operation });
  }
  const run = (change: Partial<Parameters<typeof reconcile>[0]> = {}) =>
    reconcile({
      journal,
      storage,
      mirror,
      reserveAddress: RESERVE,
      history: historyOf(async ({ limit, before }) => {
        const from = chain.findIndex(({ signature }) => signature === before) + 1;
        return chain.slice(from, from + limit).map(({ signature, slot, failed, blockTime }) => ({
          signature,
          slot,
          err: failed || null,
          blockTime,
        }));
      }),
      async transaction(signature) {
        if (unreadable.has(signature)) throw upstreamFailed('solana-rpc', 'rpc_-32015');
        return chain.find((one) => one.signature === signature) ?? null;
      },
      ...OF_THE_MODULES,
      now: () => NOW,
      ...change,
    });
  const lose = () => freeze(journal, 'journal_behind_mirror', () => {});
  const own = (op: Operation) => storage.transaction(() => journal.insert(op));
  return { storage, journal, mirror, unreadable, run, lose, own };
}

/** The row once its attempt can no longer land. */
const expired = (row: Operation, rules = PAYOUT): Operation =>
  step(row, { type: 'viewed', quorum: 1, views: [deathProof()], landing: null }, rules, NOW);

describe('rows of the mirror', () => {
  it('are restored with their states, signatures and consumed names', async () => {
    const w = setUp([
      settling({ id: 'swap:a', seq: 4, revision: 40, plan: { depositAddress: 'd1', route: 'near-intents' } }),
      done({
        id: 'swap:b',
        seq: 5,
        revision: 44,
        signing: signingOf('b'),
        plan: { depositAddress: 'd2' },
        outcome: { btcTxid: 't', btcVout: 1, btcSats: '5' },
      }),
    ]);
    w.lose();
    expect(await w.run()).toMatchObject({ restored: 2, recovered: 0 });
    expect(w.journal.get('swap:a')).toMatchObject({ state: 'settling', seq: 4, signing: signingOf('one') });
    expect(w.journal.bySignature('signature-b')?.id).toBe('swap:b');
    for (const [name, id] of [
      ['deposit:d1', 'swap:a'],
      ['deposit:d2', 'swap:b'],
      ['output:t:1', 'swap:b'],
    ] as const) {
      expect(w.journal.consumerOf(name)).toBe(id);
    }
    expect(w.journal.revision()).toBeGreaterThanOrEqual(44);
  });

  it('replace older own ones and leave newer own ones', async () => {
    const w = setUp([done({ id: 'swap:a', revision: 40 }), planned({ id: 'swap:b', revision: 1 })]);
    w.own(signed({ id: 'swap:a' }));
    w.own(settling({ id: 'swap:b', signing: signingOf('b') }));
    w.lose();
    await w.run();
    expect(w.journal.get('swap:a')?.state).toBe('done');
    expect(w.journal.get('swap:b')?.state).toBe('settling');
  });

  it('whose number a restored journal gave out again get the next one', async () => {
    const w = setUp([done({ id: 'swap:theirs', seq: 1, revision: 9, signing: signingOf('x') })]);
    w.own(settling({ id: 'swap:ours' }));
    w.lose();
    await w.run();
    expect([w.journal.get('swap:ours')?.seq, w.journal.get('swap:theirs')?.seq]).toEqual([1, 2]);
  });

  it('are read page by page, and a second run changes nothing', async () => {
    const many = Array.from({ length: 450 }, (_, at) =>
      done({ id: `swap:${at}`, seq: at + 1, revision: at + 1, signing: signingOf(`${at}`) }),
    );
    const w = setUp(many);
    w.lose();
    expect((await w.run()).restored).toBe(450);
    const revision = w.journal.revision();
    expect((await w.run()).restored).toBe(0);
    expect(w.journal.revision()).toBe(revision);
  });

  it('that cannot be read end the run; it can be repeated', async () => {
    const w = setUp([done({ id: 'swap:a' })]);
    w.mirror.state = 'down';
    await expect(w.run()).rejects.toThrow('D1_ERROR');
    w.mirror.state = 'up';
    expect((await w.run()).restored).toBe(1);
  });
});

describe('reserve transactions without any row', () => {
  it('that paid everything to one account are booked as a swap that is still owed', async () => {
    const w = setUp([], [reserveTransfer('s1')]);
    w.lose();
    expect(await w.run()).toEqual({ restored: 0, recovered: 1, checked: 1 });
    expect(w.journal.get('swap:recovered:s1')).toMatchObject({
      state: 'settling',
      amount: SOL,
      unsettled: SOL,
      reserved: 0n,
      releasedSlot: 950n,
      plan: { route: 'near-intents', depositAddress: 'deposit-of-s1' },
      landing: { debit: SOL + FEE, fee: FEE },
    });
    expect(w.journal.consumerOf('deposit:deposit-of-s1')).toBe('swap:recovered:s1');
    expect((await w.run()).recovered).toBe(0);
  });

  it.each([
    ['failed', { failed: true, postLamports: [10n * SOL - FEE, 0n, 1n] }],
    [
      'paid two accounts equally',
      {
        accounts: [RESERVE, 'a', 'b'],
        preLamports: [10n * SOL, 0n, 0n],
        postLamports: [8n * SOL - FEE, SOL, SOL],
      },
    ],
    ['only cost its fee', { postLamports: [10n * SOL - FEE, 0n, 1n] }],
  ] as const)('that %s are only booked', async (_name, change) => {
    const w = setUp([], [reserveTransfer('s1', change)]);
    w.lose();
    await w.run();
    expect(w.journal.get('swap:recovered:s1')).toMatchObject({ state: 'failed', unsettled: 0n, dueAt: null });
  });

  it.each([
    ['a third party paid', { signers: ['thirdParty'], accounts: ['thirdParty', RESERVE, 'system'] }],
    [
      'the reserve signed second',
      { signers: ['thirdParty', RESERVE], accounts: ['thirdParty', RESERVE, 'system'] },
    ],
  ])('are not those that %s', async (_name, change) => {
    const w = setUp([], [reserveTransfer('s1', change)]);
    expect((await w.run()).recovered).toBe(0);
  });

  it('are not those of an existing row', async () => {
    const w = setUp([], [reserveTransfer('signature-one')]);
    w.own(settling());
    expect((await w.run()).recovered).toBe(0);
  });

  it('are found behind pages of other transactions', async () => {
    const dust = Array.from({ length: 250 }, (_, at) =>
      reserveTransfer(`dust-${at}`, { signers: ['x'], accounts: ['x', RESERVE, 's'] }),
    );
    const w = setUp([], [...dust, reserveTransfer('s1')]);
    expect(await w.run()).toMatchObject({ recovered: 1, checked: 251 });
  });

  it('are not those of a version that we never sign, which no node shows', async () => {
    const w = setUp([], [reserveTransfer('newer'), reserveTransfer('s1')]);
    w.unreadable.add('newer');
    expect(await w.run()).toMatchObject({ recovered: 1, checked: 2 });
    expect(w.journal.get('swap:recovered:s1')).toBeDefined();
  });

  it('that are listed but cannot be read end the run', async () => {
    const w = setUp([], [reserveTransfer('s1')]);
    const broken = w.run({ transaction: async () => null });
    await expect(broken).rejects.toThrow('s1');
  });
});

describe('changes that the mirror did not receive', () => {
  it('may have been signed: a planned row of a lost journal waits for the operator', async () => {
    const w = setUp([planned({ id: 'swap:a', revision: 7 })], [reserveTransfer('s1')]);
    w.own(planned({ id: 'asry:b', kind: 'asry' }));
    w.lose();
    await w.run();
    for (const id of ['swap:a', 'asry:b']) {
      const row = w.journal.get(id);
      expect(row).toMatchObject({ state: 'planned', reason: 'held_reconciled', reserved: SOL + FEE });
      expect(row && effectOf(row)).toBe('none');
    }
  });

  it('may have been signed again: after its attempt expired, a payout is not signed automatically', async () => {
    const w = setUp([signed({ id: 'asry:a', kind: 'asry', revision: 7, unsettled: lamports(0n) })]);
    w.lose();
    await w.run();
    const row = w.journal.get('asry:a');
    if (!row) throw new Error('no row');
    expect(effectOf(row)).not.toBe('prepare');
    const after = expired(row);
    expect(after).toMatchObject({ state: 'planned', reason: 'held_reconciled' });
    expect(effectOf(after)).toBe('none');
  });

  it.each(['token', 'refund'] as const)(
    'is checked on the chain by a %s: it continues, and records since when it is suspect',
    async (kind) => {
      const fresh = { kind, unsettled: lamports(0n) };
      const w = setUp([
        planned({ id: `${kind}:a`, revision: 7, ...fresh }),
        signed({ id: `${kind}:b`, seq: 2, revision: 8, ...fresh }),
      ]);
      w.lose();
      await w.run();
      const [first, again] = [w.journal.get(`${kind}:a`), w.journal.get(`${kind}:b`)];
      if (!first || !again) throw new Error('no row');
      expect(first).toMatchObject({ state: 'planned', reason: null, plan: { reconciledAt: NOW } });
      expect(effectOf(first)).toBe('prepare');
      const after = expired(again);
      expect(after).toMatchObject({ state: 'planned', reason: 'expired', plan: { reconciledAt: NOW } });
      expect(effectOf(after)).toBe('prepare');
    },
  );

  it('cannot be a second signing of a swap: it has only one', async () => {
    const w = setUp([signed({ id: 'swap:a', revision: 7 })]);
    w.lose();
    await w.run();
    const row = w.journal.get('swap:a');
    expect(row && expired(row, SWAP)).toMatchObject({ state: 'failed', reason: 'expired' });
  });

  it('a journal that was not lost is left alone', async () => {
    const w = setUp([]);
    const before = w.own(planned({ id: 'asry:b', kind: 'asry' }));
    freeze(w.journal, 'unexpected_debit', () => {});
    await w.run();
    expect(w.journal.get('asry:b')).toEqual(before);
  });
});
