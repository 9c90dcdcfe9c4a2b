import { describe, expect, it } from 'vitest';
import { tokenTransferFee } from '../../../src/chain/solana/token-messages.ts';
import { upstreamFailed } from '../../../src/core/errors.ts';
import type { ClaimAnswer, ClaimRequest } from '../../../src/custody/api.ts';
import { AsryStore } from '../../../src/custody/asry/asry-store.ts';
import { entitlementOf } from '../../../src/custody/asry/epochs.ts';
import { depositSignature, wallet } from '../../kit/addresses.ts';
import {
  createAsrySimulation,
  PROGRAM,
  type SimulatedDeposit,
  type Simulation,
  type SimulationOptions,
  transactionOf,
} from './claim-simulation.ts';
import { CLAIM, createStoredClaims } from './stored-claims.ts';

const DOLLAR = 1_000_000n;
const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const HOUR_SECONDS = 3_600;

let number = 0;
/** A new deposit by a new sender; a minute after the programme's start. */
const deposit = (dollars: bigint, more: Partial<SimulatedDeposit> = {}): SimulatedDeposit => {
  number += 1;
  const [signature, sender] = [depositSignature(50_000 + number), wallet(50_000 + number)];
  return { signature, sender, asset: 'USDC', atoms: dollars * DOLLAR, at: 60, ...more };
};

const start = (deposits: readonly SimulatedDeposit[], more: Partial<SimulationOptions> = {}): Simulation =>
  createAsrySimulation({ deposits, ...more });

const isOnItsWay = expect.stringMatching(/^(sent|pending)$/);

const net = (atoms: bigint): bigint => atoms - (atoms * 5n + 9_999n) / 10_000n;
/** The curve of an epoch with the nine decimals of the simulated mint. */
const CURVE = { ...PROGRAM, cap: PROGRAM.cap * 10n ** 9n };
const reward = (atoms: bigint, before = 0n): bigint => entitlementOf(CURVE, before, net(atoms));

const codeOf = (answer: ClaimAnswer | undefined): string =>
  answer?.type === 'refused' ? answer.refusal.code : (answer?.type ?? 'lost');
const payoutsOf = (answer: ClaimAnswer | undefined) =>
  answer?.type === 'refused' ? (answer.claim?.payouts ?? []) : (answer?.claim.payouts ?? []);

/** Nothing of this was consumed: a plain claim still gets everything. */
async function expectIntact(run: Simulation, one: SimulatedDeposit): Promise<void> {
  expect(run.claims()).toEqual([]);
  expect(await run.ask({ signature: one.signature, asset: one.asset })).toMatchObject({
    type: 'claimed',
    claim: { entitlementAtoms: reward(one.atoms), remainingAtoms: 0n },
  });
}

