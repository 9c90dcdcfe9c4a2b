import { expect, it } from 'vitest';
import {
  type Curve,
  entitlementOf,
  nextUnitRate,
  receiveFee,
  rewardsAt,
} from '../../../src/custody/asry/epochs.ts';
import { cases } from '../../cases.ts';

const CASES = cases(1_000_000, 100_000);

/** Marsaglia's xorshift: the same million cases on every run, and fast enough to draw them. */
function createDice(seed: number) {
  let x = seed | 0;
  const word = (): number => {
    x ^= x << 13;
    x ^= x >>> 17;
    x ^= x << 5;
    return x >>> 0;
  };
  return {
    below: (bound: number): number => word() % bound,
    /** At least `low`, of a random length: small and huge values are equally frequent. */
    sized(low: bigint, bits: number): bigint {
      const length = 1 + (word() % bits);
      const wide = (BigInt(word()) << 32n) | BigInt(word());
      return low + (wide & ((1n << BigInt(length)) - 1n));
    },
  };
}
type Dice = ReturnType<typeof createDice>;

const drawCurve = (dice: Dice): Curve => ({ cap: dice.sized(0n, 62), depth: dice.sized(1n, 50) });

type Claim = { readonly net: bigint; readonly before: bigint; readonly reward: bigint };

/** Books the deposits one after the other, like the custodian. */
function book(curve: Curve, nets: readonly bigint[]): { claims: Claim[]; deposits: bigint } {
  let deposits = 0n;
  const claims = nets.map((net) => {
    const claim = { net, before: deposits, reward: entitlementOf(curve, deposits, net) };
    deposits += net;
    return claim;
  });
  return { claims, deposits };
}

const total = (values: Iterable<bigint>): bigint => {
  let sum = 0n;
  for (const value of values) sum += value;
  return sum;
};

function shuffled<T>(values: readonly T[], dice: Dice): T[] {
  const copy = [...values];
  for (let at = copy.length - 1; at > 0; at -= 1) {
    const other = dice.below(at + 1);
    const [a, b] = [copy[at], copy[other]] as [T, T];
    copy[at] = b;
    copy[other] = a;
  }
  return copy;
}

/** The invariant of the curve that a case breaks; undefined if none. */
function broken(dice: Dice): string | undefined {
  const curve = drawCurve(dice);
  const amounts = Array.from({ length: 1 + dice.below(4) }, () => dice.sized(1n, 44));
  const nets = amounts.map((amount) => amount - receiveFee(amount));
  const { claims, deposits } = book(curve, nets);
  const sum = total(claims.map((claim) => claim.reward));

  if (sum > curve.cap || (curve.cap > 0n && sum >= curve.cap)) return 'I1 cap';
  if (sum !== rewardsAt(curve, deposits)) return 'I2 conservation';
  if (claims.some((claim) => claim.reward < 0n)) return 'I3 non-negative';

  const first = amounts[0] ?? 1n;
  const more = first + dice.sized(1n, 30);
  const before = dice.sized(0n, 48);
  const earn = (from: bigint, amount: bigint) => entitlementOf(curve, from, amount - receiveFee(amount));
  if (earn(before, more) < earn(before, first)) return 'I4 monotone';

  const part = first > 1n ? 1n + (dice.sized(0n, 44) % (first - 1n)) : 0n;
  if (part > 0n && part < first) {
    const rest = first - part;
    const split = entitlementOf(curve, before, part) + entitlementOf(curve, before + part, rest);
    if (split !== entitlementOf(curve, before, first)) return 'I5 split before fees';
    const paid = total([earn(before, part), earn(before + part - receiveFee(part), rest)]);
    if (receiveFee(part) + receiveFee(rest) < receiveFee(first)) return 'I5 fees of a split';
    if (paid > earn(before, first)) return 'I5 split after fees';

    const thirdParty = dice.sized(0n, 44);
    const around =
      entitlementOf(curve, before, part) + entitlementOf(curve, before + part + thirdParty, rest);
    if (around - entitlementOf(curve, before, first) > 1n) return 'I6 split around a third party';
  }

  const later = before + dice.sized(0n, 44);
  // A rounded-down difference may be one unit above a later one; the exact rate never rises.
  if (entitlementOf(curve, later, first) > entitlementOf(curve, before, first) + 1n) return 'I7 waiting';
  if (nextUnitRate(curve, later, 9) > nextUnitRate(curve, before, 9)) return 'I7 rate';

  const replayed = book(
    curve,
    claims.map((claim) => claim.net),
  );
  if (replayed.claims.some((claim, at) => claim.reward !== claims[at]?.reward)) return 'I8 replay';

  const other = book({ ...curve }, nets);
  if (other.claims.some((claim, at) => claim.before !== claims[at]?.before)) return 'I9 independence';

  const anyOrder = book(curve, shuffled(nets, dice));
  if (total(anyOrder.claims.map((claim) => claim.reward)) !== sum) return 'I10 order';
  return undefined;
}

