/**
 * The page-view log and its counters. Each view is one statement; a trigger in schema.sql updates log and
 * counters in one transaction. Reading the counters costs the same number of rows at any size of the log, and
 * they still count views that the log has deleted.
 * @module
 */
import { createListStore } from '../../http/list-store.ts';
import type { PageviewMessage } from './pageview-queue.ts';

export type View = {
  /** Unix milliseconds. */
  readonly at: number;
  readonly path: string;
  readonly referrer: string;
  readonly referrerHost?: string | undefined;
  readonly ip: string | null;
  readonly visitor: string;
};

export type Count = { readonly value: string; readonly count: number };
export type Period = { readonly pageviews: number; readonly visitors: number; readonly bots: number };
export type Counters = {
  readonly total: Period;
  /** By UTC day (`2026-11-20`) and by UTC hour (`2026-11-20T16`); periods without views are absent. */
  readonly days: ReadonlyMap<string, Period>;
  readonly hours: ReadonlyMap<string, Period>;
  readonly paths: readonly Count[];
  readonly referrers: readonly Count[];
  readonly recent: readonly Pick<View, 'at' | 'path' | 'referrer' | 'ip'>[];
};

/** First day and first hour to read, and the length of the lists. */
export type StatsBounds = {
  readonly firstDay: string;
  readonly firstHour: string;
  readonly top: number;
  readonly recent: number;
};

const EMPTY: Period = { pageviews: 0, visitors: 0, bots: 0 };
export const dayOf = (at: number) => new Date(at).toISOString().slice(0, 10);
export const hourOf = (at: number) => new Date(at).toISOString().slice(0, 13);
/** The rows in `pageview_periods` that count a view of this time. */
const periodsOf = (at: number) => ['total', `day ${dayOf(at)}`, `hour ${hourOf(at)}`] as const;

const ADD_PERIODS = `ON CONFLICT (period) DO UPDATE SET pageviews = pageviews + excluded.pageviews,
  visitors = visitors + excluded.visitors, bots = bots + excluded.bots`;
const READ_PERIODS = `SELECT period, pageviews, visitors, bots FROM pageview_periods WHERE period = 'total'
  UNION ALL SELECT period, pageviews, visitors, bots FROM pageview_periods WHERE period >= ?1 AND period < 'day ~'
  UNION ALL SELECT period, pageviews, visitors, bots FROM pageview_periods WHERE period >= ?2 AND period < 'hour ~'`;
const topOf = (kind: string) =>
  `SELECT value, count FROM pageview_sources WHERE kind = '${kind}' ORDER BY count DESC, value LIMIT ?3`;
const READ_NEWEST = 'SELECT at_ms, path, referrer, ip FROM pageviews ORDER BY id DESC LIMIT ?4';
/** A subquery with a list as one JSON array, in the order of its rows. */
const list = (columns: string, rows: string) =>
  `(SELECT json_group_array(json_array(${columns})) FROM (${rows}))`;
const LISTS = ['periods', 'paths', 'referrers', 'recent'] as const;
/** One row for all lists: each further statement or row costs a read more than its JSON. */
const READ = `SELECT ${list('period, pageviews, visitors, bots', READ_PERIODS)} AS periods,
  ${list('value, count', topOf('path'))} AS paths, ${list('value, count', topOf('referrer'))} AS referrers,
  ${list('at_ms, path, referrer, ip', READ_NEWEST)} AS recent`;
/**
 * Every view raises the total in its own transaction, and the last view's time tells a restored database apart. These
 * rows otherwise change only when addresses are removed, which moves a mark.
 */
const VERSION = `(SELECT coalesce((SELECT pageviews || ' ' || bots FROM pageview_periods WHERE period = 'total'), '')
  || ' ' || coalesce((SELECT last_id FROM pageview_ip_mark), '')
  || ' ' || coalesce((SELECT id || ' ' || at_ms FROM pageviews ORDER BY id DESC LIMIT 1), ''))`;
/** Names that one day may add for each kind, as in schema.sql. */
const MAX_NEW_NAMES = 1_000;
/** Maximum distinct visitors counted on one day, as in schema.sql. */
const MAX_VISITORS = 1_000_000;

/**
 * The trigger of schema.sql for many views of one day: the same sums and bounds in eight statements.
 * @param views of one day, in the order of the log
 */