describe('a claim', () => {
  it("a claim deducts the fee, moves along the reward curve, consumes the payment and pays the deposit's sender", async () => {
    const one = deposit(100n);
    const run = start([one]);
    const answer = await run.ask({ signature: one.signature, expectedAtoms: one.atoms });
    expect(answer).toMatchObject({
      type: 'claimed',
      replayed: false,
      part: 1,
      claim: {
        sender: one.sender,
        creditedAtoms: one.atoms,
        feeBps: 5,
        feeAtoms: 50_000n,
        netAtoms: 99_950_000n,
        epoch: 0,
        entitlementAtoms: 1_109_323_590_079n,
        remainingAtoms: 0n,
        payouts: [{ part: 1, status: 'sent', atoms: 1_109_323_590_079n, paidAtMs: null }],
      },
    });
    await run.pass(MINUTE);
    expect(run.landed()).toMatchObject([
      {
        receiver: one.sender,
        atoms: 1_109_323_590_079n,
        memo: `asry:${one.signature}:1`,
        createsAccount: false,
      },
    ]);
    expect(run.consumerOf(`payment:${one.signature}`)).toBe(`asry:${one.signature}`);
    expect(run.epochs()).toMatchObject([{ deposits: 99_950_000n, claims: 1, paid: 1_109_323_590_079n }]);
  });

  it('refuses a claim with a wrong asset or amount, and returns the claimed and the credited value', async () => {
    const one = deposit(20n, { asset: 'USDT' });
    const run = start([one]);
    expect(await run.ask({ signature: one.signature })).toMatchObject({
      refusal: { code: 'DEPOSIT_WRONG_ASSET', details: { asset: 'USDC', creditedAsset: 'USDT' } },
    });
    const wrong = { signature: one.signature, asset: 'USDT' as const, expectedAtoms: 19_999_999n };
    expect(await run.ask(wrong)).toMatchObject({
      refusal: {
        code: 'DEPOSIT_AMOUNT_MISMATCH',
        details: { expectedAtomic: '19999999', creditedAtomic: '20000000' },
      },
    });
    await expectIntact(run, one);
  });

  it('refuses a claim if the block time of its deposit is before the programme or too long ago', async () => {
    const [early, first, second] = [
      deposit(20n, { at: -1 }),
      deposit(20n, { at: 0 }),
      deposit(20n, { at: 0 }),
    ];
    const run = start([early, first, second], { program: { maxAgeSeconds: 4 * HOUR_SECONDS } });
    expect(codeOf(await run.ask({ signature: early.signature }))).toBe('DEPOSIT_TOO_OLD');
    await run.pass(4 * HOUR - MINUTE);
    expect(codeOf(await run.ask({ signature: first.signature }))).toBe('claimed');
    await run.pass(2 * MINUTE);
    expect(codeOf(await run.ask({ signature: second.signature }))).toBe('DEPOSIT_TOO_OLD');
    expect(codeOf(await run.ask({ signature: first.signature }))).toBe('ALREADY_CLAIMED');
  });

  it('refuses a claim of a deposit that is below the minimum or earns less than the smallest unit of ASRY', async () => {
    const small = deposit(0n, { atoms: 999_999n });
    const run = start([small]);
    expect(await run.ask({ signature: small.signature })).toMatchObject({
      refusal: { code: 'DEPOSIT_TOO_SMALL', details: { minimumAtomic: '1000000' } },
    });
    const one = deposit(2n);
    const poor = start([one], { program: { cap: 0n } });
    expect(codeOf(await poor.ask({ signature: one.signature }))).toBe('DEPOSIT_TOO_SMALL');
    expect([run.claims(), poor.claims()]).toEqual([[], []]);
  });

  it('refuses a claim of a payment used for another purpose, and a claimed payment cannot be used again', async () => {
    const [used, own] = [deposit(20n), deposit(30n)];
    const run = start([used, own]);
    run.take(`payment:${used.signature}`, 'token:some-invoice');
    expect(await run.ask({ signature: used.signature })).toMatchObject({
      refusal: { code: 'DEPOSIT_ALREADY_USED', details: { purpose: 'token' } },
    });
    expect(codeOf(await run.ask({ signature: own.signature }))).toBe('claimed');
    expect(run.take(`payment:${own.signature}`, 'token:other')).toBe(false);
  });

  it('claims by different signatures of one transaction are one claim, named after the first signature', async () => {
    const one = deposit(20n);
    const second = depositSignature(1);
    const see: SimulationOptions['see'] = (_node, asked) =>
      asked === second ? transactionOf(one) : undefined;
    const run = start([one], { see });
    expect(await run.ask({ signature: second })).toMatchObject({
      type: 'claimed',
      claim: { signature: one.signature },
    });
    expect(codeOf(await run.ask({ signature: second }))).toBe('CLAIM_IN_PROGRESS');
    expect(codeOf(await run.ask({ signature: one.signature }))).toBe('CLAIM_IN_PROGRESS');
    await run.pass(MINUTE);
    expect(codeOf(await run.ask({ signature: second }))).toBe('ALREADY_CLAIMED');
    expect(run.landed()).toHaveLength(1);
  });
});

