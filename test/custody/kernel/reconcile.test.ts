import { describe, expect, it } from 'vitest';
import { lamports } from '../../../src/core/amount.ts';
import { upstreamFailed } from '../../../src/core/errors.ts';
import { Journal } from '../../../src/custody/kernel/journal.ts';
import { freeze } from '../../../src/custody/kernel/journal-integrity.ts';
import { columnsOf, type Operation } from '../../../src/custody/kernel/operation.ts';
import { held } from '../../../src/custody/kernel/reason.ts';
import { reconcile } from '../../../src/custody/kernel/reconcile.ts';
import { effectOf, type Observation, step } from '../../../src/custody/kernel/state-machine.ts';
import type { ChainTransaction } from '../../../src/providers/solana-rpc.ts';
import { depositSignature } from '../../kit/addresses.ts';
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
  settling,
  signed,
  signingOf,
  view,
} from '../../kit/sample-operations.ts';
import { createSqliteStorage } from '../../kit/sqlite-storage.ts';

const RESERVE = 'reserve';
const PAYMENT = depositSignature(1);

function setUp(rows: readonly Operation[], chain: readonly ChainTransaction[] = []) {
  const storage = createSqliteStorage();
  const journal = new Journal(storage);
  const mirror = createFakeMirror();
  const unreadable = new Set<string>();
  /** Memos that the node lists, by signature. */
  const memos = new Map<string, string>();
  for (const operation of rows) {
    const { id, revision } = operation;
    const columns = columnsOf(operation);
    mirror.rows.set(`operation ${id}`, { entity: 'operation', id, revision, columns });
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
          memo: memos.get(signature) ?? null,
        }));
      }),
      async transaction(signature) {
        if (unreadable.has(signature)) throw upstreamFailed('solana-rpc', 'rpc_-32015');
        return chain.find((one) => one.signature === signature) ?? null;
      },
      modules: [],
      now: () => NOW,
      ...change,
    });
  const lose = () => freeze(journal, 'journal_behind_mirror', () => {});
  const own = (op: Operation) => storage.transaction(() => journal.insert(op));
  const names = async () => (await run()).unexplained.map(({ signature }) => signature);
  return { storage, journal, mirror, unreadable, memos, run, names, lose, own };
}

