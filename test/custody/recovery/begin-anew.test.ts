import { describe, expect, it } from 'vitest';
import type { ClaimAnswer, RequestView } from '../../../src/custody/api.ts';
import { birthOf, lostRequest } from '../../../src/custody/kernel/birth.ts';
import { Journal } from '../../../src/custody/kernel/journal.ts';
import { depositSignature, wallet } from '../../kit/addresses.ts';
import { createCustodianWorld, keyed } from '../../kit/custodian.ts';
import { shownCode } from '../../kit/operator.ts';
import { eachScene } from '../../kit/scenes.ts';
import { simulateCustodian } from '../../kit/simulated-custodian.ts';
import { createSqliteStorage } from '../../kit/sqlite-storage.ts';
import { key } from '../../simulator/ledger.ts';
import { createAsrySimulation, type SimulatedDeposit } from '../asry/claim-simulation.ts';
import { playCustody } from '../custody-scenes.ts';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const PAYER = wallet(51);

const refusalOf = (answer: ClaimAnswer | undefined): string =>
  answer?.type === 'refused' ? answer.refusal.code : (answer?.type ?? 'no response');

/** A custodian whose storage was emptied after a swap; D1 has the swap. The command has shown its code. */
async function lost() {
  const w = createCustodianWorld({ contact: 'mailto:operator@sluice.example' });
  await w.custody.createSwap(keyed('old'));
  const storage = createSqliteStorage();
  const custody = w.start(storage);
  await custody.alarm();
  w.clock.now += 10 * MINUTE;
  const id = shownCode((await custody.ops({ name: 'begin-anew' })).message);
  const confirm = () => custody.ops({ name: 'begin-anew', id });
  return { w, custody, confirm, journal: new Journal(storage), before: [...w.mirror.rows.values()] };
}

