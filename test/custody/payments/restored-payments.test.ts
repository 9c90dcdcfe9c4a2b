import { describe, expect, it } from 'vitest';
import type { RequestView } from '../../../src/custody/api.ts';
import type { PaymentRequest, RefundDue } from '../../../src/custody/payments/request-store.ts';
import { wallet } from '../../kit/addresses.ts';
import { simulateCustodian } from '../../kit/simulated-custodian.ts';
import { key } from '../../simulator/ledger.ts';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const PAYER = wallet(51);

function start() {
  const run = simulateCustodian({});
  // A refund does not open the account of its payer.
  run.ledger.endow(key.lamports(PAYER), 10n ** 9n);
  const stored = <T>(table: string): T[] =>
    run.host.disk
      .exec(`SELECT row FROM ${table} ORDER BY rowid`, [])
      .map((row) => JSON.parse(String(row.row)) as T);
  return {
    ...run,
    requests: () => stored<PaymentRequest>('requests'),
    refunds: () => stored<RefundDue>('refunds'),
    forget: (where: string) => run.rowsOf(`DELETE FROM ${where}`),
  };
}
type Run = ReturnType<typeof start>;

const fee = ({ feeLamports }: RequestView): bigint => BigInt(feeLamports);
const pay = (run: Run, { reference }: RequestView, lamports: bigint): string =>
  run.pay(PAYER, lamports, [reference]);
const find = (run: Run, { id }: RequestView) => run.call((custody) => custody.findRequest(id));
const refundsOnChain = (run: Run) => run.landed().filter(({ memo }) => memo?.startsWith('refund:'));

describe('an emptied journal', () => {
  it('an emptied journal has every request, token, payment and refund again only once it is reconciled', async () => {
    const run = start();
    const made = await run.open('token');
    const listed = await run.open('listing');
    const part = await run.open('token');
    const open = await run.open('listing');
    pay(run, made, fee(made) + 70_000n);
    pay(run, listed, fee(listed));
    const first = pay(run, part, 5_000_000n);
    await run.pass(90 * SECOND);
    const before = {
      requests: run.requests(),
      refunds: run.refunds().map(({ state: _, changes: __, ...rest }) => rest),
      views: await Promise.all([made, listed, part, open].map((each) => find(run, each))),
    };
    run.loseJournal();
    const refused = await run.call((custody) =>
      custody.openRequest({
        kind: 'token',
        subject: { costLamports: '1' },
        baseFeeLamports: 1n,
        client: 'ip',
      }),
    );
    expect(refused).toBeUndefined();
    await run.reconcile();
    const sorted = <T extends { id: string }>(rows: readonly T[]) =>
      rows.toSorted((a, b) => (a.id < b.id ? -1 : 1));
    expect(sorted(run.requests())).toEqual(sorted(before.requests));
    expect(run.refunds().map(({ state: _, changes: __, ...rest }) => rest)).toEqual(before.refunds);
    expect(run.refunds()).toMatchObject([{ state: 'held' }]);
    expect(await Promise.all([made, listed, part, open].map((each) => find(run, each)))).toEqual(
      before.views,
    );
    expect(run.consumerOf(`payment:${first}`)).toBe(`token:${part.id}`);
    // The earlier payment counts, the rest completes it, and the restarted search counts nothing twice.
    pay(run, part, fee(part) - 5_000_000n);
    pay(run, open, fee(open));
    await run.pass(2 * MINUTE);
    expect(await find(run, part)).toMatchObject({
      status: 'completed',
      receivedLamports: part.feeLamports,
      refunds: [],
    });
    expect(await find(run, open)).toMatchObject({ status: 'completed' });
    expect(run.landed()).toHaveLength(2);
  });

  it('after a loss of the journal, no second token is made for a creation that D1 never received', async () => {
    const run = start();
    const made = await run.open('token');
    const older = run.remember();
    pay(run, made, fee(made));
    await run.pass(90 * SECOND);
    expect(await find(run, made)).toMatchObject({ status: 'completed' });
    await run.forget(`operations WHERE id = 'token:${made.id}'`);
    await run.forget('tokens');
    await run.forget('tokens_text');
    await run.forget('tokens_short');
    await run.forget('listings');
    run.loseJournal(older);
    expect(await run.reconcile()).toMatchObject([{ memo: null }]);
    await run.pass(2 * MINUTE);
    expect(await find(run, made)).toMatchObject({ status: 'completed', refunds: [] });
    expect(run.landed()).toHaveLength(1);
  });

  it('creations of paid requests wait for the operator if D1 lacks their operations, and no second token is made', async () => {
    const run = start();
    const made = await Promise.all([run.open('token'), run.open('token'), run.open('token')]);
    for (const each of made) pay(run, each, fee(each));
    await run.pass(90 * SECOND);
    await run.forget("operations WHERE kind = 'token'");
    for (const table of ['tokens', 'tokens_text', 'tokens_short', 'listings']) await run.forget(table);
    await run.rowsOf(`UPDATE invoices SET journal = json_set(journal, '$.row.state', 'paid')`);
    run.loseJournal();
    await run.reconcile();
    await run.pass(2 * MINUTE);
    for (const each of made)
      expect(await find(run, each)).toMatchObject({ detail: 'creating', reason: 'held_reconciled' });
    for (const { id } of made) await run.ops('retry', `token:${id}`);
    await run.pass(2 * MINUTE);
    for (const each of made) expect(await find(run, each)).toMatchObject({ status: 'completed' });
    expect(run.landed()).toHaveLength(3);
  });
});

