/**
 * The message of the ownership proof that both reserve keys sign. It names the service, both addresses and the figures,
 * so neither signature can be used elsewhere. It names the newest block of both chains, so it cannot have been signed
 * earlier. It names its predecessor, so a proof can be neither inserted nor omitted.
 *
 * ASCII, one `Name: value` per line. The first byte is a letter: as a Solana message it would require 82 signatures,
 * more than a transaction can contain. The ed25519 signature can therefore never authorize a transaction.
 * @module
 */
import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex } from '@noble/hashes/utils.js';
import { type Lamports, lamports, type Sats, sats } from '../../core/amount.ts';
import { isAddress } from '../solana/address.ts';
import { isCanonicalAddress } from './address.ts';

export type ProofMessage = {
  /** Host of the service, with its port if it has one. */
  readonly service: string;
  readonly bitcoinAddress: string;
  readonly solanaAddress: string;
  readonly reserveSats: Sats;
  readonly solanaLamports: Lamports;
  /** Null while the service has no ABSR mint. */
  readonly absr: { readonly mint: string; readonly atoms: bigint; readonly decimals: number } | null;
  readonly bitcoinTip: { readonly height: number; readonly hash: string };
  readonly solanaTip: { readonly slot: bigint; readonly blockhash: string };
  /** ISO 8601 UTC with milliseconds. */
  readonly time: string;
  /** `proofHash` of the previous proof; null for the first proof. */
  readonly previousProof: string | null;
};

const NONE = 'none';
const HOST = /^[a-z0-9](?:[a-z0-9.-]{0,251}[a-z0-9])?(?::[1-9]\d{0,4})?$/;
const HEX32 = /^[0-9a-f]{64}$/;
const U64_MAX = 2n ** 64n - 1n;

/** @throws RangeError naming the field whose value the message cannot represent exactly */
export function buildProofMessage(proof: ProofMessage): string {
  check('service', HOST.test(proof.service));
  check('bitcoinAddress', isCanonicalAddress(proof.bitcoinAddress));
  check('solanaAddress', isAddress(proof.solanaAddress));
  check('reserveSats', isU64(proof.reserveSats));
  check('solanaLamports', isU64(proof.solanaLamports));
  check('absr.mint', proof.absr === null || isAddress(proof.absr.mint));
  check('absr.atoms', proof.absr === null || isU64(proof.absr.atoms));
  check('absr.decimals', proof.absr === null || isUint(proof.absr.decimals, 255));
  check('bitcoinTip.height', isUint(proof.bitcoinTip.height, 0xffffffff));
  check('bitcoinTip.hash', HEX32.test(proof.bitcoinTip.hash));
  check('solanaTip.slot', isU64(proof.solanaTip.slot));
  check('solanaTip.blockhash', isAddress(proof.solanaTip.blockhash));
  check('time', isIsoTime(proof.time));
  check('previousProof', proof.previousProof === null || HEX32.test(proof.previousProof));
  return [
    'Reserve proof: 1',
    `Service: ${proof.service}`,
    `Bitcoin address: ${proof.bitcoinAddress}`,
    `Solana address: ${proof.solanaAddress}`,
    `Reserve sats: ${proof.reserveSats}`,
    `Solana lamports: ${proof.solanaLamports}`,
    `ABSR mint: ${proof.absr?.mint ?? NONE}`,
    `ABSR supply atoms: ${proof.absr?.atoms ?? NONE}`,
    `ABSR decimals: ${proof.absr?.decimals ?? NONE}`,
    `Bitcoin tip height: ${proof.bitcoinTip.height}`,
    `Bitcoin tip hash: ${proof.bitcoinTip.hash}`,
    `Solana slot: ${proof.solanaTip.slot}`,
    `Solana blockhash: ${proof.solanaTip.blockhash}`,
    `Time: ${proof.time}`,
    `Previous proof: ${proof.previousProof ?? NONE}`,
  ].join('\n');
}

function check(field: string, ok: boolean): void {
  if (!ok) throw new RangeError(`proof message: ${field}`);
}

const isU64 = (value: bigint): boolean => value >= 0n && value <= U64_MAX;
const isUint = (value: number, max: number): boolean => Number.isInteger(value) && value >= 0 && value <= max;

function isIsoTime(text: string): boolean {
  const time = new Date(text);
  return !Number.isNaN(time.getTime()) && time.toISOString() === text && text.length === 24;
}

/** @throws RangeError for any message that differs from the output of `buildProofMessage` */
export function parseProofMessage(text: string): ProofMessage {
  const proof = readProofMessage(text);
  // Building the message again is the strict check: order, spelling, leading zeros, extra lines and line ends must
  // match.
  if (buildProofMessage(proof) !== text) throw new RangeError('proof message: not in its canonical form');
  return proof;
}

/** The figures of an archived message that the service built itself. @throws RangeError for a malformed number */
export function readProofMessage(text: string): ProofMessage {
  const values = new Map<string, string>();
  for (const line of text.split('\n')) {
    const at = line.indexOf(': ');
    values.set(line.slice(0, at), line.slice(at + 2));
  }
  const value = (name: string): string => values.get(name) ?? '';
  const orNull = (name: string): string | null => (value(name) === NONE ? null : value(name));
  const mint = orNull('ABSR mint');
  return {
    service: value('Service'),
    bitcoinAddress: value('Bitcoin address'),
    solanaAddress: value('Solana address'),
    reserveSats: sats(uint(value('Reserve sats'))),
    solanaLamports: lamports(uint(value('Solana lamports'))),
    absr: mint === null ? null : absrOf(mint, value),
    bitcoinTip: { height: Number(uint(value('Bitcoin tip height'))), hash: value('Bitcoin tip hash') },
    solanaTip: { slot: uint(value('Solana slot')), blockhash: value('Solana blockhash') },
    time: value('Time'),
    previousProof: orNull('Previous proof'),
  };
}

const absrOf = (mint: string, value: (name: string) => string) => ({
  mint,
  atoms: uint(value('ABSR supply atoms')),
  decimals: Number(uint(value('ABSR decimals'))),
});

function uint(text: string): bigint {
  if (!/^\d{1,20}$/.test(text)) throw new RangeError('proof message: not an unsigned integer');
  return BigInt(text);
}

/** The published base64 and base58; null if that key has not signed. */
export type ProofSignatures = { readonly bitcoin: string | null; readonly solana: string | null };

/**
 * The value of the next proof's `previousProof`: sha256, in hex, of the message and the two signatures, each
 * on its own line. Signatures contain no line end, so two different proofs never hash the same bytes.
 *
 * @throws RangeError for a signature that is not base64 or base58 text
 */
export function proofHash(message: string, { bitcoin, solana }: ProofSignatures): string {
  for (const signature of [bitcoin, solana]) {
    check('signature', signature === null || (/^[A-Za-z0-9+/=]+$/.test(signature) && signature !== NONE));
  }
  const text = `${message}\nBitcoin signature: ${bitcoin ?? NONE}\nSolana signature: ${solana ?? NONE}`;
  return bytesToHex(sha256(new TextEncoder().encode(text)));
}
