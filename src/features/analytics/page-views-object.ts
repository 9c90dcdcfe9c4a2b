/**
 * The Durable Object of the page views. It shares nothing with the custodian or D1.
 * @module
 */
import { DurableObject } from 'cloudflare:workers';
import {
  type Batch,
  type Counters,
  hourOf,
  PageViewStore,
  type Row,
  type StatsBounds,
  type View,
} from './page-views-store.ts';

/** What the Worker calls. */
export type PageViewsApi = Pick<PageViewsObject, 'add' | 'read' | 'rowsAfter' | 'restore'>;

/** Views that arrive within this time are one transaction. */
const GROUP_MS = 200;
/** A group of this many views is written at once, which bounds the views in memory. */
const MAX_GROUP = 100;
/** Time between purges, and between the steps of a large purge, which deletes up to 5,000 views per second. */
const PURGE_MS = 60_000;
const STEP_MS = 1_000;

type Group = Batch & {
  readonly views: Batch['views'][number][];
  bots: number;
  readonly timer: ReturnType<typeof setTimeout>;
  readonly written: PromiseWithResolvers<boolean>;
};

const log = (line: object): void => console.log(JSON.stringify(line));

export class PageViewsObject extends DurableObject<Env> {
  readonly #store: PageViewStore;
  /** Each caller waits for its group, so an object that is evicted loses no view that was acknowledged. */
  #group: Group | undefined;
  /** The result of the last read, until the next write. */
  #known: { readonly bounds: string; readonly counters: Counters } | undefined;

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env);
    this.#store = new PageViewStore(ctx.storage);
    void ctx.blockConcurrencyWhile(async () => {
      if ((await ctx.storage.getAlarm()) === null) await ctx.storage.setAlarm(Date.now() + PURGE_MS);
    });
  }

  /** Logs and counts a view; null counts a crawler's view. Resolves after the commit; false if the storage refused. */
  async add(view: View | null): Promise<boolean> {
    const at = Date.now();
    const hour = hourOf(at);
    if (this.#group?.hour !== hour) this.#write();
    this.#group ??= this.#open(hour);
    const group = this.#group;
    if (view) group.views.push({ ...view, at });
    else group.bots += 1;
    if (group.views.length + group.bots >= MAX_GROUP) this.#write();
    return group.written.promise;
  }

  #open(hour: string): Group {
    const timer = setTimeout(() => this.#write(), GROUP_MS);
    return { hour, views: [], bots: 0, timer, written: Promise.withResolvers() };
  }

  /** Writes the group. The platform sends no response before the transaction is on disk. */
  #write(): void {
    const group = this.#group;
    if (!group) return;
    this.#group = undefined;
    this.#known = undefined;
    clearTimeout(group.timer);
    try {
      this.#store.add(group);
      group.written.resolve(true);
    } catch (error) {
      log({
        level: 'error',
        event: 'page_views_not_written',
        views: group.views.length,
        reason: String(error),
      });
      group.written.resolve(false);
    }
  }

  /** Null if the storage refused the read. */
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

  async rowsAfter(table: string, key: readonly (string | number)[], limit: number): Promise<Row[]> {
    return this.#store.rowsAfter(table, key, limit);
  }

  async restore(table: string, rows: readonly Row[]): Promise<void> {
    this.#known = undefined;
    this.#store.restore(table, rows);
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
