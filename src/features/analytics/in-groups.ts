/** Maximum items of one transaction. */
const MAX_GROUP = 50;
/** A slower write is not awaited: it may hang forever, and the others must continue. */
const PATIENCE_MS = 1_000;

type Options<T> = {
  readonly write: (items: readonly T[]) => Promise<void>;
  /** Keeps a promise alive after its caller has disconnected, because other callers await it as well. */
  readonly defer: (work: Promise<unknown>) => void;
  readonly sleep: (ms: number) => Promise<void>;
};

/**
 * Groups items that arrive while others are being written, so that one round trip and one commit serve many
 * under load. A single item is written at once. Each caller's promise settles when its own item is written or
 * has failed.
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
