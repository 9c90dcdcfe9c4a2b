/**
 * Verifies the newest proof of the reserve without trusting the service: signatures here, figures against
 * Bitcoin explorers and a Solana node.
 * @module
 */
import * as z from 'zod';
import { checkProof } from '../chain/bitcoin/proof-check.ts';
import { type ExplorerReads, explorerReport } from '../chain/bitcoin/proof-evidence.ts';
import {
  type CheckLine,
  type ProofEvidence,
  readOrContradict,
  type SupplyEvidence,
} from '../chain/bitcoin/proof-lines.ts';
import type { ProofMessage } from '../chain/bitcoin/proof-message.ts';
import { type MintKeys, mintAuthorityOf, mintKeysOf } from '../chain/solana/mint-keys.ts';
import { createEsplora, type Esplora } from '../providers/esplora.ts';
import { createSolanaRpc, type SolanaNode, type TokenRow } from '../providers/solana-rpc.ts';
import type { Api } from './api-client.ts';

export type ProofSources = {
  /** Base URLs of two or more Esplora APIs, run by different operators. */
  readonly explorerUrls: readonly string[];
  readonly rpcUrl: string;
  readonly fetch: typeof globalThis.fetch;
};

export const PUBLIC_EXPLORERS = 'https://mempool.space/api,https://blockstream.info/api';
export const PUBLIC_RPC = 'https://api.mainnet-beta.solana.com';

/** Reads every source in parallel. A source that does not respond is part of the evidence, not an error. */
export async function collectEvidence(
  message: ProofMessage,
  { explorerUrls, rpcUrl, fetch }: ProofSources,
): Promise<Evidence> {
  const explorers = explorerUrls.map((baseUrl) =>
    createEsplora({ baseUrl: baseUrl.replace(/\/+$/, ''), name: new URL(baseUrl).host, fetch }),
  );
  const rpc = createSolanaRpc({ urls: [rpcUrl], fetch });
  const { absr } = message;
  const [reports, supply, mintKeys] = await Promise.all([
    Promise.all(explorers.map((explorer) => explorerReport(readsOf(explorer), message))),
    absr ? rpc.first((node) => supplyOf(node, absr, message.solanaTip.slot)).catch(() => null) : null,
    absr ? rpc.first((node) => keysOfMint(node, absr.mint)).catch(() => null) : null,
  ]);
  return { explorers: reports, supply, mintKeys };
}

/** Maximum transactions read to explain a supply that differs from the signed one. They can include transfers. */
const MAX_SUPPLY_READS = 50;

async function supplyOf(
  node: SolanaNode,
  { mint, atoms: signed }: NonNullable<ProofMessage['absr']>,
  since: bigint,
): Promise<SupplyEvidence> {
  const supply = await node.tokenSupply(mint, 'finalized', since);
  if (supply.atoms === signed) return { ...supply, changed: null };
  const listed = await node.signaturesFor(mint, { limit: MAX_SUPPLY_READS + 1, commitment: 'finalized' });
  const later = listed.filter(({ slot, err }) => slot > since && slot <= supply.slot && err === null);
  if (later.length > MAX_SUPPLY_READS) return { ...supply, changed: null };
  let changed = 0n;
  for (const { signature } of later) {
    const transaction = await node.transaction(signature, 'finalized');
    if (!transaction?.preTokens || !transaction.postTokens) return { ...supply, changed: null };
    changed += atomsOf(transaction.postTokens, mint) - atomsOf(transaction.preTokens, mint);
  }
  return { ...supply, changed };
}

/** @throws Error when there is no such mint */
async function keysOfMint(node: SolanaNode, mint: string): Promise<MintKeys> {
  const accountAt = async (address: string) =>
    (await node.accounts([address], 'finalized')).accounts[0] ?? null;
  const found = await accountAt(mint);
  const authority = found ? mintAuthorityOf(found.data) : undefined;
  if (!found || authority === undefined) throw new Error('no such mint');
  return mintKeysOf(found.owner, authority, authority === null ? null : await accountAt(authority));
}

