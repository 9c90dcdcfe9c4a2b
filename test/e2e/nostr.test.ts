import { finalizeEvent, generateSecretKey } from 'nostr-tools/pure';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { cases } from '../cases.ts';
import { startWorld, type World } from '../world/world.ts';

type Note = ReturnType<typeof finalizeEvent>;
type Page = {
  ok: boolean;
  posts: { id: string; content: string; created_at: number }[];
  next_cursor: string | null;
  next_until: number | null;
  relay_status: { relay: string; ok: boolean; state: string }[];
  stale: boolean;
} & Record<string, unknown>;

const secret = generateSecretKey();
const NOW = Math.floor(Date.now() / 1000);
const BUSY = NOW - 100_000;

const note = (created_at: number, content: string, label: string, kind = 1111, namespace = 'agent'): Note =>
  finalizeEvent(
    {
      kind,
      created_at,
      content,
      tags: [
        ['L', namespace],
        ['l', label, namespace],
        ['I', 'https://a.test/'],
      ],
    },
    secret,
  );

const COUNT = cases(2_000, 400);
/** Posts under a label of their own, a quarter of them in one second; a third is on both relays. */
const POSTS = Array.from({ length: COUNT }, (_, index) =>
  note(index < COUNT / 4 ? BUSY : BUSY + COUNT / 2 - index, `post ${index}`, 'walk'),
);
const idsInOrder = POSTS.toSorted((a, b) => b.created_at - a.created_at || (a.id < b.id ? -1 : 1)).map(
  ({ id }) => id,
);

let world: World;
const sockets: WebSocket[] = [];

async function publisher(url: string): Promise<(events: readonly Note[]) => Promise<void>> {
  const socket = new WebSocket(url);
  sockets.push(socket);
  await new Promise((resolve, reject) => socket.once('open', resolve).once('error', reject));
  return (events) =>
    new Promise((resolve) => {
      let left = events.length;
      if (left === 0) return resolve();
      const listen = (data: unknown) => {
        if (!String(data).startsWith('["OK"')) return;
        left -= 1;
        if (left > 0) return;
        socket.off('message', listen);
        resolve();
      };
      socket.on('message', listen);
      for (const event of events) socket.send(JSON.stringify(['EVENT', event]));
    });
}

let publish: [(events: readonly Note[]) => Promise<void>, (events: readonly Note[]) => Promise<void>];

beforeAll(async () => {
  world = await startWorld({ cron: false, blockMs: 0 });
  publish = [await publisher(world.endpoints.relay1), await publisher(world.endpoints.relay2)];
  await Promise.all([
    publish[0](POSTS.filter((_post, index) => index % 3 !== 1)),
    publish[1](POSTS.filter((_post, index) => index % 3 !== 0)),
  ]);
});
afterAll(async () => {
  for (const socket of sockets) socket.terminate();
  await world?.stop();
});
afterEach(() => {
  world.faults.clear();
  world.resetStats();
});

let asked = 0;

async function get(path: string): Promise<{ status: number; body: Page }> {
  // A walk is longer than the reads of one client in a minute.
  const ip = `10.${Math.floor(asked / 250)}.${asked++ % 250}.1`;
  const response = await world.fetch(`/api/nostr/${path}`, { ip });
  return { status: response.status, body: (await response.json()) as Page };
}

describe('posts on two real relays, a quarter of them in one second', () => {
  it.each([1, 10, 100])(
    'paging posts of two relays with limit %i returns each once, newest first, while new ones arrive',
    { tags: ['deep'] },
    async (limit) => {
      const ids: string[] = [];
      const every = Math.ceil(200 / limit);
      let cursor: string | null = '';
      for (let page = 0; cursor !== null; page += 1) {
        if (page % every === every - 1)
          await publish[page % 2]?.([note(NOW + (page % 100), `late ${limit} ${page}`, 'walk')]);
        const query: string = `feed?topic_labels=walk&limit=${limit}${cursor && `&cursor=${cursor}`}`;
        const { status, body } = await get(query);
        expect(status).toBe(200);
        expect(body.posts.length).toBeLessThanOrEqual(limit);
        ids.push(...body.posts.map(({ id }) => id));
        cursor = body.next_cursor;
      }
      expect(new Set(ids).size).toBe(ids.length);
      expect(ids.filter((id) => idsInOrder.includes(id))).toEqual(idsInOrder);
    },
  );

  it('paging by next_until repeats at most the posts of one second and loses none', {
    tags: ['scaled'],
  }, async () => {
    const ids = new Set<string>();
    let until: number | null = BUSY - 2;
    while (until !== null) {
      const { body }: { body: Page } = await get(`feed?topic_labels=walk&limit=100&until=${until}`);
      for (const { id } of body.posts) ids.add(id);
      until = body.next_until;
    }
    expect([...ids]).toEqual(idsInOrder.slice(-ids.size));
    expect(ids.size).toBe(POSTS.filter(({ created_at }) => created_at < BUSY - 2).length);
  });
});

it('the feed never shows a note of a wrong kind or with a label in another namespace', async () => {
  const good = note(NOW, 'good', 'mixed');
  await publish[0]([good, note(NOW, 'kind 1', 'mixed', 1), note(NOW, 'licence', 'mixed', 1111, 'license')]);
  await publish[1]([good]);
  const { body } = await get('feed?topic_labels=mixed');
  expect(body.posts.map(({ content }) => content)).toEqual(['good']);
});

it('the feed has the format of the contract, and posts are those of the server identity', async () => {
  const feed = await get('feed');
  expect(feed.status).toBe(200);
  expect(feed.body).toMatchObject({
    ok: true,
    error: null,
    limit: 10,
    until: null,
    ai_only: true,
    topic_labels: ['ai', 'blockchain', 'defi'],
    stale: false,
  });
  expect(feed.body.posts).toHaveLength(10);
  const posts = await get('posts?limit=500');
  expect(posts.status).toBe(200);
  expect(posts.body).toMatchObject({
    ok: true,
    code: null,
    error: null,
    npub: world.bindings.NOSTR_NPUB,
    limit: 500,
  });
  expect(posts.body.posts.length).toBeGreaterThan(5);
  expect(posts.body.next_cursor).toBeNull();
});

it('a warm feed needs no relay', async () => {
  const before = await get('feed?limit=7');
  world.resetStats();
  for (const relay of ['relay1', 'relay2'] as const) world.faults.set(relay, { kind: 'drop' });
  const after = await get('feed?limit=7');
  expect(after.status).toBe(200);
  expect(after.body.posts).toEqual(before.body.posts);
  expect(world.stats().relay1).toBeUndefined();
});

it('reports one hanging relay, and returns 500 with ok false when all relays are down', async () => {
  world.faults.set('relay1', { kind: 'hang' });
  const one = await get('feed?topic_labels=ai,hanging');
  expect(one.status).toBe(200);
  expect(one.body.posts).toHaveLength(10);
  expect(one.body.relay_status.map(({ state }) => state)).toEqual(['timeout', 'eose']);
  world.faults.set('relay1', { kind: 'drop' });
  world.faults.set('relay2', { kind: 'drop' });
  const none = await get('feed?topic_labels=ai,none');
  expect(none.status).toBe(500);
  expect(none.body).toMatchObject({ ok: false, error_code: 'RELAYS_FAILED', error: 'No relay responded.' });
});
