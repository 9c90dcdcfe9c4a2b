import { encodeBase58, isOnCurve } from '../../src/chain/solana/address.ts';

/** Address of the reserve in unit tests. */
export const RESERVE = encodeBase58(new Uint8Array(32).fill(3));

const wallets = new Map<number, string>();

/** Addresses of wallets, different for every number. They are cached, because finding one is slow. */
export function wallet(number: number): string {
  const known = wallets.get(number);
  if (known !== undefined) return known;
  const bytes = new Uint8Array(32).fill(11);
  new DataView(bytes.buffer).setUint32(0, number);
  for (let last = 0; ; last += 1) {
    bytes[31] = last % 128;
    bytes[30] = last >> 7;
    const address = encodeBase58(bytes);
    if (!isOnCurve(address)) continue;
    wallets.set(number, address);
    return address;
  }
}

export const depositSignature = (number: number): string => {
  const bytes = new Uint8Array(64).fill(3);
  new DataView(bytes.buffer).setUint32(0, number);
  return encodeBase58(bytes);
};
