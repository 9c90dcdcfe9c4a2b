/**
 * Addresses that programs derive from seeds. They are off the curve, so they have no key. The library's own search is
 * asynchronous (WebCrypto), but messages are built synchronously. So this module searches the bumps; the curve and the
 * base58 form are the library's.
 * @see https://solana.com/docs/core/pda
 * @module
 */
import { sha256 } from '@noble/hashes/sha2.js';
import { concatBytes, utf8ToBytes } from '@noble/hashes/utils.js';
import { type Address, getAddressDecoder, isOffCurveAddress } from '@solana/web3.js';
import { decodeBase58 } from './address.ts';

const MARKER = utf8ToBytes('ProgramDerivedAddress');

/**
 * The address with the highest bump (255 downwards) that is off the curve.
 *
 * @param program address of the deriving program
 * @param seeds   at most 15, each of at most 32 bytes, in order
 * @throws RangeError for an invalid program or seed
 */
export function programAddress(program: string, seeds: readonly Uint8Array[]): Address {
  const programBytes = decodeBase58(program, 32);
  if (!programBytes || seeds.length > 15 || seeds.some((seed) => seed.length > 32))
    throw new RangeError('program or seeds');
  for (let bump = 255; bump >= 0; bump -= 1) {
    const hash = sha256(concatBytes(...seeds, Uint8Array.of(bump), programBytes, MARKER));
    const address = getAddressDecoder().decode(hash);
    if (isOffCurveAddress(address)) return address;
  }
  throw new RangeError('no address off the curve');
}

/** The 32 bytes of an address, as a seed. @throws RangeError when the text is not an address */
export function addressSeed(address: string): Uint8Array {
  const bytes = decodeBase58(address, 32);
  if (!bytes) throw new RangeError(`address: ${address}`);
  return bytes;
}
