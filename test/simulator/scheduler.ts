/**
 * Virtual time. One event at a time; between two events every settled promise has run its continuations.
 * @module
 */
export type Scheduler = {
  /** Milliseconds since the run began. */
  now(): number;
  /** Calls `work` at a time. Returns a function that cancels it. */
  at(time: number, work: () => void): () => void;
  after(ms: number, work: () => void): () => void;
  sleep(ms: number): Promise<void>;
  /** Runs events until `done`, or until none is left before `limit`. */
  run(limit: number, done: () => boolean): Promise<void>;
};

type Entry = { readonly time: number; readonly order: number; work: (() => void) | undefined };

const isBefore = (a: Entry, b: Entry): boolean => a.time < b.time || (a.time === b.time && a.order < b.order);

export function createScheduler(): Scheduler {
  const heap: Entry[] = [];
  let time = 0;
  let order = 0;

  function push(entry: Entry): void {
    let index = heap.length;
    heap.push(entry);
    while (index > 0) {
      const parent = (index - 1) >> 1;
      const above = heap[parent];
      if (!above || !isBefore(entry, above)) break;
      heap[index] = above;
      index = parent;
    }
    heap[index] = entry;
  }

  function pop(): Entry | undefined {
    const top = heap[0];
    const last = heap.pop();
    if (!top || !last || heap.length === 0) return top;
    let index = 0;
    for (;;) {
      let child = 2 * index + 1;
      const left = heap[child];
      if (!left) break;
      const right = heap[child + 1];
      if (right && isBefore(right, left)) child++;
      const least = heap[child];
      if (!least || !isBefore(least, last)) break;
      heap[index] = least;
      index = child;
    }
    heap[index] = last;
    return top;
  }

  function at(when: number, work: () => void): () => void {
    const entry: Entry = { time: Math.max(when, time), order: order++, work };
    push(entry);
    return () => {
      entry.work = undefined;
    };
  }

  const after = (ms: number, work: () => void) => at(time + ms, work);

  return {
    now: () => time,
    at,
    after,
    sleep: (ms) => new Promise((resolve) => void after(ms, resolve)),

    async run(limit, done) {
      await settled();
      for (;;) {
        const first = heap[0];
        if (!first || first.time > limit || done()) return;
        pop();
        if (!first.work) continue;
        time = first.time;
        first.work();
        await settled();
      }
    },
  };
}

/** Resolves when the microtask queue is empty: Node runs ticks only after it is drained. */
const settled = (): Promise<void> => new Promise((resolve) => process.nextTick(resolve));
