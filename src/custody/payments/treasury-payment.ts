/**
 * What a transaction pays to a treasury, who paid it, and for which request.
 * @module
 */
import { lamportsGained } from '../../chain/solana/transaction.ts';
import type { ChainTransaction } from '../../providers/solana-rpc.ts';
import type { PaymentContext } from './context.ts';
import type { PaymentRequest } from './request-store.ts';
import type { TreasuryPayment } from './treasury-store.ts';

/** In lamports. Amounts up to this are not refunded: the refund's transaction alone costs 5,400. */
export const DUST = 10_000n;

/** What a transaction pays to a treasury: zero if it failed. */
function treasuryPayment(transaction: ChainTransaction, payee: string): TreasuryPayment {
  const { signature, slot, blockTime, failed } = transaction;
  const credit = failed ? 0n : lamportsGained(transaction, payee);
  if (credit <= 0n) return { signature, slot, blockTime, lamports: 0n, payee, payer: null };
  return { signature, slot, blockTime, lamports: credit, payee, payer: payerOf(transaction, payee) };
}

/**
 * The only account that lost more lamports than the fee, if it signed and lost at least what the treasury gained.
 * Otherwise null: in a multisig wallet, a program owns the money, and a member only executes the transaction.
 */
export function payerOf(transaction: ChainTransaction, treasury: string): string | null {
  const { accounts, signers, fee } = transaction;
  const losers = accounts.flatMap((account, index) => {
    const paid = -lamportsGained(transaction, account) - (index === 0 ? fee : 0n);
    return account !== treasury && paid > 0n ? [{ account, paid }] : [];
  });
  const [payer] = losers;
  const credit = lamportsGained(transaction, treasury);
  const isPayer = payer && losers.length === 1 && payer.paid >= credit && signers.includes(payer.account);
  return isPayer ? payer.account : null;
}

type Block = Pick<TreasuryPayment, 'blockTime'>;

/**
 * True if a block is known to be later than a time in Unix milliseconds. Without a block time from a quorum, its order
 * is unknown. Such a payment is treated as in time while its request is open, because our clock shows only when it was
 * read.
 */
export const isAfter = ({ blockTime }: Block, time: number): boolean =>
  blockTime !== null && blockTime * 1_000 > time;

const isBefore = ({ blockTime }: Block, time: number): boolean =>
  blockTime !== null && blockTime * 1_000 < time;

/** Maximum part of a returned sum that a bridge deducts, in percent. */
const MOST_RETURN_FEE = 10n;
/** A block's time may be this much earlier than our clock showed when the swap was signed. */
const BLOCK_TIME_LAG_MS = 120_000;

/**
 * Money that a bridge may return to the signer of an unsettled swap: about the sum that the swap sent, at a later time.
 */
export type AwaitedReturn = {
  readonly payee: string;
  /** Lamports. */
  readonly least: number;
  readonly most: number;
  /** Unix milliseconds. */
  readonly since: number;
};

export const awaitedReturns = (
  operations: readonly { readonly signer: string; readonly unsettled: bigint; readonly createdAt: number }[],
): AwaitedReturn[] =>
  operations
    .filter(({ unsettled }) => unsettled > 0n)
    .map(({ signer, unsettled, createdAt }) => ({
      payee: signer,
      least: Number((unsettled * (100n - MOST_RETURN_FEE) + 99n) / 100n),
      most: Number(unsettled),
      since: createdAt - BLOCK_TIME_LAG_MS,
    }));

/**
 * True if this payment, which is not recorded yet, may be such a return: the rule of the SQL in `treasury-store.ts`.
 */
export const mayBeReturned = (
  payment: Pick<TreasuryPayment, 'lamports' | 'blockTime' | 'payee'>,
  returns: readonly AwaitedReturn[],
): boolean =>
  returns.some(
    ({ payee, least, most, since }) =>
      payment.payee === payee &&
      payment.lamports >= least &&
      payment.lamports <= most &&
      !isBefore(payment, since),
  );

/** Why a payment matches no request. `several_requests`: it contains the references of two requests. */
export type NoMatch = 'no_request' | 'several_requests';

/** A block's time may be this much earlier than the request that its payment is for. */
const CLOCK_SKEW_MS = 30_000;

/** The request that a transaction is for, and the treasury that it should pay. */
type Match = { readonly match: PaymentRequest | NoMatch; readonly payee: string };

/**
 * What a transaction pays, and for which request. The treasury is the request's, even if another treasury is configured
 * now.
 */
export function readPayment(
  context: PaymentContext,
  transaction: ChainTransaction,
): { readonly match: Match['match']; readonly payment: TreasuryPayment } {
  const { match, payee } = matchRequest(context, transaction);
  return { match, payment: treasuryPayment(transaction, payee) };
}

/**
 * The request whose reference a transaction contains. Without a reference: the only open request that already existed
 * at that time and whose treasury gained exactly its fee. Such a payment is never short, late or double.
 */
function matchRequest({ requests, treasuryAddress }: PaymentContext, transaction: ChainTransaction): Match {
  const { accounts } = transaction;
  const gainOf = (account: string): bigint => lamportsGained(transaction, account);
  const named = accounts.flatMap((account) => requests.byReference(account) ?? []);
  if (named.length > 0) {
    const paid = named.find(({ payee }) => gainOf(payee) > 0n);
    if (!paid) return { match: 'no_request', payee: treasuryAddress };
    return { match: named.length > 1 ? 'several_requests' : paid, payee: paid.payee };
  }
  const [exact, alsoExact] = accounts.flatMap((account) => {
    const gained = gainOf(account);
    const requested = gained > 0n ? requests.openByFee(gained.toString()) : [];
    return requested
      .filter(({ payee }) => payee === account)
      .filter(
        ({ createdAt, closesAt }) =>
          !isBefore(transaction, createdAt - CLOCK_SKEW_MS) && !isAfter(transaction, closesAt),
      );
  });
  if (exact && !alsoExact) return { match: exact, payee: exact.payee };
  return { match: 'no_request', payee: treasuryAddress };
}