it(`the epoch curve satisfies its ten invariants in ${CASES.toLocaleString('en')} cases`, {
  tags: ['scaled'],
}, () => {
  const dice = createDice(0x5eed);
  const failures: string[] = [];
  for (let at = 0; at < CASES && failures.length < 5; at += 1) {
    const why = broken(dice);
    if (why) failures.push(`case ${at}: ${why}`);
  }
  expect(failures).toEqual([]);
});

it('splitting a deposit into k pieces, with other deposits in between, gains less than k smallest units', () => {
  const dice = createDice(7);
  for (let at = 0; at < 50_000; at += 1) {
    const curve = drawCurve(dice);
    const pieces = Array.from({ length: 2 + dice.below(12) }, () => dice.sized(1n, 40));
    const whole = total(pieces);
    let deposits = dice.sized(0n, 44);
    const once = entitlementOf(curve, deposits, whole);
    let split = 0n;
    for (const piece of pieces) {
      split += entitlementOf(curve, deposits, piece);
      deposits += piece + dice.sized(0n, 40);
    }
    expect(split - once).toBeLessThanOrEqual(BigInt(pieces.length - 1));
  }
});

it('computes the documented example: 1,000,000 tokens of 9 decimals, depth 90,000 dollars', () => {
  const curve: Curve = { cap: 10n ** 15n, depth: 90_000n * 10n ** 6n };
  const dollars = [100n, 100n, 1_000n, 10_000n].map((whole) => whole * 10n ** 6n);
  const nets = dollars.map((amount) => amount - receiveFee(amount));
  expect(nets[0]).toBe(99_950_000n);
  const rewards = book(curve, nets).claims.map((claim) => claim.reward);
  // Computed with exact fractions, independently of this code.
  expect(rewards).toEqual([1_109_323_590_079n, 1_106_865_119_664n, 10_935_213_602_114n, 97_471_319_894_114n]);
});

it('deposits equal to the depth earn half of the cap, and deposits of nine times the depth nine tenths', () => {
  const curve: Curve = { cap: 1_000_000n, depth: 90_000n };
  expect(rewardsAt(curve, 90_000n)).toBe(500_000n);
  expect(rewardsAt(curve, 810_000n)).toBe(900_000n);
  expect(rewardsAt(curve, 10n ** 30n)).toBe(999_999n);
});

it('charges a fee of 0.05 %, rounded up', () => {
  expect([1n, 1_999n, 2_000n, 2_001n, 100_000_000n].map(receiveFee)).toEqual([1n, 1n, 1n, 2n, 50_000n]);
  expect(1_000n * receiveFee(1_999n)).toBe(1_000n);
});

it('the rate of the next unit is shown without rounding', () => {
  const curve: Curve = { cap: 10n ** 15n, depth: 9n * 10n ** 10n };
  expect(nextUnitRate(curve, 0n, 6)).toBe(11_111_111_110n);
  expect(entitlementOf(curve, 0n, 1n)).toBe(11_111n);
});

it('the shown rate equals the reward of the next unit, even if a unit is as large as the depth', () => {
  const curve: Curve = { cap: 600n, depth: 1n };
  for (const [before, earned] of [
    [0n, 300n],
    [1n, 100n],
    [2n, 50n],
  ] as const) {
    expect(entitlementOf(curve, before, 1n)).toBe(earned);
    expect(nextUnitRate(curve, before, 0)).toBe(earned);
  }
});