describe('nodes', () => {
  it.each<[string, (one: SimulatedDeposit) => ReturnType<NonNullable<SimulationOptions['see']>>, object]>([
    [
      'a claim waits for the operator when a node reports another amount',
      (one) => transactionOf({ ...one, atoms: 2_000n * DOLLAR }),
      { code: 'DEPOSIT_HELD', details: { reason: 'nodes_disagree' } },
    ],
    ['earns nothing when a node does not report it', () => null, { code: 'DEPOSIT_NOT_FINAL' }],
    [
      'earns nothing when a node does not report its token balances',
      (one) => ({ ...transactionOf(one), preTokens: null }),
      { code: 'UPSTREAM_FAILED' },
    ],
  ])('a deposit %s', async (_name, seen, refusal) => {
    const one = deposit(20n);
    for (const other of [0, 1]) {
      const run = start([one], { see: (node) => (node === other ? seen(one) : undefined) });
      expect(await run.ask({ signature: one.signature })).toMatchObject({ refusal });
      expect(run.claims()).toEqual([]);
    }
  });

  it('a deposit has no quorum while nodes fail, and its payment is not consumed until they respond', async () => {
    const [one, two] = [deposit(20n), deposit(20n)];
    let down = 1;
    const run = start([one, two], {
      see: (node) => {
        if (node < down) throw new Error('down');
        return undefined;
      },
    });
    expect(await run.ask({ signature: one.signature })).toMatchObject({
      refusal: { code: 'UPSTREAM_FAILED', details: { reason: 'quorum_missing' } },
    });
    down = 2;
    expect(codeOf(await run.ask({ signature: two.signature }))).toBe('UPSTREAM_FAILED');
    expect(run.claims()).toEqual([]);
    down = 0;
    expect(codeOf(await run.ask({ signature: one.signature }))).toBe('claimed');
    expect(codeOf(await run.ask({ signature: two.signature }))).toBe('claimed');
  });

  it('refuses a claim when the nodes report a block time in the future', async () => {
    const one = deposit(20n, { at: 72 * HOUR_SECONDS });
    const run = start([one]);
    expect(await run.ask({ signature: one.signature })).toMatchObject({
      refusal: { details: { reason: 'block_time_ahead' } },
    });
    expect(run.claims()).toEqual([]);
  });
});

describe('rewardUsd', () => {
  /** Four dollars for one ASRY. */
  const program = { price: 4n * 10n ** 12n };
  const part = (microUsd: bigint): bigint => (microUsd * 10n ** 9n) / 4_000_000n;

  it('refuses a claim with rewardUsd when no ASRY price is set, and does not consume the payment', async () => {
    const one = deposit(100n);
    const run = start([one]);
    expect(codeOf(await run.ask({ signature: one.signature, rewardMicroUsd: 1_000_000n }))).toBe(
      'REWARD_USD_UNAVAILABLE',
    );
    await expectIntact(run, one);
  });

  it('a claim with rewardUsd pays that value in ASRY, at most what is left, and the rest stays claimable', async () => {
    const one = deposit(100n);
    const all = reward(one.atoms);
    const run = start([one], { program });
    const first = await run.ask({ signature: one.signature, rewardMicroUsd: 1_000_000_000n });
    expect(first).toMatchObject({
      type: 'claimed',
      claim: { entitlementAtoms: all, remainingAtoms: all - part(1_000_000_000n) },
    });
    expect(payoutsOf(first)).toMatchObject([{ part: 1, atoms: part(1_000_000_000n) }]);
    const second = await run.ask({ signature: one.signature, rewardMicroUsd: 10n ** 30n });
    expect(second).toMatchObject({ claim: { remainingAtoms: 0n } });
    await run.pass(MINUTE);
    expect(run.landed().reduce((sum, { atoms }) => sum + atoms, 0n)).toBe(all);
    expect(new Set(run.landed().map(({ receiver }) => receiver))).toEqual(new Set([one.sender]));
  });

  it('tiny claims by third parties delay a claim at most three times and do not reduce its reward', async () => {
    const one = deposit(100n);
    const all = reward(one.atoms);
    const least = (all + 99n) / 100n;
    const run = start([one], { program });
    const answers: (ClaimAnswer | undefined)[] = [];
    for (let call = 0; call < 4; call += 1)
      answers.push(
        await run.ask({ signature: one.signature, rewardMicroUsd: 1n, client: `thirdParty ${call}` }),
      );
    expect(answers.map((answer) => payoutsOf(answer).at(-1)?.atoms)).toEqual([
      least,
      least,
      least,
      all - 3n * least,
    ]);
    await run.pass(MINUTE);
    expect(codeOf(await run.ask({ signature: one.signature, rewardMicroUsd: 1n }))).toBe('ALREADY_CLAIMED');
    expect(run.landed()).toHaveLength(4);
    expect(run.landed().reduce((sum, { atoms }) => sum + atoms, 0n)).toBe(all);
  });

  it('rewardUsd is converted at the ASRY price that was set when the epoch started', async () => {
    const one = deposit(100n);
    const run = start([one], { program });
    await run.epochViews();
    run.reconfigure({ price: 10n ** 12n });
    const answer = await run.ask({ signature: one.signature, rewardMicroUsd: 1_000_000_000n });
    expect(payoutsOf(answer)).toMatchObject([{ atoms: part(1_000_000_000n) }]);
  });
});

