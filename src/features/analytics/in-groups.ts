/** Bound on what one transaction holds. */
const MAX_GROUP = 50;
/** A write that takes longer is not waited for: it may hang for ever, and the others must not. */
const PATIENCE_MS = 1_000;

type Options<T> = {
  readonly write: (items: readonly T[]) => Promise<void>;
  /** Keeps a promise alive when the caller who began it has hung up: others wait for it as well. */
  readonly defer: (work: Promise<unknown>) => void;
  readonly sleep: (ms: number) => Promise<void>;
};

/**
 * Joins items that arrive while others are written, so that under load one round trip and one commit serve many. Alone
 * an item is written at once. Each caller's promise settles when its own item is written or has failed.
 */
export function inGroups<T>({ write, defer, sleep }: Options<T>): (item: T) => Promise<void> {
  let writing: Promise<unknown> | undefined;
  let open: { readonly items: T[]; readonly written: Promise<void> } | undefined;

  return (item) => {
    if (open && open.items.length < MAX_GROUP) {
      open.items.push(item);
      return open.written;
    }
    const items = [item];
    const turn = writing ? Promise.race([writing, sleep(PATIENCE_MS)]) : Promise.resolve();
    const written = turn.then(() => {
      if (open?.items === items) open = undefined;
      return write(items);
    });
    const ended = written.then(
      () => undefined,
      () => undefined,
    );
    open = { items, written };
    writing = ended;
    defer(
      ended.then(() => {
        if (writing === ended) writing = undefined;
      }),
    );
    return written;
  };
}