describe('rows of D1', () => {
  it('restores rows from D1 with their states, their signatures, and the addresses and outputs they have consumed', async () => {
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
    expect(await w.run()).toMatchObject({ restored: 2, unexplained: [] });
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

  it('replaces journal rows that are older than those in D1, and keeps newer ones', async () => {
    const w = setUp([done({ id: 'swap:a', revision: 40 }), planned({ id: 'swap:b', revision: 1 })]);
    w.own(signed({ id: 'swap:a' }));
    w.own(settling({ id: 'swap:b', signing: signingOf('b') }));
    w.lose();
    await w.run();
    expect(w.journal.get('swap:a')?.state).toBe('done');
    expect(w.journal.get('swap:b')?.state).toBe('settling');
  });

  it('gives a row from D1 the next number if the restored journal used its number for another row', async () => {
    const w = setUp([done({ id: 'swap:theirs', seq: 1, revision: 9, signing: signingOf('x') })]);
    w.own(settling({ id: 'swap:ours' }));
    w.lose();
    await w.run();
    expect([w.journal.get('swap:ours')?.seq, w.journal.get('swap:theirs')?.seq]).toEqual([1, 2]);
  });

  it('restores rows from D1 page by page, and changes nothing in a second run', async () => {
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

  it('restores rows in a second run after a failed read of D1', async () => {
    const w = setUp([done({ id: 'swap:a' })]);
    w.mirror.state = 'down';
    await expect(w.run()).rejects.toThrow('D1_ERROR');
    w.mirror.state = 'up';
    expect((await w.run()).restored).toBe(1);
  });
});

describe('transactions of the reserve without a row', () => {
  it('reports a reserve transaction without a row and its lamports, and records nothing for it', async () => {
    const w = setUp([], [reserveTransfer('s1')]);
    w.lose();
    expect(await w.run()).toEqual({
      restored: 0,
      checked: 1,
      unexplained: [
        {
          signature: 's1',
          time: new Date(NOW).toISOString(),
          lamports: String(SOL + FEE),
          memo: null,
          seems: `sends ${SOL} lamports to deposit-of-s1: a swap, or a transfer by hand`,
        },
      ],
    });
    expect(w.journal.isEmpty()).toBe(true);
    expect(await w.names()).toEqual(['s1']);
  });

  const token = (atoms: bigint) => ({
    account: 'account',
    mint: 'mint',
    owner: 'treasury',
    program: 'program',
    atoms,
    decimals: 2,
  });
  const paidTwo = {
    accounts: [RESERVE, 'a', 'b'],
    preLamports: [10n * SOL, 0n, 0n],
    postLamports: [8n * SOL - FEE, SOL, SOL],
  };
  it.each<[string, Partial<ChainTransaction>, string | undefined, string]>([
    [
      'that mints',
      { preTokens: [token(2n)], postTokens: [token(7n)] },
      undefined,
      'creates 5 atoms of the token mint',
    ],
    ['with two receivers', paidTwo, undefined, 'unknown: look at it in an explorer'],
    ['with a foreign memo', paidTwo, '[5] hello', 'unknown: look at it in an explorer'],
    [
      'with a memo of ours',
      paidTwo,
      `[99] refund:${PAYMENT}.2:1`,
      `answers payment ${PAYMENT}; nothing more is paid for refund:${PAYMENT}`,
    ],
  ])('describes the likely purpose of a reported transaction %s', async (_name, change, memo, seems) => {
    const w = setUp([], [reserveTransfer('s1', change)]);
    if (memo !== undefined) w.memos.set('s1', memo);
    expect((await w.run()).unexplained).toMatchObject([{ seems }]);
  });

  it.each([
    ['a third party paid', { signers: ['thirdParty'], accounts: ['thirdParty', RESERVE, 'system'] }],
    [
      'the reserve signed second',
      { signers: ['thirdParty', RESERVE], accounts: ['thirdParty', RESERVE, 'system'] },
    ],
    ['failed', { failed: true }],
  ])('reports no transaction that %s', async (_name, change) => {
    expect(await setUp([], [reserveTransfer('s1', change)]).names()).toEqual([]);
  });

  it('does not report a transaction that belongs to a stored row', async () => {
    const w = setUp([], [reserveTransfer('signature-one')]);
    w.own(settling());
    expect(await w.names()).toEqual([]);
  });

  it('finds a transaction without a row behind pages of others', async () => {
    const dust = Array.from({ length: 250 }, (_, at) =>
      reserveTransfer(`dust-${at}`, { signers: ['x'], accounts: ['x', RESERVE, 's'] }),
    );
    const w = setUp([], [...dust, reserveTransfer('s1')]);
    expect(await w.run()).toMatchObject({ unexplained: [{ signature: 's1' }], checked: 251 });
  });

  it('skips a listed transaction of a newer message version than the reserve ever signs', async () => {
    const w = setUp([], [reserveTransfer('newer'), reserveTransfer('s1')]);
    w.unreadable.add('newer');
    expect(await w.run()).toMatchObject({ unexplained: [{ signature: 's1' }], checked: 2 });
  });

  it('a reconciliation fails if a listed transaction cannot be read', async () => {
    const w = setUp([], [reserveTransfer('s1')]);
    await expect(w.run({ transaction: async () => null })).rejects.toThrow('s1');
  });
});

describe('the payment that an unexplained transaction names', () => {
  it('blocks the payment that an unexplained transaction names in its memo, so that it is not paid again', async () => {
    const w = setUp([], [reserveTransfer('s1')]);
    w.memos.set('s1', `[99] refund:${PAYMENT}.2:3`);
    w.lose();
    await w.run();
    expect(w.journal.consumerOf(`payment:${PAYMENT}`)).toBe('unexplained:s1');
    expect(w.journal.blockedBy(`refund:${PAYMENT}:1`)).toBe('s1');
    expect(w.journal.blockedBy(`asry:${PAYMENT}:1`)).toBeUndefined();
  });

  it.each([
    'hello',
    `refund:${PAYMENT}:0`,
    `refund:${PAYMENT}`,
    ` refund:${PAYMENT}:1`,
    'refund:short:1',
    `[3] x; [9] refund:${PAYMENT}:1`,
  ])('blocks no payment for the memo "%s"', async (memo) => {
    const w = setUp([], [reserveTransfer('s1')]);
    w.memos.set('s1', memo);
    w.lose();
    await w.run();
    expect(w.journal.consumerOf(`payment:${PAYMENT}`)).toBeUndefined();
  });

  it('blocks no payment in a journal that was not lost', async () => {
    const w = setUp([], [reserveTransfer('s1')]);
    w.memos.set('s1', `refund:${PAYMENT}:1`);
    await w.run();
    expect(w.journal.consumerOf(`payment:${PAYMENT}`)).toBeUndefined();
  });

  it('marks the payment in the id of a restored operation as used, unless its restored claim has already done so', async () => {
    const other = depositSignature(2);
    const w = setUp([
      done({ id: `asry:${PAYMENT}:1`, kind: 'asry', signing: signingOf('a') }),
      done({ id: `asry:${other}:1`, kind: 'asry', seq: 2, signing: signingOf('b') }),
    ]);
    w.mirror.rows.set('asry_claims c', {
      entity: 'asry_claims',
      id: 'c',
      revision: 1,
      columns: { journal: '{}' },
    });
    w.lose();
    const restore = () => w.journal.consumeOnce(`payment:${other}`, 'its claim', NOW);
    await w.run({ modules: [{ mirrored: [{ table: 'asry_claims', rowsAfter: () => [], restore }] }] });
    expect(w.journal.consumerOf(`payment:${PAYMENT}`)).toBe(`asry:${PAYMENT}:1`);
    expect(w.journal.consumerOf(`payment:${other}`)).toBe('its claim');
  });
});

describe('rows that may have been signed without a record', () => {
  const stepped = (row: Operation | undefined, seen: Observation): Operation => {
    if (!row) throw new Error('no row');
    return step(row, seen, PAYOUT, NOW);
  };
  const expired = { type: 'viewed', quorum: 1, views: [deathProof()], landing: null } as const;

  it('holds a planned operation of a lost journal for the operator', async () => {
    const w = setUp([planned({ id: 'swap:a', revision: 7 })]);
    w.own(planned({ id: 'asry:b', kind: 'asry' }));
    w.lose();
    await w.run();
    for (const id of ['swap:a', 'asry:b']) {
      const row = w.journal.get(id);
      expect(row).toMatchObject({ state: 'planned', reason: held('reconciled'), reserved: SOL + FEE });
      expect(row && effectOf(row)).toBe('none');
    }
  });

  it('watches a signed operation of a lost journal, and holds it when its last known attempt has expired', async () => {
    const fresh = { id: 'asry:a', kind: 'asry', unsettled: lamports(0n), attempt: PAYOUT.maxAttempts };
    const w = setUp([signed({ ...fresh, revision: 7 })]);
    w.lose();
    await w.run();
    const row = w.journal.get('asry:a');
    expect(row && effectOf(row)).toBe('send');
    const unseen = { type: 'viewed', quorum: 1, views: [view()], landing: null } as const;
    const watched = stepped(stepped(row, { type: 'sent', accepted: true }), unseen);
    expect(watched).toMatchObject({ state: 'signed', reason: held('reconciled') });
    const ended = stepped(watched, expired);
    expect(ended).toMatchObject({ state: 'planned', reason: held('reconciled') });
    expect(effectOf(ended)).toBe('none');
  });

  it('an operation of a lost journal whose transaction has landed does not wait for the operator', async () => {
    const w = setUp([settling({ id: 'swap:a', revision: 7 })]);
    w.lose();
    await w.run();
    expect(w.journal.get('swap:a')).toMatchObject({ state: 'settling', reason: null });
  });

  it('an operation of a journal that was not lost does not wait for the operator', async () => {
    const w = setUp([]);
    const before = w.own(planned({ id: 'asry:b', kind: 'asry' }));
    freeze(w.journal, 'unexpected_debit', () => {});
    await w.run();
    expect(w.journal.get('asry:b')).toEqual(before);
  });
});