function addViews(db: D1Database, day: string, views: readonly View[], bots: readonly number[]) {
  const hours = Map.groupBy([...views.map(({ at }) => at), ...bots], hourOf);
  const botsOf = Map.groupBy(bots, hourOf);
  const sums = [
    ['total', views.length, bots.length],
    [`day ${day}`, views.length, bots.length],
    ...[...hours].map(([hour, all]) => {
      const crawled = botsOf.get(hour)?.length ?? 0;
      return [`hour ${hour}`, all.length - crawled, crawled];
    }),
  ];
  const periods = db
    .prepare(
      `INSERT INTO pageview_periods (period, pageviews, visitors, bots)
       SELECT value ->> 0, value ->> 1, 0, value ->> 2 FROM json_each(?) WHERE true ${ADD_PERIODS}`,
    )
    .bind(JSON.stringify(sums));
  if (views.length === 0) return [periods];
  const log = JSON.stringify(views.map(({ at, path, referrer, ip }) => [at, path, referrer, ip]));
  const visitors = JSON.stringify([...new Set(views.map(({ visitor }) => visitor))]);
  const counted = (kind: string, values: readonly (string | undefined)[]) =>
    [...Map.groupBy(values, (value) => value)].flatMap(([value, all]) =>
      value === undefined ? [] : [[kind, value, all.length]],
    );
  const names = JSON.stringify([
    ...counted(
      'path',
      views.map(({ path }) => path),
    ),
    ...counted(
      'referrer',
      views.map(({ referrerHost }) => referrerHost),
    ),
  ]);
  return [
    periods,
    db
      .prepare(
        `INSERT INTO pageviews (at_ms, path, referrer, ip)
         SELECT value ->> 0, value ->> 1, value ->> 2, value ->> 3 FROM json_each(?) ORDER BY key`,
      )
      .bind(log),
    // Runs before the visitors are stored, so that the day counts each of them once.
    db
      .prepare(
        `UPDATE pageview_periods SET visitors = min(${MAX_VISITORS}, visitors + (
           SELECT count(*) FROM json_each(?2)
           WHERE NOT EXISTS (SELECT 1 FROM pageview_visitors WHERE day = ?1 AND visitor = value)))
         WHERE period = 'day ' || ?1`,
      )
      .bind(day, visitors),
    db
      .prepare(
        `INSERT INTO pageview_visitors (day, visitor) SELECT ?1, value FROM json_each(?2)
         WHERE (SELECT visitors FROM pageview_periods WHERE period = 'day ' || ?1) < ${MAX_VISITORS}
         ON CONFLICT DO NOTHING`,
      )
      .bind(day, visitors),
    // New names as far as the day has room for them, with a count of zero that only this transaction sees.
    db
      .prepare(
        `INSERT INTO pageview_sources (kind, value, count)
         SELECT kind, value, 0 FROM (
           SELECT n.value ->> 0 AS kind, n.value ->> 1 AS value,
             row_number() OVER (PARTITION BY n.value ->> 0 ORDER BY n.key) AS place
           FROM json_each(?1) n WHERE NOT EXISTS (
             SELECT 1 FROM pageview_sources s WHERE s.kind = n.value ->> 0 AND s.value = n.value ->> 1)) fresh
         WHERE place <= ${MAX_NEW_NAMES} - coalesce(
           (SELECT today.count FROM pageview_new_sources today WHERE today.kind = fresh.kind AND day >= ?2), 0)`,
      )
      .bind(names, day),
    db
      .prepare(
        `INSERT INTO pageview_new_sources (kind, day, count)
         SELECT s.kind, ?2, count(*) FROM json_each(?1) n
         JOIN pageview_sources s ON s.kind = n.value ->> 0 AND s.value = n.value ->> 1
         WHERE s.count = 0 GROUP BY s.kind
         ON CONFLICT (kind) DO UPDATE SET count = excluded.count + CASE WHEN day < excluded.day THEN 0 ELSE count END,
           day = max(day, excluded.day)`,
      )
      .bind(names, day),
    db
      .prepare(
        `INSERT INTO pageview_sources (kind, value, count)
         SELECT n.value ->> 0, CASE WHEN EXISTS (
             SELECT 1 FROM pageview_sources s WHERE s.kind = n.value ->> 0 AND s.value = n.value ->> 1)
           THEN n.value ->> 1 ELSE 'other' END, sum(n.value ->> 2)
         FROM json_each(?) n WHERE true GROUP BY 1, 2
         ON CONFLICT (kind, value) DO UPDATE SET count = count + excluded.count`,
      )
      .bind(names),
  ];
}

type CountersRow = Readonly<Record<(typeof LISTS)[number], string>>;

function countersOf(row: CountersRow | undefined): Counters {
  const rowsOf = <T>(text: string | undefined) => JSON.parse(text ?? '[]') as T[];
  const periods = rowsOf<[period: string, pageviews: number, visitors: number, bots: number]>(row?.periods);
  const since = (kind: string) =>
    new Map(
      periods
        .filter(([period]) => period.startsWith(kind))
        .map(([period, pageviews, visitors, bots]) => [
          period.replace(/^\w+ /, ''),
          { pageviews, visitors, bots },
        ]),
    );
  const counts = (text: string | undefined) =>
    rowsOf<[string, number]>(text).map(([value, count]) => ({ value, count }));
  return {
    total: since('total').get('total') ?? EMPTY,
    days: since('day '),
    hours: since('hour '),
    paths: counts(row?.paths),
    referrers: counts(row?.referrers),
    recent: rowsOf<[number, string, string, string | null]>(row?.recent).map(([at, path, referrer, ip]) => ({
      at,
      path,
      referrer,
      ip,
    })),
  };
}

