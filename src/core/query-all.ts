/**
 * Queries several sources in parallel. After the first answer the rest get `graceMs` to reply.
 * @module
 */

export type Source<T> = { readonly name: string; ask(): Promise<T> };

export type SourceAnswer<T> = { readonly name: string } & (
  | { readonly ok: true; readonly value: T }
  /** Undefined when the source was only late. */
  | { readonly ok: false; readonly error: unknown }
);

/**
 * The answers of all sources, in their order. After the first answer the others have `graceMs` left, in
 * milliseconds; before that, all are awaited.
 */
export async function queryAll<T>(
  sources: readonly Source<T>[],
  p: { readonly graceMs: number; sleep(ms: number): Promise<void> },
): Promise<SourceAnswer<T>[]> {
  const answers: SourceAnswer<T>[] = sources.map(({ name }) => ({ name, ok: false, error: undefined }));
  const first = Promise.withResolvers<void>();
  const asked = sources.map(async ({ name, ask }, index) => {
    try {
      answers[index] = { name, ok: true, value: await ask() };
      first.resolve();
    } catch (error) {
      answers[index] = { name, ok: false, error };
    }
  });
  await Promise.race([Promise.all(asked), first.promise.then(() => p.sleep(p.graceMs))]);
  return [...answers];
}

/** The failure to report when no source has answered: the first one's. */
export const failureOf = (answers: readonly SourceAnswer<unknown>[]): unknown =>
  answers.map((answer) => (answer.ok ? undefined : answer.error)).find((error) => error !== undefined);
