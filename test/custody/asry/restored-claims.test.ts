import { describe, expect, it } from 'vitest';
import type { ClaimAnswer } from '../../../src/custody/api.ts';
import { decodeRow } from '../../../src/custody/asry/asry-store.ts';
import { depositSignature, wallet } from '../../kit/addresses.ts';
import {
  createAsrySimulation,
  type SimulatedDeposit,
  type Simulation,
  type SimulationOptions,
} from './claim-simulation.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

const deposit = (number: number): SimulatedDeposit => ({
  signature: depositSignature(80_000 + number),
  sender: wallet(80_000 + number),
  asset: 'USDC',
  atoms: 100_000_000n,
  at: 60,
});
const [one, two, three] = [deposit(1), deposit(2), deposit(3)];

function start(more: Partial<SimulationOptions> = {}): Simulation {
  return createAsrySimulation({ deposits: [one, two, three], ...more });
}

const isHeld = async (run: Simulation, id: string): Promise<boolean> =>
  (await run.ops('held'))?.rows?.some((row) => row.id === id) ?? false;

/** Every claim with its payouts, as D1 has it and as the journal has it. */
const inD1 = async (run: Simulation): Promise<unknown[]> =>
  (await run.rowsOf('SELECT journal FROM asry_claims ORDER BY id')).map(({ journal }) =>
    decodeRow(String(journal)),
  );
const inJournal = (run: Simulation): unknown[] =>
  run.claims().map((claim) => ({
    claim,
    payouts: run.payouts().filter(({ signature }) => signature === claim.signature),
  }));

const codeOf = (answer: ClaimAnswer | undefined): string =>
  answer?.type === 'refused' ? answer.refusal.code : (answer?.type ?? 'lost');
const claimOf = (answer: ClaimAnswer | undefined) => (answer?.type === 'refused' ? answer.claim : null);

