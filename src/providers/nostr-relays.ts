/**
 * Reads from Nostr relays over WebSocket. A relay can be late, send endlessly, forge events, or respond to a different
 * query. Returned events are authentic, match the filter, and arrived within the deadline.
 * @see https://github.com/nostr-protocol/nips/blob/master/01.md
 * @module
 */

import { type Filter, matchFilter } from 'nostr-tools/filter';
import { getEventHash, type NostrEvent, validateEvent, verifyEvent } from 'nostr-tools/pure';
import { tryJson } from '../core/json.ts';
import { keepNewest } from '../core/keep-newest.ts';
import type { Admission } from './admission.ts';

/** Maximum time from the handshake to the last message. */
export const RELAY_DEADLINE_MS = 4_000;
/** Maximum number of relays: as many as a request may call at once. */
const MAX_RELAYS = 5;
/**
 * Maximum size of one message and of all messages of a connection, in UTF-16 units, which need no encoding to measure.
 */
const MAX_RELAY_CHARS = 2 * 1024 * 1024;
const MAX_EVENT_CHARS = 64 * 1024;
/** Maximum number of verified events kept, to avoid a second Schnorr check (0.5 ms). */
const MAX_VERIFIED = 5_000;
/** Rejecting an event costs as much as accepting one, so reading stops after this many rejections. */
const MAX_REJECTED = 20;

/**
 * How a query ended. `eose`: the relay has no more events, or the limit was reached; only this response is complete.
 * `closed`: the relay refused. `skipped`: the relay was not called, because it hung before or too many calls wait.
 * `unreachable`, `lost`: no connection, or a broken one. `forged`: too many events were forged or did not match.
 */
export const RELAY_ENDS = [
  'eose',
  'closed',
  'skipped',
  'unreachable',
  'lost',
  'timeout',
  'too_large',
  'forged',
] as const;
export type RelayEnd = (typeof RELAY_ENDS)[number];

export type RelayAnswer = {
  /** The events in order of arrival; at most the filter's limit. */
  readonly events: readonly NostrEvent[];
  readonly end: RelayEnd;
  /** Events sent, including rejected and oversized ones; the relay's own limit counts all of them. */
  readonly received: number;
  /** Events that were forged, malformed or did not match. */
  readonly rejected: number;
};

/** The relay sends at most `limit` events. */
export type RelayFilter = Filter & { limit: number };

export type RelaySession = {
  /** One query at a time. Never throws: `end` shows a failure. */
  query(filter: RelayFilter): Promise<RelayAnswer>;
  close(): void;
};

export type NostrRelays = ReturnType<typeof createNostrRelays>;

type Options = {
  /** `ws:` or `wss:` URLs; the first five are used. */
  urls: readonly string[];
  connect: (url: string) => WebSocket;
  /** Limits concurrent connections; if absent, every connection starts at once. */
  admission?: Admission | undefined;
  deadlineMs?: number;
};

export function createNostrRelays({ urls, connect, admission, deadlineMs = RELAY_DEADLINE_MS }: Options) {
  const verified = new Map<string, string>();

  function isGenuine(event: NostrEvent): boolean {
    if (verified.get(event.id) === event.sig) return getEventHash(event) === event.id;
    if (!verifyEvent(event)) return false;
    keepNewest(verified, event.id, event.sig, MAX_VERIFIED);
    return true;
  }

  return {
    urls: urls.slice(0, MAX_RELAYS),
    /** A connection that stays open until it is closed or its deadline passes. */
    open: (url: string): RelaySession =>
      new Session({
        connect: () => connect(url),
        admitted: admission?.admit(relayName(urls.indexOf(url)), url),
        deadlineMs,
        isGenuine,
      }),
  };
}

/** A relay's name in the status. */
export const relayName = (index: number): string => `relay-${index + 1}`;

type SessionPorts = {
  connect(): WebSocket;
  /** The connection's admission; if undefined, the connection starts at once. */
  readonly admitted: ReturnType<Admission['admit']> | undefined;
  readonly deadlineMs: number;
  isGenuine(event: NostrEvent): boolean;
};