describe('skipReward', () => {
  it('a claim with skipReward is validated and consumes no payment, however often it is called', async () => {
    const one = deposit(100n);
    const run = start([one]);
    for (let call = 0; call < 3; call += 1)
      expect(await run.ask({ signature: one.signature, skipReward: true })).toMatchObject({
        type: 'validated',
        claim: {
          entitlementAtoms: reward(one.atoms),
          remainingAtoms: reward(one.atoms),
          payouts: [],
          claimedAtMs: null,
        },
      });
    expect(run.consumerOf(`payment:${one.signature}`)).toBeUndefined();
    await expectIntact(run, one);
    await run.pass(MINUTE);
    expect(codeOf(await run.ask({ signature: one.signature, skipReward: true }))).toBe('ALREADY_CLAIMED');
  });

  it('a claim with skipReward shows what is left after a partial claim', async () => {
    const one = deposit(100n);
    const run = start([one], { program: { price: 10n ** 12n } });
    const first = await run.ask({ signature: one.signature, rewardMicroUsd: 1n });
    const left = first?.type === 'claimed' ? first.claim.remainingAtoms : 0n;
    expect(await run.ask({ signature: one.signature, skipReward: true })).toMatchObject({
      type: 'validated',
      claim: { remainingAtoms: left },
    });
  });
});

