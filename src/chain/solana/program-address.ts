/**
 * Addresses that programs derive from seeds. No key exists for them: they are off the curve by construction.
 * @see https://solana.com/docs/core/pda
 * @module
 */
import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, concatBytes, utf8ToBytes } from '@noble/hashes/utils.js';
import { decodeBase58, encodeBase58, isOnCurve } from './address.ts';

/** So many are kept: most of what is asked for follows from configuration, and costs a walk over the curve. */
const KEPT = 64;
const kept = new Map<string, string>();

const MARKER = utf8ToBytes('ProgramDerivedAddress');

/**
 * The address with the highest bump (255 downwards) that is off the curve.
 *
 * @param program address of the deriving program
 * @param seeds   at most 15 of at most 32 bytes each, in order
 * @throws RangeError on a wrong program or seed
 */
export function programAddress(program: string, seeds: readonly Uint8Array[]): string {
  const programBytes = decodeBase58(program, 32);
  if (!programBytes || seeds.length > 15 || seeds.some((seed) => seed.length > 32))
    throw new RangeError('program or seeds');
  const name = [program, ...seeds.map((seed) => bytesToHex(seed))].join();
  const known = kept.get(name);
  if (known !== undefined) return known;
  const address = derived(programBytes, seeds);
  const [oldest] = kept.keys();
  if (kept.size >= KEPT && oldest !== undefined) kept.delete(oldest);
  kept.set(name, address);
  return address;
}

function derived(program: Uint8Array, seeds: readonly Uint8Array[]): string {
  for (let bump = 255; bump >= 0; bump -= 1) {
    const address = encodeBase58(sha256(concatBytes(...seeds, Uint8Array.of(bump), program, MARKER)));
    if (!isOnCurve(address)) return address;
  }
  throw new RangeError('no address off the curve');
}

/** The 32 bytes of an address, as a seed. @throws RangeError when the text is no address */
export function addressSeed(address: string): Uint8Array {
  const bytes = decodeBase58(address, 32);
  if (!bytes) throw new RangeError(`address: ${address}`);
  return bytes;
}
