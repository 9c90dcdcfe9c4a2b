/**
 * The Durable Object for page views. It is independent of the custodian and D1.
 * @module
 */
import { DurableObject } from 'cloudflare:workers';
import {
  type Batch,
  type Counters,
  hourOf,
  PageViewStore,
  type StatsBounds,
  type View,
} from './page-views-store.ts';

/** The methods that the Worker calls. */
export type PageViewsApi = Pick<PageViewsObject, 'add' | 'read'>;

/** Views that arrive within this time after a commit wait until it has passed, and are committed together. */
const PAUSE_MS = 200;
/** As soon as this many views wait, they are committed, which bounds the views in memory. */
const MAX_WAITING = 100;
/** Interval between purges, and between the steps of a large purge, which deletes up to 5,000 views per second. */
const PURGE_MS = 60_000;
const STEP_MS = 1_000;

/** Views that wait for their commit. */
type Waiting = Batch & {
  readonly views: Batch['views'][number][];
  bots: number;
  timer: ReturnType<typeof setTimeout> | undefined;
  readonly committed: PromiseWithResolvers<boolean>;
};

const log = (line: object): void => console.log(JSON.stringify(line));

export class PageViewsObject extends DurableObject<Env> {
  readonly #store: PageViewStore;
  /** Each caller waits for the commit, so an eviction never loses an acknowledged view. */
  #waiting: Waiting | undefined;
  /** Unix ms of the last commit. */
  #committedAt = 0;
  /** The result of the last read, until the next write. */
  #known: { readonly bounds: string; readonly counters: Counters } | undefined;

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env);
    this.#store = new PageViewStore(ctx.storage);
    void ctx.blockConcurrencyWhile(async () => {
      if ((await ctx.storage.getAlarm()) === null) await ctx.storage.setAlarm(Date.now() + PURGE_MS);
    });
  }

  /**
   * Logs and counts a view; null counts a crawler's view. Resolves after the commit; false if the storage refused it.
   */
  async add(view: View | null): Promise<boolean> {
    const at = Date.now();
    const hour = hourOf(at);
    if (this.#waiting?.hour !== hour) this.#commit();
    this.#waiting ??= { hour, views: [], bots: 0, timer: undefined, committed: Promise.withResolvers() };
    const waiting = this.#waiting;
    if (view) waiting.views.push({ ...view, at });
    else waiting.bots += 1;
    // The clock may have been set back.
    const pause = PAUSE_MS - Math.abs(at - this.#committedAt);
    if (pause <= 0 || waiting.views.length + waiting.bots >= MAX_WAITING) this.#commit();
    else waiting.timer ??= setTimeout(() => this.#commit(), pause);
    return waiting.committed.promise;
  }

  /** Commits the waiting views. The platform sends responses only after the transaction is on disk. */
  #commit(): void {
    const waiting = this.#waiting;
    if (!waiting) return;
    this.#waiting = undefined;
    this.#known = undefined;
    this.#committedAt = Date.now();
    clearTimeout(waiting.timer);
    try {
      this.#store.add(waiting);
      waiting.committed.resolve(true);
    } catch (error) {
      log({
        level: 'error',
        event: 'page_views_not_written',
        views: waiting.views.length,
        reason: String(error),
      });
      waiting.committed.resolve(false);
    }
  }

  /** The sums and the newest views; null if the storage refused the read. */
  async read(bounds: StatsBounds): Promise<Counters | null> {
    const text = JSON.stringify(bounds);
    try {
      if (this.#known?.bounds !== text) this.#known = { bounds: text, counters: this.#store.read(bounds) };
      return this.#known.counters;
    } catch (error) {
      log({ level: 'error', event: 'page_views_not_read', reason: String(error) });
      return null;
    }
  }

  override async alarm(): Promise<void> {
    let pause = PURGE_MS;
    this.#known = undefined;
    try {
      if (!this.#store.purge(Date.now())) pause = STEP_MS;
    } catch (error) {
      log({ level: 'alarm', event: 'page_views_not_purged', reason: String(error) });
    }
    await this.ctx.storage.setAlarm(Date.now() + pause);
  }
}