describe('epochs', () => {
  it('a late claim earns in the epoch that contains the block of its deposit', async () => {
    const [early, late, inTime] = [
      deposit(100n),
      deposit(100n, { at: 120 }),
      deposit(50n, { at: 4 * HOUR_SECONDS }),
    ];
    const run = start([early, late, inTime], { program: { epochSeconds: 3 * HOUR_SECONDS } });
    await run.ask({ signature: early.signature });
    await run.pass(4 * HOUR + MINUTE);
    await run.ask({ signature: inTime.signature });
    await run.ask({ signature: late.signature });
    expect(run.claims().map(({ epoch, entitlement }) => [epoch, entitlement])).toEqual([
      [0, reward(early.atoms)],
      [1, reward(inTime.atoms)],
      [0, reward(late.atoms, net(early.atoms))],
    ]);
  });

  it('epochs follow each other without a gap, each with the parameters of its start', async () => {
    const late = deposit(100n);
    const run = start([late], { program: { epochSeconds: 3 * HOUR_SECONDS } });
    await run.epochViews();
    await run.pass(HOUR);
    run.reconfigure({ cap: 7_000_000n, depth: 10n ** 9n, epochSeconds: HOUR_SECONDS });
    await run.pass(3.5 * HOUR);
    const views = (await run.epochViews()) ?? [];
    expect(views.map(({ number: of, capAtoms, depthAtoms }) => [of, capAtoms, depthAtoms])).toEqual([
      [2, 7n * 10n ** 15n, 10n ** 9n],
      [1, 7n * 10n ** 15n, 10n ** 9n],
      [0, CURVE.cap, CURVE.depth],
    ]);
    const start0 = PROGRAM.startsAt ?? 0;
    expect(
      views.map(({ startsAt, endsAt }) => [startsAt - start0, endsAt - start0].map((s) => s / HOUR_SECONDS)),
    ).toEqual([
      [4, 5],
      [3, 4],
      [0, 3],
    ]);
    await run.ask({ signature: late.signature });
    expect(run.claims()).toMatchObject([{ epoch: 0, entitlement: reward(late.atoms) }]);
  });

  it('the first epoch starts once the decimals of the mint are known; until then claims are refused', async () => {
    const one = deposit(1n);
    const w = createStoredClaims({ readMint: () => Promise.reject(upstreamFailed('solana-rpc', 'timeout')) });
    expect(await w.claims.claim(CLAIM)).toMatchObject({
      type: 'refused',
      refusal: { code: 'UPSTREAM_FAILED', details: { reason: 'timeout' } },
    });
    await expect(w.claims.epochs(1)).rejects.toMatchObject({ code: 'UPSTREAM_FAILED' });
    expect(new AsryStore(w.storage, w.now).claim(one.signature)).toBeUndefined();
    const run = start([one], { mintDecimals: 2 });
    await run.ask({ signature: one.signature });
    expect(await run.epochViews()).toMatchObject([{ decimals: 2, capAtoms: 100_000_000n }]);
    expect(run.claims()).toMatchObject([
      { entitlement: entitlementOf({ ...CURVE, cap: 100_000_000n }, 0n, net(one.atoms)) },
    ]);
  });
});

