/** The last five digits of a fee identify the request. */
const DIGITS = 100_000n;
/** Exchanges pay in steps of ten lamports. */
const STEP = 10n;

const TRIES = 50;

const wholeFee = (base: bigint): bigint => ((base + DIGITS - 1n) / DIGITS) * DIGITS;

/** The highest amount that a request with this base fee can ask for. */
export const highestFee = (base: bigint): bigint => wholeFee(base) + DIGITS - STEP;

/**
 * The base fee rounded up to a multiple of 100,000 lamports, plus a number below 100,000 that makes it unique. It
 * is a multiple of ten lamports.
 */
export function ownFee(
  base: bigint,
  draw: {
    readonly randomBytes: (length: number) => Uint8Array;
    readonly isTaken: (lamports: string) => boolean;
  },
): bigint | undefined {
  const whole = wholeFee(base);
  for (let tries = 0; tries < TRIES; tries++) {
    const drawn = draw.randomBytes(2).reduce((number, byte) => number * 256 + byte, 0);
    const fee = whole + ((BigInt(drawn) % (DIGITS / STEP - 1n)) + 1n) * STEP;
    if (!draw.isTaken(fee.toString())) return fee;
  }
  return undefined;
}
