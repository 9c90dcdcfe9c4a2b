/**
 * Signatures on which verifiers are known to differ, built from the curve itself. They have keys and commitments with a
 * part of small order, and values with more than one encoding.
 * @see Chalkias, Garillot, Nikolaenko: Taming the many EdDSAs (2020)
 * @module
 */
import { ED25519_TORSION_SUBGROUP, ed25519 } from '@noble/curves/ed25519.js';
import { sha512 } from '@noble/hashes/sha2.js';
import { concatBytes, utf8ToBytes } from '@noble/hashes/utils.js';

export type SignatureCase = {
  readonly name: string;
  readonly publicKey: Uint8Array;
  readonly message: Uint8Array;
  readonly signature: Uint8Array;
  /**
   * The expected verdict of our verifier; undefined where platforms differ, which only the key's holder can
   * cause.
   */
  readonly passes: boolean | undefined;
  /** The verdict of noble's strict mode; our verifier must never accept more. */
  readonly peer: boolean;
};

const { Point } = ed25519;
const ORDER = Point.Fn.ORDER;
const P = Point.Fp.ORDER;
const SECRET = 7n ** 80n % ORDER;
const NONCE = 5n ** 90n % ORDER;

const little = (value: bigint): Uint8Array =>
  Uint8Array.from({ length: 32 }, (_none, at) => Number((value >> BigInt(8 * at)) & 255n));
const fromLittle = (bytes: Uint8Array): bigint =>
  bytes.reduceRight((sum, byte) => sum * 256n + BigInt(byte), 0n);
/** By place: 0 is the identity, of order 1; 1 is of order 8. */
const torsion = ED25519_TORSION_SUBGROUP.map((hex) => Point.fromHex(hex));
const smallPoint = (place: number) => torsion[place] ?? Point.ZERO;
const orderOf = (place: number): bigint => [1n, 8n, 4n, 8n, 2n, 8n, 4n, 8n][place] ?? 1n;

type Parts = {
  secret: bigint;
  nonce: bigint;
  /** The small-order points added to the key and to the commitment. */
  inKey: number;
  inCommitment: number;
  /** Written in place of the points. */
  key?: Uint8Array;
  commitment?: Uint8Array;
};

/** @param fits whether the message is chosen so that the equation holds without the cofactor */
function signed(parts: Partial<Parts>, fits?: boolean) {
  const plain: Parts = { secret: SECRET, nonce: NONCE, inKey: 0, inCommitment: 0 };
  const { secret, nonce, inKey, inCommitment } = { ...plain, ...parts };
  const base = (scalar: bigint) => (scalar === 0n ? Point.ZERO : Point.BASE.multiply(scalar));
  const publicKey = parts.key ?? base(secret).add(smallPoint(inKey)).toBytes();
  const commitment = parts.commitment ?? base(nonce).add(smallPoint(inCommitment)).toBytes();
  for (let number = 0; ; number += 1) {
    const message = utf8ToBytes(`message ${number}`);
    const h = fromLittle(sha512(concatBytes(commitment, publicKey, message))) % ORDER;
    const left = smallPoint(inKey)
      .multiplyUnsafe(h % orderOf(inKey))
      .add(smallPoint(inCommitment));
    if (fits !== undefined && left.is0() !== fits) continue;
    const s = (nonce + h * secret) % ORDER;
    return { publicKey, message, signature: concatBytes(commitment, little(s)), s };
  }
}

const honest = signed({});
const withS = (s: bigint) => ({
  ...honest,
  signature: concatBytes(honest.signature.slice(0, 32), little(s)),
});
const flipped = (bytes: Uint8Array, at: number): Uint8Array =>
  bytes.map((byte, index) => (index === at ? byte ^ 1 : byte));
/** The identity is y = 1: y = p + 1 reads as the same, and so does x = 0 with a sign. */
const IDENTITY_UNREDUCED = little(P + 1n);
const IDENTITY_SIGNED = little(1n | (1n << 255n));
/** y = 0 is of order 4, and y = p reads as the same. */
const FOURTH_UNREDUCED = little(P);
const ofNoSecret = { secret: 0n, nonce: NONCE };
const unreducedFourth = { ...ofNoSecret, inKey: 2, key: FOURTH_UNREDUCED };

const ONE = new Uint8Array(1);
type Signed = Omit<SignatureCase, 'name' | 'passes' | 'peer'>;
const list: [name: string, parts: Signed, passes: boolean | undefined, peer: boolean][] = [
  ['an honest signature', honest, true, true],
  ['one byte of R changed', { ...honest, signature: flipped(honest.signature, 3) }, false, false],
  ['one byte of s changed', { ...honest, signature: flipped(honest.signature, 40) }, false, false],
  ['another message', { ...honest, message: utf8ToBytes('another') }, false, false],
  ['s plus the order of the group', withS(honest.s + ORDER), false, false],
  ['s plus eight times the order', withS(honest.s + 8n * ORDER), false, false],
  ['s of all ones', withS((1n << 256n) - 1n), false, false],
  ['all zeros', { ...honest, signature: new Uint8Array(64) }, false, false],
  ['a byte too many', { ...honest, signature: concatBytes(honest.signature, ONE) }, false, false],
  ['a byte too few', { ...honest, signature: honest.signature.slice(0, 63) }, false, false],
  ['no signature at all', { ...honest, signature: new Uint8Array(0) }, false, false],
  ['a key with a part of order 8, where the equation holds', signed({ inKey: 1 }, true), true, true],
  ['a key with a part of order 8, where only eight times it holds', signed({ inKey: 1 }, false), false, true],
  ['a commitment with a part of order 8', signed({ inCommitment: 1 }), false, true],
  ['parts in both that cancel out', signed({ inKey: 1, inCommitment: 1 }, true), true, true],
  ['parts in both that do not', signed({ inKey: 1, inCommitment: 1 }, false), false, true],
  ['a commitment that is the identity', signed({ nonce: 0n }), undefined, true],
  ['the same, not reduced', signed({ nonce: 0n, commitment: IDENTITY_UNREDUCED }), false, false],
  ['the same with a sign', signed({ nonce: 0n, commitment: IDENTITY_SIGNED }), false, false],
  ...torsion.map((_point, place): (typeof list)[number] => [
    ...([`a key of small order, number ${place}, and a signature that fits it`] as const),
    ...([signed({ ...ofNoSecret, inKey: place }, true), false, false] as const),
  ]),
  ['the identity as a key, not reduced', signed({ ...ofNoSecret, key: IDENTITY_UNREDUCED }), false, false],
  ['the identity as a key with a sign', signed({ ...ofNoSecret, key: IDENTITY_SIGNED }), false, false],
  ['a key of order 4, not reduced', signed(unreducedFourth, true), false, false],
  ['a key that is not a point', signed({ ...ofNoSecret, key: little(2n) }), false, false],
  ['a key of 31 bytes', { ...honest, publicKey: honest.publicKey.slice(0, 31) }, false, false],
  ['a key of 33 bytes', { ...honest, publicKey: concatBytes(honest.publicKey, ONE) }, false, false],
];

export const SIGNATURE_CASES: readonly SignatureCase[] = list.map(([name, parts, passes, peer]) => {
  const { publicKey, message, signature } = parts;
  return { name, publicKey, message, signature, passes, peer };
});
