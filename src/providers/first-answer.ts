/** A source that has not answered for so long gets company: the next one is asked as well. */
const PATIENCE_MS = 1_500;

/**
 * The first answer of several sources that should say the same. They are asked in their order: the next one when the
 * one before has failed, or is slow. Only for reads, since a slow source is asked all the same.
 * @throws what the first source threw, when all have failed; undefined when there is none
 */
export async function firstAnswer<S, T>(sources: readonly S[], read: (source: S) => Promise<T>): Promise<T> {
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

/** Undefined when it fails or is slow. */
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
