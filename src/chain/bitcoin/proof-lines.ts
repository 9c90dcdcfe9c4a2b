/**
 * The five lines by which a published proof of the reserve is checked against sources that are independent of the
 * service. Pure: a terminal and a browser fetch the evidence, and each verifies ed25519 in its own way.
 * @module
 */
import type { ProofMessage } from './proof-message.ts';
import { verifyMessage } from './signed-message.ts';

/** The checked members of the answer of GET /api/proof. */
export type PublishedProof = {
  readonly message: string;
  readonly bitcoin: { readonly address: string; readonly signature: string };
  readonly solana: { readonly address: string; readonly signature: string };
};

/** One Bitcoin explorer's answer about the address in the proof. */
export type ExplorerReport = {
  readonly name: string;
  /** Null when it did not answer. */
  readonly figures: {
    /** Confirmed sats at the block named by the proof, and now. */
    readonly satsAtProof: bigint;
    readonly satsNow: bigint;
    /** The hash of its best chain's block at that height. */
    readonly blockHash: string | null;
  } | null;
};

export type ProofEvidence = {
  readonly proof: PublishedProof;
  /** Host from which the proof was fetched. */
  readonly host: string;
  /** Two or more explorers that do not depend on the service. */
  readonly explorers: readonly ExplorerReport[];
  /**
   * Supply of the proof's mint, from a node that does not depend on the service; null when it did not answer.
   */
  readonly supply: { readonly atoms: bigint; readonly decimals: number } | null;
  /** Unix milliseconds. */
  readonly now: number;
};

export type CheckLine = {
  readonly name: 'bitcoin_signature' | 'solana_signature' | 'reserve' | 'supply' | 'freshness';
  readonly ok: boolean;
  /** The finding, for display. */
  readonly text: string;
};

/** An older proof does not show the present state. */
export const MAX_PROOF_AGE_MS = 36 * 3_600_000;
/** Tolerated clock error. */
const CLOCK_SKEW_MS = 5 * 60_000;
const MIN_EXPLORERS = 2;

/** Reserve, supply and freshness: the three lines without a signature. */
export const checkFigures = (evidence: ProofEvidence, message: ProofMessage): CheckLine[] => [
  checkReserve(evidence, message),
  checkSupply(evidence, message),
  checkFreshness(evidence, message),
];

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
    ? line(name, true, `${address} signed the message (${checked.scheme})`)
    : line(name, false, `${address}: ${checked.reason}`);
}

/** @param isSigned whether the signature is that of the address over the message */
export function checkSolana(
  { proof }: Pick<ProofEvidence, 'proof'>,
  { solanaAddress }: ProofMessage,
  isSigned: boolean,
): CheckLine {
  const name = 'solana_signature';
  const { address } = proof.solana;
  if (address !== solanaAddress) return line(name, false, `${address} is not the address in the message`);
  return isSigned
    ? line(name, true, `${address} signed the message (ed25519)`)
    : line(name, false, `the signature is not by ${address}`);
}

const silent = (explorers: readonly ExplorerReport[]): string[] =>
  explorers.flatMap(({ name, figures }) => (figures ? [] : [`${name} did not answer`]));

function checkReserve({ explorers }: ProofEvidence, message: ProofMessage): CheckLine {
  const at = `${message.reserveSats} sats at block ${message.bitcoinTip.height}`;
  const wrong = explorers.flatMap(({ name, figures }) =>
    figures && figures.satsAtProof !== message.reserveSats ? [`${name} shows ${figures.satsAtProof}`] : [],
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
  if (!supply) return line('supply', false, 'the Solana node did not answer');
  const known = explorers.flatMap(({ figures }) => (figures ? [figures.satsNow] : []));
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
  if (service !== host) against.push(`the proof is for ${service}, not for ${host}`);
  if (age > MAX_PROOF_AGE_MS) against.push('it is too old');
  if (age < -CLOCK_SKEW_MS) against.push('its time is in the future');
  for (const { name, figures } of explorers) {
    if (figures && figures.blockHash !== bitcoinTip.hash)
      against.push(`${name} shows a different block ${bitcoinTip.height}`);
  }
  const text = `signed at ${time}, after block ${bitcoinTip.height}`;
  return line('freshness', against.length === 0, [text, ...against].join('; '));
}
