/**
 * The six lines by which a published proof of the reserve is checked against sources that are independent of the
 * service. Pure: a terminal and a browser fetch the evidence, and each verifies ed25519 in its own way.
 * @module
 */
import { formatAmount, grouped } from '../../core/amount.ts';
import { type MintKeys, minterOf } from '../solana/mint-keys.ts';
import { type ProofMessage, parseProofMessage } from './proof-message.ts';
import { verifyMessage } from './signed-message.ts';

/** The checked members of the response of GET /api/proof. */
export type PublishedProof = {
  readonly message: string;
  readonly bitcoin: { readonly address: string; readonly signature: string };
  readonly solana: { readonly address: string; readonly signature: string };
};

/** One Bitcoin explorer's figures for the address in the proof. */
export type ExplorerReport = {
  readonly name: string;
  /** Null when the explorer could not be reached. */
  readonly figures: {
    /** Confirmed sats at the block that the proof names, and now. */
    readonly satsAtProof: bigint;
    readonly satsNow: bigint;
    /** Hash of the block at that height in the explorer's best chain. */
    readonly blockHash: string | null;
  } | null;
};

export type SupplyEvidence = {
  readonly atoms: bigint;
  readonly decimals: number;
  /** Slot at which the supply was read. */
  readonly slot: bigint;
  /** Atoms minted minus atoms burned after the proof's slot; null when they were not read. */
  readonly changed: bigint | null;
};

export type ProofEvidence = {
  readonly proof: PublishedProof;
  /** Host from which the proof was fetched. */
  readonly host: string;
  /** Two or more explorers that do not depend on the service. */
  readonly explorers: readonly ExplorerReport[];
  /**
   * Supply of the proof's mint, from a node that does not depend on the service; null when none could be reached.
   */
  readonly supply: SupplyEvidence | null;
  /** Who can mint the proof's token, from the same node; null when it could not be read. */
  readonly mintKeys: MintKeys | null;
  /** Unix milliseconds. */
  readonly now: number;
};

const LINES = ['bitcoin_signature', 'solana_signature', 'reserve', 'supply', 'minting', 'freshness'] as const;

export type CheckLine = {
  readonly name: (typeof LINES)[number];
  /**
   * `warned`: the line holds, but depends on one key. `unchecked`: a source could not be reached, or this code does not
   * evaluate the signature's form. `disputed`: one explorer confirms the line and another contradicts it.
   * `contradicted`: the evidence disproves the line.
   */
  readonly result: 'confirmed' | 'warned' | 'contradicted' | 'disputed' | 'unchecked';
  /** The result in words, for display. */
  readonly text: string;
};

/** Maximum age of a proof. An older proof does not show the current state. */
export const MAX_PROOF_AGE_MS = 36 * 3_600_000;
/** Tolerated clock error. */
const CLOCK_SKEW_MS = 5 * 60_000;
const MIN_EXPLORERS = 2;

/** Checks reserve, supply, minting and freshness: the lines that are not about a signature. */
export const checkFigures = (
  evidence: ProofEvidence,
  message: ProofMessage,
): [reserve: CheckLine, supply: CheckLine, minting: CheckLine, freshness: CheckLine] => [
  checkReserve(evidence, message),
  checkSupply(evidence, message),
  checkMinting(evidence, message),
  checkFreshness(evidence, message),
];

const lineWith =
  (result: CheckLine['result']) =>
  (name: CheckLine['name'], text: string): CheckLine => ({ name, result, text });
const confirmed = lineWith('confirmed');
const warned = lineWith('warned');
const contradicted = lineWith('contradicted');
const disputed = lineWith('disputed');
const unchecked = lineWith('unchecked');

/** The parsed message of a proof; if it cannot be parsed, the six report lines that say so. */
export function readOrContradict(text: string): ProofMessage | CheckLine[] {
  try {
    return parseProofMessage(text);
  } catch (error) {
    const reason = error instanceof RangeError ? error.message : 'unreadable';
    return LINES.map((name) => contradicted(name, `the message is not the text of a proof: ${reason}`));
  }
}

const satsText = (sats: bigint): string => `${grouped(sats.toString())} ${sats === 1n ? 'sat' : 'sats'}`;
const listed = (names: readonly string[]): string => names.join(' and ');

export function checkBitcoin(
  { proof }: Pick<ProofEvidence, 'proof'>,
  { bitcoinAddress }: ProofMessage,
): CheckLine {
  const name = 'bitcoin_signature';
  const { address, signature } = proof.bitcoin;
  if (address !== bitcoinAddress) return contradicted(name, `${address} is not the address in the message`);
  const checked = verifyMessage({ address, message: proof.message, signature });
  if (checked.verdict === 'valid')
    return confirmed(name, `${address} signed the message (${checked.scheme})`);
  const line = checked.verdict === 'unsupported' ? unchecked : contradicted;
  return line(name, `${address}: ${checked.reason}`);
}

/** @param isSigned whether the Solana address has signed the message */
export function checkSolana(
  { proof }: Pick<ProofEvidence, 'proof'>,
  { solanaAddress }: ProofMessage,
  isSigned: boolean,
): CheckLine {
  const name = 'solana_signature';
  const { address } = proof.solana;
  if (address !== solanaAddress) return contradicted(name, `${address} is not the address in the message`);
  return isSigned
    ? confirmed(name, `${address} signed the message (ed25519)`)
    : contradicted(name, `the signature is not by ${address}`);
}

