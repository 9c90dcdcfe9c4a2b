/**
 * Verifies the newest proof of the reserve without trusting the service: signatures here, figures against
 * Bitcoin explorers and a Solana node.
 * @module
 */
import * as z from 'zod';
import { netEffect } from '../chain/bitcoin/net-effect.ts';
import { checkProof } from '../chain/bitcoin/proof-check.ts';
import type {
  CheckLine,
  ExplorerReport,
  ProofEvidence,
  SupplyEvidence,
} from '../chain/bitcoin/proof-lines.ts';
import { type ProofMessage, parseProofMessage } from '../chain/bitcoin/proof-message.ts';
import { createEsplora, type Esplora } from '../providers/esplora.ts';
import { createSolanaRpc, type SolanaNode, type TokenRow } from '../providers/solana-rpc.ts';
import type { Api } from './api-client.ts';
import type { Answer } from './tools/tool.ts';

export type ProofSources = {
  /** Base URLs of two or more Esplora APIs of different operators. */
  readonly explorerUrls: readonly string[];
  readonly rpcUrl: string;
  readonly fetch: typeof globalThis.fetch;
};

export const PUBLIC_EXPLORERS = 'https://mempool.space/api,https://blockstream.info/api';
export const PUBLIC_RPC = 'https://api.mainnet-beta.solana.com';

/** Each page has about 25 transactions. Proofs are signed every hour, so only a hostile explorer has more pages. */
const MAX_PAGES = 40;

/** Reads every source in parallel. A source that does not answer is part of the evidence, not an error. */
export async function collectEvidence(
  message: ProofMessage,
  { explorerUrls, rpcUrl, fetch }: ProofSources,
): Promise<Pick<ProofEvidence, 'explorers' | 'supply'>> {
  const explorers = explorerUrls.map((baseUrl) =>
    createEsplora({ baseUrl: baseUrl.replace(/\/+$/, ''), name: new URL(baseUrl).host, fetch }),
  );
  const rpc = createSolanaRpc({ urls: [rpcUrl], fetch });
  const { absr } = message;
  const [reports, supply] = await Promise.all([
    Promise.all(explorers.map((explorer) => explorerReport(explorer, message))),
    absr ? rpc.first((node) => supplyOf(node, absr, message.solanaTip.slot)).catch(() => null) : null,
  ]);
  return { explorers: reports, supply };
}

/** Maximum transactions read to explain a supply that differs from the signed one. Transfers may be among them. */
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

/** Atoms of a mint in all accounts of one transaction. Only minting and burning change this sum. */
const atomsOf = (rows: readonly TokenRow[], mint: string): bigint =>
  rows.reduce((sum, row) => (row.mint === mint ? sum + row.atoms : sum), 0n);

async function explorerReport(
  explorer: Esplora,
  { bitcoinAddress, bitcoinTip }: ProofMessage,
): Promise<ExplorerReport> {
  try {
    const { confirmed } = await explorer.balance(bitcoinAddress);
    const [gained, blockHash] = await Promise.all([
      gainedSince(explorer, bitcoinAddress, bitcoinTip.height),
      explorer.blockHash(bitcoinTip.height),
    ]);
    return {
      name: explorer.name,
      figures: { satsAtProof: confirmed - gained, satsNow: confirmed, blockHash },
    };
  } catch {
    return { name: explorer.name, figures: null };
  }
}

/** Net sats received by confirmed transactions after a block. */
async function gainedSince(explorer: Esplora, address: string, height: number): Promise<bigint> {
  let gained = 0n;
  let last: string | undefined;
  const seen = new Set<string>();
  for (let page = 0; page < MAX_PAGES; page++) {
    const txs = (await explorer.chainTxs(address, last)).filter(({ txid }) => !seen.has(txid));
    if (txs.length === 0) return gained;
    for (const tx of txs) {
      if ((tx.block?.height ?? 0) <= height) return gained;
      seen.add(tx.txid);
      gained += netEffect(tx, address);
    }
    last = txs.at(-1)?.txid;
  }
  throw new Error('too many transactions since the proof');
}

export type VerifyProof = (api: Api, signal?: AbortSignal) => Promise<Answer>;

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

const signed = z.looseObject({ address: z.string(), signature: z.string() });
const Proof = z.looseObject({
  message: z.string(),
  hash: z.string().nullable().default(null),
  bitcoin: signed,
  solana: signed,
});

type Evidence = Pick<ProofEvidence, 'explorers' | 'supply'>;

/** Caches the evidence of the last proof; create one per process. */
export function createProofVerifier(): (options: VerifyProofOptions) => VerifyProof {
  /** The last evidence. No promise is kept, because the runtime never settles the promises of a cancelled request. */
  let kept: { readonly message: string; readonly at: number; readonly evidence: Evidence } | undefined;

  async function evidenceOf(text: string, message: ProofMessage, { sources, now }: VerifyProofOptions) {
    if (kept?.message === text && now() - kept.at <= EVIDENCE_KEPT_MS) return kept;
    const at = now();
    kept = { message: text, at, evidence: await collectEvidence(message, sources) };
    return kept;
  }

  return (options) => async (api, signal) => {
    const { host, now, sources } = options;
    const proof = Proof.parse((await api.call('getProof', {}, { signal })).value);
    const message = parsed(proof.message);
    const asked = [...sources.explorerUrls, sources.rpcUrl].map((url) => new URL(url).host);
    if (typeof message === 'string')
      return report({ proof, host, checks: unreadable(message), message: undefined, asked, at: now() });
    const { at, evidence } = await evidenceOf(proof.message, message, options);
    const { explorers, supply } = evidence;
    const checks = checkProof({ proof, host, explorers, supply, now: at });
    return report({ proof, host, checks, message, asked, at });
  };
}

/** The message, or the reason why it is not the text of a proof. */
function parsed(text: string): ProofMessage | string {
  try {
    return parseProofMessage(text);
  } catch (error) {
    return error instanceof RangeError ? error.message : 'unreadable';
  }
}

const CHECKS = ['bitcoin_signature', 'solana_signature', 'reserve', 'supply', 'freshness'] as const;
const unreadable = (reason: string) =>
  CHECKS.map((name) => ({
    name,
    result: 'contradicted' as const,
    text: `the message is not the text of a proof: ${reason}`,
  }));

function report(p: {
  readonly proof: z.output<typeof Proof>;
  readonly host: string;
  readonly checks: readonly CheckLine[];
  readonly message: ProofMessage | undefined;
  readonly asked: readonly string[];
  readonly at: number;
}): Answer {
  const { message, hash, bitcoin, solana } = p.proof;
  return {
    verified: p.checks.every(({ result }) => result === 'confirmed'),
    checks: p.checks.map(({ name, result, text }) => ({ name, ok: result === 'confirmed', result, text })),
    proof: {
      message,
      hash,
      bitcoin: { address: bitcoin.address, signature: bitcoin.signature },
      solana: { address: solana.address, signature: solana.signature },
    },
    signed_at: p.message?.time ?? null,
    age_seconds: p.message ? Math.floor((p.at - Date.parse(p.message.time)) / 1_000) : null,
    sources: p.asked,
    checked_at: new Date(p.at).toISOString(),
  };
}
