/**
 * Dry, cached quotes for reads. Equal amounts share one request. A total budget and a share for each client limit them.
 * No payment ever uses them.
 * @module
 */
import { type SwapQuote, type SwapRoute, withoutQuoteRefusal } from '../../bridges/route.ts';
import { type Lamports, lamports } from '../../core/amount.ts';
import { HOUR_MS } from '../../core/durations.ts';
import { AppError } from '../../core/errors.ts';
import type { Cache } from '../../http/cached.ts';
import type { QuoteBudget } from './swap-store.ts';

export type ReadQuoteDeps = {
  readonly cache: Cache;
  readonly quote: SwapRoute['quote'];
  readonly quoteBudget: Pick<QuoteBudget, 'take'>;
  readonly now: () => number;
};

type Terms = Pick<SwapQuote, 'route' | 'expectedSats' | 'minimumSats' | 'fixedFeeSats' | 'etaSeconds'>;

export type ReadQuote = Terms & { readonly asOf: number; readonly stale: boolean };

/** A quote is outdated after minutes, but together with its age it is still useful. */
const POLICY = { freshMs: 60_000, revalidateMs: 240_000, staleMs: HOUR_MS };

/**
 * @param client whose share of the budget pays for the quote; null for the service's own reads, which callers cannot
 * multiply
 * @throws AppError RATE_LIMITED when the client has used its share, QUOTE_BUDGET_SPENT, AMOUNT_TOO_SMALL, QUOTE_REFUSED, UPSTREAM_FAILED
 */
export async function readQuote(
  d: ReadQuoteDeps,
  amount: Lamports,
  client: string | null,
): Promise<ReadQuote> {
  const { value, asOf, stale } = await d.cache.read(`quote:${amount}`, POLICY, () =>
    queryBridge(d, amount, client),
  );
  if (value === TOO_SMALL) {
    throw new AppError('AMOUNT_TOO_SMALL', "This amount is below the bridge's minimum.", {
      details: { reason: TOO_SMALL },
    });
  }
  return { ...value, asOf, stale };
}

/** The bridge's refusal of a small amount; cached, so that the request is not repeated. */
const TOO_SMALL = 'amount_too_low';

async function queryBridge(
  d: ReadQuoteDeps,
  amount: Lamports,
  client: string | null,
): Promise<Terms | typeof TOO_SMALL> {
  const taken = await d.quoteBudget.take(d.now(), client);
  if (!taken.ok) {
    const { spentBy, retryAfterSeconds } = taken;
    const options = { retryAfterSeconds, details: { limit: 'read_quotes' } };
    throw spentBy === 'client'
      ? new AppError(
          'RATE_LIMITED',
          'This address has used its share of quotes. Wait and try again.',
          options,
        )
      : new AppError('QUOTE_BUDGET_SPENT', 'The quota of bridge quotes is used up.', options);
  }
  const verdict = await d.quote({ amount, dry: true });
  if (verdict.ok) return verdict.quote;
  if (verdict.reason === TOO_SMALL) return TOO_SMALL;
  throw refused(verdict.reason);
}

function refused(reason: string): AppError {
  const { code, message, retryAfterSeconds } = withoutQuoteRefusal(reason) ?? {
    code: 'QUOTE_REFUSED',
    message: `The bridge's quote did not pass our checks (${reason}).`,
  };
  return new AppError(code, message, {
    details: { reason },
    ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }),
  });
}

/** Amount of quotes that only need the bridge's terms: 1 SOL. */
export const REFERENCE_AMOUNT = lamports(1_000_000_000n);
