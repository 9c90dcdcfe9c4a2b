import fc from 'fast-check';
import type { NostrEvent } from 'nostr-tools/pure';
import { describe, expect, it } from 'vitest';
import { endOfSecond, type Position, parsePosition } from '../../src/features/nostr-feed/feed-window.ts';
import { createFeedReader, type FeedPage, type FeedScope } from '../../src/features/nostr-feed/read-feed.ts';
import { readRelay } from '../../src/features/nostr-feed/read-relay.ts';
import { Cache } from '../../src/http/cached.ts';
import { modelSession, placed } from './relay-model.ts';

const NOW = 2_000_000;
/** No second of the generated feeds has more events than any generated bound. */
const LOWEST_CAP = 20;

const scopeOf = (target: number, accepts = (_event: NostrEvent) => true): FeedScope => ({
  key: 'test',
  filter: { kinds: [1111] },
  accepts,
  target,
  maxBytes: 1_000_000,
});

type Relay = { readonly events: readonly NostrEvent[]; readonly cap: number };

function readerOf(relays: Relay[], random: () => number) {
  const sessions: { queries: number }[] = [];
  const reader = createFeedReader({
    relays: {
      urls: relays.map((_relay, index) => `wss://r${index}.test`),
      open(url) {
        const { events, cap } = relays[Number(url.slice('wss://r'.length, -'.test'.length))] ?? {
          events: [],
          cap: 1,
        };
        const session = modelSession(events, cap, random);
        sessions.push(session);
        return session;
      },
    },
    memory: new Cache({ now: () => NOW * 1000, defer: () => undefined }),
    now: () => NOW * 1000,
  });
  return { reader, sessions };
}

async function walk(
  next: (page: FeedPage) => Position | undefined,
  read: (start: Position | undefined) => Promise<FeedPage>,
): Promise<string[]> {
  const ids: string[] = [];
  let start: Position | undefined;
  for (let pages = 0; pages < 5_000; pages += 1) {
    const page = await read(start);
    ids.push(...page.posts.map(({ id }) => id));
    start = next(page);
    if (start === undefined) return ids;
  }
  throw new Error('the walk does not end');
}

const byCursor = ({ nextCursor }: FeedPage) => (nextCursor === null ? undefined : parsePosition(nextCursor));
const byUntil = ({ nextUntil }: FeedPage) => (nextUntil === null ? undefined : endOfSecond(nextUntil));

const inOrder = (events: readonly NostrEvent[]): string[] =>
  [...events].sort((a, b) => b.created_at - a.created_at || (a.id < b.id ? -1 : 1)).map(({ id }) => id);

/** Feeds with many equal seconds, spread over relays that each have a part of them. */
const feeds = fc
  .array(fc.record({ second: fc.nat({ max: 40 }), many: fc.nat({ max: LOWEST_CAP - 1 }) }), { maxLength: 14 })
  .map((groups) => {
    const seconds = new Map(groups.map(({ second, many }) => [second, many]));
    return [...seconds].flatMap(([second, many]) =>
      Array.from({ length: many }, (_, index) => placed(1_000_000 + second, second * 100 + index * 7 + 1)),
    );
  })
  .chain((events) =>
    fc.record({
      events: fc.constant(events),
      relays: fc.array(
        fc.record({
          share: fc.array(fc.boolean(), { minLength: events.length, maxLength: events.length }),
          cap: fc.integer({ min: LOWEST_CAP, max: 70 }),
        }),
        { minLength: 1, maxLength: 3 },
      ),
      target: fc.integer({ min: 1, max: 60 }),
      limit: fc.integer({ min: 1, max: 40 }),
      seed: fc.nat(),
    }),
  );

/** Small, repeatable chance for the order of ties. */
function chance(seed: number): () => number {
  let state = seed + 1;
  return () => {
    state = (state * 48_271) % 2_147_483_647;
    return state / 2_147_483_647;
  };
}

const relaysOf = ({
  events,
  relays,
}: {
  events: NostrEvent[];
  relays: { share: boolean[]; cap: number }[];
}) =>
  relays.map(({ share, cap }, at) => ({
    cap,
    // The first relay has every event that no other has.
    events: events.filter((_, index) => share[index] || (at === 0 && !relays.some((r) => r.share[index]))),
  }));

