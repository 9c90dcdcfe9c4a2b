/**
 * The transaction policy: the numbered checks of a third party's swap, in order. Anything unknown is refused,
 * and the signed bytes are built again from the checked values.
 *
 * Some checks are elsewhere, because they do not concern bytes: caps and exposure (S22, S23) are in the
 * spending limits, in the same critical section as the intent. Uniqueness (S24) is where names are consumed.
 * S16 holds because nodes only receive the `unsigned` bytes. S26 is part of the signer's design.
 * @module
 */
import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex } from '@noble/hashes/utils.js';
import type { Tool } from '../../bridges/lifi-quote.ts';
import { confirmNearDestination } from '../../bridges/near-intents.ts';
import { type DecodedTransaction, decodeTransactionText, encodeMessage } from '../../chain/solana/message.ts';
import type { Lifetime } from '../../chain/solana/transaction.ts';
import { lamports, type Sats, sats } from '../../core/amount.ts';
import type { LifiQuote } from '../../providers/lifi.ts';
import type { OneClickStatus } from '../../providers/near-intents.ts';
import { type ApprovedShape, checkInstructions, type InstructionEvidence } from './instructions.ts';
import { type PolicyRefusal, refuse } from './refusal.ts';
import { checkSimulation, type SimulationResult } from './simulation.ts';
import { checkQuote, type PolicyTerms, type SwapOrder } from './terms.ts';

/**
 * S1 to S4: exactly one transaction, decodable in one way only, that needs only the reserve's signature and
 * has no signature yet.
 */
export function openTransaction(
  data: unknown,
  reserveAddress: string,
): PolicyRefusal | { readonly ok: true; readonly transaction: DecodedTransaction } {
  if (typeof data !== 'string') return refuse('data_not_one_text');
  const decoded = decodeTransactionText(data);
  if (!decoded.ok) return refuse(decoded.reason);
  const { transaction } = decoded;
  if (transaction.requiredSignatures !== 1) return refuse('signer_count');
  if (transaction.keys[0] !== reserveAddress) return refuse('signer_not_reserve');
  if (transaction.signatures.some((slot) => slot.some((byte) => byte !== 0))) {
    return refuse('signature_slot_filled');
  }
  return { ok: true, transaction };
}

/** S5: the same transaction with our own blockhash, so that its expiry is known. */
export const withLifetime = (
  transaction: DecodedTransaction,
  { blockhash }: Lifetime,
): DecodedTransaction => ({ ...transaction, blockhash });

export type PolicyInput = Pick<InstructionEvidence, 'tables' | 'deployments' | 'epoch'> & {
  readonly quote: LifiQuote;
  /** `transactionRequest.data` as received. */
  readonly data: unknown;
  readonly order: SwapOrder;
  readonly terms: PolicyTerms;
  /** Milliseconds since the quote was requested. */
  readonly ageMs: number;
  readonly lifetime: Lifetime;
  readonly simulation: SimulationResult;
  /** 1Click's status of the deposit address; null when it was not requested or 1Click did not answer. */
  readonly nearStatus: OneClickStatus | null;
  /** Pinned key of 1Click's quotes. */
  readonly quoteKey: string;
  /** Unix milliseconds. */
  readonly now: number;
};

export type SwapNames = {
  readonly quoteId: string;
  /** SHA-256 of the message as received, hex. */
  readonly messageHash: string;
  /** Seed of a vault swap, hex. */
  readonly vaultSwap: string | null;
};

export type ApprovedSwap = {
  readonly ok: true;
  readonly tool: Tool;
  /** The bytes to sign. */
  readonly message: Uint8Array;
  readonly minimumSats: Sats;
  /** Lamports that may leave the reserve, fees and rent included. */
  readonly spend: bigint;
  /** The one-time address that is paid; null for a vault swap. */
  readonly depositAddress: string | null;
  /** Permanently unique names (S24), as stored. */
  readonly names: SwapNames;
  readonly claims: readonly string[];
};

/** The checks that need only the quote and data from the chain: everything except the simulation. */
export function checkBytes(
  p: Pick<PolicyInput, 'quote' | 'data' | 'order' | 'terms' | 'ageMs' | 'tables' | 'deployments' | 'epoch'>,
) {
  const { quote, order, terms } = p;
  const echo = checkQuote(quote, order, terms, p.ageMs);
  if (!echo.ok) return echo;
  const opened = openTransaction(p.data, terms.reserveAddress);
  if (!opened.ok) return opened;
  const { transaction } = opened;
  // At least our own floor, because the quote was checked against it.
  const minimumSats = sats(BigInt(quote.estimate.toAmountMin));
  const judged = checkInstructions(transaction, {
    tool: echo.tool,
    transactionId: quote.transactionId,
    order,
    terms,
    minimumSats,
    expectedSats: sats(BigInt(quote.estimate.toAmount)),
    tables: p.tables,
    deployments: p.deployments,
    epoch: p.epoch,
  });
  if (!judged.ok) return judged;
  const { shape, keys } = judged;
  return { ok: true, tool: echo.tool, transaction, minimumSats, shape, keys } as const;
}

export async function checkSwapPolicy(p: PolicyInput): Promise<PolicyRefusal | ApprovedSwap> {
  const { quote, order, terms } = p;
  const judged = checkBytes(p);
  if (!judged.ok) return judged;
  const { transaction, minimumSats, shape } = judged;
  const simulated = checkSimulation(p.simulation, shape, order.amount, terms);
  if (!simulated.ok) return simulated;
  const destination = await confirmDestination(shape, minimumSats, p);
  if (!destination.ok) return destination;
  const names = {
    quoteId: quote.id,
    messageHash: bytesToHex(sha256(encodeMessage(transaction))),
    vaultSwap: shape.leg.kind === 'vault_swap' ? bytesToHex(shape.leg.swap.seed) : null,
  };
  return {
    ok: true,
    tool: judged.tool,
    message: encodeMessage(withLifetime(transaction, p.lifetime)),
    minimumSats,
    spend: simulated.spend,
    depositAddress: shape.leg.kind === 'transfer' ? shape.leg.to : null,
    names,
    claims: [
      `lifi:${names.quoteId}`,
      `lifi-message:${names.messageHash}`,
      shape.leg.kind === 'transfer' ? `deposit:${shape.leg.to}` : `vault-swap:${names.vaultSwap}`,
    ],
  };
}

/**
 * S19: a vault swap proves its destination by its own bytes; a plain transfer needs the bridge's signature.
 */
async function confirmDestination(
  { leg }: ApprovedShape,
  minimumSats: Sats,
  { terms, nearStatus, quoteKey, now }: PolicyInput,
): Promise<PolicyRefusal | { readonly ok: true }> {
  if (leg.kind === 'vault_swap') return { ok: true };
  if (!nearStatus) return refuse('destination_unconfirmed');
  const confirmed = await confirmNearDestination(nearStatus, {
    depositAddress: leg.to,
    amount: lamports(leg.lamports),
    reserveAddress: terms.reserveAddress,
    bitcoinAddress: terms.bitcoinAddress,
    minimumSats,
    quoteKey,
    now,
  });
  return confirmed.ok ? { ok: true } : { ok: false, check: 'S19', reason: confirmed.reason };
}
