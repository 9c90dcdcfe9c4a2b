/** A router of the Nostr feeds that reads real relays on loopback, and the events of such relays. */
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { finalizeEvent, generateSecretKey, getPublicKey, type NostrEvent } from 'nostr-tools/pure';
import { WebSocketServer } from 'ws';
import { createFeedReader } from '../../src/features/nostr-feed/read-feed.ts';
import { nostrFeedRoutes } from '../../src/features/nostr-feed/routes.ts';
import { Cache } from '../../src/http/cached.ts';
import { createNostrRelays } from '../../src/providers/nostr-relays.ts';
import { routerOver } from '../kit/router.ts';

export type FeedAnswer = {
  ok: boolean;
  error: string | null;
  posts: { id: string; created_at: number; content: string; kind: number; pubkey: string }[];
  next_cursor: string | null;
  next_until: number | null;
  relay_status: { relay: string; ok: boolean; state: string; rejected: number; events: number }[];
  stale: boolean;
} & Record<string, unknown>;

const author = generateSecretKey();
export const authorPubkey = getPublicKey(author);
export const AI = [
  ['L', 'agent'],
  ['l', 'ai', 'agent'],
];

/** A signed note, as JSON would bring it. */
export function note(fields: {
  created_at: number;
  content?: string;
  tags?: string[][];
  kind?: number;
  secret?: Uint8Array;
}): NostrEvent {
  const { created_at, content = '', tags = AI, kind = 1111, secret = author } = fields;
  return JSON.parse(JSON.stringify(finalizeEvent({ created_at, content, tags, kind }, secret))) as NostrEvent;
}

/** No test waits this long. */
const PATIENCE_MS = 20_000;

/** A service with an empty cache. */
export function nostrService(urls: readonly string[], over: { identity?: string; feeds?: undefined } = {}) {
  const { identity } = over;
  const feeds =
    'feeds' in over
      ? undefined
      : createFeedReader({
          relays: createNostrRelays({ urls, connect: (url) => new WebSocket(url), deadlineMs: PATIENCE_MS }),
          memory: new Cache({ now: Date.now, defer: (work) => void work }),
          now: Date.now,
        });
  const request = routerOver(
    () => ({ nostr: { feeds, identity } }),
    (app) => app.route('/api', nostrFeedRoutes),
  );
  return {
    async get(path: string): Promise<{ status: number; body: FeedAnswer }> {
      const response = await request(`/api/nostr/${path}`);
      return { status: response.status, body: (await response.json()) as FeedAnswer };
    },
  };
}

/** A relay that answers every query with the same messages. `$` is replaced by the subscription. */
export async function startScriptedRelay(messages: readonly string[]) {
  let connections = 0;
  const server = new WebSocketServer({ host: '127.0.0.1', port: 0 });
  await once(server, 'listening');
  server.on('connection', (client) => {
    connections++;
    client.on('error', () => client.terminate());
    client.on('message', (data: Buffer) => {
      const [type, subscription] = JSON.parse(data.toString('utf8')) as [string, string];
      if (type !== 'REQ') return;
      for (const message of messages) client.send(message.replace('"$"', JSON.stringify(subscription)));
    });
  });
  return {
    url: `ws://127.0.0.1:${(server.address() as AddressInfo).port}`,
    connections: () => connections,
    async stop() {
      for (const client of server.clients) client.terminate();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

export const eventMessage = (event: unknown): string => JSON.stringify(['EVENT', '$', event]);
export const EOSE = '["EOSE","$"]';
