/**
 * Checks a published proof of the reserve against what strangers to the service say: five lines, each green or red.
 * Pure; a terminal and a browser fetch the evidence and run the same check.
 * @module
 */
import { ed25519 } from '@noble/curves/ed25519.js';
import { decodeBase58 } from '../solana/address.ts';
import { type ProofMessage, parseProofMessage } from './proof-message.ts';
import { verifyMessage } from './signed-message.ts';

/** Of the answer of GET /api/proof, what is checked. */
export type PublishedProof = {
  readonly message: string;
  readonly bitcoin: { readonly address: string; readonly signature: string };
  readonly solana: { readonly address: string; readonly signature: string };
};

/** What one Bitcoin explorer says of the address in the proof. */
export type ExplorerWord = {
  readonly name: string;
  /** Null when it does not answer. */
  readonly says: {
    /** Confirmed sats at the block that the proof names, and now. */
    readonly satsAtProof: bigint;
    readonly satsNow: bigint;
    /** The block of its best chain at that height. */
    readonly blockHash: string | null;
  } | null;
};

export type ProofEvidence = {
  readonly proof: PublishedProof;
  /** Host that the proof was fetched from. */
  readonly host: string;
  /** Two or more that do not depend on the service. */
  readonly explorers: readonly ExplorerWord[];
  /** Supply of the mint in the proof by a node that does not depend on the service; null when it does not answer. */
  readonly supply: { readonly atoms: bigint; readonly decimals: number } | null;
  /** Unix milliseconds. */
  readonly now: number;
};

export type CheckLine = {
  readonly name: 'bitcoin_signature' | 'solana_signature' | 'reserve' | 'supply' | 'freshness';
  readonly ok: boolean;
  /** What was found, for people. */
  readonly text: string;
};

/** An older proof says too little about now. */
export const MAX_PROOF_AGE_MS = 36 * 3_600_000;
/** A clock may be wrong by so much. */
const CLOCK_SKEW_MS = 5 * 60_000;
const MIN_EXPLORERS = 2;

/** @throws RangeError when the message is not the text of a proof, to the byte */
export function checkProof(evidence: ProofEvidence): CheckLine[] {
  const message = parseProofMessage(evidence.proof.message);
  return [
    checkBitcoin(evidence, message),
    checkSolana(evidence, message),
    checkReserve(evidence, message),
    checkSupply(evidence, message),
    checkFreshness(evidence, message),
  ];
}

const line = (name: CheckLine['name'], ok: boolean, text: string): CheckLine => ({ name, ok, text });

export function checkBitcoin(
  { proof }: Pick<ProofEvidence, 'proof'>,
  { bitcoinAddress }: ProofMessage,
): CheckLine {
  const name = 'bitcoin_signature';
  const { address, signature } = proof.bitcoin;
  if (address !== bitcoinAddress) return line(name, false, `${address} is not the address in the message`);
  const checked = verifyMessage({ address, message: proof.message, signature });
  return checked.verdict === 'valid'
    ? line(name, true, `${address} has signed (${checked.scheme})`)
    : line(name, false, `${address}: ${checked.reason}`);
}

export function checkSolana(
  { proof }: Pick<ProofEvidence, 'proof'>,
  { solanaAddress }: ProofMessage,
): CheckLine {
  const name = 'solana_signature';
  const { address, signature } = proof.solana;
  if (address !== solanaAddress) return line(name, false, `${address} is not the address in the message`);
  return isSigned(proof.message, address, signature)
    ? line(name, true, `${address} has signed (ed25519)`)
    : line(name, false, `${address}: not its signature`);
}

function isSigned(message: string, address: string, signature: string): boolean {
  const key = decodeBase58(address, 32);
  const bytes = decodeBase58(signature, 64);
  if (!key || !bytes) return false;
  try {
    // zip215 off: one signature has one reading, as on the chain.
    return ed25519.verify(bytes, new TextEncoder().encode(message), key, { zip215: false });
  } catch {
    return false;
  }
}

const silent = (explorers: readonly ExplorerWord[]): string[] =>
  explorers.flatMap(({ name, says }) => (says ? [] : [`${name} does not answer`]));

function checkReserve({ explorers }: ProofEvidence, message: ProofMessage): CheckLine {
  const at = `${message.reserveSats} sats at block ${message.bitcoinTip.height}`;
  const wrong = explorers.flatMap(({ name, says }) =>
    says && says.satsAtProof !== message.reserveSats ? [`${name} says ${says.satsAtProof}`] : [],
  );
  const against = [...silent(explorers), ...wrong];
  if (explorers.length < MIN_EXPLORERS) against.push('two explorers are needed');
  const confirmed = explorers.map(({ name }) => name).join(' and ');
  return against.length === 0
    ? line('reserve', true, `${at}, by ${confirmed}`)
    : line('reserve', false, `${at}; ${against.join(', ')}`);
}

function checkSupply({ explorers, supply }: ProofEvidence, { absr }: ProofMessage): CheckLine {
  if (!absr) return line('supply', true, 'there is no token on this reserve');
  if (!supply) return line('supply', false, 'the Solana node does not answer');
  const known = explorers.flatMap(({ says }) => (says ? [says.satsNow] : []));
  const [first, ...others] = known;
  if (first === undefined) return line('supply', false, silent(explorers).join(', '));
  const sats = others.reduce((least, one) => (one < least ? one : least), first);
  const covered = sats * 10n ** BigInt(supply.decimals);
  const text = `${supply.atoms} atoms of ABSR with ${supply.decimals} decimals against ${sats} sats now`;
  return line('supply', supply.decimals === absr.decimals && supply.atoms <= covered, text);
}

function checkFreshness({ explorers, host, now }: ProofEvidence, message: ProofMessage): CheckLine {
  const { service, time, bitcoinTip } = message;
  const age = now - Date.parse(time);
  const against = silent(explorers);
  if (service !== host) against.push(`it is the proof of ${service}, not of ${host}`);
  if (age > MAX_PROOF_AGE_MS) against.push('it is too old');
  if (age < -CLOCK_SKEW_MS) against.push('it is from the future');
  for (const { name, says } of explorers) {
    if (says && says.blockHash !== bitcoinTip.hash)
      against.push(`${name} has another block ${bitcoinTip.height}`);
  }
  const text = `signed at ${time}, after block ${bitcoinTip.height}`;
  return line('freshness', against.length === 0, [text, ...against].join('; '));
}
