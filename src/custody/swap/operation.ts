/**
 * Swaps reserve SOL to BTC: makes one System transfer to the bridge's one-time address, then waits for the Bitcoin
 * payment.
 * @module
 */
import { TRANSFER_FEE, transferMessage } from '../../chain/solana/transaction.ts';
import { type Lamports, lamports } from '../../core/amount.ts';
import {
  type KindRules,
  type Operation,
  type OperationKind,
  type Prepared,
  plainlyPrepared,
} from '../kernel/operation.ts';
import type { Blockhash } from '../nodes/solana-view.ts';
import type { SettlementPorts } from './refund-search.ts';
import { settleSwap } from './settlement.ts';
import type { QuotePorts, SwapQuotes } from './swap-quotes.ts';

const SWAP_RULES: KindRules = {
  maxAttempts: 1,
  retriesPreparation: false,
  settles: true,
  coveredAt: 'begin',
};

export type SwapPorts = SettlementPorts &
  QuotePorts & {
    latestBlockhash(): Promise<Blockhash>;
    /** A blockhash that concurrent estimates share, so that anonymous callers do not use up the calls to nodes. */
    recentBlockhash(): Promise<Blockhash>;
  };

/** @param key the caller's key hash, or a random one. The row stores it, so a key never pays twice. */
export const swapId = (key: string): string => `swap:${key}`;

/** Maximum lamports that leave the reserve for a swap: the amount and its transaction fee. */
export const swapDebit = (amount: Lamports): Lamports => lamports(amount + TRANSFER_FEE);

/** If the quote takes longer than this, the blockhash is read again, because it has aged meanwhile. */
const BLOCKHASH_FRESH_MS = 2_000;

async function prepareSwap(
  ports: SwapPorts,
  quotes: Pick<SwapQuotes, 'quote'>,
  operation: Operation,
): Promise<Prepared> {
  const began = ports.now();
  // This read starts before the quote. Otherwise the quote's calls for prices would be admitted first.
  const early = ports.latestBlockhash();
  early.catch(() => undefined);
  const quoted = await quotes.quote(operation.amount, false);
  if (!quoted.ok) {
    const { reason, minimum } = quoted;
    const bound = minimum && { minimumLamports: String(minimum.lamports), minimumSource: minimum.source };
    return { ok: false, reason, ...(bound ? { outcome: bound } : {}) };
  }
  const { quote, priced } = quoted;
  const { depositAddress, amount } = quote;
  if (depositAddress === null) return { ok: false, reason: 'quote_deposit_address' };
  const isFresh = ports.now() - began <= BLOCKHASH_FRESH_MS;
  const lifetime = await (isFresh ? early : ports.latestBlockhash());
  const message = transferMessage({ from: operation.signer, to: depositAddress, amount, lifetime });
  return {
    ...plainlyPrepared(message, lifetime),
    cost: priced.cost,
    once: [`deposit:${depositAddress}`],
    plan: {
      route: quote.route,
      depositAddress,
      signedQuote: quote.signed ?? null,
      expectedSats: quote.expectedSats.toString(),
      minimumSats: quote.minimumSats.toString(),
      expiresAt: quote.expiresAt,
      priceBtcUsd: priced.price.btcUsd.toString(),
      priceSolUsd: priced.price.solUsd.toString(),
    },
  };
}

export const swapKind = (ports: SwapPorts, quotes: Pick<SwapQuotes, 'quote'>): OperationKind => ({
  rules: SWAP_RULES,
  prepare: (operation) => prepareSwap(ports, quotes, operation),
  settle: (operation, isUsed) => settleSwap(ports, operation, isUsed),
});