class Session implements RelaySession {
  readonly #ports: SessionPorts;
  /** Settled when the connection is open, or has ended. */
  readonly #ready = Promise.withResolvers<void>();
  #socket: WebSocket | undefined;
  #isOpen = false;
  #ended: RelayEnd | undefined;
  #chars = 0;
  #subscriptions = 0;
  #receive: ((text: string) => void) | undefined;
  #settle: ((end: RelayEnd) => void) | undefined;
  #leave: ((isTimeout: boolean) => void) | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(ports: SessionPorts) {
    this.#ports = ports;
    if (ports.admitted)
      ports.admitted.then(
        (endCall) => this.#start(endCall),
        () => this.#end('skipped'),
      );
    else this.#start();
  }

  async query(filter: RelayFilter): Promise<RelayAnswer> {
    await this.#ready.promise;
    this.#subscriptions += 1;
    const subscription = `s${this.#subscriptions}`;
    const events = new Map<string, NostrEvent>();
    let received = 0;
    let rejected = 0;

    const take = (value: unknown): void => {
      const event = isEvent(value) ? value : undefined;
      if (event && events.has(event.id)) return;
      if (event && matches(filter, event) && this.#ports.isGenuine(event)) events.set(event.id, event);
      else rejected += 1;
      if (rejected >= MAX_REJECTED) this.#end('forged');
    };

    const end = await new Promise<RelayEnd>((resolve) => {
      if (this.#ended) return resolve(this.#ended);
      this.#settle = resolve;
      this.#receive = (text) => {
        const isOversized = text.length > MAX_EVENT_CHARS;
        const [type, recipient, body] = isOversized ? [] : readMessage(text);
        if (!isOversized && recipient !== subscription) return;
        if (isOversized || type === 'EVENT') received += 1;
        if (type === 'EVENT') take(body);
        if (type === 'CLOSED') resolve('closed');
        if (type === 'EOSE' || received >= filter.limit) resolve('eose');
      };
      this.#send(['REQ', subscription, filter]);
    });
    this.#receive = undefined;
    this.#settle = undefined;
    if (!this.#ended && end === 'eose') this.#send(['CLOSE', subscription]);
    return { events: [...events.values()], end, received, rejected };
  }

  close(): void {
    this.#end('closed');
  }

  #start(endCall?: (isTimeout: boolean) => void): void {
    if (this.#ended) return void endCall?.(false);
    this.#leave = endCall;
    this.#timer = setTimeout(() => this.#end('timeout'), this.#ports.deadlineMs);
    try {
      this.#listen();
    } catch {
      this.#end('unreachable');
    }
  }

  #listen(): void {
    const socket = this.#ports.connect();
    this.#socket = socket;
    if (socket.readyState === 1) this.#open();
    socket.addEventListener('open', () => this.#open());
    socket.addEventListener('error', () => this.#end(this.#isOpen ? 'lost' : 'unreachable'));
    socket.addEventListener('close', () => this.#end(this.#isOpen ? 'lost' : 'unreachable'));
    socket.addEventListener('message', ({ data }: { data: unknown }) => {
      if (typeof data !== 'string') return;
      this.#chars += data.length;
      if (this.#chars > MAX_RELAY_CHARS) this.#end('too_large');
      else this.#receive?.(data);
    });
  }

  #open(): void {
    this.#isOpen = true;
    this.#ready.resolve();
  }

  #send(message: unknown): void {
    try {
      this.#socket?.send(JSON.stringify(message));
    } catch {
      this.#end('lost');
    }
  }

  #end(reason: RelayEnd): void {
    if (this.#ended) return;
    this.#ended = reason;
    clearTimeout(this.#timer);
    this.#leave?.(reason === 'timeout' && this.#chars === 0);
    this.#ready.resolve();
    this.#settle?.(reason);
    try {
      this.#socket?.close(1000);
    } catch {
      // Ignored: the connection was already broken.
    }
  }
}

/** Type, subscription and body of a relay's message; empty if it is malformed. */
function readMessage(text: string): readonly unknown[] {
  const message = tryJson(text);
  return Array.isArray(message) ? message : [];
}

/** `validateEvent` does not check the id, the signature, or that the time is a whole second since 1970. */
function isEvent(value: unknown): value is NostrEvent {
  if (!validateEvent(value)) return false;
  const { id, sig }: Partial<NostrEvent> = value;
  const isTime = Number.isSafeInteger(value.created_at) && value.created_at >= 0;
  return isTime && typeof id === 'string' && typeof sig === 'string';
}

/** `matchFilter` ignores an `until` of 0. */
const matches = (filter: Filter, event: NostrEvent): boolean =>
  event.created_at <= (filter.until ?? event.created_at) && matchFilter(filter, event);
