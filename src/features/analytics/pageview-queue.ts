/**
 * Page views through a queue. The producer sends one message per view. The consumer writes up to 100 messages
 * in one transaction. The queue delivers a message at least once, so each message has an id, and a message
 * that is already counted changes nothing.
 * @module
 */
import { bytesToHex } from '@noble/hashes/utils.js';
import * as z from 'zod';
import type { AnalyticsStore } from './analytics-store.ts';
import { isSafeText, isStorablePath, MAX_HOST, MAX_REFERRER_STORED } from './count-pageview.ts';

/** Anything else than the producer's shape and bounds is refused: such rows would have no bound in D1. */
const Message = z.object({
  id: z.string().regex(/^[0-9a-f]{24}$/),
  /** Unix milliseconds, before the year 10000. */
  at: z.int().min(0).max(253_402_300_799_999),
  /** Null for a crawler's view, which is only counted. */
  view: z
    .object({
      path: z.string().refine(isStorablePath),
      referrer: z.string().max(MAX_REFERRER_STORED).refine(isSafeText),
      referrerHost: z.string().max(MAX_HOST).refine(isSafeText).optional(),
      ip: z.string().max(45).nullable(),
      visitor: z.string().regex(/^[0-9a-f]{32}$/),
    })
    .nullable(),
});
export type PageviewMessage = z.infer<typeof Message>;

const newId = (): string => bytesToHex(crypto.getRandomValues(new Uint8Array(12)));

/**
 * Adds views by sending them to the queue. If the queue refuses a message, it is written at once under its
 * id, so that it counts once even if the queue has taken it.
 */
export function queuedViews(
  queue: Pick<Queue, 'send'>,
  store: Pick<AnalyticsStore, 'addMessages'>,
): Pick<AnalyticsStore, 'add' | 'addBot'> {
  async function send(message: PageviewMessage): Promise<void> {
    await queue.send(message, { contentType: 'json' }).catch(() => store.addMessages([message]));
  }
  return {
    add: ({ at, ...view }) => send({ id: newId(), at, view }),
    addBot: (at) => send({ id: newId(), at, view: null }),
  };
}

export type ConsumePageviewsDeps = {
  readonly analytics: Pick<AnalyticsStore, 'addMessages'>;
  readonly log: (line: Readonly<Record<string, unknown>>) => void;
};

/** 2 s, 4 s and so on, at most three hours: with 30 retries an outage of two and a half days loses no view. */
const MAX_RETRY_SECONDS = 3 * 3_600;
const retrySeconds = (attempts: number): number => Math.min(2 ** attempts, MAX_RETRY_SECONDS);

/**
 * Writes a batch. An unreadable message is retried until the queue moves it to its dead letter queue. If the
 * write fails, every message is retried later. Never throws.
 */
export async function consumePageviews(
  { analytics, log }: ConsumePageviewsDeps,
  { queue, messages }: Pick<MessageBatch, 'queue' | 'messages'>,
): Promise<void> {
  const read = messages.map((message) => ({ message, ...Message.safeParse(message.body) }));
  for (const { message, error } of read) {
    if (!error) continue;
    log({ level: 'error', event: 'pageview_message_invalid', queue, id: message.id });
    message.retry();
  }
  const valid = read.flatMap(({ message, data }) => (data ? [{ message, data }] : []));
  if (valid.length === 0) return;
  try {
    await analytics.addMessages(valid.map(({ data }) => data));
  } catch (error) {
    const reason = String(error).slice(0, 200);
    log({ level: 'error', event: 'pageviews_not_written', queue, messages: valid.length, reason });
    for (const { message } of valid) message.retry({ delaySeconds: retrySeconds(message.attempts) });
    return;
  }
  for (const { message } of valid) message.ack();
}
