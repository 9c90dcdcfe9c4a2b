/** The next source starts if the previous one has not answered within this time (hedged read). */
const PATIENCE_MS = 1_500;

/**
 * The first answer of several equivalent sources. Each source starts once the previous one has failed or is slow. Only for
 * reads, since a slow source is not cancelled.
 * @throws the first source's error if all fail; undefined if there is no source
 */
export async function hedged<S, T>(sources: readonly S[], read: (source: S) => Promise<T>): Promise<T> {
  const asked: Promise<T>[] = [];
  for (const source of sources) {
    asked.push(read(source));
    const answer = await withPatience(Promise.any(asked));
    if (answer) return answer.value;
  }
  return Promise.any(asked).catch((all: AggregateError) => {
    throw all.errors[0];
  });
}

/** Undefined if the answer fails or is slow. */
async function withPatience<T>(answer: Promise<T>): Promise<{ value: T } | undefined> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const slow = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => resolve(undefined), PATIENCE_MS);
  });
  const given = answer.then(
    (value) => ({ value }),
    () => undefined,
  );
  try {
    return await Promise.race([given, slow]);
  } finally {
    if (timer !== undefined) clearTimeout(timer);
  }
}