/** Atoms of a mint in all accounts of one transaction. Only minting and burning change this sum. */
const atomsOf = (rows: readonly TokenRow[], mint: string): bigint =>
  rows.reduce((sum, row) => (row.mint === mint ? sum + row.atoms : sum), 0n);

const readsOf = ({ name, balance, chainTxs, blockHash }: Esplora): ExplorerReads => ({
  name,
  balance: async (address) => (await balance(address)).confirmed,
  page: async (address, last) =>
    (await chainTxs(address, last)).map((tx) => ({ ...tx, height: tx.block?.height ?? null })),
  blockHash,
});

export type VerifyProof = (api: Api, signal?: AbortSignal) => Promise<Readonly<Record<string, unknown>>>;

export type VerifyProofOptions = {
  readonly sources: ProofSources;
  /** Host of the service, which the message must name. */
  readonly host: string;
  /** Unix milliseconds. */
  readonly now: () => number;
};

/**
 * How long the evidence for one proof is reused, so that public explorers are queried once for all clients.
 */
const EVIDENCE_KEPT_MS = 60_000;

const signed = z.object({ address: z.string(), signature: z.string() });
/** The members of the proof that the result repeats. */
const Proof = z.object({
  message: z.string(),
  hash: z.string().nullable().default(null),
  bitcoin: signed,
  solana: signed,
});

type Evidence = Pick<ProofEvidence, 'explorers' | 'supply' | 'mintKeys'>;

/** Caches the evidence of the last proof; create one per process. */
export function createProofVerifier() {
  /** The newest evidence, never its promise: the runtime does not settle the promises of a cancelled request. */
  let kept: { readonly message: string; readonly at: number; readonly evidence: Evidence } | undefined;

  async function evidenceOf(text: string, message: ProofMessage, { sources, now }: VerifyProofOptions) {
    // Evidence of a time ahead was read before the clock was set back.
    if (kept?.message === text && Math.abs(now() - kept.at) <= EVIDENCE_KEPT_MS) return kept;
    const at = now();
    kept = { message: text, at, evidence: await collectEvidence(message, sources) };
    return kept;
  }

  return (options: VerifyProofOptions) => async (api: Api, signal?: AbortSignal) => {
    const { host, now } = options;
    const { explorerUrls, rpcUrl } = options.sources;
    const proof = Proof.parse((await api.call('getProof', {}, { signal })).value);
    const message = readOrContradict(proof.message);
    const sources = [...explorerUrls, rpcUrl].map((url) => new URL(url).host);
    if (Array.isArray(message))
      return report({ proof, checks: message, message: undefined, sources, at: now() });
    const { at, evidence } = await evidenceOf(proof.message, message, options);
    const checks = checkProof({ proof, host, ...evidence, now: at });
    return report({ proof, checks, message, sources, at });
  };
}

/** `null`: the line could not be checked, or its sources contradict each other. */
const PASSED = {
  confirmed: true,
  warned: true,
  contradicted: false,
  disputed: null,
  unchecked: null,
} as const;

const allOf = (passed: readonly (boolean | null)[]): boolean | null => {
  if (passed.includes(false)) return false;
  return passed.includes(null) ? null : true;
};

type Checked = {
  readonly proof: z.output<typeof Proof>;
  readonly checks: readonly CheckLine[];
  /** Undefined if it cannot be read. */
  readonly message: ProofMessage | undefined;
  /** Hosts of the sources. */
  readonly sources: readonly string[];
  /** Unix milliseconds at which the evidence was read. */
  readonly at: number;
};

const report = ({ proof, checks, message, sources, at }: Checked) => ({
  verified: allOf(checks.map(({ result }) => PASSED[result])),
  checks: checks.map(({ name, result, text }) => ({ name, ok: PASSED[result], result, text })),
  proof,
  signed_at: message?.time ?? null,
  age_seconds: message ? Math.floor((at - Date.parse(message.time)) / 1_000) : null,
  sources,
  checked_at: new Date(at).toISOString(),
});
