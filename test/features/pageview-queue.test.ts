import { expect, it } from 'vitest';
import { consumePageviews } from '../../src/features/analytics/pageview-queue.ts';

const NOON = Date.parse('2026-11-20T12:00:00.000Z');
const viewOf = (change: object = {}) => ({
  path: '/',
  referrer: '',
  ip: '203.0.113.9',
  visitor: '0'.repeat(32),
  ...change,
});
const messageOf = (change: object = {}) => ({ id: '0'.repeat(24), at: NOON, view: viewOf(), ...change });

it.each<[what: string, body: unknown]>([
  ['text', 'view'],
  ['an id of another length', messageOf({ id: 'abc' })],
  ['a time after the year 9999', messageOf({ at: 8e15 })],
  ['a path over 256 bytes', messageOf({ view: viewOf({ path: `/${'漢'.repeat(85)}x` }) })],
  ['a path with a query', messageOf({ view: viewOf({ path: '/?q=1' }) })],
  ['a path with a control character', messageOf({ view: viewOf({ path: '/\u0000' }) })],
  ['a path of another site', messageOf({ view: viewOf({ path: '//evil.example' }) })],
  ['a referrer over 262 characters', messageOf({ view: viewOf({ referrer: 'x'.repeat(263) }) })],
  ['a host over 253 characters', messageOf({ view: viewOf({ referrerHost: 'x'.repeat(254) }) })],
  ['a long address', messageOf({ view: viewOf({ ip: '1'.repeat(46) }) })],
  ['a visitor that is not a key', messageOf({ view: viewOf({ visitor: 'x' }) })],
])('retries a message with %s, so that it reaches the dead letter queue', async (_what, body) => {
  const calls: string[] = [];
  const message = {
    id: 'm1',
    timestamp: new Date(NOON),
    attempts: 1,
    body,
    ack: () => calls.push('ack'),
    retry: () => calls.push('retry'),
  };
  const analytics = { addMessages: async () => void calls.push('written') };
  await consumePageviews({ analytics, log: () => undefined }, {
    queue: 'pageviews',
    messages: [message],
  } as unknown as MessageBatch);
  expect(calls).toEqual(['retry']);
});

it('retries a failed batch after 2 s, then after longer, and never after more than three hours', async () => {
  const delays: (number | undefined)[] = [];
  const messages = [1, 2, 13, 30].map((attempts) => ({
    id: `m${attempts}`,
    timestamp: new Date(NOON),
    attempts,
    body: messageOf(),
    ack: () => delays.push(undefined),
    retry: ({ delaySeconds }: QueueRetryOptions) => delays.push(delaySeconds),
  }));
  const analytics = { addMessages: () => Promise.reject(new Error('D1_ERROR: overloaded')) };
  const batch = { queue: 'pageviews', messages } as unknown as MessageBatch;
  await consumePageviews({ analytics, log: () => undefined }, batch);
  expect(delays).toEqual([2, 4, 8_192, 10_800]);
});
