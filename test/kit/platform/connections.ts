/**
 * At most six connections of one invocation may wait for their headers at once. Further ones queue, and their time
 * limits run meanwhile. Fetch, KV and WebSockets use connections. A Durable Object is one invocation.
 * @see https://developers.cloudflare.com/workers/platform/limits/#simultaneous-open-connections
 * @module
 */
import { AsyncLocalStorage } from 'node:async_hooks';

const MAX_CONNECTIONS = 6;

/** The connections of one invocation. */
export class Connections {
  #open = 0;
  readonly #queue = new Set<() => void>();

  /** @param open resolves when the headers have arrived @param signal ends the wait in the queue as well */
  async use<T>(open: () => Promise<T>, signal?: AbortSignal | null): Promise<T> {
    if (this.#open >= MAX_CONNECTIONS) await this.#turn(signal);
    this.#open += 1;
    try {
      return await open();
    } finally {
      this.#open -= 1;
      this.#queue.values().next().value?.();
    }
  }

  #turn(signal: AbortSignal | null | undefined): Promise<void> {
    return new Promise((resolve, reject) => {
      const leave = (): void => {
        this.#queue.delete(leave);
        signal?.removeEventListener('abort', abort);
        resolve();
      };
      const abort = (): void => {
        this.#queue.delete(leave);
        reject(signal?.reason);
      };
      if (signal?.aborted) return abort();
      this.#queue.add(leave);
      signal?.addEventListener('abort', abort);
    });
  }
}

const invocations = new AsyncLocalStorage<Connections>();

/** Runs an invocation, or an event of a Durable Object, on its connections. */
export const onConnections = <T>(connections: Connections, work: () => T): T =>
  invocations.run(connections, work);

/** Opens a connection of the current invocation, when it has its turn. */
export function connect<T>(open: () => Promise<T>, signal?: AbortSignal | null): Promise<T> {
  const connections = invocations.getStore();
  return connections ? connections.use(open, signal) : open();
}

/** A namespace whose every call is a connection. */
export const queuedKv = (kv: KVNamespace): KVNamespace =>
  new Proxy(kv, {
    get(target, name) {
      const member: unknown = Reflect.get(target, name);
      if (typeof member !== 'function') return member;
      return (...args: unknown[]) => connect(async () => Reflect.apply(member, target, args));
    },
  });

/** A socket that connects when it has its turn. It dispatches the events that relays need. */
export function queuedWebSocket(Socket: typeof WebSocket) {
  return class QueuedWebSocket extends EventTarget {
    #socket: WebSocket | undefined;
    #isClosed = false;

    constructor(url: string) {
      super();
      connect(async () => {
        if (!this.#isClosed) await this.#connect(url);
      }).catch(() => this.dispatchEvent(new Event('error')));
    }

    #connect(url: string): Promise<void> {
      const socket = new Socket(url);
      this.#socket = socket;
      socket.addEventListener('message', ({ data }) =>
        this.dispatchEvent(new MessageEvent('message', { data })),
      );
      return new Promise((resolve) => {
        for (const type of ['open', 'error', 'close'] as const)
          socket.addEventListener(type, () => {
            resolve();
            this.dispatchEvent(new Event(type));
          });
      });
    }

    get readyState(): number {
      return this.#socket?.readyState ?? 0;
    }

    send(data: string): void {
      this.#socket?.send(data);
    }

    close(code?: number): void {
      this.#isClosed = true;
      this.#socket?.close(code);
    }
  };
}
