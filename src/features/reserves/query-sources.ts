/**
 * Reads a figure from several upstreams, and selects the response to use.
 * @module
 */
import { AppError } from '../../core/errors.ts';
import { asUpstreamFailure } from '../../providers/solana-rpc.ts';

export type SourceResult<T> = { readonly name: string } & (
  | { readonly ok: true; readonly value: T }
  /** The error is undefined if the source was only late. */
  | { readonly ok: false; readonly error: unknown }
);

/** How long slower sources are awaited once the first source has responded. */
const GRACE_MS = 1_500;

/**
 * The responses of all sources, read in parallel, in the order of the sources. All are awaited until the first
 * response, and then for another `GRACE_MS`.
 */
export async function querySources<S extends { readonly name: string }, T>(
  sources: readonly S[],
  sleep: (ms: number) => Promise<void>,
  ask: (source: S) => Promise<T>,
): Promise<SourceResult<T>[]> {
  const results: SourceResult<T>[] = sources.map(({ name }) => ({ name, ok: false, error: undefined }));
  const first = Promise.withResolvers<void>();
  const queries = sources.map(async (source, index) => {
    const { name } = source;
    try {
      results[index] = { name, ok: true, value: await ask(source) };
      first.resolve();
    } catch (error) {
      results[index] = { name, ok: false, error };
    }
  });
  await Promise.race([Promise.all(queries), first.promise.then(() => sleep(GRACE_MS))]);
  return [...results];
}

/** The failure to report if no source has responded: the failure of the first source. */
export const failureOf = (results: readonly SourceResult<unknown>[]): unknown =>
  results.map((result) => (result.ok ? undefined : result.error)).find((error) => error !== undefined);

/**
 * The response that the other nodes' responses do not exceed; among equals, the first node's.
 * @param exceeds whether to use `a` instead of `b`
 * @throws AppError UPSTREAM_FAILED when no node responded
 */
export function bestOf<T>(
  results: readonly SourceResult<T>[],
  exceeds: (a: T, b: T) => boolean,
): { readonly name: string; readonly value: T } {
  const known = results.filter((result) => result.ok);
  const [first] = known;
  if (!first) throw asUpstreamFailure(failureOf(results));
  return known.reduce((best, result) => (exceeds(result.value, best.value) ? result : best), first);
}

export type PartError<Part extends string> = { readonly part: Part; readonly error_code: string };

/** A part of a response: its value, or null and the reason why it could not be read. */
export type Attempt<Part extends string, T> = {
  readonly value: T | null;
  readonly error?: PartError<Part>;
  readonly cause?: unknown;
};
/** A part that is not configured. */
export const absent: Attempt<never, never> = { value: null };

export const attempt = <Part extends string, T>(part: Part, read: Promise<T>): Promise<Attempt<Part, T>> =>
  read.then(
    (value) => ({ value }),
    (cause: unknown) => ({
      value: null,
      error: { part, error_code: cause instanceof AppError ? cause.code : 'INTERNAL' },
      cause,
    }),
  );

/** The errors of the parts that could not be read. */
export const errorsOf = <Part extends string>(
  parts: readonly Attempt<Part, unknown>[],
): readonly PartError<Part>[] => parts.flatMap(({ error }) => error ?? []);
