import { describe, expect, it } from 'vitest';
import type { RequestView } from '../../../src/custody/api.ts';
import { cases } from '../../cases.ts';
import { wallet } from '../../kit/addresses.ts';
import { checkRuns } from '../../kit/checked-runs.ts';
import type { RunOptions } from '../../kit/simulated-custodian.ts';
import { createRequestSimulation, type RequestSimulation } from './request-simulation.ts';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const PAYER = wallet(51);

const checked = checkRuns();

async function start(more: Partial<RunOptions> = {}): Promise<RequestSimulation> {
  return checked(createRequestSimulation({ seed: 3, crashes: 0, replacements: 0, wild: false, ...more }));
}

const fee = ({ feeLamports }: RequestView): bigint => BigInt(feeLamports);
const pay = (run: RequestSimulation, { reference }: RequestView, lamports: bigint): string =>
  run.pay({ payer: PAYER, lamports, references: [reference] });
const find = (run: RequestSimulation, { id }: RequestView) => run.call((custody) => custody.findRequest(id));
const refundsOnChain = (run: RequestSimulation) =>
  run.landed().filter(({ order }) => order.memo?.startsWith('refund:'));

describe('an emptied journal', () => {
  it('has every request, token, payment and refund again once it is reconciled, and takes none before', async () => {
    const run = await start();
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
      refunds: run.refunds().map(({ doubtedAt: _, changes: __, ...rest }) => rest),
      views: await Promise.all([made, listed, part, open].map((each) => find(run, each))),
    };
    run.loseJournal();
    const refused = await run.call((custody) =>
      custody.openRequest({ kind: 'token', subject: {}, baseFeeLamports: 1n, client: 'ip' }),
    );
    expect(refused).toBeUndefined();
    expect(await run.reconcile()).toMatchObject({ ok: true });
    const sorted = <T extends { id: string }>(rows: readonly T[]) =>
      rows.toSorted((a, b) => (a.id < b.id ? -1 : 1));
    expect(sorted(run.requests())).toEqual(sorted(before.requests));
    expect(run.refunds().map(({ doubtedAt: _, changes: __, ...rest }) => rest)).toEqual(before.refunds);
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

  it('finds a creation on the chain that D1 never received, and makes no second one', async () => {
    const run = await start();
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
    expect(await run.reconcile()).toMatchObject({ ok: true });
    await run.pass(2 * MINUTE);
    expect(await find(run, made)).toMatchObject({ status: 'completed', refunds: [] });
    expect(run.landed()).toHaveLength(1);
  });
});

describe('a refund that only the chain records', () => {
  it.each(['its operation', 'its operation and that it was begun'])(
    'is not paid again: D1 lacks %s',
    async (what) => {
      const run = await start();
      const made = await run.open('token');
      const paid = pay(run, made, fee(made) + 70_000n);
      await run.pass(90 * SECOND);
      const older = run.remember();
      expect(await run.refund(made.id)).toMatchObject({ ok: true });
      await run.pass(90 * SECOND);
      expect(refundsOnChain(run)).toHaveLength(1);
      await run.forget("operations WHERE kind = 'refund'");
      if (what !== 'its operation') await run.forget('refunds');
      run.loseJournal(older);
      await run.reconcile();
      for (let tries = 0; tries < 3; tries++) {
        await run.refund(made.id);
        await run.pass(15 * MINUTE);
      }
      expect(refundsOnChain(run)).toHaveLength(1);
      expect(await find(run, made)).toMatchObject({ refunds: [{ signature: paid, status: 'paid' }] });
    },
  );

  it('is not paid again while it is still on its way', async () => {
    const run = await start();
    const made = await run.open('token');
    pay(run, made, fee(made) + 70_000n);
    await run.pass(90 * SECOND);
    const older = run.remember();
    await run.refund(made.id);
    // Sent and not final yet; D1 has not received it.
    await run.forget("operations WHERE kind = 'refund'");
    await run.forget('refunds');
    run.loseJournal(older);
    await run.reconcile();
    await run.refund(made.id);
    expect(refundsOnChain(run).length).toBeLessThanOrEqual(1);
    await run.pass(20 * MINUTE);
    await run.refund(made.id);
    await run.pass(5 * MINUTE);
    expect(refundsOnChain(run)).toHaveLength(1);
    expect(await find(run, made)).toMatchObject({ refunds: [{ status: 'paid' }] });
  });
});

/** One run in which the operator pays two refunds while everything fails, and half the time the journal is lost. */
async function refundsUnderLoss(seed: number): Promise<void> {
  const run = createRequestSimulation({
    seed,
    crashes: seed % 5,
    replacements: seed % 3,
    wild: seed % 4 > 0,
  });
  const { random } = run;
  const over = await run.open('token');
  const twice = await run.open('listing');
  /**
   * The refund of each request. The search may find the later of two payments first; then the other is the
   * excess.
   */
  const owed = [{ payments: [pay(run, over, fee(over) + 80_000n)], lamports: 80_000n }];
  const listed = pay(run, twice, fee(twice));
  await run.pass(20 * SECOND);
  owed.push({ payments: [listed, pay(run, twice, 4_000_000n)], lamports: 4_000_000n });
  // A waiting request keeps the search running.
  await run.open('listing');
  let snapshot = run.remember();
  const from = run.scheduler.now();
  for (let call = 0; call < 6; call++) {
    const id = random.pick([over.id, twice.id]);
    run.at(
      from + random.between(0, 40 * SECOND),
      (custody) => custody.ops({ name: 'refund', id }),
      () => undefined,
    );
  }
  if (random.chance(0.3))
    run.scheduler.at(from + random.between(0, 20 * SECOND), () => (snapshot = run.remember()));
  const isLost = random.chance(0.5);
  if (isLost) {
    await run.pass(random.between(1, 45) * SECOND);
    if (random.chance(0.5)) await run.forget("operations WHERE kind = 'refund'");
    run.loseJournal(random.chance(0.5) ? snapshot : []);
    await run.reconcile();
  }
  await run.play(run.scheduler.now() + 30 * SECOND);
  for (let tries = 0; tries < 4; tries++) {
    for (const { id } of [over, twice]) await run.refund(id);
    await run.play(run.scheduler.now() + 12 * MINUTE);
  }
  const where = `seed ${seed}`;
  expect(run.errors, where).toEqual([]);
  const back = refundsOnChain(run).map(({ order: { intent, to, lamports } }) => ({ intent, to, lamports }));
  const expected = owed.map(({ payments, lamports }) => ({
    intent: expect.stringMatching(new RegExp(`^refund:(${payments.join('|')})(\\.\\d)?:`)),
    to: PAYER,
    lamports,
  }));
  expect(back, where).toHaveLength(expected.length);
  expect(back, where).toEqual(expect.arrayContaining(expected));
  expect(
    run.refunds().map(({ state }) => state),
    where,
  ).toEqual(['paid', 'paid']);
  expect(
    run.requests().filter(({ id }) => id === over.id || id === twice.id),
    where,
  ).toMatchObject([{ state: 'completed' }, { state: 'completed' }]);
  run.release();
}

describe('runs in which the operator pays refunds while everything fails', () => {
  it.each(Array.from({ length: 10 }, (_, part) => part))(
    'part %i pays each exactly once',
    { tags: ['scaled'] },
    async (part) => {
      for (let n = 0; n < cases(12, 2); n++) await refundsUnderLoss(10_000 + part * 12 + n);
    },
  );

  it.each([
    [20_095, 'a creation whose attempts expire after the loss'],
    [20_113, 'a creation of which D1 had an expired attempt'],
    [20_167, 'a refund that is signed again after the loss'],
    [20_209, 'a later payment that the scan finds first'],
  ])('seed %i settles without the operator: %s', (seed) => refundsUnderLoss(seed));
});

it('a D1 that was restored to an older state has every row of requests, tokens and refunds again', async () => {
  const run = await start();
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
  await run.call((custody) => custody.ops({ name: 'republish' }));
  await run.pass(MINUTE);
  expect(await revisions()).toEqual(unchanged);
  expect(before.map((rows) => rows.length)).toEqual([1, 2, 3, 3, 1]);
  for (const table of [...tables, 'tokens_text', 'tokens_short', 'mirror_marks']) await run.forget(table);
  await run.pass(3 * MINUTE);
  expect(await contents()).toEqual(before);
  expect(run.landed()).toHaveLength(1);
});