describe('the command begin-anew', () => {
  eachScene(`
    the command begin-anew refuses a journal that has lost nothing
      | ops begin-anew = refused
    the command begin-anew waits for 183 blocks after a loss, then shows a code, and changes nothing without it
      | swap old; lose-journal; fire; ops begin-anew = refused; wait 2m; ops begin-anew = ok; ops begin-anew deadbeef = refused; born = false; frozen = journal_behind_mirror
`)('%s', (_title, steps = '') => playCustody(steps));

  it('starts a paused journal after the highest revision and number of D1, and changes no row of D1', async () => {
    const { w, custody, confirm, journal, before } = await lost();
    const mark = await w.mirror.mark();
    expect(await confirm()).toMatchObject({ ok: true });
    expect(await custody.report()).toMatchObject({ frozen: null, paused: 'operator', openOperations: 0 });
    expect(birthOf(journal)).toEqual({ at: w.clock.now, slot: '940', revision: mark });
    expect(w.mirror.birth).toEqual({ at: w.clock.now, slot: '940', revision: mark });
    await custody.ops({ name: 'resume' });
    const old = await custody.createSwap(keyed('old', { client: 'other' }));
    expect(old).toMatchObject({
      type: 'refused',
      refusal: {
        code: 'OLDER_THAN_RECORDS',
        details: {
          contact: 'mailto:operator@sluice.example',
          recordsSince: new Date(w.clock.now).toISOString(),
        },
      },
    });
    expect(await custody.createSwap(keyed('new', { client: 'another' }))).toMatchObject({ type: 'created' });
    expect(w.mirror.operation('swap:key-new')).toMatchObject({ seq: 2 });
    expect(journal.get('swap:key-new')?.revision).toBeGreaterThan(mark);
    expect([...w.mirror.rows.values()].filter(({ id }) => id === 'swap:key-old')).toEqual(before);
    expect(journal.userOf('deposit:deposit-1') ?? 'swap:key-old').toBe('swap:key-old');
  });

  it('leaves the journal frozen when D1 fails in the middle; a repeated command finishes the work', async () => {
    const { w, custody, confirm, journal } = await lost();
    const { recordsAfter } = w.mirror;
    w.mirror.recordsAfter = () => Promise.reject(new Error('D1_ERROR'));
    expect(await confirm()).toMatchObject({ ok: false });
    expect([birthOf(journal), (await custody.report()).frozen]).toEqual([undefined, 'journal_behind_mirror']);
    w.mirror.recordsAfter = recordsAfter;
    expect(await confirm()).toMatchObject({ ok: true });
  });

  it('does not start while one node is far ahead, because with its slot the payments of the next hour would be refused', async () => {
    const { w, confirm, journal } = await lost();
    w.chain.checkFinality = async () => ({ slot: 940n, floor: 940n + 183n });
    expect(await confirm()).toMatchObject({ ok: false });
    expect(birthOf(journal)).toBeUndefined();
    w.chain.checkFinality = async () => ({ slot: 940n, floor: 940n + 182n });
    expect(await confirm()).toMatchObject({ ok: true });
    expect(birthOf(journal)?.slot).toBe('1122');
  });

  it('continues with more rows of D1 than one command reads, and takes each of them over', async () => {
    const { w, confirm, journal } = await lost();
    const { recordsAfter } = w.mirror;
    const [swap] = await recordsAfter('operation', '', 1);
    const nameOf = (at: number) => `swap:key-${String(at).padStart(5, '0')}`;
    let reads = 0;
    w.mirror.recordsAfter = async (entity, after, limit) => {
      reads += 1;
      if (entity !== 'operation' || !swap) return recordsAfter(entity, after, limit);
      const from = after === '' ? 0 : Number(after.slice(-5)) + 1;
      const found = Array.from({ length: Math.min(limit, 21_000 - from) }, (_, at) => nameOf(from + at));
      return found.map((id) => ({ ...swap, id, journal: swap.journal.replaceAll(swap.id, id) }));
    };
    const messages = ['more are left', 'has begun anew'];
    for (const message of messages) {
      expect(birthOf(journal)).toBeUndefined();
      reads = 0;
      const answer = await confirm();
      expect(answer).toMatchObject({ ok: true, message: expect.stringContaining(message) });
      expect(reads).toBeLessThanOrEqual(40);
    }
    expect(birthOf(journal)).toBeDefined();
    const taken = [0, 19_999, 20_000, 20_999].map((at) => journal.userOf(lostRequest(nameOf(at))));
    expect(taken).toEqual([0, 19_999, 20_000, 20_999].map(nameOf));
  });

  it('two simultaneous begin-anew commands start one new journal', async () => {
    const { confirm, journal } = await lost();
    const answers = await Promise.all([confirm(), confirm()]);
    expect(answers.filter(({ ok }) => ok)).toHaveLength(1);
    expect(birthOf(journal)).toBeDefined();
  });
});

