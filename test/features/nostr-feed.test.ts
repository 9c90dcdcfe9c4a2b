import { decode, npubEncode } from 'nostr-tools/nip19';
import { generateSecretKey, getPublicKey, type NostrEvent } from 'nostr-tools/pure';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { eachRow, eachScene } from '../kit/scenes.ts';
import { createFaultBook } from '../world/fault-book.ts';
import { startRelay } from '../world/relay.ts';
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
const NOBODY = 'ws://127.0.0.1:1';
const stops: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0)) await stop();
});

async function scripted(...messages: string[]) {
  const relay = await startScriptedRelay(messages);
  stops.push(relay.stop);
  return relay;
}

/** A real relay with these events. */
async function relayWith(...events: NostrEvent[]): Promise<string> {
  const [faults, counts] = [createFaultBook(), createRequestCounts()];
  const relay = await startRelay({ name: 'relay', faults, counts });
  stops.push(() => relay.stop());
  relay.seed(events);
  return relay.url;
}

const contents = ({ posts }: FeedAnswer): string[] => posts.map(({ content }) => content);
const good = note({ created_at: NOW - 10, content: 'good' });

describe('relays are not trusted', () => {
  const honest = note({ created_at: NOW - 11, content: 'honest' });
  const upper = ({ id, pubkey }: NostrEvent) => ({ id: id.toUpperCase(), pubkey: pubkey.toUpperCase() });
  eachRow<[what: string, how: 'signed' | 'changed', change: object | null]>(`
    a wrong kind                 | signed  | { "kind": 1 }
    a note without a label       | signed  | { "tags": [["t", "ai"]] }
    a label of another topic     | signed  | { "tags": [["L", "agent"], ["l", "cooking", "agent"]] }
    a date in the far future     | signed  | { "created_at": ${NOW + 86_400} }
    a time with a fraction       | signed  | { "created_at": ${NOW - 20.5} }
    a time before 1970           | signed  | { "created_at": -1 }
    a forged id                  | changed | { "id": "${'a'.repeat(64)}" }
    the signature of another one | changed | { "sig": "${good.sig}" }
    the name of another author   | changed | { "pubkey": "${getPublicKey(generateSecretKey())}" }
    other content                | changed | { "content": "after" }
    an upper-case id             | changed | { "id": "${upper(honest).id}" }
    an upper-case author         | changed | { "pubkey": "${upper(honest).pubkey}" }
    an id that is a number       | changed | { "id": 5 }
    no signature                 | changed | { "sig": null }
    a signature that is a number | changed | { "sig": 5 }
    content that is a number     | changed | { "content": 5 }
    tags that are no list        | changed | { "tags": {} }
    a tag that is no list        | changed | { "tags": [null] }
    a tag with a number          | changed | { "tags": [["l", 5]] }
    null in place of members     | changed | null
  `)('the feed rejects an event with %s, %s by its author', async (_what, how, change) => {
    const signed = how === 'signed' ? note({ created_at: NOW - 11, ...change }) : { ...honest, ...change };
    const event = change === null ? null : signed;
    const { url } = await scripted(eventMessage(event), eventMessage(good), EOSE);
    const { status, body } = await nostrService([url]).get('feed');
    expect([status, contents(body), body.relay_status[0]?.rejected]).toEqual([200, ['good'], 1]);
  });

  const large = eventMessage(note({ created_at: NOW - 1, content: 'x'.repeat(66_000) }));
  const SENT: Readonly<Record<string, readonly string[]>> = {
    'a post': [eventMessage(good)],
    'its end': [EOSE],
    'other messages': [
      ...['', 'no json {', 'null', '{}', '[]', '[1]', '["EVENT"]', '["EOSE",1]', '["EOSE","other"]'],
      ...['["NOTICE","hi"]', '["OK","id",true,""]', '["CLOSED","other","error: no"]'],
    ],
    '64 KiB': [large],
    '2 MiB': Array(40).fill(large),
    'a message of 3 MiB': ['x'.repeat(3 * 1024 * 1024)],
    'thirty forgeries': Array.from({ length: 30 }, (_, index) =>
      eventMessage({ ...note({ created_at: NOW - index }), sig: good.sig }),
    ),
    'a refusal': ['["CLOSED","$","auth-required: members only"]'],
  };
  eachScene(`
    other messages, a post, its end | good | eose
    64 KiB, a post, its end         | good | eose
    a post, 2 MiB                   | good | too_large
    a post, a message of 3 MiB      | good | too_large
    thirty forgeries, its end       |      | forged 20
    a refusal                       |      | closed
  `)('of a relay that sends %s, the feed shows "%s" and the state %s', async (sent = '', shown, state) => {
    const encode = vi.spyOn(TextEncoder.prototype, 'encode');
    const { url } = await scripted(...sent.split(', ').flatMap((name) => SENT[name] ?? []));
    const { body } = await nostrService([url]).get('feed?limit=50');
    const longest = Math.max(...encode.mock.calls.map(([text = '']) => text.length));
    encode.mockRestore();
    const [relay] = body.relay_status;
    const [end, rejected = '0'] = (state ?? '').split(' ');
    expect(contents(body).join()).toBe(shown);
    expect(relay).toMatchObject({ ok: end === 'eose', state: end, rejected: Number(rejected) });
    // A message is measured without a copy of it.
    expect(longest).toBeLessThan(64 * 1024);
  });
});