export type AnalyticsStore = ReturnType<typeof createAnalyticsStore>;

/** @param defer keeps a background promise alive after the answer was sent */
export function createAnalyticsStore(db: D1Database, defer: (work: Promise<unknown>) => void) {
  let known: { readonly day: string; readonly salt: string } | undefined;
  const counters = createListStore(
    {
      prepare: (query) => db.withSession().prepare(query),
      batch: (statements) => db.withSession().batch(statements),
    },
    VERSION,
    { isCostly: true },
  );

  const insert = (view: View): D1PreparedStatement =>
    db
      .prepare(
        `INSERT INTO pageview_arrivals (at_ms, path, referrer, ip, referrer_host, day, hour, visitor)
         VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
      )
      .bind(
        view.at,
        view.path,
        view.referrer,
        view.ip,
        view.referrerHost ?? null,
        dayOf(view.at),
        hourOf(view.at),
        view.visitor,
      );

  /** Fails as a whole if one of the messages is already counted. */
  const writeMessages = (messages: readonly PageviewMessage[]) =>
    db.batch([
      db
        .prepare('INSERT INTO pageview_messages (hour, id) SELECT value ->> 0, value ->> 1 FROM json_each(?)')
        .bind(JSON.stringify(messages.map(({ at, id }) => [hourOf(at), id]))),
      ...[...Map.groupBy(messages, ({ at }) => dayOf(at))].flatMap(([day, ofDay]) =>
        addViews(
          db,
          day,
          ofDay.flatMap(({ at, view }) => (view ? [{ at, ...view }] : [])),
          ofDay.flatMap(({ at, view }) => (view ? [] : [at])),
        ),
      ),
    ]);

  async function countedIds(messages: readonly PageviewMessage[]): Promise<ReadonlySet<string>> {
    const { results } = await db
      .prepare(
        `SELECT m.id FROM json_each(?) n
         JOIN pageview_messages m ON m.hour = n.value ->> 0 AND m.id = n.value ->> 1`,
      )
      .bind(JSON.stringify(messages.map(({ at, id }) => [hourOf(at), id])))
      .all<{ id: string }>();
    return new Set(results.map(({ id }) => id));
  }

  const add = inGroups<View>({
    write: async (views) => {
      await db.batch(views.map(insert));
    },
    defer,
    sleep: (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
  });

  return {
    /** The salt of the day that contains `at`; the first caller's `fresh` value becomes the salt. */
    async salt(at: number, fresh: () => string): Promise<string> {
      const day = dayOf(at);
      if (known?.day === day) return known.salt;
      const [, found] = await db.batch<{ salt: string }>([
        db
          .prepare('INSERT INTO pageview_salts (day, salt) VALUES (?, ?) ON CONFLICT DO NOTHING')
          .bind(day, fresh()),
        db.prepare('SELECT salt FROM pageview_salts WHERE day = ?').bind(day),
      ]);
      const salt = found?.results[0]?.salt;
      if (salt === undefined) throw new Error('the salt of the day was not stored');
      known = { day, salt };
      return salt;
    },

    /** Appends a view and counts it. */
    add,

    /**
     * Appends and counts the views of messages, each id once. All of them are written in one transaction, or
     * none. A failure may follow a write that D1 completed: the repeat finds the ids and writes nothing.
     */
    async addMessages(messages: readonly PageviewMessage[]): Promise<void> {
      const distinct = [...new Map(messages.map((message) => [message.id, message])).values()];
      const inOrder = distinct.toSorted((a, b) => a.at - b.at);
      try {
        await writeMessages(inOrder);
      } catch (error) {
        const counted = await countedIds(inOrder);
        if (counted.size === 0) throw error;
        const rest = inOrder.filter(({ id }) => !counted.has(id));
        if (rest.length > 0) await writeMessages(rest);
      }
    },

    /** Counts a crawler's view; nothing else of it is stored. */
    async addBot(at: number): Promise<void> {
      await db
        .prepare(
          `INSERT INTO pageview_periods (period, pageviews, visitors, bots) VALUES (?, 0, 0, 1), (?, 0, 0, 1), (?, 0, 0, 1)
           ${ADD_PERIODS}`,
        )
        .bind(...periodsOf(at))
        .run();
    },

    /** @returns the same object while no view was added */
    read: ({ firstDay, firstHour, top, recent }: StatsBounds): Promise<Counters> =>
      counters.read<CountersRow, Counters>(
        [{ sql: READ, columns: LISTS, params: [`day ${firstDay}`, `hour ${firstHour}`, top, recent] }],
        ([rows]) => countersOf(rows?.[0]),
      ),
  };
}

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
