import { decode, npubEncode } from 'nostr-tools/nip19';
import { generateSecretKey, getPublicKey, type NostrEvent } from 'nostr-tools/pure';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { eachScene } from '../kit/scenes.ts';
import { createFaultBook } from '../world/fault-book.ts';
import { type Relay, startRelay } from '../world/relay.ts';
import { createRequestCounts } from '../world/request-counts.ts';
import {
  AI,
  authorPubkey,
  EOSE,
  eventMessage,
  type FeedAnswer,
  nostrService,
  note,
  startScriptedRelay,
} from './nostr-service.ts';

const NOW = Math.floor(Date.now() / 1000);
const faults = createFaultBook();
const counts = createRequestCounts();
const stops: (() => Promise<void>)[] = [];
let relays: [Relay, Relay];

/** Posts of the feed; a third is on both relays. */
const POSTS = Array.from({ length: 30 }, (_, index) =>
  note({
    created_at: NOW - 5_000 - index,
    content: `post ${index}`,
    tags: [
      ['L', 'agent'],
      ['l', ['ai', 'blockchain', 'defi'][index % 3] ?? 'ai', 'agent'],
    ],
  }),
);
const isNewer = (a: NostrEvent, b: NostrEvent): number =>
  b.created_at - a.created_at || (a.id < b.id ? -1 : 1);
const idsInOrder = (events: readonly NostrEvent[]): string[] => events.toSorted(isNewer).map(({ id }) => id);

async function start(name: 'relay1' | 'relay2'): Promise<Relay> {
  const relay = await startRelay({ name, faults, counts });
  stops.push(() => relay.stop());
  return relay;
}

async function scripted(messages: () => readonly string[]): Promise<string> {
  const relay = await startScriptedRelay(messages);
  stops.push(() => relay.stop());
  return relay.url;
}

async function relayWith(...events: NostrEvent[]): Promise<string> {
  const relay = await start('relay2');
  relay.seed(events);
  return relay.url;
}

beforeAll(async () => {
  relays = [await start('relay1'), await start('relay2')];
  for (const [at, relay] of relays.entries())
    relay.seed(POSTS.filter((_post, index) => index % 3 !== 1 - at));
});
afterEach(() => {
  faults.clear();
  counts.reset();
});
afterAll(async () => {
  for (const stop of stops) await stop();
});

const both = () => nostrService(relays.map(({ url }) => url));
const contents = ({ posts }: FeedAnswer): string[] => posts.map(({ content }) => content);

