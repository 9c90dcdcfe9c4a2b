import { env } from 'cloudflare:workers';
import { describe, expect, it } from 'vitest';
import { lamports } from '../../src/core/amount.ts';
import { columnsOf } from '../../src/custody/kernel/mirror-queue.ts';
import { decodeOperation, type Operation } from '../../src/custody/kernel/operation.ts';
import { createD1Mirror } from '../../src/custody/kernel/outbox.ts';
import type { MirrorRow } from '../../src/custody/kernel/ports.ts';
import { createSwapStore } from '../../src/features/swap/swap-store.ts';
import {
  closed,
  done,
  NOW,
  outstanding,
  planned,
  SOL,
  settling,
  signed,
  signingOf,
} from '../kit/sample-operations.ts';
import { freshStorageForEachTest } from './fresh-storage.ts';

freshStorageForEachTest();

const mirror = createD1Mirror(env.DB);
const rowOf = (operation: Operation): MirrorRow => ({
  entity: 'operation',
  id: operation.id,
  revision: operation.revision,
  columns: columnsOf(operation),
});
const apply = (...operations: Operation[]) =>
  mirror.apply(operations.map(rowOf), Math.max(...operations.map(({ revision }) => revision)) + 1, undefined);
const operationsAfter = async (id: string, limit: number) =>
  (await mirror.recordsAfter('operation', id, limit)).map(({ journal }) => decodeOperation(journal));
const stored = async (id: string) =>
  (await env.DB.prepare('SELECT * FROM operations WHERE id = ?').bind(id).first<Record<string, unknown>>()) ??
  undefined;
const everything = async () => (await env.DB.prepare('SELECT * FROM operations ORDER BY id').all()).results;

describe('a row in D1', () => {
  it('a D1 row has the columns that queries need, and the whole journal row as JSON', async () => {
    const op = done({
      id: 'swap:a',
      seq: 7,
      revision: 9,
      outcome: { btcSats: '124500', btcTxid: 't', btcVout: 0 },
      plan: { expectedSats: '125000' },
    });
    await apply(op);
    expect(await stored('swap:a')).toMatchObject({
      seq: 7,
      revision: 9,
      kind: 'swap',
      status: 'finished',
      detail: 'done',
      reason: null,
      signature: 'signature-one',
      amount_lamports: '1000000000',
      expected_sats: '125000',
      btc_sats: '124500',
      btc_txid: 't',
      landed_slot: 950,
      block_time: NOW / 1_000,
      created_at: new Date(NOW).toISOString(),
    });
    expect(await operationsAfter('', 10)).toEqual([op]);
  });

  it('a D1 row shows the requested amount even if no payment was sent', async () => {
    await apply(closed({ id: 'swap:a' }));
    expect(await stored('swap:a')).toMatchObject({
      status: 'failed',
      amount_lamports: SOL.toString(),
      signature: null,
      landed_slot: null,
    });
  });
});

describe('an older revision', () => {
  it('an older revision never overwrites a newer one, in any order', async () => {
    const versions = [planned(), signed(), settling(), done()].map((op, at) => ({
      ...op,
      id: 'swap:a',
      revision: at + 1,
    }));
    const [first, second, third, last] = versions as [Operation, Operation, Operation, Operation];
    for (const order of [
      [first, second, third, last],
      [last, third, second, first],
      [second, last, first, third],
    ]) {
      await env.DB.exec('DELETE FROM operations');
      for (const op of order) await apply(op);
      expect(await stored('swap:a')).toMatchObject({ revision: 4, status: 'finished' });
    }
  });

  it('a second row with the same revision number has no effect', async () => {
    await apply(signed({ id: 'swap:a', revision: 5 }));
    await apply(planned({ id: 'swap:a', revision: 5 }));
    expect(await stored('swap:a')).toMatchObject({ detail: 'sent' });
  });
});