describe('relays that fail', () => {
  it('the feed reports a relay that is down', async () => {
    const { url } = await scripted(eventMessage(good), EOSE);
    const { status, body } = await nostrService([NOBODY, url]).get('feed');
    expect([status, contents(body)]).toEqual([200, ['good']]);
    expect(body).toMatchObject({ ok: true, error: null });
    const common = { partial: false, rejected: 0 };
    expect(body.relay_status).toEqual([
      { ...common, relay: NOBODY, ok: false, state: 'unreachable', events: 0 },
      { ...common, relay: url, ok: true, state: 'eose', events: 1 },
    ]);
  });

  it('returns 500 with ok false, the error body and the feed’s own members when all relays fail', async () => {
    const refusing = await scripted('["CLOSED","$","auth-required: members only"]');
    const urls = [NOBODY, refusing.url];
    const service = nostrService(urls, { identity: authorPubkey });
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
        { ...common, relay: urls[1], state: 'closed' },
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
    expect(body.posts.map(({ id }) => id)).toEqual(tied.map(({ id }) => id).sort());
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

  it('a post has the fields of the contract and the fields of the Nostr specifications (NIPs)', async () => {
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
    const { url } = await scripted(eventMessage(other), eventMessage(mine), EOSE);
    const { status, body } = await nostrService([url], { identity: authorPubkey }).get('posts');
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
    const relay = await scripted();
    const { status, body } = await nostrService([relay.url]).get('posts?until=5');
    expect(status).toBe(200);
    expect(body).toEqual({
      ...{ ok: false, code: 'NO_IDENTITY', error: expect.stringContaining('NOSTR_NPUB') },
      ...{ npub: null, pubkey: null, relays: [relay.url], relay_status: [] },
      ...{ posts: [], limit: 100, until: 5, next_until: null, next_cursor: null, as_of: null, stale: false },
    });
    expect(relay.connections()).toBe(0);
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
    const relay = await scripted();
    const { status, body } = await nostrService([relay.url], { identity: authorPubkey }).get(path);
    expect(status).toBe(400);
    expect(body).toMatchObject({ error_code: 'INVALID_INPUT', action: 'fix_request' });
    expect(relay.connections()).toBe(0);
  });

  it('the feed reads at most five relays', async () => {
    const relay = await scripted(EOSE);
    const { body } = await nostrService(Array(7).fill(relay.url)).get('feed');
    expect([body.relays, relay.connections()]).toEqual([Array(5).fill(relay.url), 5]);
  });

  it('returns 503 and names NOSTR_RELAYS when the relay list is invalid', async () => {
    const { status, body } = await nostrService([], { feeds: undefined }).get('feed');
    expect(status).toBe(503);
    expect(body).toMatchObject({ error_code: 'NOT_CONFIGURED', details: { variables: ['NOSTR_RELAYS'] } });
  });

  it('the response does not show a secret in a relay’s URL', async () => {
    const { url } = await scripted(EOSE);
    const text = JSON.stringify((await nostrService([`${url}/?token=hidden`]).get('feed')).body);
    expect(text).toContain(url);
    expect(text).not.toContain('hidden');
  });
});
