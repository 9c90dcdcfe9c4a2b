import { AppError } from '../../core/errors.ts';
import type { Cache, Cached, CachePolicy } from '../../http/cached.ts';

export type ReservesDeps = {
  readonly cache: Cache;
  readonly reserve: { readonly bitcoinAddress: string | null; readonly solanaAddress: string | null };
  /** Confirmed sats and what the mempool would add, from the first index that answers. */
  readBitcoinBalance(address: string): Promise<{ confirmed: bigint; pendingDelta: bigint; source: string }>;
  /** Finalized lamports. */
  readSolanaBalance(address: string): Promise<{ lamports: bigint; source: string }>;
};

const POLICY: CachePolicy = { freshMs: 15_000, revalidateMs: 45_000, staleMs: 15 * 60_000 };

type StoredBitcoin = { confirmed: string; pendingDelta: string; source: string };
type StoredSolana = { lamports: string; source: string };

export type Reserves = {
  readonly bitcoin: Cached<StoredBitcoin> | null;
  readonly solana: Cached<StoredSolana> | null;
  /** The halves that could not be read, with the code of the failure. */
  readonly errors: readonly { readonly part: 'bitcoin' | 'solana'; readonly error_code: string }[];
};

/**
 * Both balances. A half whose source fails is its last good value, marked stale, or null with its error.
 * @throws AppError UPSTREAM_FAILED (503) when neither half is known
 */
export async function getReserves(d: ReservesDeps): Promise<Reserves> {
  const { bitcoinAddress, solanaAddress } = d.reserve;
  const [bitcoin, solana] = await Promise.all([
    bitcoinAddress === null
      ? absent
      : attempt(
          d.cache.read('reserves:bitcoin', POLICY, async (): Promise<StoredBitcoin> => {
            const { confirmed, pendingDelta, source } = await d.readBitcoinBalance(bitcoinAddress);
            return { confirmed: confirmed.toString(), pendingDelta: pendingDelta.toString(), source };
          }),
        ),
    solanaAddress === null
      ? absent
      : attempt(
          d.cache.read('reserves:solana', POLICY, async (): Promise<StoredSolana> => {
            const { lamports, source } = await d.readSolanaBalance(solanaAddress);
            return { lamports: lamports.toString(), source };
          }),
        ),
  ]);
  if (bitcoin.error && solana.error) {
    throw new AppError('UPSTREAM_FAILED', 'Neither chain can be read and no recent balance is known.', {
      status: 503,
      retryAfterSeconds: 15,
      cause: bitcoin.error,
    });
  }
  const errors = [
    ...(bitcoin.error ? [{ part: 'bitcoin' as const, error_code: codeOf(bitcoin.error) }] : []),
    ...(solana.error ? [{ part: 'solana' as const, error_code: codeOf(solana.error) }] : []),
  ];
  return { bitcoin: bitcoin.value, solana: solana.value, errors };
}

type Attempt<T> = { value: T | null; error?: unknown };
const absent: Attempt<never> = { value: null };

const attempt = <T>(read: Promise<T>): Promise<Attempt<T>> =>
  read.then(
    (value) => ({ value }),
    (error: unknown) => ({ value: null, error }),
  );

const codeOf = (error: unknown): string => (error instanceof AppError ? error.code : 'INTERNAL');