describe('relays are not trusted', () => {
  const good = note({ created_at: NOW - 10, content: 'good' });
  const stranger = getPublicKey(generateSecretKey());
  const cooking = [
    ['L', 'agent'],
    ['l', 'cooking', 'agent'],
  ];
  const bad = {
    'a forged id': { ...note({ created_at: NOW - 11, content: 'forged id' }), id: 'a'.repeat(64) },
    'a forged signature': { ...note({ created_at: NOW - 12, content: 'forged signature' }), sig: good.sig },
    'another author’s name': { ...note({ created_at: NOW - 13, content: 'stolen name' }), pubkey: stranger },
    'changed content': { ...note({ created_at: NOW - 14, content: 'before' }), content: 'after' },
    'a wrong kind': note({ created_at: NOW - 15, content: 'wrong kind', kind: 1 }),
    'a note without a label': note({ created_at: NOW - 18, content: 'no label', tags: [['t', 'ai']] }),
    'a label of another topic': note({ created_at: NOW - 19, content: 'other topic', tags: cooking }),
    'a date in the far future': note({ created_at: NOW + 86_400, content: 'future' }),
    'a time with a fraction': note({ created_at: NOW - 20.5, content: 'fraction' }),
    'a time before 1970': note({ created_at: -1, content: 'before 1970' }),
    'an event without a signature': {
      ...note({ created_at: NOW - 22, content: 'unsigned' }),
      sig: undefined,
    },
    'an upper-case id': { ...good, id: good.id.toUpperCase() },
    'an upper-case author': { ...good, pubkey: good.pubkey.toUpperCase() },
    'an id that is a number': { ...good, id: 5 },
    'a signature that is a number': { ...note({ created_at: NOW - 21, content: 'numbered' }), sig: 5 },
    'content that is a number': { ...good, content: 5 },
    'tags that are no list': { ...good, tags: {} },
    'a tag that is no list': { ...good, tags: [null] },
    'a tag with a number': { ...good, tags: [['l', 5]] },
    null: null,
  };

  async function feedOf(event: unknown): Promise<FeedAnswer> {
    let queries = 0;
    const liar = await scripted(() => {
      queries += 1;
      return queries === 1 ? [eventMessage(event), eventMessage(good), EOSE] : [EOSE];
    });
    const honest = await relayWith(good);
    const { status, body } = await nostrService([liar, honest]).get('feed');
    expect(status).toBe(200);
    return body;
  }

  it.each(Object.entries(bad))('the feed rejects an invalid event: %s', async (_name, event) => {
    const body = await feedOf(event);
    expect(contents(body)).toEqual(['good']);
    expect(body.relay_status[0]?.rejected).toBe(1);
  });

  it('stops reading a relay that sends only forgeries, and reports its state as forged', async () => {
    const forged = Array.from({ length: 30 }, (_, index) =>
      eventMessage({ ...note({ created_at: NOW - index }), sig: good.sig }),
    );
    const liar = await scripted(() => [...forged, EOSE]);
    const { body } = await nostrService([liar, await relayWith(good)]).get('feed?limit=50');
    expect(contents(body)).toEqual(['good']);
    expect(body.relay_status[0]).toMatchObject({ ok: false, state: 'forged', rejected: 20 });
  });

  it('drops an event over 64 KiB and the rest of a relay over 2 MiB, and keeps the earlier events', async () => {
    const large = note({ created_at: NOW - 1, content: 'x'.repeat(66_000) });
    const oversized = await scripted(() => [eventMessage(large), eventMessage(good), EOSE]);
    expect(contents((await nostrService([oversized]).get('feed')).body)).toEqual(['good']);

    const flood = Array.from({ length: 40 }, () => eventMessage(large));
    const flooding = await scripted(() => [eventMessage(good), ...flood]);
    const { body } = await nostrService([flooding]).get('feed');
    expect(contents(body)).toEqual(['good']);
    expect(body.relay_status[0]).toMatchObject({ ok: false, state: 'too_large' });
  });

  it('ends a relay at a message that is too long, without a copy of it', async () => {
    const encode = vi.spyOn(TextEncoder.prototype, 'encode');
    const shouting = await scripted(() => [eventMessage(good), 'x'.repeat(3 * 1024 * 1024)]);
    const { body } = await nostrService([shouting]).get('feed');
    const longest = Math.max(...encode.mock.calls.map(([text = '']) => text.length));
    encode.mockRestore();
    expect([contents(body), body.relay_status[0]?.state]).toEqual([['good'], 'too_large']);
    expect(longest).toBeLessThan(64 * 1024);
  });

  it('skips malformed messages, irrelevant messages and messages for another subscription', async () => {
    const lines = ['', 'no json {', 'null', '{}', '[]', '[1]', '["EVENT"]', '["EOSE",1]', '["EOSE","other"]'];
    const unused = ['["NOTICE","hi"]', '["OK","id",true,""]', '["CLOSED","other","error: no"]'];
    const noisy = await scripted(() => [...lines, ...unused, eventMessage(good), EOSE]);
    expect(contents((await nostrService([noisy]).get('feed')).body)).toEqual(['good']);
  });
});

describe('relays that fail', () => {
  it('the feed reports a relay that is down', async () => {
    faults.set('relay1', { kind: 'drop' });
    const { status, body } = await both().get('feed');
    expect(status).toBe(200);
    expect(body).toMatchObject({ ok: true, error: null });
    expect(body.posts).toHaveLength(10);
    const common = { partial: false, rejected: 0 };
    expect(body.relay_status).toEqual([
      { ...common, relay: relays[0].url, ok: false, state: 'unreachable', events: 0 },
      { ...common, relay: relays[1].url, ok: true, state: 'eose', events: expect.any(Number) },
    ]);
  });

  it('distinguishes a relay that refuses the query from one that is unreachable', async () => {
    const refusing = await scripted(() => ['["CLOSED","$","auth-required: members only"]']);
    const { body } = await nostrService([refusing, relays[0].url, 'ws://127.0.0.1:1']).get('feed');
    expect(body.relay_status.map(({ state }) => state)).toEqual(['closed', 'eose', 'unreachable']);
  });

  it('returns 500 with ok false, the error body and the feed’s own members when all relays are down', async () => {
    faults.set('relay1', { kind: 'drop' });
    faults.set('relay2', { kind: 'hang' });
    const urls = relays.map(({ url }) => url);
    const service = nostrService(urls, { deadlineMs: 1_000, identity: authorPubkey });
    const { status, body } = await service.get('feed?limit=7');
    expect(status).toBe(500);
    const common = { ok: false, events: 0, partial: false, rejected: 0 };
    expect(body).toEqual({
      ...{ ok: false, error: 'No relay responded.', error_code: 'RELAYS_FAILED', action: 'retry_later' },
      ...{ retryable: true, request_id: expect.any(String), relays: urls, posts: [], limit: 7 },
      ...{ until: null, next_until: null, next_cursor: null, as_of: null, stale: false },
      ...{ ai_only: true, topic_labels: ['ai', 'blockchain', 'defi'] },
      relay_status: [
        { ...common, relay: urls[0], state: 'unreachable' },
        { ...common, relay: urls[1], state: 'timeout' },
      ],
    });
    const posts = await service.get('posts');
    expect(posts.status).toBe(500);
    expect(posts.body).toMatchObject({ ok: false, code: 'RELAYS_FAILED', pubkey: authorPubkey, posts: [] });
  });
});

