import { describe, expect, it } from 'vitest';
import { tokenTransferFee } from '../../../src/chain/solana/token-messages.ts';
import { upstreamFailed } from '../../../src/core/errors.ts';
import { stringifyJson } from '../../../src/core/json.ts';
import type { ClaimAnswer, ClaimRequest } from '../../../src/custody/api.ts';
import { AsryStore } from '../../../src/custody/asry/asry-store.ts';
import { entitlementOf } from '../../../src/custody/asry/epochs.ts';
import { depositSignature } from '../../kit/addresses.ts';
import { scenes } from '../../kit/scenes.ts';
import { DOLLAR, deposit, playClaims } from './claim-scenes.ts';
import {
  createAsrySimulation,
  PROGRAM,
  type SimulatedDeposit,
  type Simulation,
  type SimulationOptions,
  transactionOf,
} from './claim-simulation.ts';
import { CLAIM, createStoredClaims } from './stored-claims.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const HOUR_SECONDS = 3_600;

const start = (deposits: readonly SimulatedDeposit[], more: Partial<SimulationOptions> = {}): Simulation =>
  createAsrySimulation({ deposits, ...more });

const FEE = tokenTransferFee({ createAccount: false });
const isOnItsWay = expect.stringMatching(/^(sent|pending)$/);

const net = (atoms: bigint): bigint => atoms - (atoms * 5n + 9_999n) / 10_000n;
/** The curve of an epoch with the nine decimals of the simulated mint. */
const CURVE = { ...PROGRAM, cap: PROGRAM.cap * 10n ** 9n };
const reward = (atoms: bigint, before = 0n): bigint => entitlementOf(CURVE, before, net(atoms));

const codeOf = (answer: ClaimAnswer | undefined): string =>
  answer?.type === 'refused' ? answer.refusal.code : (answer?.type ?? 'lost');
const payoutsOf = (answer: ClaimAnswer | undefined) =>
  answer?.type === 'refused' ? (answer.claim?.payouts ?? []) : (answer?.claim.payouts ?? []);

