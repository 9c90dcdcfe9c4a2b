import { describe, expect, it } from 'vitest';
import type { ClaimAnswer } from '../../../src/custody/api.ts';
import { decodeRow } from '../../../src/custody/asry/asry-store.ts';
import { payoutOfMemo } from '../../../src/custody/asry/recovery.ts';
import { depositSignature, wallet } from '../../kit/addresses.ts';
import { checkRuns } from '../../kit/checked-runs.ts';
import {
  createAsrySimulation,
  type SimulatedDeposit,
  type Simulation,
  type SimulationOptions,
} from './claim-simulation.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

const checked = checkRuns();

const deposit = (number: number): SimulatedDeposit => ({
  signature: depositSignature(80_000 + number),
  sender: wallet(80_000 + number),
  asset: 'USDC',
  atoms: 100_000_000n,
  at: 60,
});
const [one, two, three] = [deposit(1), deposit(2), deposit(3)];

function start(more: Partial<SimulationOptions> = {}): Simulation {
  const calm = { seed: 3, crashes: 0, replacements: 0, wild: false };
  return checked(createAsrySimulation({ ...calm, deposits: [one, two, three], ...more }));
}

/** Repeated until it succeeds: right after the loss it is refused as too early. */
async function reconcile(run: Simulation): Promise<void> {
  let tries = 0;
  while (!(await run.ops({ name: 'reconcile' }))?.ok) {
    expect(++tries).toBeLessThan(20);
    await run.pass(MINUTE);
  }
}

/** Every claim with its payouts, as D1 has it and as the journal has it. */
const inD1 = async (run: Simulation): Promise<unknown[]> =>
  (await run.mirrored()).map(({ journal }) => decodeRow(String(journal)));
const inJournal = (run: Simulation): unknown[] =>
  run.claims().map((claim) => ({
    claim,
    payouts: run.payouts().filter(({ signature }) => signature === claim.signature),
  }));

const codeOf = (answer: ClaimAnswer | undefined): string =>
  answer?.type === 'refused' ? answer.refusal.code : (answer?.type ?? 'lost');
const claimOf = (answer: ClaimAnswer | undefined) => (answer?.type === 'refused' ? answer.claim : null);

describe('an emptied journal', () => {
  it('takes no claim until it is reconciled, and then has every claim and its position on the curve', async () => {
    const run = start();
    for (const { signature } of [one, two]) await run.ask({ signature });
    await run.pass(MINUTE);
    const before = { claims: run.claims(), epochs: run.epochs(), payouts: run.payouts() };
    run.loseJournal();
    expect(codeOf(await run.ask({ signature: one.signature }))).toBe('CLAIMS_PAUSED');
    expect(codeOf(await run.ask({ signature: three.signature }))).toBe('CLAIMS_PAUSED');
    await reconcile(run);
    expect(run.claims()).toEqual(before.claims);
    expect(run.epochs()).toEqual(before.epochs);
    expect(run.payouts()).toEqual(before.payouts);
    const again = await run.ask({ signature: one.signature });
    expect([codeOf(again), claimOf(again)?.payouts[0]?.status]).toEqual(['ALREADY_CLAIMED', 'sent']);
    expect(run.consumerOf(`payment:${one.signature}`)).toBe(`asry:${one.signature}`);
    expect(codeOf(await run.ask({ signature: three.signature }))).toBe('claimed');
    await run.pass(MINUTE);
    expect(run.landed()).toHaveLength(3);
    expect(run.claims().map(({ before: from }) => from)).toEqual([0n, 99_950_000n, 199_900_000n]);
  });

  it('pays no reward twice that only the chain records: its memo names the deposit', async () => {
    const run = start();
    for (const { signature } of [one, two]) await run.ask({ signature });
    await run.pass(MINUTE);
    await run.forget(one.signature);
    run.loseJournal();
    await reconcile(run);
    expect(await run.ask({ signature: one.signature })).toMatchObject({
      refusal: { code: 'DEPOSIT_HELD', details: { reason: 'reconciled' } },
    });
    expect(run.consumerOf(`payment:${one.signature}`)).toBe(`asry:${one.signature}`);
    await run.pass(2 * HOUR);
    expect(run.landed()).toHaveLength(2);
  });

  it('pays no reward twice that was on its way at the loss, and is not rebuilt before it is final or expired', async () => {
    const run = start();
    await run.ask({ signature: one.signature });
    await run.forget(one.signature);
    run.loseJournal();
    expect(await run.ops({ name: 'reconcile' })).toMatchObject({ ok: false });
    await reconcile(run);
    for (let tries = 0; tries < 3; tries++) {
      expect(codeOf(await run.ask({ signature: one.signature }))).toBe('DEPOSIT_HELD');
      await run.pass(2 * MINUTE);
    }
    expect(run.landed()).toHaveLength(1);
  });

  it('leaves owed payouts to the operator, who pays them with one command', async () => {
    const run = start({ opened: false, program: { rentBudget: 0n } });
    await run.ask({ signature: one.signature });
    await run.pass(MINUTE);
    run.loseJournal();
    await reconcile(run);
    expect(run.payouts()).toMatchObject([{ state: 'begun' }]);
    expect(await inD1(run)).toEqual(inJournal(run));
    run.openAccount(one.sender);
    await run.ask({ signature: one.signature });
    await run.pass(2 * HOUR);
    expect(run.landed()).toEqual([]);
    const held = await run.ops({ name: 'held' });
    expect(held?.rows).toMatchObject([{ id: `asry:${one.signature}:1`, reason: 'held_reconciled' }]);
    await run.ops({ name: 'retry', id: `asry:${one.signature}:1` });
    await run.pass(2 * MINUTE);
    expect(run.landed()).toMatchObject([{ order: { receiver: one.sender } }]);
    expect(run.payouts()).toMatchObject([{ state: 'paid' }]);
  });
});

