import { env } from 'cloudflare:workers';
import { expect, it } from 'vitest';
import { lamports } from '../../src/core/amount.ts';
import { columnsOf } from '../../src/custody/kernel/mirror-queue.ts';
import { decodeOperation, type Operation } from '../../src/custody/kernel/operation.ts';
import { createD1Mirror } from '../../src/custody/kernel/outbox.ts';
import type { MirrorRow } from '../../src/custody/kernel/ports.ts';
import { createSwapStore } from '../../src/features/swap/swap-store.ts';
import * as operations from '../kit/sample-operations.ts';
import { eachScene, playSteps } from '../kit/scenes.ts';
import { freshStorageForEachTest } from './fresh-storage.ts';

freshStorageForEachTest();

const { closed, done, NOW, outstanding, planned, SOL, signed, signingOf } = operations;
const mirror = createD1Mirror(env.DB);
const swaps = createSwapStore(env.DB);

const rowOf = (operation: Operation): MirrorRow => ({
  ...{ entity: 'operation', id: operation.id, revision: operation.revision },
  columns: columnsOf(operation),
});
const apply = (...rows: Operation[]) =>
  mirror.apply(rows.map(rowOf), Math.max(...rows.map(({ revision }) => revision)) + 1, undefined);
const operationsAfter = async (id: string, limit: number) =>
  (await mirror.recordsAfter('operation', id, limit)).map(({ journal }) => decodeOperation(journal));
const stored = () =>
  env.DB.prepare('SELECT * FROM operations ORDER BY id')
    .all<Record<string, unknown>>()
    .then(({ results }) => results);

it('a D1 row has the columns that queries need, and the whole journal row as JSON', async () => {
  const plan = { expectedSats: '125000' };
  const outcome = { btcSats: '124500', btcTxid: 't', btcVout: 0 };
  const op = done({ id: 'swap:a', seq: 7, revision: 9, outcome, plan });
  await apply(op);
  expect(await stored()).toMatchObject([
    {
      ...{ seq: 7, revision: 9, kind: 'swap', status: 'finished', detail: 'done', reason: null },
      ...{ signature: 'signature-one', amount_lamports: '1000000000', expected_sats: '125000' },
      ...{ btc_sats: '124500', btc_txid: 't', landed_slot: 950, block_time: NOW / 1_000 },
      created_at: new Date(NOW).toISOString(),
    },
  ]);
  expect(await operationsAfter('', 10)).toEqual([op]);
});

it('a D1 row shows the requested amount even if no payment was sent', async () => {
  await apply(closed({ id: 'swap:a' }));
  const unsent = { status: 'failed', amount_lamports: SOL.toString(), signature: null, landed_slot: null };
  expect(await stored()).toMatchObject([unsent]);
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

it('finds a swap by its signature, with its amounts', async () => {
  await apply(signed({ id: 'swap:a' }));
  const unsettled = { expectedSats: null, btcSats: null, blockTime: null };
  expect(await swaps.bySignature('signature-one')).toMatchObject({ amountLamports: SOL, ...unsettled });
  expect(await swaps.bySignature("' OR 1=1 --")).toBeUndefined();
});

const STATES = operations as unknown as Readonly<Record<string, (change: object) => Operation>>;
/** The operation that a scene writes as `id state seq revision`: a swap with its own signature, unless its id begins with the kind. */
function operationOf(words: string): Operation {
  const [id = '', state = '', seq = '1', revision = '1', mark] = words.split(' ');
  const [kind, name = id] = id.includes(':') ? id.split(':') : ['swap'];
  const row = { id: `${kind}:${name}`, kind, seq: Number(seq), revision: Number(revision) };
  const isUnsigned = state === 'planned';
  const signing = isUnsigned ? null : signingOf(mark === 'signature-of-a' ? 'a' : name);
  return STATES[state]?.({ ...row, signing, dueAt: mark === 'watched' ? NOW : null }) ?? planned();
}

const verbs = {
  /** Writes one batch; what D1 says if it refuses it. */
  write: (...words: string[]) => {
    const batch = words.join(' ').split(', ').map(operationOf);
    return apply(...batch).then(
      () => 'stored',
      (error) => /UNIQUE|CHECK/.exec(String(error))?.[0],
    );
  },
  rows: async () =>
    (await stored())
      .map(({ id, detail, seq }) => `${String(id).replace('swap:', '')} ${detail} ${seq}`)
      .join(', ') || 'none',
  /** Writes a batch with this mark; the mark before. */
  marked: (mark: string) => mirror.apply([], Number(mark), undefined),
  mark: () => mirror.mark(),
  newest: () => mirror.newestRevision(),
  find: async (name: string) => (await swaps.bySignature(`signature-${name}`))?.status ?? 'nothing',
  final: async (name: string) => (await swaps.bySignature(`signature-${name}`))?.final,
  landed: async (limit: string) =>
    (await swaps.landed(Number(limit)))
      .map(({ signature }) => signature.replace('signature-', ''))
      .join(', '),
};

eachScene(`
  a newer revision overwrites an older revision, and never the reverse, in any order
    | write a signed 1 2; write a planned 1 1; rows = a sent 1; write a done 1 4; write a settling 1 3; rows = a done 1
  a second row with the same revision number has no effect
    | write a signed 1 5; write a planned 1 5; rows = a sent 1
  a batch that is written again, in another order, has no effect
    | write a signed 1 1, b done 2 2; write b done 2 2, a signed 1 1 = stored; rows = a sent 1, b done 2
  D1 writes a batch completely or not at all
    | write a signed 1 1, theft:b planned 2 2 = CHECK; rows = none; mark = 0
  an operation with a new number frees its old number for another operation of the same batch
    | write a signed 1 1; write a signed 2 2, b planned 1 3 = stored; rows = a sent 2, b planned 1
  D1 refuses two rows with the same number
    | write a signed 1 1; write c planned 1 2 = UNIQUE
  D1 refuses two rows with the same signature
    | write a signed 1 1; write b signed 2 2 signature-of-a = UNIQUE
  a batch stores its revision mark and returns the stored one, and an older batch does not lower the mark
    | mark = 0; marked 7 = 0; marked 9 = 7; marked 8 = 9; mark = 9
  the newest revision is the highest revision of a mirrored row
    | newest = 0; write a planned 1 7, b planned 2 3; newest = 7
  only the signature of a swap finds a swap
    | write a signed 1 1, asry:b signed 2 2; find a = waiting; find b = nothing
  the list has every swap whose transaction landed, newest first, up to a limit
    | write 1 settling 1 1, 2 signed 2 2, 3 done 3 3, 4 outstanding 4 4, asry:5 done 5 5; landed 10 = 4, 3, 1; landed 1 = 4
  a swap is final only if it has ended and the custodian no longer watches it
    | write 1 settling 1 1, 2 done 2 2, 3 outstanding 3 3 watched, 4 outstanding 4 4;
      final 1 = false; final 2 = true; final 3 = false; final 4 = true
`)('%s', (_title, steps = '') => playSteps(steps, verbs));

it('a probe of D1 leaves no row, and fails when the database cannot be written', async () => {
  await mirror.probe();
  expect(await env.DB.prepare('SELECT count(*) AS n FROM mirror_marks').first()).toEqual({ n: 0 });
  await env.DB.exec('DROP TABLE mirror_marks');
  await expect(mirror.probe()).rejects.toThrow(/mirror_marks/);
});
