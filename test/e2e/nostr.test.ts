import { finalizeEvent, generateSecretKey } from 'nostr-tools/pure';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { cases } from '../cases.ts';
import { startWorld, type World } from '../world/world.ts';

type Note = ReturnType<typeof finalizeEvent>;
type Page = { posts: { id: string }[]; next_cursor: string | null; next_until: number | null };

const secret = generateSecretKey();
const NOW = Math.floor(Date.now() / 1000);
const BUSY = NOW - 100_000;

const note = (created_at: number, content: string): Note => {
  const tags = [
    ['L', 'agent'],
    ['l', 'walk', 'agent'],
    ['I', 'https://a.test/'],
  ];
  return finalizeEvent({ kind: 1111, created_at, content, tags }, secret);
};

const COUNT = cases(2_000, 400);
/** Posts under a label of their own, a quarter of them in one second; a third is on both relays. */
const POSTS = Array.from({ length: COUNT }, (_, index) =>
  note(index < COUNT / 4 ? BUSY : BUSY + COUNT / 2 - index, `post ${index}`),
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

let asked = 0;

async function get(path: string): Promise<{ status: number; body: Page }> {
  // A walk is longer than the reads of one client in a minute.
  const ip = `10.${Math.floor(asked / 250)}.${asked++ % 250}.1`;
  const response = await world.fetch(`/api/nostr/${path}`, { ip });
  return { status: response.status, body: (await response.json()) as Page };
}

it.each([1, 10, 100])(
  'paging posts of two relays with limit %i returns each once, newest first, while new ones arrive',
  { tags: ['deep'] },
  async (limit) => {
    const ids: string[] = [];
    const every = Math.ceil(200 / limit);
    let cursor: string | null = '';
    for (let page = 0; cursor !== null; page += 1) {
      if (page % every === every - 1)
        await publish[page % 2]?.([note(NOW + (page % 100), `late ${limit} ${page}`)]);
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