const silent = (explorers: readonly ExplorerReport[]): string[] =>
  explorers.flatMap(({ name, figures }) => (figures ? [] : [`${name} could not be reached`]));

function checkReserve({ explorers }: ProofEvidence, message: ProofMessage): CheckLine {
  const name = 'reserve';
  const at = `${satsText(message.reserveSats)} at block ${grouped(String(message.bitcoinTip.height))}`;
  const shown = explorers.flatMap(({ name: explorer, figures }) =>
    figures ? [{ explorer, sats: figures.satsAtProof }] : [],
  );
  const wrong = shown.filter(({ sats }) => sats !== message.reserveSats);
  const said = (reports: typeof shown): string =>
    listed(reports.map(({ explorer, sats }) => `${explorer} shows ${satsText(sats)}`));
  if (wrong.length > 0 && wrong.length < shown.length)
    return disputed(name, `the explorers contradict each other: ${said(shown)}; signed are ${at}`);
  if (wrong.length > 0) return contradicted(name, `${at}; ${said(wrong)}`);
  const missing = [
    ...silent(explorers),
    ...(explorers.length < MIN_EXPLORERS ? ['two explorers are needed'] : []),
  ];
  if (missing.length > 0) return unchecked(name, `${at}; ${listed(missing)}`);
  return confirmed(name, `${at}, according to ${listed(explorers.map((explorer) => explorer.name))}`);
}

function checkSupply({ explorers, supply }: ProofEvidence, { absr, solanaTip }: ProofMessage): CheckLine {
  const name = 'supply';
  if (!absr) return confirmed(name, 'this reserve has no token');
  if (!supply) return unchecked(name, 'no Solana node could be reached');
  const known = explorers.flatMap(({ figures }) => (figures ? [figures.satsNow] : []));
  const [first, ...others] = known;
  if (first === undefined) return unchecked(name, listed(silent(explorers)));
  const sats = others.reduce((least, one) => (one < least ? one : least), first);
  const isCoveredBy = (shown: bigint): boolean => supply.atoms <= shown * 10n ** BigInt(supply.decimals);
  const text = `${satsText(sats)} for ${grouped(formatAmount(supply.atoms, supply.decimals))} ABSR.`;
  if (supply.decimals !== absr.decimals)
    return contradicted(
      name,
      `${text} The token has ${supply.decimals} decimals, the message says ${absr.decimals}.`,
    );
  if (!isCoveredBy(sats))
    return known.some(isCoveredBy)
      ? disputed(name, `${text} The explorers contradict each other.`)
      : contradicted(name, text);
  const signed = `${grouped(formatAmount(absr.atoms, absr.decimals))} at slot ${grouped(String(solanaTip.slot))}`;
  if (supply.slot < solanaTip.slot)
    return unchecked(name, `${text} The node has not reached the proof's slot.`);
  if (supply.atoms === absr.atoms) return confirmed(name, text);
  if (supply.changed === null)
    return unchecked(name, `${text} The proof says ${signed}; mints since then were not read.`);
  if (supply.atoms - supply.changed !== absr.atoms)
    return contradicted(
      name,
      `${text} The proof says ${signed}; the transactions since then do not explain that.`,
    );
  return confirmed(name, `${text} The proof says ${signed}; the difference was minted or burned since then.`);
}

/**
 * A thief of one key can mint without limit. With a witness, a thief of one key can mint no more than the reserve
 * covers.
 */
function checkMinting({ mintKeys }: ProofEvidence, { absr, solanaAddress }: ProofMessage): CheckLine {
  const name = 'minting';
  if (!absr) return confirmed(name, 'this reserve has no token');
  if (!mintKeys) return unchecked(name, 'no Solana node could be reached');
  if (mintKeys.authority === null) return confirmed(name, 'nobody can mint more ABSR');
  const { authority, required, signers } = mintKeys;
  const minter = minterOf(mintKeys, solanaAddress);
  if (minter === 'two_keys') {
    const witness = signers.find((key) => key !== solanaAddress);
    return confirmed(
      name,
      `minting needs two keys: ${solanaAddress}, the operator's hot key, and ${witness} of a witness; one person may have both`,
    );
  }
  if (minter === 'reserve')
    return warned(name, `${solanaAddress} mints alone: a thief of its key could mint any amount`);
  return contradicted(name, `the mint authority is ${authority}, ${required} of ${listed(signers)}`);
}

function checkFreshness({ explorers, host, now }: ProofEvidence, message: ProofMessage): CheckLine {
  const name = 'freshness';
  const { service, time, bitcoinTip } = message;
  const height = grouped(String(bitcoinTip.height));
  const age = now - Date.parse(time);
  const against: string[] = [];
  if (service !== host) against.push(`the proof is for ${service}, not for ${host}`);
  if (age > MAX_PROOF_AGE_MS) against.push('it is too old');
  if (age < -CLOCK_SKEW_MS) against.push('its time is in the future');
  for (const { name: explorer, figures } of explorers) {
    if (figures && figures.blockHash !== bitcoinTip.hash)
      against.push(`${explorer} shows a different block ${height}`);
  }
  const text = `signed at ${time}, after block ${height}`;
  if (against.length > 0) return contradicted(name, [text, ...against].join('; '));
  const missing = silent(explorers);
  return missing.length > 0 ? unchecked(name, [text, ...missing].join('; ')) : confirmed(name, text);
}
