import { describe, expect, it } from 'vitest';
import { highestFee, ownFee } from '../../src/core/own-fee.ts';

const drawn = (...pairs: readonly (readonly [number, number])[]) => {
  const left = [...pairs];
  return () => Uint8Array.from(left.shift() ?? [0, 0]);
};
const free = () => false;

describe('a unique fee', () => {
  it.each([
    [200_000n, [0, 0], 200_010n],
    [200_001n, [0, 0], 300_010n],
    [299_999n, [0, 5], 300_060n],
    [200_000n, [1, 2], 202_590n],
    // 9,998 is the last remainder; 9,999 is the first that starts at zero again.
    [200_000n, [39, 14], 299_990n],
    [200_000n, [39, 15], 200_010n],
  ] as const)(
    'a unique fee for %d lamports is the next multiple of 100,000 plus ten times the drawn digits (%j)',
    (base, bytes, fee) => {
      expect(ownFee(base, { randomBytes: drawn(bytes), isTaken: free })).toBe(fee);
      expect(fee <= highestFee(base)).toBe(true);
    },
  );

  it("a unique fee never equals any other open request's fee", () => {
    const randomBytes = drawn([0, 0], [0, 0], [0, 7]);
    expect(ownFee(100_000n, { randomBytes, isTaken: (lamports) => lamports === '100010' })).toBe(100_080n);
  });

  it('a unique fee is undefined when fifty draws give only fees that are already used', () => {
    let asked = 0;
    const isTaken = () => {
      asked += 1;
      return true;
    };
    expect(ownFee(10_000n, { randomBytes: drawn(), isTaken })).toBeUndefined();
    expect(asked).toBe(50);
  });
});
