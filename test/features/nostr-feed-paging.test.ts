import fc from 'fast-check';
import type { NostrEvent } from 'nostr-tools/pure';
import { describe, expect, it } from 'vitest';
import { endOfSecond, type Position } from '../../src/features/nostr-feed/feed-page.ts';
import { createFeedReader, type FeedPage, type FeedScope } from '../../src/features/nostr-feed/read-feed.ts';
import { readRelay } from '../../src/features/nostr-feed/read-relay.ts';
import { Cache } from '../../src/http/cached.ts';
import { modelSession, placed } from './relay-model.ts';

const NOW = 2_000_000;
/** No second of the generated feeds has more events than any generated bound. */
const LOWEST_CAP = 20;

const SCOPE: FeedScope = { key: 'test', filter: { kinds: [1111] }, maxChars: 1_000_000 };

type Relay = { readonly events: readonly NostrEvent[]; readonly cap: number };

/** A reader of the feed at NOW, over sessions with each relay. */
const readerWith = (
  urls: readonly string[],
  open: Parameters<typeof createFeedReader>[0]['relays']['open'],
) => {
  const now = () => NOW * 1000;
  return createFeedReader({
    relays: { urls, open },
    memory: new Cache({ now, defer: () => undefined }),
    now,
  });
};

function readerOf(relays: Relay[], random: () => number) {
  const sessions: { queries: number }[] = [];
  const urls = relays.map((_relay, index) => `wss://r${index}.test`);
  const reader = readerWith(urls, (url) => {
    const { events = [], cap = 1 } = relays[urls.indexOf(url)] ?? {};
    const session = modelSession(events, cap, random);
    sessions.push(session);
    return session;
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

const byCursor = ({ next }: FeedPage) => next ?? undefined;
const byUntil = ({ next }: FeedPage) => (next ? endOfSecond(next.createdAt) : undefined);

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

type Spread = { readonly events: NostrEvent[]; readonly relays: { share: boolean[]; cap: number }[] };
const relaysOf = ({ events, relays }: Spread): Relay[] =>
  relays.map(({ share, cap }, at) => ({
    cap,
    // The first relay has every event that no other has.
    events: events.filter((_, index) => share[index] || (at === 0 && !relays.some((r) => r.share[index]))),
  }));

describe('walking a feed', () => {
  it.each([
    ['paging by cursor returns every post of every relay once and in order, for any limit', byCursor, 300],
    ['paging by next_until returns every post once while no second has more than the limit', byUntil, 150],
  ])('%s', async (_title, next, numRuns) => {
    await fc.assert(
      fc.asyncProperty(feeds, async (feed) => {
        const { reader } = readerOf(relaysOf(feed), chance(feed.seed));
        const limit = next === byCursor ? feed.limit : LOWEST_CAP;
        expect(await walk(next, (start) => reader.page(SCOPE, start, limit))).toEqual(inOrder(feed.events));
      }),
      { numRuns, seed: 8 },
    );
  });

  it('next_until skips the posts of a second beyond the limit', async () => {
    const busy = Array.from({ length: 45 }, (_, index) => placed(1_000, index + 1));
    const events = [placed(1_001, 98), ...busy, placed(999, 99)];
    const { reader } = readerOf([{ events, cap: 500 }], chance(1));
    const ids = await walk(byUntil, (start) => reader.page(SCOPE, start, 10));
    const kept = inOrder(busy).slice(0, 10);
    expect(ids).toEqual([placed(1_001, 98).id, ...kept, placed(999, 99).id]);
  });

  const labels = (index: number) =>
    Array.from({ length: 50 }, (_, n) => ['l', `${index}-${n}-${'x'.repeat(16)}`]);
  it.each<[string, (index: number) => Partial<NostrEvent>]>([
    ['contents', () => ({ content: 'x'.repeat(1_000) })],
    ['labels', (index) => ({ tags: labels(index) })],
  ])('a page of %s ends at its limit of characters, and no post is lost', async (_what, long) => {
    const events = Array.from({ length: 30 }, (_, index) => ({
      ...placed(10_000 - (index >> 2), index + 1),
      ...long(index),
    }));
    const { reader } = readerOf([{ events, cap: 500 }], chance(1));
    const sizes: number[] = [];
    const ids = await walk(byCursor, async (start) => {
      const page = await reader.page({ ...SCOPE, maxChars: 4_000 }, start, 50);
      sizes.push(page.posts.length);
      return page;
    });
    expect(ids).toEqual(inOrder(events));
    expect(Math.max(...sizes)).toBe(2);
  });

  it.each([0, 1])('until=%d returns an empty last page without calling a relay', async (until) => {
    const { reader, sessions } = readerOf([{ events: [placed(5, 1)], cap: 500 }], chance(1));
    expect(await reader.page(SCOPE, endOfSecond(until), 10)).toMatchObject({ posts: [], next: null });
    expect(sessions).toEqual([]);
  });

  it('the feed shows no post that is dated far in the future', async () => {
    const events = [placed(NOW + 10_000, 1), placed(NOW + 60, 2), placed(NOW, 3)];
    const { reader } = readerOf([{ events, cap: 500 }], chance(1));
    for (const start of [undefined, endOfSecond(NOW * 2)]) {
      const page = await reader.page(SCOPE, start, 10);
      expect(page.posts.map(({ created_at }) => created_at)).toEqual([NOW + 60, NOW]);
    }
  });
});

describe('a page', () => {
  it('marks a relay as partial when it may have more events of a second than it has sent', async () => {
    const read = (count: number, cap: number) => {
      const second = Array.from({ length: count }, (_, index) => placed(1_000, index + 1));
      const open = () => modelSession([...second, placed(5, 99)], cap, chance(1));
      return readRelay({ open }, 'wss://r', SCOPE.filter, 1_000, 10);
    };
    expect(await read(60, 40)).toMatchObject({ partial: true, completeFrom: 1_000 });
    expect(await read(15, 40)).toMatchObject({ partial: false, completeFrom: 1_000 });
    expect((await read(60, 500)).events).toEqual(expect.arrayContaining([placed(1_000, 60)]));
  });

  it('a failed relay is an error if the others have no posts, and a mark on the page if they have', async () => {
    const failed = { events: [], end: 'timeout', received: 0, rejected: 0 } as const;
    const page = (events: readonly NostrEvent[]) =>
      readerWith(['wss://broken.test', 'wss://good.test'], (url) => ({
        ...modelSession(events, 500, chance(1)),
        ...(url.includes('broken') && { query: async () => failed }),
      })).page(SCOPE, undefined, 10);
    await expect(page([])).rejects.toMatchObject({ code: 'RELAYS_FAILED' });
    const { posts, relays } = await page([placed(1_000, 1)]);
    expect([posts.length, relays.map(({ ok }) => ok)]).toEqual([1, [false, true]]);
  });
});