describe('a claim', () => {
  it("a claim deducts the fee, moves along the reward curve, consumes the payment and pays the deposit's sender", async () => {
    const one = deposit(100n * DOLLAR);
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
    expect(run.usedBy(`payment:${one.signature}`)).toBe(`asry:${one.signature}`);
    expect(run.epochs()).toMatchObject([{ deposits: 99_950_000n, claims: 1, paid: 1_109_323_590_079n }]);
  });

  it('claims by different signatures of one transaction are one claim, named after the first signature', async () => {
    const one = deposit(20n * DOLLAR);
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

it.each(
  scenes(`
    a claim with skipReward consumes nothing, however often it is called
      | a 100 | | claim a skip times:3 = validated; part a = none; consumer a = undefined; claims = 0; claim a = claimed; left a = 0; wait 1m; claim a skip = ALREADY_CLAIMED
    an owed reward is not delayed by third parties who call repeatedly
      | a 10 | opened:no rentDay:0 | claim a times:40; open a; wait 2m; landed = a
    rewards that wait because the daily rent budget is used up are paid in the background a day later
      | a 10, b 10, c 10 | opened:no rentDay:4078560 | claim a; part a = on its way; claim b; part b = on its way; claim c; part c = owed rent_budget_spent; skip 19h; wait 1h; landed = a, b; skip 4h; wait 2h; landed = a, b, c; opens = yes, yes, yes; before = 0, 9995000, 19990000
    a repeat pays an owed reward whose account is open 30 seconds after the last check; without a repeat, the reward is paid within an hour
      | a 10, b 10 | opened:no rentDay:0 | claim a; part a = owed rent_budget_spent; claim b; part b = owed rent_budget_spent; claim a = ALREADY_CLAIMED; open a; claim a times:20; part a = owed rent_budget_spent; wait 30s; claim a; part a = on its way; wait 1m; landed = a; open b; wait 1h1m; landed = a, b
    the token account of a sender is opened once, even if the owner closes it again
      | a 100 | opened:no price:1000000000000 | claim a micro:1; wait 1m; opens = yes; close a; claim a micro:1; part a = owed recipient_account_closed; close a; claim a micro:1; part a = owed recipient_account_closed; close a; claim a micro:1; part a = owed recipient_account_closed; skip 2d; wait 1h; landed = a; open a; wait 2h; opens = yes, no, no, no
    at most one token account is opened for an owner in a day, across all deposits of that owner
      | a 10, b 10 by:a, c 10 by:a | opened:no | claim a; wait 1m; close a; claim b; part b = owed recipient_account_closed; wait 25h; opens = yes, yes
    a reward owed for lack of ASRY keeps its place on the reward curve, and is paid once there is enough
      | a 10, b 10 | reserveAtoms:1 | claim a; part a = owed reserve_short_of_asry; fund 1000000000000000000; wait 2m; claim b; wait 2m; landed = a, b; before = 0, 9995000
    a reward owed for lack of SOL is paid once there is enough
      | a 10 | startLamports:1000 | claim a; part a = owed reserve_short_of_sol; credit 1000000000; wait 10m; landed = a
    an owed reward is retried after payouts that failed on the chain, and is paid once
      | a 10 | | fail 1; claim a; wait 10m; landed = none; fail 0; wait 2h; landed = a; payouts = paid
    an owed reward whose payout failed on the chain is retried after a wait, not because of more calls
      | a 10, b 100 | price:1000000000000 | fail 1; claim a; claim b micro:1; wait 10m; attempts; claim a times:20 = ALREADY_CLAIMED; claim b micro:1 times:20; part b = owed payout_failed; attempts = as before
    an owed reward waits for the next day when failed payouts have spent the fees of the day
      | a 10, b 10 | failedDay:${3n * FEE} | fail 1; claim a; wait 3h; costs = ${FEE}, ${FEE}, ${FEE}; fail 0; claim b; part b = owed daily_limit; skip 1d; wait 1h; payouts = paid, paid
    an Idempotency-Key can be used for a new claim after a refusal, and after a week
      | a 100, b 100 | | claim a expects:1 key:k-a = DEPOSIT_AMOUNT_MISMATCH; claim a key:k-b = claimed; skip 7d; wait 1m; claim b key:k-c = claimed
    a deposit has no quorum while nodes fail, and its payment is not consumed until they respond
      | a 20, b 20 | | nodes-down 1; claim a = UPSTREAM_FAILED reason:quorum_missing; nodes-down 2; claim b = UPSTREAM_FAILED; claims = 0; nodes-down 0; claim a = claimed; claim b = claimed
    a claim with rewardUsd pays that value in ASRY, at most what is left, and the rest stays claimable
      | a 100 | price:4000000000000 | claim a micro:1000000000 = claimed; last a = 250000000000; left a = 859323590079; claim a micro:1000000000000000000000000000000; left a = 0; wait 1m; landed = a, a; whole a = true
    tiny claims by third parties delay a claim at most three times and do not reduce its reward
      | a 100 | price:4000000000000 | claim a micro:1; last a = 11093235901; claim a micro:1; last a = 11093235901; claim a micro:1; last a = 11093235901;
        claim a micro:1; last a = 1076043882376; wait 1m; claim a micro:1 = ALREADY_CLAIMED; landed = a, a, a, a; whole a = true
    rewardUsd is converted at the ASRY price that was set when the epoch started
      | a 100 | price:4000000000000 | epochs; price 1000000000000; claim a micro:1000000000; last a = 250000000000
    a claim with skipReward shows what is left after a partial claim
      | a 100 | price:1000000000000 | claim a micro:1; left a = 1098230354178; claim a skip = validated; left a = 1098230354178
    a late claim earns in the epoch that contains the block of its deposit
      | a 100, b 100 at:120, c 50 at:14400 | epochSeconds:10800 | claim a; wait 4h1m; claim c; claim b; in = 0, 1, 0; before = 0, 0, 99950000
    a repeated Idempotency-Key returns the response of its first call, with the current state
      | a 100 | price:1000000000000 | claim a micro:1 key:k-body = claimed; wait 1m; claim a micro:1 key:k-body = claimed again; part a = paid; landed = a; claim a micro:1 key:k-other = IDEMPOTENCY_KEY_REUSED
    a pause by the operator refuses new claims, consumes nothing, and shows old claims
      | a 10, b 10 | | claim a; wait 1m; ops pause; claim b = CLAIMS_PAUSED; claim a = ALREADY_CLAIMED; ops resume; claim b = claimed; claims = 2
  `),
)('%s', (_title, deposits = '', options = '', steps = '') => playClaims(deposits, options, steps));

describe('nodes', () => {
  it.each<[string, (one: SimulatedDeposit) => ReturnType<NonNullable<SimulationOptions['see']>>, object]>([
    [
      'a claim waits for the operator when a node reports another amount',
      (one) => transactionOf({ ...one, atoms: 2_000n * DOLLAR }),
      { code: 'DEPOSIT_HELD', details: { reason: 'nodes_disagree' } },
    ],
    ['earns nothing when a node does not report it', () => null, { code: 'DEPOSIT_NOT_FINAL' }],
    [
      'earns no reward when a node does not report its token balances',
      (one) => ({ ...transactionOf(one), preTokens: null }),
      { code: 'UPSTREAM_FAILED' },
    ],
  ])('a deposit %s', async (_name, seen, refusal) => {
    const one = deposit(20n * DOLLAR);
    for (const other of [0, 1]) {
      const run = start([one], { see: (node) => (node === other ? seen(one) : undefined) });
      expect(await run.ask({ signature: one.signature })).toMatchObject({ refusal });
      expect(run.claims()).toEqual([]);
    }
  });
});

describe('epochs', () => {
  it('epochs follow each other without a gap, each with the parameters in force at its start', async () => {
    const late = deposit(100n * DOLLAR);
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
    expect(run.claims()).toMatchObject([{ epoch: 0, entitlementAtoms: reward(late.atoms) }]);
  });

  it('an epoch that a new journal takes from D1 replaces the times of a stored epoch', async () => {
    const w = createStoredClaims();
    await w.claims.onCron();
    const store = new AsryStore(w);
    const [epoch] = w.claims.context.store.epochs(1);
    const [start = 0, end = 0] = [epoch?.startsAt, epoch?.endsAt].map((time) => (time ?? 0) - 100);
    store.mirrored()[0]?.adopt?.(stringifyJson({ epoch: { ...epoch, startsAt: start, endsAt: end } }), 1);
    expect([store.epochAt(start)?.number, store.lastEnd()]).toEqual([epoch?.number, end]);
  });

  it('a claim whose key is repeated shows no row of a journal that is unverified or has lost rows', async () => {
    const w = createStoredClaims();
    const keyed = { ...CLAIM, key: { keyHash: 'key', bodyHash: 'body' } };
    expect(await w.claim(keyed)).toMatchObject({ type: 'claimed', replayed: false });
    for (const reason of ['unverified', 'journal_behind_mirror']) {
      Object.assign(w.state, { isVerified: false, stopped: reason });
      const refusal = { code: 'CLAIMS_PAUSED', details: { reason } };
      expect(await w.claim(keyed)).toMatchObject({ type: 'refused', refusal, claim: null });
    }
    Object.assign(w.state, { isVerified: true, stopped: 'operator' });
    expect(await w.claim(keyed)).toMatchObject({ type: 'claimed', replayed: true });
  });

  it('the first epoch starts once the decimals of the mint are known; until then claims are refused', async () => {
    const one = deposit(1n * DOLLAR);
    const w = createStoredClaims({ readMint: () => Promise.reject(upstreamFailed('solana-rpc', 'timeout')) });
    expect(await w.claim(CLAIM)).toMatchObject({
      type: 'refused',
      refusal: { code: 'UPSTREAM_FAILED', details: { reason: 'timeout' } },
    });
    await expect(w.claims.onCron()).rejects.toMatchObject({ code: 'UPSTREAM_FAILED' });
    expect(new AsryStore(w).claim(one.signature)).toBeUndefined();
    const run = start([one], { mintDecimals: 2 });
    await run.ask({ signature: one.signature });
    expect(await run.epochViews()).toMatchObject([{ decimals: 2, capAtoms: 100_000_000n }]);
    expect(run.claims()).toMatchObject([
      { entitlementAtoms: entitlementOf({ ...CURVE, cap: 100_000_000n }, 0n, net(one.atoms)) },
    ]);
  });
});

describe('owed rewards', () => {
  it.each([1, 2, 3, 4, 5, 6])(
    'never promises the same ASRY twice while transfers are in flight (seed %i)',
    async (seed) => {
      const deposits = [deposit(10n * DOLLAR), deposit(10n * DOLLAR), deposit(10n * DOLLAR)];
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
});

describe('an Idempotency-Key', () => {
  const key = (name: string, body = 'body'): Pick<ClaimRequest, 'key'> => ({
    key: { keyHash: name, bodyHash: body },
  });

  it('many concurrent calls with one Idempotency-Key claim only one part', async () => {
    const one = deposit(100n * DOLLAR);
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
});
