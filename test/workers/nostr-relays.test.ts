import { finalizeEvent, generateSecretKey } from 'nostr-tools/pure';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createFeedReader, type FeedScope } from '../../src/features/nostr-feed/read-feed.ts';
import { Cache } from '../../src/http/cached.ts';
import { Admission, CallSlots } from '../../src/providers/admission.ts';
import { createNostrRelays, RELAY_DEADLINE_MS } from '../../src/providers/nostr-relays.ts';

const NOW = Math.floor(Date.now() / 1000);
const NOTE = finalizeEvent(
  { kind: 1111, created_at: NOW - 1, tags: [], content: 'here' },
  generateSecretKey(),
);
const FILTER = { kinds: [1111], limit: 10 };

type Relay = (send: (...message: unknown[]) => void, subscription: string) => void;

/** The platform's own socket, with a relay at its other end. */
function connectTo(relay: Relay, heard: unknown[] = []): WebSocket {
  const [client, server] = Object.values(new WebSocketPair());
  if (!client || !server) throw new Error('no pair');
  server.accept();
  server.addEventListener('message', ({ data }) => {
    const message = JSON.parse(String(data)) as [string, string];
    heard.push(message);
    if (message[0] === 'REQ') relay((...answer) => server.send(JSON.stringify(answer)), message[1]);
  });
  client.accept();
  return client;
}

const honest: Relay = (send, subscription) => {
  send('EVENT', subscription, NOTE);
  send('EOSE', subscription);
};
const silent: Relay = () => undefined;

it('sends a relay query over the platform’s socket, receives its events and closes it', async () => {
  const heard: unknown[] = [];
  const session = createNostrRelays({ urls: [], connect: () => connectTo(honest, heard) }).open('ws://relay');
  const answer = await session.query(FILTER);
  expect(answer).toMatchObject({ end: 'eose', received: 1, rejected: 0 });
  expect(answer.events.map(({ id }) => id)).toEqual([NOTE.id]);
  expect((await session.query(FILTER)).events).toHaveLength(1);
  session.close();
  await vi.waitFor(() => expect(heard).toHaveLength(4));
  expect(heard).toEqual([
    ['REQ', 's1', FILTER],
    ['CLOSE', 's1'],
    ['REQ', 's2', FILTER],
    ['CLOSE', 's2'],
  ]);
});

it('treats a socket that cannot be opened as an unreachable relay, not as an error', async () => {
  const relays = createNostrRelays({
    urls: [],
    connect: () => {
      throw new TypeError('Invalid URL');
    },
  });
  expect(await relays.open('ws://relay').query(FILTER)).toMatchObject({ end: 'unreachable', events: [] });
});

describe('the deadline', () => {
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  /** Whether the work has ended, checked after everything that needs no timer has run. */
  async function isDone(work: Promise<unknown>): Promise<boolean> {
    let done = false;
    void work.then(() => {
      done = true;
    });
    for (let turn = 0; turn < 50; turn += 1) await scheduler.wait(0);
    return done;
  }

  it('ends a query to a relay that never responds exactly at the deadline', async () => {
    const session = createNostrRelays({ urls: [], connect: () => connectTo(silent) }).open('ws://relay');
    const answer = session.query(FILTER);
    vi.advanceTimersByTime(RELAY_DEADLINE_MS - 1);
    expect(await isDone(answer)).toBe(false);
    vi.advanceTimersByTime(1);
    expect(await answer).toMatchObject({ end: 'timeout', events: [] });
  });

  it('hanging relays delay a feed by only one deadline, because all relays are read at the same time', async () => {
    const memory = new Cache({ now: () => NOW * 1000, defer: () => undefined });
    const feeds = createFeedReader({
      relays: createNostrRelays({
        urls: ['ws://hanging.test', 'ws://good.test', 'ws://hanging-too.test'],
        connect: (url) => connectTo(url.includes('good') ? honest : silent),
      }),
      memory,
      now: () => NOW * 1000,
    });
    const scope: FeedScope = { key: 'test', filter: { kinds: [1111] }, maxChars: 10_000 };
    const page = feeds.page(scope, undefined, 10);
    expect(await isDone(page)).toBe(false);
    vi.advanceTimersByTime(RELAY_DEADLINE_MS);
    const { posts, relays } = await page;
    expect(posts.map(({ content }) => content)).toEqual(['here']);
    expect(relays.map(({ state }) => state)).toEqual(['timeout', 'eose', 'timeout']);
  });

  it('no timer remains for a relay that has responded', async () => {
    const session = createNostrRelays({ urls: [], connect: () => connectTo(honest) }).open('ws://relay');
    expect((await session.query(FILTER)).end).toBe('eose');
    session.close();
    expect(vi.getTimerCount()).toBe(0);
  });
});

describe('a relay that is admitted like any upstream', () => {
  it('does not connect to a relay if its session is closed before it is admitted', async () => {
    const slots = new CallSlots();
    let connections = 0;
    const relays = createNostrRelays({
      urls: ['ws://good.test'],
      connect: () => {
        connections += 1;
        return connectTo(honest);
      },
      admission: new Admission(),
    });
    const ends = await Promise.all([slots.enter('good.test', 'own'), slots.enter('good.test', 'own')]);
    slots.run('user', () => relays.open('ws://good.test')).close();
    for (const entered of ends) if ('leave' in entered) entered.leave();
    expect((await slots.run('user', () => relays.open('ws://good.test')).query(FILTER)).end).toBe('eose');
    expect(connections).toBe(1);
  });
});
