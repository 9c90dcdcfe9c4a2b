/**
 * Fees that identify their request: no two open requests have the same fee.
 * @module
 */

/** The last four digits of a fee identify the request. */
const DIGITS = 10_000n;

const TRIES = 50;

/** A base fee in full tens of thousands, plus four digits that no other open request has. */
export function ownFee(
  base: bigint,
  p: {
    readonly randomBytes: (length: number) => Uint8Array;
    readonly isTaken: (lamports: string) => boolean;
  },
): bigint | undefined {
  const round = ((base + DIGITS - 1n) / DIGITS) * DIGITS;
  for (let tries = 0; tries < TRIES; tries++) {
    const [high = 0, low = 0] = p.randomBytes(2);
    const fee = round + (BigInt(high * 256 + low) % (DIGITS - 1n)) + 1n;
    if (!p.isTaken(fee.toString())) return fee;
  }
  return undefined;
}