describe('deposits after a journal began anew', () => {
  const deposit = (number: number, more: Partial<SimulatedDeposit> = {}): SimulatedDeposit => ({
    signature: depositSignature(80_000 + number),
    sender: wallet(80_000 + number),
    asset: 'USDC',
    atoms: 100_000_000n,
    at: 60,
    ...more,
  });
  const [paid, unclaimed, later] = [deposit(1), deposit(2), deposit(3, { slot: 10n ** 7n, at: 1_800 })];

  it.each([
    ['that the lost journal has paid and D1 has', paid, false],
    ['that the lost journal has paid and D1 lacks', paid, true],
    ['that nobody has claimed', unclaimed, false],
  ])("a stranger's old deposit earns nothing: a deposit %s", async (_name, { signature }, isForgotten) => {
    const run = createAsrySimulation({ deposits: [paid, unclaimed] });
    await run.ask({ signature: paid.signature });
    await run.pass(MINUTE);
    if (isForgotten) await run.forget(paid.signature);
    run.loseJournal();
    await run.beginAnew();
    expect(refusalOf(await run.ask({ signature }))).toBe('OLDER_THAN_RECORDS');
    await run.pass(2 * HOUR);
    expect(run.landed()).toHaveLength(1);
  });

  it('a deposit after the birth earns from the curve position that the lost journal had reached', async () => {
    const run = createAsrySimulation({ deposits: [paid, later] });
    await run.ask({ signature: paid.signature });
    await run.pass(MINUTE);
    run.loseJournal();
    await run.beginAnew();
    expect(refusalOf(await run.ask({ signature: later.signature }))).toBe('claimed');
    expect(run.claims().map(({ before }) => before)).toEqual([99_950_000n]);
    await run.pass(MINUTE);
    expect(run.landed()).toHaveLength(2);
  });

  it('a journal that is restored to an older state and begins anew does not pay its open debts', async () => {
    const run = createAsrySimulation({ deposits: [paid], opened: false, rentDay: 0n });
    await run.ask({ signature: paid.signature });
    await run.pass(MINUTE);
    const older = run.remember();
    run.openAccount(paid.sender);
    await run.ask({ signature: paid.signature });
    await run.pass(2 * MINUTE);
    expect(run.landed()).toHaveLength(1);
    run.loseJournal(older);
    await run.beginAnew();
    await run.pass(3 * HOUR);
    expect([run.claims(), run.landed().length]).toEqual([[], 1]);
  });
});

describe('payments after a journal began anew', () => {
  function start() {
    const run = simulateCustodian({});
    run.ledger.endow(key.lamports(PAYER), 10n ** 9n);
    return run;
  }
  type Run = ReturnType<typeof start>;
  const pay = (run: Run, { reference, feeLamports }: RequestView, extra = 0n): string =>
    run.pay(PAYER, BigInt(feeLamports) + extra, [reference]);
  const confirm = (run: Run, { id, kind }: RequestView, signature: string) =>
    run.call((custody) => custody.confirmPayment({ id, kind, signature, client: 'ip', waitMs: 5_000 }));

  it('after a loss, older requests and payments are refused, but new ones are served', async () => {
    const run = start();
    const made = await run.open('token');
    const open = await run.open('listing');
    const payment = pay(run, made, 70_000n);
    await run.pass(90 * SECOND);
    run.loseJournal();
    await run.beginAnew();
    const older = { type: 'refused', refusal: { code: 'OLDER_THAN_RECORDS' } };
    expect(await confirm(run, made, payment)).toMatchObject(older);
    expect(await confirm(run, open, pay(run, open))).toMatchObject(older);
    const fresh = await run.open('token');
    expect(await confirm(run, fresh, payment)).toMatchObject(older);
    expect(await run.ops('refund', payment)).toMatchObject({ ok: false });
    const late = pay(run, fresh);
    await run.pass(90 * SECOND);
    expect(await confirm(run, fresh, late)).toMatchObject({ type: 'confirmed' });
    expect(await run.rowsOf('SELECT id FROM tokens ORDER BY token_id')).toMatchObject([{}, {}, {}]);
    await run.pass(HOUR);
    expect(run.landed()).toHaveLength(2);
  });
});

it('a read of the epochs while a journal begins anew does not change epochs of the lost journal', async () => {
  const w = simulateCustodian({ nodeCount: 3 });
  const epochs = () => w.host.disk.exec('SELECT * FROM asry_epochs ORDER BY number', []);
  await w.pass(3 * MINUTE);
  w.skip(31 * 24 * HOUR);
  await w.pass(3 * MINUTE);
  const before = epochs();
  expect(before).toHaveLength(2);
  w.loseJournal();
  await w.pass(12 * MINUTE);
  let isOver = false;
  const read = (): void => {
    if (isOver) return;
    void w.ask((custody) => custody.listAsryEpochs(5));
    w.scheduler.after(20, read);
  };
  read();
  await w.beginAnew();
  isOver = true;
  await w.pass(3 * MINUTE);
  expect(epochs()).toEqual(before);
});