/** The line of the report for a refund of this payment. */
const refundOf = (paid: string) => expect.objectContaining({ memo: `refund:${paid}:1` });

describe('a refund that only the chain records', () => {
  it.each(['its operation', 'its operation and its refund row'])(
    'a refund that only the chain records is not paid again: D1 lacks %s',
    async (what) => {
      const run = start();
      const made = await run.open('token');
      const paid = pay(run, made, fee(made) + 70_000n);
      await run.pass(90 * SECOND);
      const older = run.remember();
      expect(await run.ops('refund', made.id)).toMatchObject({ ok: true });
      await run.pass(90 * SECOND);
      expect(refundsOnChain(run)).toHaveLength(1);
      await run.forget("operations WHERE kind = 'refund'");
      if (what === 'its operation')
        await run.rowsOf(`UPDATE refunds SET journal = json_set(journal, '$.state', 'begun')`);
      else await run.forget('refunds');
      run.loseJournal(older);
      expect(await run.reconcile()).toContainEqual(refundOf(paid));
      await run.ops('refund', made.id);
      expect(await run.ops('retry', `refund:${paid}`)).toMatchObject({ ok: false });
      await run.ops('refund', made.id);
      await run.pass(15 * MINUTE);
      expect(refundsOnChain(run)).toHaveLength(1);
      expect(await find(run, made)).toMatchObject({ refunds: [{ signature: paid, status: 'due' }] });
      expect(await run.ops('end', `refund:${paid}`)).toMatchObject({ ok: true });
      expect(await find(run, made)).toMatchObject({ refunds: [{ signature: paid, status: 'paid' }] });
    },
  );

  it('a refund that only the chain records is not paid again while its transaction is in flight', async () => {
    const run = start();
    const made = await run.open('token');
    const paid = pay(run, made, fee(made) + 70_000n);
    await run.pass(90 * SECOND);
    const older = run.remember();
    await run.ops('refund', made.id);
    // Sent and not final yet; D1 has not received it.
    await run.forget("operations WHERE kind = 'refund'");
    await run.forget('refunds');
    run.loseJournal(older);
    expect(await run.reconcile()).toContainEqual(refundOf(paid));
    await run.ops('retry', `refund:${paid}`);
    await run.ops('refund', made.id);
    await run.pass(20 * MINUTE);
    expect(refundsOnChain(run)).toHaveLength(1);
  });

  it('a refund that only the chain records is not owed again if D1 has an older state of its request', async () => {
    const run = start();
    const made = await run.open('token');
    const [older] = await run.rowsOf('SELECT journal FROM invoices');
    const paid = pay(run, made, fee(made) + 70_000n);
    await run.pass(90 * SECOND);
    await run.ops('refund', made.id);
    await run.pass(90 * SECOND);
    await run.forget('operations');
    await run.forget('refunds');
    await run.rowsOf(`UPDATE invoices SET journal = '${String(older?.journal)}'`);
    run.loseJournal();
    expect(await run.reconcile()).toContainEqual(refundOf(paid));
    await run.pass(HOUR);
    expect(run.consumerOf(`payment:${paid}`)).toMatch(/^unexplained:/);
    expect(await find(run, made)).toMatchObject({ detail: 'expired', refunds: [] });
    expect(await run.ops('refund', made.id)).toMatchObject({ ok: false });
    expect(run.landed()).toHaveLength(2);
  });
});

it('D1 restored to an older state receives every row of requests, tokens and refunds again', async () => {
  const run = start();
  const made = await run.open('token');
  const listed = await run.open('listing');
  const part = await run.open('token');
  await run.open('listing');
  pay(run, made, fee(made) + 70_000n);
  pay(run, listed, fee(listed));
  pay(run, part, 5_000_000n);
  await run.pass(90 * SECOND);
  const tables = ['operations', 'invoices', 'listings', 'tokens', 'refunds'];
  const contents = () =>
    Promise.all(
      tables.map(async (table) =>
        (await run.rowsOf(`SELECT * FROM ${table} ORDER BY id`)).map(({ revision: _, ...row }) => ({
          ...row,
          journal: JSON.parse(String(row.journal)) as unknown,
        })),
      ),
    );
  const revisions = () => Promise.all(tables.map((table) => run.rowsOf(`SELECT revision FROM ${table}`)));
  const before = await contents();
  const unchanged = await revisions();
  await run.ops('republish');
  await run.pass(MINUTE);
  expect(await revisions()).toEqual(unchanged);
  expect(before.map((rows) => rows.length)).toEqual([1, 2, 3, 3, 1]);
  for (const table of [...tables, 'tokens_text', 'tokens_short', 'mirror_marks']) await run.forget(table);
  await run.pass(3 * MINUTE);
  expect(await contents()).toEqual(before);
  expect(run.landed()).toHaveLength(1);
});