describe('owed rewards', () => {
  it('rewards that wait because the daily rent budget is used up are paid in the background a day later', async () => {
    const deposits = [deposit(10n), deposit(10n), deposit(10n)];
    const run = start(deposits, { opened: false, rentDay: 2n * 2_039_280n });
    const statuses: (string | undefined)[] = [];
    for (const { signature } of deposits) statuses.push(payoutsOf(await run.ask({ signature }))[0]?.status);
    // Pending until a quorum of nodes has seen the blockhash.
    expect(statuses).toEqual([isOnItsWay, isOnItsWay, 'owed']);
    await run.pass(20 * HOUR);
    expect(run.landed()).toHaveLength(2);
    await run.pass(6 * HOUR);
    const landed = run.landed().map(({ receiver, createsAccount }) => [receiver, createsAccount]);
    expect(landed.toSorted()).toEqual(deposits.map(({ sender }) => [sender, true]).toSorted());
    expect(run.claims().map(({ before }) => before)).toEqual([0n, net(10n * DOLLAR), 2n * net(10n * DOLLAR)]);
  });

  it('a repeat pays an owed reward whose account is open, 30 seconds after the last check; else it is paid within an hour', async () => {
    const [asks, waits] = [deposit(10n), deposit(10n)];
    const run = start([asks, waits], { opened: false, rentDay: 0n });
    for (const { signature } of [asks, waits])
      expect(payoutsOf(await run.ask({ signature }))).toMatchObject([
        { status: 'owed', reason: 'rent_budget_spent' },
      ]);
    expect(codeOf(await run.ask({ signature: asks.signature }))).toBe('ALREADY_CLAIMED');
    run.openAccount(asks.sender);
    for (let repeat = 0; repeat < 20; repeat++)
      expect(payoutsOf(await run.ask({ signature: asks.signature }))).toMatchObject([{ status: 'owed' }]);
    await run.pass(MINUTE / 2);
    expect(payoutsOf(await run.ask({ signature: asks.signature }))).toMatchObject([{ status: isOnItsWay }]);
    await run.pass(MINUTE);
    expect(run.landed()).toHaveLength(1);
    run.openAccount(waits.sender);
    await run.pass(HOUR + MINUTE);
    expect(run.landed().map(({ receiver }) => receiver)).toEqual([asks.sender, waits.sender]);
  });

  it("opens the token account of a deposit's sender once, even if the owner closes it again", async () => {
    const one = deposit(100n);
    const run = start([one], { opened: false, program: { price: 10n ** 12n } });
    const ask = () => run.ask({ signature: one.signature, rewardMicroUsd: 1n });
    await ask();
    await run.pass(MINUTE);
    expect(run.landed().map(({ createsAccount }) => createsAccount)).toEqual([true]);
    for (let part = 2; part <= 4; part++) {
      run.closeAccount(one.sender);
      expect(payoutsOf(await ask()).at(-1)).toMatchObject({
        part,
        status: 'owed',
        reason: 'recipient_account_closed',
      });
    }
    run.skip(2 * DAY);
    await run.pass(HOUR);
    expect(run.landed()).toHaveLength(1);
    run.openAccount(one.sender);
    await run.pass(2 * HOUR);
    expect(run.landed().map(({ createsAccount }) => createsAccount)).toEqual([true, false, false, false]);
  });

  it('opens at most one token account per owner and day, across all deposits of that owner', async () => {
    const first = deposit(10n);
    const [second, third] = [deposit(10n, { sender: first.sender }), deposit(10n, { sender: first.sender })];
    const run = start([first, second, third], { opened: false });
    await run.ask({ signature: first.signature });
    await run.pass(MINUTE);
    run.closeAccount(first.sender);
    expect(payoutsOf(await run.ask({ signature: second.signature }))).toMatchObject([
      { status: 'owed', reason: 'recipient_account_closed' },
    ]);
    await run.pass(DAY + HOUR);
    expect(run.landed().map(({ createsAccount }) => createsAccount)).toEqual([true, true]);
  });

  it('an owed reward is not delayed by third parties who call repeatedly', async () => {
    const one = deposit(10n);
    const run = start([one], { opened: false, rentDay: 0n });
    for (let call = 0; call < 40; call += 1) await run.ask({ signature: one.signature });
    run.openAccount(one.sender);
    await run.pass(2 * MINUTE);
    expect(run.landed()).toHaveLength(1);
  });

  it('an owed reward that only the operator can pay raises an alarm once an hour', async () => {
    const one = deposit(10n);
    const run = start([one], { reserveAtoms: 0n });
    await run.ask({ signature: one.signature });
    await run.pass(50 * MINUTE);
    const alarms = () => Object.entries(run.happened).filter(([name]) => name.startsWith('alarm: '));
    expect(alarms()).toEqual([['alarm: payout_owed', 1]]);
    await run.pass(2 * HOUR);
    expect(alarms()).toEqual([
      ['alarm: payout_owed', expect.toSatisfy((count) => count === 2 || count === 3)],
    ]);
  });

  it('rewards owed for lack of ASRY or SOL keep their place on the reward curve, and are paid once there is enough', async () => {
    const [first, second] = [deposit(10n), deposit(10n)];
    const run = start([first, second], { reserveAtoms: reward(first.atoms) - 1n });
    expect(payoutsOf(await run.ask({ signature: first.signature }))).toMatchObject([
      { status: 'owed', reason: 'reserve_short_of_asry' },
    ]);
    run.setReserveAtoms(10n ** 18n);
    await run.pass(2 * MINUTE);
    await run.ask({ signature: second.signature });
    await run.pass(2 * MINUTE);
    expect(run.landed().map(({ atoms }) => atoms)).toEqual([
      reward(first.atoms),
      reward(second.atoms, net(first.atoms)),
    ]);

    const poor = start([first], { startLamports: 1_000n });
    expect(payoutsOf(await poor.ask({ signature: first.signature }))).toMatchObject([
      { status: 'owed', reason: 'reserve_short_of_sol' },
    ]);
    poor.credit(10n ** 9n);
    await poor.pass(10 * MINUTE);
    expect(poor.landed()).toHaveLength(1);
  });

  it.each([1, 2, 3, 4, 5, 6])(
    'never promises the same ASRY twice while transfers are in flight (seed %i)',
    async (seed) => {
      const deposits = [deposit(10n), deposit(10n), deposit(10n)];
      const two = reward(10n * DOLLAR) + reward(10n * DOLLAR, net(10n * DOLLAR));
      const run = start(deposits, { reserveAtoms: two, seed });
      const statuses: (string | undefined)[] = [];
      for (const { signature } of deposits) statuses.push(payoutsOf(await run.ask({ signature }))[0]?.status);
      // Between its landing and its booking a transfer counts twice: in the balance and as begun. The second
      // payout is then owed until its next check.
      expect([statuses[0], statuses[2]]).toEqual([isOnItsWay, 'owed']);
      await run.pass(10 * MINUTE);
      const landed = run.landed().map(({ atoms }) => atoms);
      expect(landed).toHaveLength(2);
      expect(landed.reduce((sum, atoms) => sum + atoms, 0n)).toBeLessThanOrEqual(two);
      expect(run.payouts().filter(({ state }) => state === 'owed')).toMatchObject([
        { reason: 'reserve_short_of_asry' },
      ]);
    },
  );

  it('retries an owed reward after payouts that failed on the chain, and pays it once', async () => {
    const one = deposit(10n);
    let failing = 1;
    const run = start([one], { failing: () => failing });
    await run.ask({ signature: one.signature });
    await run.pass(10 * MINUTE);
    expect(run.landed()).toEqual([]);
    expect(run.payouts()).toMatchObject([{ state: expect.stringMatching('owed|begun') }]);
    failing = 0;
    await run.pass(2 * HOUR);
    expect(run.landed()).toHaveLength(1);
    expect(run.payouts()).toMatchObject([{ state: 'paid', atoms: reward(one.atoms) }]);
  });

  it('an owed reward whose payout failed on the chain is retried after a wait, not because of more calls', async () => {
    const [one, parts] = [deposit(10n), deposit(100n)];
    const run = start([one, parts], { failing: () => 1, program: { price: 10n ** 12n } });
    const attempts = () => run.operations().filter(({ signing }) => signing !== null).length;
    await run.ask({ signature: one.signature });
    await run.ask({ signature: parts.signature, rewardMicroUsd: 1n });
    await run.pass(10 * MINUTE);
    const before = attempts();
    for (let call = 0; call < 20; call++) {
      expect(codeOf(await run.ask({ signature: one.signature }))).toBe('ALREADY_CLAIMED');
      const part = payoutsOf(await run.ask({ signature: parts.signature, rewardMicroUsd: 1n })).at(-1);
      expect(part).toMatchObject({ status: 'owed', reason: 'payout_failed' });
    }
    expect(attempts()).toBe(before);
  });

  it("an owed reward waits for the next day when failed payouts have spent the day's fees", async () => {
    const [failed, late] = [deposit(10n), deposit(10n)];
    const fee = tokenTransferFee({ createAccount: false });
    let failing = 1;
    const run = start([failed, late], { failing: () => failing, failedDay: 3n * fee });
    await run.ask({ signature: failed.signature });
    await run.pass(3 * HOUR);
    expect(
      run
        .operations()
        .filter(({ detail }) => detail === 'rejected')
        .map(({ cost }) => cost),
    ).toEqual([fee, fee, fee]);
    failing = 0;
    expect(payoutsOf(await run.ask({ signature: late.signature }))).toMatchObject([
      { status: 'owed', reason: 'daily_limit' },
    ]);
    run.skip(DAY);
    await run.pass(HOUR);
    expect(run.payouts().map(({ state }) => state)).toEqual(['paid', 'paid']);
  });
});