describe('walking a feed', () => {
  it('paging by cursor returns every post of every relay once and in order, for any limit and equal times', async () => {
    await fc.assert(
      fc.asyncProperty(feeds, async (feed) => {
        const { reader } = readerOf(relaysOf(feed), chance(feed.seed));
        const scope = scopeOf(feed.target);
        const ids = await walk(byCursor, (start) => reader.page(scope, start, feed.limit));
        expect(ids).toEqual(inOrder(feed.events));
      }),
      { numRuns: 300, seed: 8 },
    );
  });

  it('paging by next_until loses no post while no second has more posts than the limit', async () => {
    await fc.assert(
      fc.asyncProperty(feeds, async (feed) => {
        const { reader } = readerOf(relaysOf(feed), chance(feed.seed));
        const ids = await walk(byUntil, (start) => reader.page(scopeOf(feed.target), start, LOWEST_CAP));
        expect([...new Set(ids)]).toEqual(inOrder(feed.events));
      }),
      { numRuns: 150, seed: 8 },
    );
  });

  it('paging by next_until ends even if one second has more posts than the limit', async () => {
    const events = Array.from({ length: 15 }, (_, index) => placed(1_000, index + 1));
    const { reader } = readerOf([{ events: [...events, placed(999, 99)], cap: 500 }], chance(1));
    const ids = await walk(byUntil, (start) => reader.page(scopeOf(50), start, 10));
    expect(ids).toHaveLength(11);
    expect(ids.at(-1)).toBe(placed(999, 99).id);
  });

  it('paging continues after a time range without accepted posts', async () => {
    const events = Array.from({ length: 400 }, (_, index) => placed(10_000 - index, index + 1));
    const { reader } = readerOf([{ events, cap: 20 }], chance(1));
    const scope = scopeOf(20, ({ created_at }) => created_at < 9_610);
    const ids = await walk(byCursor, (start) => reader.page(scope, start, 5));
    expect(ids).toEqual(inOrder(events.filter(scope.accepts)));
  });

  it('reads the relays once per time window, not once per page', async () => {
    const events = Array.from({ length: 90 }, (_, index) => placed(10_000 - index, index + 1));
    const { reader, sessions } = readerOf([{ events, cap: 500 }], chance(1));
    await walk(byCursor, (start) => reader.page(scopeOf(100), start, 1));
    expect(sessions).toHaveLength(1);
  });

  it('every page except the last one is full', async () => {
    const events = Array.from({ length: 100 }, (_, index) => placed(10_000 - index, index + 1));
    const { reader } = readerOf([{ events, cap: 500 }], chance(1));
    const sizes: number[] = [];
    await walk(byCursor, async (start) => {
      const page = await reader.page(scopeOf(16), start, 7);
      sizes.push(page.posts.length);
      return page;
    });
    expect(sizes).toEqual([...Array(14).fill(7), 2]);
  });

  it('ends a time window at its byte limit and continues from there without losing a post', async () => {
    const events = Array.from({ length: 30 }, (_, index) => ({
      ...placed(10_000 - (index >> 2), index + 1),
      content: 'x'.repeat(1_000),
    }));
    const { reader, sessions } = readerOf([{ events, cap: 500 }], chance(1));
    const scope = { ...scopeOf(100), maxBytes: 5_500 };
    expect(await walk(byCursor, (start) => reader.page(scope, start, 50))).toEqual(inOrder(events));
    expect(sessions.length).toBeGreaterThan(5);
  });

  it('the feed shows no post that is dated far in the future', async () => {
    const events = [placed(NOW + 10_000, 1), placed(NOW + 60, 2), placed(NOW, 3)];
    const { reader } = readerOf([{ events, cap: 500 }], chance(1));
    const page = await reader.page(scopeOf(10), undefined, 10);
    expect(page.posts.map(({ created_at }) => created_at)).toEqual([NOW + 60, NOW]);
  });
});

describe('a window', () => {
  it('a time window reaches back only as far as every relay that has more events was read', async () => {
    const slow = Array.from({ length: 100 }, (_, index) => placed(10_000 - index * 10, index + 1));
    const busy = Array.from({ length: 100 }, (_, index) => placed(10_000 - index, 1_000 + index));
    const { reader } = readerOf(
      [
        { events: slow, cap: 20 },
        { events: busy, cap: 20 },
      ],
      chance(1),
    );
    const page = await reader.page(scopeOf(20), undefined, 500);
    const oldest = page.posts.at(-1)?.created_at ?? 0;
    const between = [...slow, ...busy].filter(({ created_at }) => created_at >= oldest);
    expect(page.posts.map(({ id }) => id)).toEqual(inOrder(between));
    expect(oldest).toBeGreaterThan(9_900);
    expect(page.nextCursor).not.toBeNull();
  });

  it('marks a relay as partial when it cannot send all events of one second', async () => {
    const events = Array.from({ length: 60 }, (_, index) => placed(1_000, index + 1));
    const read = (older: NostrEvent[], cap: number) =>
      readRelay(
        { open: () => modelSession([...events, ...older], cap, chance(1)) },
        'wss://r',
        scopeOf(500),
        1_000,
      );
    expect(await read([placed(5, 99)], 40)).toMatchObject({ partial: true, exhausted: true });
    expect(await read([placed(5, 99)], 61)).toMatchObject({ partial: false, exhausted: true });
    expect((await read([], 500)).events).toHaveLength(60);
    expect((await read([], 500)).partial).toBe(false);
  });

  it('reads an empty relay with a single query', async () => {
    const session = modelSession([], 500, chance(1));
    const reading = await readRelay({ open: () => session }, 'wss://r', scopeOf(10), NOW);
    expect(reading).toMatchObject({ events: [], exhausted: true, end: 'eose' });
    expect(session.queries).toBe(1);
  });
});
