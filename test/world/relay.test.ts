import { verifyEvent } from 'nostr-tools/pure';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { createFaultBook } from './fault-book.ts';
import { createNostrSeed } from './nostr-seed.ts';
import { type Relay, startRelay } from './relay.ts';
import { createRequestCounts } from './request-counts.ts';

const faults = createFaultBook();
const counts = createRequestCounts();
const seed = createNostrSeed(Date.UTC(2026, 10, 20));
let relay: Relay;

beforeAll(async () => {
  relay = await startRelay({ name: 'relay1', faults, counts });
  relay.seed(seed.events);
});
afterEach(() => faults.clear());
afterAll(() => relay.stop());

/** Everything up to the end of the stored events, or to the end of the connection. */
async function ask(filter: object): Promise<string[]> {
  const socket = new WebSocket(relay.url);
  const lines: string[] = [];
  await new Promise<void>((resolve, reject) => {
    socket.on('open', () => socket.send(JSON.stringify(['REQ', 'one', filter])));
    socket.on('message', (data) => {
      lines.push(String(data));
      if (lines.at(-1)?.startsWith('["EOSE"')) resolve();
    });
    socket.on('close', () => resolve());
    socket.on('error', reject);
  });
  socket.terminate();
  return lines;
}

const eventsIn = (lines: string[]) =>
  lines.filter((line) => line.startsWith('["EVENT"')).map((line) => JSON.parse(line)[2]);

describe('the relay', () => {
  test('serves the seeded comments, newest first, each validly signed', async () => {
    const events = eventsIn(await ask({ kinds: [1111] }));
    expect(events).toHaveLength(seed.events.length);
    expect(events.every((event) => verifyEvent(event))).toBe(true);
    expect(events.map((event) => event.created_at)).toEqual(
      events.map((event) => event.created_at).toSorted((a, b) => b - a),
    );
  });

  test('filters by label and pages by limit and until', async () => {
    const labelled = eventsIn(await ask({ kinds: [1111], '#l': ['ai'] }));
    expect(labelled.length).toBeGreaterThan(0);
    expect(labelled.length).toBeLessThan(seed.events.length);
    const [newest] = eventsIn(await ask({ kinds: [1111], limit: 1 }));
    const older = eventsIn(await ask({ kinds: [1111], limit: 5, until: newest.created_at - 1 }));
    expect(older).toHaveLength(5);
    expect(older.every((event) => event.created_at < newest.created_at)).toBe(true);
  });

  test('refuses garbage with a notice and a handshake with the fault drop', async () => {
    faults.set('relay1', { kind: 'garbage', times: 1 });
    expect(await ask({ kinds: [1111], limit: 1 })).toContain('no json {');
    faults.set('relay1', { kind: 'drop' });
    await expect(ask({})).rejects.toThrow('socket hang up');
  });
});