describe('a D1 that received one of several rows of a change', () => {
  /** Loses the journal and the operation of a payout that never landed; D1 has its claim. */
  async function loseOperation() {
    const chain = { failing: 1 };
    const run = start({ failing: () => chain.failing });
    await run.ask({ signature: one.signature });
    expect(await inD1(run)).toMatchObject([{ payouts: [{ state: 'begun' }] }]);
    run.loseJournal();
    await run.rowsOf(`DELETE FROM operations WHERE id LIKE 'asry:%'`);
    await reconcile(run);
    chain.failing = 0;
    return run;
  }

  it('has a begun payout without its operation: it awaits the operator and is then paid', async () => {
    const run = await loseOperation();
    const id = `asry:${one.signature}:1`;
    await run.pass(2 * HOUR);
    expect(run.landed()).toEqual([]);
    expect((await run.ops({ name: 'held' }))?.rows).toMatchObject([{ id, reason: 'held_reconciled' }]);
    expect(claimOf(await run.ask({ signature: one.signature }))?.payouts).toMatchObject([
      { status: 'owed', reason: 'paused' },
    ]);
    expect(await inD1(run)).toEqual(inJournal(run));
    await run.ops({ name: 'retry', id });
    await run.pass(2 * MINUTE);
    expect(run.landed()).toMatchObject([{ order: { receiver: one.sender } }]);
    expect(run.payouts()).toMatchObject([{ state: 'paid', operationId: id }]);
  });

  it('never pays such a payout twice: the chain shows the lost operation by its memo', async () => {
    const run = start();
    await run.ask({ signature: one.signature });
    expect(await inD1(run)).toMatchObject([{ payouts: [{ state: 'begun' }] }]);
    run.loseJournal();
    await run.rowsOf(`DELETE FROM operations WHERE id LIKE 'asry:%'`);
    await reconcile(run);
    await run.pass(2 * HOUR);
    expect(run.landed()).toHaveLength(1);
    expect(run.payouts()).toMatchObject([{ state: 'paid' }]);
  });

  it('has an older epoch than its claims: the next deposit earns from the end of the last of them', async () => {
    const run = start();
    const rows = await run.rowsOf('SELECT id, journal FROM asry_epochs');
    expect(rows).toEqual([]);
    await run.ask({ signature: one.signature });
    const older = await run.rowsOf('SELECT journal FROM asry_epochs');
    await run.ask({ signature: two.signature });
    await run.pass(MINUTE);
    run.loseJournal();
    await run.rowsOf(`UPDATE asry_epochs SET journal = '${String(older[0]?.journal)}'`);
    await reconcile(run);
    expect(run.epochs()[0]?.deposits).toBe(199_900_000n);
    await run.ask({ signature: three.signature });
    expect(run.claims().map(({ before: from }) => from)).toEqual([0n, 99_950_000n, 199_900_000n]);
  });
});

