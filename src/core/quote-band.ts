/**
 * Amount bands of bridge quotes. The bridge's rate is constant within a band, so one quote can be scaled to every
 * amount in it.
 * @module
 */
import { type Lamports, lamports } from './amount.ts';

/** The largest of 1, 2 and 5 times a power of ten that is at most the amount. */
export function bandOf(amount: Lamports): Lamports {
  const power = 10n ** BigInt(amount.toString().length - 1);
  const lead = amount / power;
  return lamports(power * (lead >= 5n ? 5n : lead >= 2n ? 2n : 1n));
}

/** The sats of `amount`, scaled from a quote of its band. The fixed fee is charged once for any amount. */
export function scaleSats(sats: bigint, fixedFeeSats: bigint, amount: bigint, quoted: bigint): bigint {
  const result = ((sats + fixedFeeSats) * amount) / quoted - fixedFeeSats;
  return result > 0n ? result : 0n;
}