describe('an emptied journal', () => {
  it('an emptied journal accepts no claim until it is reconciled, then has all claims and its curve position', async () => {
    const run = start();
    for (const { signature } of [one, two]) await run.ask({ signature });
    await run.pass(MINUTE);
    const before = { claims: run.claims(), epochs: run.epochs(), payouts: run.payouts() };
    run.loseJournal();
    expect(codeOf(await run.ask({ signature: one.signature }))).toBe('CLAIMS_PAUSED');
    expect(codeOf(await run.ask({ signature: three.signature }))).toBe('CLAIMS_PAUSED');
    await run.reconcile();
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

  it.each([
    ['neither its claim nor its operation', true],
    ['its operation, but not its claim', false],
  ])('never pays a reward twice when D1 has %s', async (_name, isOnChainOnly) => {
    const run = start();
    for (const { signature } of [one, two]) await run.ask({ signature });
    await run.pass(MINUTE);
    const id = `asry:${one.signature}:1`;
    await run.rowsOf(`DELETE FROM asry_claims WHERE id = '${one.signature}'`);
    if (isOnChainOnly) await run.rowsOf(`DELETE FROM operations WHERE id = '${id}'`);
    run.loseJournal();
    expect(await run.reconcile()).toMatchObject(isOnChainOnly ? [{ memo: id }] : []);
    expect(await run.ask({ signature: one.signature })).toMatchObject({
      refusal: { code: 'DEPOSIT_HELD', details: { reason: 'reconciled' } },
    });
    await run.pass(2 * HOUR);
    expect(run.landed()).toHaveLength(2);
  });

  it('never repeats a payout that was in flight when the journal was lost: reconciliation waits until it is final or expired', async () => {
    const run = start();
    await run.ask({ signature: one.signature });
    await run.forget(one.signature);
    run.loseJournal();
    expect(await run.ops('reconcile')).toMatchObject({ ok: false });
    await run.reconcile();
    for (let tries = 0; tries < 3; tries++) {
      expect(codeOf(await run.ask({ signature: one.signature }))).toBe('DEPOSIT_HELD');
      await run.pass(2 * MINUTE);
    }
    expect(run.landed()).toHaveLength(1);
  });

  it('a reconciled journal leaves owed payouts to the operator, who pays them with one command', async () => {
    const run = start({ opened: false, rentDay: 0n });
    await run.ask({ signature: one.signature });
    await run.pass(MINUTE);
    run.loseJournal();
    await run.reconcile();
    expect(run.payouts()).toMatchObject([{ state: 'held' }]);
    expect(await inD1(run)).toEqual(inJournal(run));
    run.openAccount(one.sender);
    expect(claimOf(await run.ask({ signature: one.signature }))?.payouts).toMatchObject([
      { status: 'owed', reason: 'paused' },
    ]);
    await run.pass(2 * HOUR);
    expect(run.landed()).toEqual([]);
    const id = `payout:${one.signature}:1`;
    expect(await isHeld(run, id)).toBe(true);
    await run.ops('retry', id);
    await run.pass(2 * MINUTE);
    expect(run.landed()).toMatchObject([{ receiver: one.sender }]);
    expect(run.payouts()).toMatchObject([{ state: 'paid' }]);
    expect(await run.ops('retry', id)).toMatchObject({ ok: false });
  });

  it('the command end marks a payout that waits for the operator as paid, and signs nothing for it', async () => {
    const run = start({ opened: false, rentDay: 0n });
    await run.ask({ signature: one.signature });
    await run.pass(MINUTE);
    run.loseJournal();
    await run.reconcile();
    expect(await run.ops('end', `payout:${one.signature}:1`)).toMatchObject({ ok: true });
    await run.pass(2 * HOUR);
    expect(run.landed()).toEqual([]);
    expect(run.payouts()).toMatchObject([{ state: 'paid' }]);
    expect(run.epochs()[0]?.paid).toBe(run.payouts()[0]?.atoms);
    expect(await inD1(run)).toEqual(inJournal(run));
  });
});

describe('a D1 that received only some rows of a change', () => {
  /** Loses the journal and the operation of a payout that never landed; D1 has its claim. */
  async function loseOperation() {
    const chain = { failing: 1 };
    const run = start({ failing: () => chain.failing });
    await run.ask({ signature: one.signature });
    expect(await inD1(run)).toMatchObject([{ payouts: [{ state: 'begun' }] }]);
    run.loseJournal();
    await run.rowsOf(`DELETE FROM operations WHERE id LIKE 'asry:%'`);
    await run.reconcile();
    chain.failing = 0;
    return run;
  }

  it('a started payout whose operation never reached D1 waits for the operator, and is then paid', async () => {
    const run = await loseOperation();
    const id = `payout:${one.signature}:1`;
    await run.pass(2 * HOUR);
    expect(run.landed()).toEqual([]);
    expect(await isHeld(run, id)).toBe(true);
    expect(claimOf(await run.ask({ signature: one.signature }))?.payouts).toMatchObject([
      { status: 'owed', reason: 'paused' },
    ]);
    expect(await inD1(run)).toEqual(inJournal(run));
    await run.ops('retry', id);
    await run.pass(2 * MINUTE);
    expect(run.landed()).toMatchObject([{ receiver: one.sender }]);
    expect(run.payouts()).toMatchObject([{ state: 'paid' }]);
  });

  it('a sent payout whose operation never reached D1 is not paid twice, even if the operator retries it', async () => {
    const run = start();
    await run.ask({ signature: one.signature });
    expect(await inD1(run)).toMatchObject([{ payouts: [{ state: 'begun' }] }]);
    run.loseJournal();
    await run.rowsOf(`DELETE FROM operations WHERE id LIKE 'asry:%'`);
    expect(await run.reconcile()).toMatchObject([{ memo: `asry:${one.signature}:1` }]);
    const id = `payout:${one.signature}:1`;
    expect(await run.ops('retry', id)).toMatchObject({ ok: false });
    await run.pass(2 * HOUR);
    expect(run.landed()).toHaveLength(1);
    await run.ops('end', id);
    expect(run.payouts()).toMatchObject([{ state: 'paid' }]);
  });

  it('the operator cannot pay a reward again when D1 received its operation but not the change of its claim', async () => {
    const run = start({ opened: false, rentDay: 0n });
    await run.ask({ signature: one.signature });
    const [older] = await run.rowsOf('SELECT journal FROM asry_claims');
    run.openAccount(one.sender);
    await run.pass(3 * MINUTE);
    expect(run.landed()).toHaveLength(1);
    run.loseJournal();
    await run.rowsOf(`UPDATE asry_claims SET journal = '${String(older?.journal)}'`);
    expect(await run.reconcile()).toEqual([]);
    const id = `payout:${one.signature}:1`;
    expect(await run.ops('retry', id)).toMatchObject({ ok: false });
    await run.pass(2 * HOUR);
    expect(run.landed()).toHaveLength(1);
    expect(run.payouts()).toMatchObject([{ state: 'held' }]);
  });

  it('a reconciled journal holds an owed payout and its operation, and retries neither, if D1 has an outdated operation row', async () => {
    const chain = { failing: 1 };
    const run = start({ failing: () => chain.failing });
    await run.ask({ signature: one.signature });
    const [older] = await run.rowsOf('SELECT journal FROM operations');
    await run.pass(20_000);
    expect(run.payouts()).toMatchObject([{ state: 'owed', reason: 'payout_failed' }]);
    run.loseJournal();
    await run.rowsOf(`UPDATE operations SET journal = '${String(older?.journal)}'`);
    await run.reconcile();
    chain.failing = 0;
    await run.pass(2 * HOUR);
    for (const id of [`payout:${one.signature}:1`, `asry:${one.signature}:1`]) {
      expect(await isHeld(run, id)).toBe(true);
      expect(await run.ops('retry', id)).toMatchObject({ ok: false });
    }
    await run.pass(2 * HOUR);
    expect(run.landed()).toEqual([]);
  });

  it.each(['older', 'no'])(
    'if D1 has %s epoch rows for its claims, the next deposit earns from the curve position after the last claim',
    async (kept) => {
      const run = start();
      const rows = await run.rowsOf('SELECT id, journal FROM asry_epochs');
      expect(rows).toEqual([]);
      await run.ask({ signature: one.signature });
      const older = await run.rowsOf('SELECT journal FROM asry_epochs');
      await run.ask({ signature: two.signature });
      await run.pass(MINUTE);
      run.loseJournal();
      await run.rowsOf(
        kept === 'no'
          ? 'DELETE FROM asry_epochs'
          : `UPDATE asry_epochs SET journal = '${String(older[0]?.journal)}'`,
      );
      await run.reconcile();
      await run.ask({ signature: three.signature });
      expect(run.claims().map(({ before: from }) => from)).toEqual([0n, 99_950_000n, 199_900_000n]);
    },
  );
});

describe('a journal set back', () => {
  it('a journal set back to an older state does not pay an owed claim again that was paid since', async () => {
    const run = start({ opened: false, rentDay: 0n });
    await run.ask({ signature: one.signature });
    await run.pass(MINUTE);
    const older = run.remember();
    run.openAccount(one.sender);
    await run.ask({ signature: one.signature });
    await run.pass(2 * MINUTE);
    expect(run.landed()).toHaveLength(1);
    run.loseJournal(older);
    await run.reconcile();
    await run.ask({ signature: one.signature });
    await run.pass(3 * HOUR);
    expect(run.landed()).toHaveLength(1);
    expect(run.payouts()).toMatchObject([{ state: 'paid' }]);
  });

  it('pays no further part of a claim when D1 did not receive an earlier part', async () => {
    const run = start({ program: { price: 10n ** 12n } });
    await run.ask({ signature: one.signature, rewardMicroUsd: 1n });
    await run.pass(MINUTE);
    const older = run.remember();
    await run.ask({ signature: one.signature, rewardMicroUsd: 1n });
    await run.pass(MINUTE);
    await run.forget(one.signature);
    run.loseJournal(older);
    await run.reconcile();
    expect(run.payouts()).toHaveLength(1);
    expect(await run.ask({ signature: one.signature })).toMatchObject({
      refusal: { code: 'DEPOSIT_HELD', details: { reason: 'reconciled' } },
    });
    await run.pass(MINUTE);
    expect(run.landed()).toHaveLength(2);
  });
});

describe('a D1 that was restored to an older state', () => {
  const tables = (run: Simulation) =>
    Promise.all(
      ['operations', 'asry_claims', 'asry_epochs'].map((table) =>
        run.rowsOf(`SELECT id, created_at, journal FROM ${table} ORDER BY id`),
      ),
    );

  it('D1 restored to an older state receives every claim, epoch and payout again, and none is paid twice', async () => {
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

  it('a journal lost after a restore of D1 is reconciled without loss, and no reward is paid twice', async () => {
    const run = start();
    for (const { signature } of [one, two]) await run.ask({ signature });
    await run.pass(MINUTE);
    const before = { claims: run.claims(), epochs: run.epochs(), payouts: run.payouts() };
    for (const table of ['operations', 'asry_claims', 'mirror_marks'])
      await run.rowsOf(`DELETE FROM ${table}`);
    await run.pass(3 * MINUTE);
    run.loseJournal();
    await run.reconcile();
    expect({ claims: run.claims(), epochs: run.epochs(), payouts: run.payouts() }).toEqual(before);
    for (const { signature } of [one, two])
      expect(codeOf(await run.ask({ signature }))).toBe('ALREADY_CLAIMED');
    await run.pass(2 * HOUR);
    expect(run.landed()).toHaveLength(2);
  });
});