describe('a batch', () => {
  const many = Array.from({ length: 40 }, (_, at) =>
    done({ id: `swap:${at}`, seq: at + 1, revision: at + 1, signing: signingOf(`${at}`) }),
  );

  it('writing the same batch again has no effect', async () => {
    await apply(...many);
    const before = await everything();
    await apply(...many);
    await apply(...many.toReversed());
    expect(await everything()).toEqual(before);
    expect(before).toHaveLength(40);
  });

  it('D1 writes a batch completely or not at all', async () => {
    const broken = {
      ...planned({ id: 'swap:broken', seq: 99, revision: 99 }),
      kind: 'theft' as Operation['kind'],
    };
    await expect(apply(...many, broken)).rejects.toThrow(/CHECK/);
    expect(await everything()).toEqual([]);
  });

  it('an operation with a new number frees its old number for another operation of the same batch', async () => {
    await apply(signed({ id: 'swap:a', seq: 1, revision: 1 }));
    await apply(
      signed({ id: 'swap:a', seq: 2, revision: 2 }),
      planned({ id: 'swap:b', seq: 1, revision: 3 }),
    );
    expect([await stored('swap:a'), await stored('swap:b')]).toMatchObject([{ seq: 2 }, { seq: 1 }]);
  });

  it('a probe of D1 leaves no row, and fails when the database cannot be written', async () => {
    await mirror.probe();
    expect(await env.DB.prepare('SELECT count(*) AS n FROM mirror_marks').first()).toEqual({ n: 0 });
    await env.DB.exec('DROP TABLE mirror_marks');
    await expect(mirror.probe()).rejects.toThrow(/mirror_marks/);
  });

  it('a batch returns the mark stored before it, and an older batch does not lower that mark', async () => {
    const row = rowOf(planned({ id: 'swap:a', revision: 1 }));
    expect(await mirror.mark()).toBe(0);
    expect(await mirror.apply([row], 7, undefined)).toBe(0);
    expect(await mirror.apply([row], 9, undefined)).toBe(7);
    expect(await mirror.apply([row], 8, undefined)).toBe(9);
    expect(await mirror.mark()).toBe(9);
  });

  it('D1 refuses two rows with the same signature or the same number', async () => {
    await apply(signed({ id: 'swap:a', seq: 1 }));
    await expect(apply(signed({ id: 'swap:b', seq: 2 }))).rejects.toThrow(/UNIQUE/);
    await expect(apply(planned({ id: 'swap:c', seq: 1 }))).rejects.toThrow(/UNIQUE/);
  });
});

describe("the mirror's contents", () => {
  it('shows the highest revision of a mirrored row of any table', async () => {
    expect(await mirror.newestRevision()).toBe(0);
    await apply(planned({ id: 'swap:a', revision: 7 }));
    expect(await mirror.newestRevision()).toBe(7);
  });

  it("reads the mirror's rows page by page in the order of the keys, with their exact amounts", async () => {
    const rows = [
      signed({ id: 'swap:b', seq: 1, signing: signingOf('b') }),
      planned({ id: 'asry:a', kind: 'asry', seq: 2 }),
      outstanding({ id: 'swap:c', seq: 3, amount: lamports(2n ** 63n + 1n), signing: signingOf('c') }),
    ];
    await apply(...rows);
    const first = await operationsAfter('', 2);
    const second = await operationsAfter(first.at(-1)?.id ?? '', 2);
    expect([...first, ...second]).toEqual([rows[1], rows[0], rows[2]]);
    expect(await operationsAfter('swap:c', 2)).toEqual([]);
  });
});

describe('swaps as the routes read them', () => {
  const swaps = createSwapStore(env.DB);

  it('finds a swap by its signature, and no other kind of payout', async () => {
    await apply(
      signed({ id: 'swap:a', seq: 1 }),
      signed({ id: 'asry:b', kind: 'asry', seq: 2, signing: signingOf('b') }),
    );
    expect(await swaps.bySignature('signature-one')).toMatchObject({
      status: 'waiting',
      amountLamports: SOL,
      expectedSats: null,
      btcSats: null,
      blockTime: null,
    });
    expect(await swaps.bySignature('signature-b')).toBeUndefined();
    expect(await swaps.bySignature("' OR 1=1 --")).toBeUndefined();
  });

  it('lists every swap whose transaction landed, newest first, up to a limit', async () => {
    await apply(
      settling({ id: 'swap:1', seq: 1, signing: signingOf('1') }),
      signed({ id: 'swap:2', seq: 2, signing: signingOf('2') }),
      done({ id: 'swap:3', seq: 3, signing: signingOf('3'), outcome: { btcSats: '5', btcTxid: 't' } }),
      outstanding({ id: 'swap:4', seq: 4, signing: signingOf('4') }),
      done({ id: 'asry:5', kind: 'asry', seq: 5, signing: signingOf('5') }),
    );
    expect((await swaps.landed(10)).map(({ signature }) => signature)).toEqual([
      'signature-4',
      'signature-3',
      'signature-1',
    ]);
    expect((await swaps.landed(1)).map(({ status }) => status)).toEqual(['failed']);
  });

  it('a swap is final only if the custodian no longer watches it', async () => {
    const at = (seq: number) => ({ id: `swap:${seq}`, seq, signing: signingOf(`${seq}`) });
    await apply(
      settling({ ...at(1), dueAt: null }),
      done({ ...at(2), dueAt: null }),
      outstanding({ ...at(3), dueAt: NOW }),
      outstanding({ ...at(4), dueAt: null }),
    );
    const rows = await Promise.all([1, 2, 3, 4].map((seq) => swaps.bySignature(`signature-${seq}`)));
    expect(rows.map((row) => row?.final)).toEqual([false, true, false, true]);
  });
});