describe('the notes that a feed keeps', () => {
  const tagged = (content: string, age: number, ...tags: string[][]) =>
    note({ created_at: NOW - age, content, tags });
  const notes = [
    tagged('agent ai', 1, ...AI),
    tagged('plain defi', 2, ['l', 'defi']),
    tagged('ugc blockchain', 3, ['L', 'ugc'], ['l', 'blockchain', 'ugc']),
    tagged('upper-case AI', 4, ['L', 'agent'], ['l', 'AI', 'agent'], ['l', 'ai', 'agent']),
    tagged('cooking', 5, ['L', 'agent'], ['l', 'cooking', 'agent']),
    tagged('Go', 6, ['l', 'Go']),
    tagged('unlabelled', 7),
    tagged('hashtag ai', 8, ['L', '#t'], ['l', 'ai', '#t']),
    tagged('two namespaces', 9, ['L', 'network.example'], ['L', 'ugc'], ['l', 'ai']),
  ];

  const topical = 'agent ai, plain defi, ugc blockchain, upper-case AI, hashtag ai, two namespaces';
  const all = notes.map(({ content }) => content).join(', ');
  eachScene(`
    feed                                    | ${topical}
    feed?ai_only=1                          | ${topical}
    feed?ai_only=yes&topic_labels=          | ${topical}
    feed?topic_labels=cooking               | cooking
    feed?topic_labels=cooking,defi          | plain defi, cooking
    feed?topic_labels=cooking%20defi        | plain defi, cooking
    feed?topic_labels=AI                    | agent ai, upper-case AI, hashtag ai, two namespaces
    feed?topic_labels=Go                    | Go
    feed?topic_labels=nothing               |
    feed?ai_only=0                          | ${all}
    feed?ai_only=false&topic_labels=cooking | ${all}
  `)('%s returns only the notes that its query selects', async (path = '', kept) => {
    const { status, body } = await nostrService([await relayWith(...notes)]).get(path);
    expect(status).toBe(200);
    expect(contents(body).join(', ')).toBe(kept);
    expect(body.ai_only).toBe(!/ai_only=(0|false)/.test(path));
    if (!body.ai_only) expect(body.topic_labels).toBeNull();
  });

  it('`until` excludes its own second, and posts are ordered by time and then by id', async () => {
    const tied = Array.from({ length: 8 }, (_, index) => tagged(`tied ${index}`, 100, ...AI));
    const service = nostrService([await relayWith(...tied, tagged('newer', 99, ...AI))]);
    const { body } = await service.get(`feed?until=${NOW - 99}`);
    expect(body.posts.map(({ id }) => id)).toEqual(idsInOrder(tied));
    expect(body).toMatchObject({ until: NOW - 99, next_until: null, next_cursor: null });
    expect((await service.get(`feed?until=${NOW - 100}`)).body.posts).toEqual([]);
    expect((await service.get('feed?until=1')).body).toMatchObject({ ok: true, posts: [], next_until: null });
  });

  it('a cursor and `until` together limit a page', async () => {
    const service = nostrService([await relayWith(...notes)]);
    const cursor = `${NOW - 1}.${'f'.repeat(64)}`;
    expect(contents((await service.get(`feed?until=${NOW - 2}&cursor=${cursor}`)).body)[0]).toBe(
      'ugc blockchain',
    );
    expect(contents((await service.get(`feed?until=${NOW}&cursor=${cursor}`)).body)[0]).toBe('plain defi');
  });

  it('a post has the fields of the contract and those of the Nostr specifications (NIPs)', async () => {
    const url = 'https://clawstr.com/c/sluice';
    const event = tagged('read me', 1, ...AI, ['I', url], ['K', 'web'], ['content-warning', 'spoiler']);
    const withMore = { ...event, seen_on: 'elsewhere' };
    const relay = await relayWith(withMore);
    const [post] = (await nostrService([relay]).get('feed')).body.posts;
    expect(post).toEqual({
      ...{ id: event.id, pubkey: authorPubkey, created_at: NOW - 1, kind: 1111 },
      ...{ content: 'read me', labels: ['ai'], content_warning: 'spoiler' },
      root: { tag: 'I', value: url, kind: 'web', url },
      nevent: expect.stringMatching(/^nevent1/),
    });
    expect(decode(String((post as Record<string, unknown> | undefined)?.nevent))).toMatchObject({
      data: { id: event.id, author: authorPubkey, kind: 1111, relays: [relay] },
    });
  });
});

