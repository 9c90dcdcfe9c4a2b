import { createServer } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Event, EventRepository, type Filter } from '@nostr-relay/common';
import { NostrRelay } from '@nostr-relay/core';
import { Validator } from '@nostr-relay/validator';
import { matchFilter } from 'nostr-tools/filter';
import { WebSocketServer } from 'ws';
import type { FaultBook } from './fault-book.ts';
import { listen } from './fault-gate.ts';
import type { RequestCounts } from './request-counts.ts';

export interface Relay {
  /** `ws://` URL. */
  readonly url: string;
  /** Stores events unchanged, forged ones too. */
  seed(events: readonly Event[]): void;
  stop(): Promise<void>;
}

const MAX_LIMIT = 500;

const newestFirst = (a: Event, b: Event): number => b.created_at - a.created_at || (a.id < b.id ? -1 : 1);

/** Stores events in memory, and uses the filter of nostr-tools, because the library's own filter ignores tags. */
class MemoryRepository extends EventRepository {
  readonly events = new Map<string, Event>();
  isSearchSupported(): boolean {
    return false;
  }
  upsert(event: Event): { isDuplicate: boolean } {
    const isDuplicate = this.events.has(event.id);
    this.events.set(event.id, event);
    return { isDuplicate };
  }
  find(filter: Filter): Event[] {
    const limit = Math.min(filter.limit ?? MAX_LIMIT, MAX_LIMIT);
    return [...this.events.values()]
      .filter((event) => matchFilter(filter as Parameters<typeof matchFilter>[0], event))
      .toSorted(newestFirst)
      .slice(0, limit);
  }
  async destroy(): Promise<void> {
    this.events.clear();
  }
}

const INFORMATION = {
  name: 'offline world relay',
  supported_nips: [1, 11],
  limitation: { max_limit: MAX_LIMIT, max_message_length: 65_536, auth_required: false },
};

/**
 * A real Nostr relay in memory. Faults: `drop` (the handshake fails), `hang` (messages are never answered), `delay`, and
 * `noEose` (the end of the stored events is never sent).
 */
export async function startRelay(options: {
  name: string;
  faults: FaultBook;
  counts: RequestCounts;
}): Promise<Relay> {
  const { name, faults, counts } = options;
  const repository = new MemoryRepository();
  const relay = new NostrRelay(repository);
  const validator = new Validator();
  const server = createServer((_request, response) => {
    response.writeHead(200, { 'content-type': 'application/nostr+json', 'access-control-allow-origin': '*' });
    response.end(JSON.stringify(INFORMATION));
  });
  const sockets = new WebSocketServer({ noServer: true });
  server.on('upgrade', (request, socket, head) => {
    counts.add(name, 'connect');
    if (faults.take(name, 'drop', 'connect') !== null) return void socket.destroy();
    sockets.handleUpgrade(request, socket, head, (client) => sockets.emit('connection', client, request));
  });

  sockets.on('connection', (client) => {
    // The library writes through this object, so that output can be delayed or corrupted.
    const out = {
      get readyState() {
        return client.readyState;
      },
      send(data: string, done?: (error?: Error) => void) {
        if (data.startsWith('["EOSE"') && faults.take(name, 'noEose') !== null) return;
        client.send(data, done);
      },
    };
    relay.handleConnection(out, '127.0.0.1');
    client.on('close', () => relay.handleDisconnect(out));
    client.on('error', () => client.terminate());
    client.on('message', async (data: Buffer) => {
      const kind = /^\s*\[\s*"(\w+)"/.exec(data.toString('utf8'))?.[1] ?? 'invalid';
      counts.add(name, kind);
      const delay = faults.take(name, 'delay', kind);
      if (delay !== null) await sleep(delay.ms ?? 1000, undefined, { ref: false });
      if (faults.take(name, 'hang', kind) !== null) return;
      try {
        await relay.handleMessage(out, await validator.validateIncomingMessage(data));
      } catch (error) {
        client.send(JSON.stringify(['NOTICE', error instanceof Error ? error.message : 'invalid']));
      }
    });
  });

  const { port, stop } = await listen(server);
  return {
    url: `ws://127.0.0.1:${port}`,
    seed(events) {
      for (const event of events) repository.upsert(event);
    },
    async stop() {
      for (const client of sockets.clients) client.terminate();
      sockets.close();
      await stop();
      await relay.destroy();
    },
  };
}