describe('an Idempotency-Key', () => {
  const key = (name: string, body = 'body'): Pick<ClaimRequest, 'key'> => ({
    key: { keyHash: name, bodyHash: body },
  });

  it('a repeated Idempotency-Key returns the response of its first call, with the current state', async () => {
    const one = deposit(100n);
    const run = start([one], { program: { price: 10n ** 12n } });
    const ask = { signature: one.signature, rewardMicroUsd: 1n, ...key('k') };
    const first = await run.ask(ask);
    expect(first).toMatchObject({ type: 'claimed', replayed: false, part: 1 });
    await run.pass(MINUTE);
    expect(await run.ask(ask)).toMatchObject({
      type: 'claimed',
      replayed: true,
      part: 1,
      claim: { payouts: [{ status: 'sent', paidAtMs: expect.any(Number) }] },
    });
    expect(run.landed()).toHaveLength(1);
    expect(codeOf(await run.ask({ ...ask, ...key('k', 'other body') }))).toBe('IDEMPOTENCY_KEY_REUSED');
  });

  it('many concurrent calls with one Idempotency-Key take only one part of a claim', async () => {
    const one = deposit(100n);
    const run = start([one], { program: { price: 10n ** 12n } });
    const answers: (ClaimAnswer | undefined)[] = [];
    for (let call = 0; call < 20; call += 1)
      run.claimAt(2 * call, { signature: one.signature, rewardMicroUsd: 1n, ...key('same') }, (answer) =>
        answers.push(answer),
      );
    await run.pass(MINUTE);
    expect(answers.map(codeOf)).toEqual(Array(20).fill('claimed'));
    expect(run.payouts()).toHaveLength(1);
    expect(run.landed()).toHaveLength(1);
  });

  it('an Idempotency-Key can be used for a new claim after a refusal, and after a week', async () => {
    const [one, two] = [deposit(100n), deposit(100n)];
    const run = start([one, two]);
    expect(codeOf(await run.ask({ signature: one.signature, expectedAtoms: 1n, ...key('k', 'a') }))).toBe(
      'DEPOSIT_AMOUNT_MISMATCH',
    );
    expect(codeOf(await run.ask({ signature: one.signature, ...key('k', 'b') }))).toBe('claimed');
    run.skip(7 * DAY);
    await run.pass(MINUTE);
    expect(codeOf(await run.ask({ signature: two.signature, ...key('k', 'c') }))).toBe('claimed');
  });
});