describe('posts of the server identity', () => {
  it('the posts route returns only posts of the server identity, whether they have labels or not', async () => {
    const mine = note({ created_at: NOW - 1, content: 'mine', tags: [] });
    const other = note({ created_at: NOW - 2, content: 'not mine', secret: generateSecretKey() });
    const liar = await scripted(() => [eventMessage(other), eventMessage(mine), EOSE]);
    const { status, body } = await nostrService([liar], { identity: authorPubkey }).get('posts');
    expect(status).toBe(200);
    expect(contents(body)).toEqual(['mine']);
    expect(body).toMatchObject({
      ok: true,
      code: null,
      error: null,
      ...{ npub: npubEncode(authorPubkey), pubkey: authorPubkey, limit: 100, until: null },
    });
  });

  it('without an identity, posts return 200, ok false, NO_IDENTITY and nulls, and no relay is queried', async () => {
    const { status, body } = await both().get('posts?until=5');
    expect(status).toBe(200);
    expect(body).toEqual({
      ...{ ok: false, code: 'NO_IDENTITY', error: expect.stringContaining('NOSTR_NPUB') },
      ...{ npub: null, pubkey: null, relays: relays.map(({ url }) => url), relay_status: [] },
      ...{ posts: [], limit: 100, until: 5, next_until: null, next_cursor: null, as_of: null, stale: false },
    });
    expect(counts.all()).toEqual({});
  });
});

describe('parameters', () => {
  const cursor = `5.${'a'.repeat(64)}`;
  it.each([
    ...['0', '101', '-1', '1.5', '1e1', 'ten', '', '%2010', '9999999999999999'].map((n) => `feed?limit=${n}`),
    ...['0', '501', '-1', ''].map((n) => `posts?limit=${n}`),
    ...['-1', '1.5', 'now', '', '253402300800'].flatMap((n) => [`feed?until=${n}`, `posts?until=${n}`]),
    ...['no', 'TRUE', '2', ''].map((flag) => `feed?ai_only=${flag}`),
    ...['', 'x', '5', `5.${'A'.repeat(64)}`, `${cursor}0`, `-${cursor}`].map((text) => `feed?cursor=${text}`),
    `feed?topic_labels=${'x'.repeat(65)}`,
    `feed?topic_labels=${Array.from({ length: 21 }, (_, index) => `l${index}`).join(',')}`,
  ])('%s returns 400 and contacts no relay', async (path) => {
    const { status, body } = await nostrService([relays[0].url], { identity: authorPubkey }).get(path);
    expect(status).toBe(400);
    expect(body).toMatchObject({ error_code: 'INVALID_INPUT', action: 'fix_request' });
    expect(counts.all()).toEqual({});
  });

  it('the feed reads at most five relays', async () => {
    const urls = Array.from({ length: 7 }, () => relays[0].url);
    const { body } = await nostrService(urls).get('feed');
    expect(body.relays).toHaveLength(5);
    expect(counts.all().relay1?.byLabel.connect).toBe(5);
  });

  it('returns 503 and names NOSTR_RELAYS when the relay list is invalid', async () => {
    const { status, body } = await nostrService([], { feeds: undefined }).get('feed');
    expect(status).toBe(503);
    expect(body).toMatchObject({ error_code: 'NOT_CONFIGURED', details: { variables: ['NOSTR_RELAYS'] } });
  });

  it('the response does not show a secret in a relay’s URL', async () => {
    const url = `${relays[0].url}/?token=hidden`;
    const text = JSON.stringify((await nostrService([url]).get('feed')).body);
    expect(text).toContain(relays[0].url);
    expect(text).not.toContain('hidden');
  });
});
