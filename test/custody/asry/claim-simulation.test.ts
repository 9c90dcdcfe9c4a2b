import { describe, expect, it } from 'vitest';
import type { ClaimAnswer } from '../../../src/custody/api.ts';
import { entitlementOf, rewardsAt } from '../../../src/custody/asry/reward-curve.ts';
import {
  createAsrySimulation,
  depositSignature,
  PROGRAM,
  type SimulatedDeposit,
  type Simulation,
  wallet,
} from './claim-simulation.ts';

const DOLLAR = 1_000_000n;
const SECOND = 1_000;

const deposit = (
  number: number,
  dollars: bigint,
  more: Partial<SimulatedDeposit> = {},
): SimulatedDeposit => ({
  signature: depositSignature(number),
  sender: wallet(number),
  asset: 'USDC',
  atoms: dollars * DOLLAR,
  at: 60,
  ...more,
});

/** What must hold of any run: nothing paid twice, nothing lost, the curve's sums exact, D1 like the custodian. */
async function expectSound(run: Simulation): Promise<void> {
  expect(run.errors).toEqual([]);
  const claims = run.claims();
  const payouts = run.payouts();
  const onChain = run.landed();
  for (const claim of claims) {
    const parts = payouts.filter(({ signature }) => signature === claim.signature);
    const paid = onChain.filter(({ order }) => order.memo.startsWith(`asry:${claim.signature}:`));
    expect(paid.map(({ order }) => order.receiver)).toEqual(paid.map(() => claim.sender));
    expect(paid.map(({ order }) => order.atoms).sort()).toEqual(parts.map(({ atoms }) => atoms).sort());
    expect(parts.reduce((sum, { atoms }) => sum + atoms, claim.left)).toBe(claim.entitlement);
  }
  expect(onChain).toHaveLength(payouts.length);
  for (const epoch of run.epochs()) {
    // From the list of claims alone, every stored figure again.
    let deposits = 0n;
    const own = claims.filter((claim) => claim.epoch === epoch.number);
    for (const claim of own) {
      expect([claim.before, claim.entitlement]).toEqual([
        deposits,
        entitlementOf(PROGRAM, deposits, claim.net),
      ]);
      deposits += claim.net;
      expect(claim.after).toBe(deposits);
    }
    expect([epoch.deposits, epoch.claims]).toEqual([deposits, own.length]);
    const promised = own.reduce((sum, claim) => sum + claim.entitlement, 0n);
    expect(promised).toBe(rewardsAt(PROGRAM, deposits));
    expect(promised).toBeLessThanOrEqual(PROGRAM.cap);
    expect(epoch.paid).toBe(own.reduce((sum, claim) => sum + claim.entitlement - claim.left, 0n));
  }
  const mirrored = await run.mirrored();
  expect(mirrored.map((row) => row.id)).toEqual(claims.map(({ signature }) => signature).sort());
  for (const row of mirrored)
    expect(JSON.parse(String(row.journal)).payouts.map((payout: { state: string }) => payout.state)).toEqual(
      payouts.filter(({ signature }) => signature === row.id).map(() => 'paid'),
    );
  run.release();
}

const codes = (answers: readonly (ClaimAnswer | undefined)[]): Record<string, number> => {
  const counts: Record<string, number> = {};
  for (const answer of answers) {
    const name = !answer ? 'lost' : answer.type === 'refused' ? answer.refusal.code : answer.type;
    counts[name] = (counts[name] ?? 0) + 1;
  }
  return counts;
};

describe('500 claims of one deposit at the same time, the custodian crashing and being replaced under them', () => {
  it.each(Array.from({ length: 50 }, (_, seed) => seed))(
    'round %i pays once',
    { timeout: 60_000 },
    async (seed) => {
      const only = deposit(seed, 100n);
      const run = createAsrySimulation({
        seed,
        deposits: [only],
        opened: () => seed % 2 === 0,
        crashes: 4,
        replacements: 2,
        wild: seed % 3 > 0,
      });
      const answers: (ClaimAnswer | undefined)[] = [];
      for (let call = 0; call < 500; call += 1) {
        const time = run.random.between(0, 3 * SECOND);
        run.claimAt(time, { signature: only.signature }, (answer) => answers.push(answer));
      }
      await run.play(60 * SECOND);
      expect(run.payouts()).toHaveLength(1);
      expect(run.landed()).toHaveLength(1);
      const seen = codes(answers);
      expect(seen.claimed ?? 0).toBeLessThanOrEqual(1);
      expect(answers).toHaveLength(500);
      expect(
        Object.keys(seen).filter(
          (code) =>
            !/^(claimed|lost|CLAIM_IN_PROGRESS|ALREADY_CLAIMED|UPSTREAM_FAILED|CLAIMS_PAUSED)$/.test(code),
        ),
      ).toEqual([]);
      // Whoever comes back learns what became of it.
      expect(await run.ask({ signature: only.signature })).toMatchObject({
        type: 'refused',
        refusal: { code: 'ALREADY_CLAIMED' },
        claim: { remainingAtoms: 0n, payouts: [{ status: 'sent', paidAtMs: expect.any(Number) }] },
      });
      await expectSound(run);
    },
  );
});

describe('1,000 deposits claimed at the same time in shuffled order, with crashes', () => {
  it.each([1, 2])('never give out more than the cap, run %i', { timeout: 300_000 }, async (seed) => {
    // Three times the depth in all: most of the cap is taken.
    const deposits = Array.from({ length: 1_000 }, (_, number) =>
      deposit(10_000 + number, 100n + BigInt(number % 340)),
    );
    const run = createAsrySimulation({ seed, deposits, crashes: 6, replacements: 2, wild: false });
    const answers: (ClaimAnswer | undefined)[] = [];
    const order = deposits.map((each) => ({ each, at: run.random.next() })).sort((a, b) => a.at - b.at);
    for (const { each } of order) {
      // Twice each: the second call finds what the first has left, or takes the place of one that was lost.
      for (const later of [0, 20 * SECOND])
        run.claimAt(later + run.random.between(0, 2 * SECOND), { signature: each.signature }, (answer) =>
          answers.push(answer),
        );
    }
    await run.play(40 * SECOND);
    expect(answers).toHaveLength(2_000);
    expect(run.claims().length).toBeGreaterThan(900);
    expect(new Set(run.claims().map(({ sender }) => sender)).size).toBe(run.claims().length);
    await expectSound(run);
  });
});