it("during the operator's pause new claims are refused, no payment is consumed, and old claims are shown", async () => {
  const [before, one] = [deposit(10n), deposit(10n)];
  const run = start([before, one]);
  await run.ask({ signature: before.signature });
  await run.pass(MINUTE);
  await run.ops('pause');
  expect(codeOf(await run.ask({ signature: one.signature }))).toBe('CLAIMS_PAUSED');
  expect(codeOf(await run.ask({ signature: before.signature }))).toBe('ALREADY_CLAIMED');
  await run.ops('resume');
  expect(codeOf(await run.ask({ signature: one.signature }))).toBe('claimed');
  expect(run.claims()).toHaveLength(2);
});

it('20 concurrent repeats of an owed claim read the recipient from the nodes once', async () => {
  let reads = 0;
  const { claims } = createStoredClaims({
    readAccounts: async () => {
      reads += 1;
      throw new Error('the nodes are down');
    },
  });
  expect(await claims.claim(CLAIM)).toMatchObject({ type: 'claimed' });
  reads = 0;
  const repeats = await Promise.all(Array.from({ length: 20 }, () => claims.claim(CLAIM)));
  expect(reads).toBe(1);
  for (const repeat of repeats) expect(repeat).toMatchObject({ refusal: { code: 'CLAIM_IN_PROGRESS' } });
});
