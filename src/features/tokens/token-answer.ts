/**
 * The public form of tokens and invoices.
 * @module
 */
import * as z from 'zod';
import { isWellKnown } from '../../chain/solana/token-text.ts';
import { formatAmount } from '../../core/amount.ts';
import type { RequestView } from '../../custody/api.ts';
import { paymentAnswer } from './paid-request.ts';
import type { TokenFacts } from './token-facts.ts';
import type { TokenRow } from './token-store.ts';

/** @param facts current data from the chain; undefined when it cannot be read */
export const tokenAnswer = (token: TokenRow, facts: TokenFacts | undefined) => ({
  id: token.tokenId,
  name: token.name,
  symbol: token.symbol,
  decimals: token.decimals,
  supply: (facts?.supply ?? token.supply).toString(),
  supply_ui: formatAmount(facts?.supply ?? token.supply, token.decimals),
  mint_address: token.mint,
  creator_address: token.creator,
  token_program: token.program,
  mint_authority: facts?.mintAuthority ?? null,
  freeze_authority: facts?.freezeAuthority ?? null,
  update_authority: facts?.updateAuthority ?? null,
  as_of: facts ? new Date(facts.asOf).toISOString() : null,
  description: token.description,
  image: token.image,
  uri: token.uri,
  created_at: new Date(token.createdAt).toISOString(),
  listed_at: token.listedAt === null ? null : new Date(token.listedAt).toISOString(),
  /** Wallets show names unchanged: a well-known token's name does not identify the creator. */
  warning: isWellKnown(token.name) || isWellKnown(token.symbol) ? ('well_known_name' as const) : null,
});

/** A member of an invoice's subject as text. */
const part = (request: RequestView, name: string): string | null => {
  const value = request.subject[name];
  return typeof value === 'string' ? value : null;
};

const FeeParts = z.record(z.string(), z.string());

export const invoiceAnswer = (request: RequestView, treasury: string) => ({
  invoice_id: request.id,
  status: request.status,
  detail: request.detail,
  reason: request.reason,
  ...paymentAnswer(request, treasury, `Token ${part(request, 'symbol') ?? ''}`),
  received_lamports: request.receivedLamports,
  fee_breakdown: FeeParts.safeParse(request.subject.fee).data ?? null,
  payment_tx_signature: request.paymentSignature,
  token_id: request.tokenId,
  mint_address: request.status === 'completed' ? request.mintAddress : null,
  paid_at: request.paidAt,
  completed_at: request.completedAt,
  name: part(request, 'name'),
  symbol: part(request, 'symbol'),
  decimals: Number(request.subject.decimals),
  supply: part(request, 'supply'),
  creator_address: part(request, 'creator'),
  description: part(request, 'description') ?? '',
  image: part(request, 'image'),
  token_program: part(request, 'program') === 'token' ? ('token' as const) : ('token-2022' as const),
  metaplex_metadata: request.subject.metaplex === true,
  revoke_mint_authority: request.subject.revokeMint === true,
  revoke_freeze_authority: request.subject.revokeFreeze === true,
  revoke_update_authority: request.subject.revokeUpdate === true,
  refunds: request.refunds.map(({ refundSignature, ...refund }) => ({
    ...refund,
    refund_signature: refundSignature,
  })),
});