describe('a journal set back', () => {
  it('does not pay a claim again that was owed then and has been paid since', async () => {
    const run = start({ opened: false, program: { rentBudget: 0n } });
    await run.ask({ signature: one.signature });
    await run.pass(MINUTE);
    const older = run.remember();
    run.openAccount(one.sender);
    await run.ask({ signature: one.signature });
    await run.pass(2 * MINUTE);
    expect(run.landed()).toHaveLength(1);
    run.loseJournal(older);
    await reconcile(run);
    await run.ask({ signature: one.signature });
    await run.pass(3 * HOUR);
    expect(run.landed()).toHaveLength(1);
    expect(run.payouts()).toMatchObject([{ state: 'paid' }]);
  });

  it('of a claim taken in part, with a later part that D1 did not receive, pays no part again', async () => {
    const run = start({ program: { price: 10n ** 12n } });
    await run.ask({ signature: one.signature, rewardMicroUsd: 1n });
    await run.pass(MINUTE);
    const older = run.remember();
    await run.ask({ signature: one.signature, rewardMicroUsd: 1n });
    await run.pass(MINUTE);
    await run.forget(one.signature);
    run.loseJournal(older);
    await reconcile(run);
    expect(run.payouts()).toHaveLength(2);
    expect(await inD1(run)).toEqual(inJournal(run));
    const left = run.claims()[0]?.left;
    await run.ask({ signature: one.signature });
    await run.pass(MINUTE);
    expect(run.landed()).toHaveLength(3);
    expect(run.landed().reduce((sum, { order }) => sum + order.atoms, 0n)).toBe(run.claims()[0]?.entitlement);
    expect(run.landed().at(-1)?.order.atoms).toBe(left);
  });
});

it('finds a payout only by the memo of our own payout', () => {
  const id = `asry:${one.signature}:12`;
  expect(payoutOfMemo(id)).toBe(id);
  expect(payoutOfMemo(`[${id.length}] ${id}`)).toBe(id);
  for (const memo of [
    null,
    undefined,
    '',
    'hello',
    `${id};`,
    `[3] x; [9] ${id}`,
    `asry:${one.signature}:0`,
    'asry:short:1',
  ])
    expect(payoutOfMemo(memo)).toBeUndefined();
});

describe('a D1 that was restored to an older state', () => {
  const tables = (run: Simulation) =>
    Promise.all(
      ['operations', 'asry_claims', 'asry_epochs'].map((table) =>
        run.rowsOf(`SELECT id, created_at, journal FROM ${table} ORDER BY id`),
      ),
    );

  it('has every claim, epoch and payout again, and nothing is paid twice', async () => {
    const run = start();
    for (const { signature } of [one, two]) await run.ask({ signature });
    await run.pass(MINUTE);
    const before = await tables(run);
    for (const table of ['operations', 'asry_claims', 'asry_epochs', 'mirror_marks'])
      await run.rowsOf(`DELETE FROM ${table}`);
    await run.ask({ signature: three.signature });
    await run.pass(3 * MINUTE);
    expect(await inD1(run)).toEqual(expect.arrayContaining(inJournal(run)));
    const after = await tables(run);
    expect(after[0]).toEqual(expect.arrayContaining(before[0] ?? []));
    expect(after[1]).toEqual(expect.arrayContaining(before[1] ?? []));
    expect(run.landed()).toHaveLength(3);
  });

  it('has lost nothing when the journal is lost afterwards: it is rebuilt, and nothing is paid twice', async () => {
    const run = start();
    for (const { signature } of [one, two]) await run.ask({ signature });
    await run.pass(MINUTE);
    const before = { claims: run.claims(), epochs: run.epochs(), payouts: run.payouts() };
    for (const table of ['operations', 'asry_claims', 'mirror_marks'])
      await run.rowsOf(`DELETE FROM ${table}`);
    await run.pass(3 * MINUTE);
    run.loseJournal();
    await reconcile(run);
    expect({ claims: run.claims(), epochs: run.epochs(), payouts: run.payouts() }).toEqual(before);
    for (const { signature } of [one, two])
      expect(codeOf(await run.ask({ signature }))).toBe('ALREADY_CLAIMED');
    await run.pass(2 * HOUR);
    expect(run.landed()).toHaveLength(2);
  });
});
