/**
 * The limits of the platform that a local workerd does not have, around a Worker's environment and connections.
 *
 * | file | limit |
 * |---|---|
 * | `connections.ts` | six connections of an invocation at once |
 * | `d1.ts` | parameters and bytes of a statement |
 * | `invocation.ts` | number of an invocation's calls, and their end after its client left or its response was sent |
 * | `kv.ts` | delay of reads, rate of writes |
 * @module
 */
import { Connections, connect, onConnections, queuedKv, queuedWebSocket } from './connections.ts';
import { limitedD1 } from './d1.ts';
import { subrequest } from './invocation.ts';
import { PlatformKv } from './kv.ts';

type Limited = { readonly DB: D1Database; readonly KV: KVNamespace };

const limited = new WeakMap<object, object>();

/** Every isolate of the local runtime is in one location. */
let kv: KVNamespace | undefined;

/** The same object for each call with one environment, as the runtime passes it. */
export function onPlatform<E extends Limited>(env: E): E {
  const known = limited.get(env);
  if (known) return known as E;
  kv ??= new PlatformKv(queuedKv(env.KV)).location();
  const made = { ...env, DB: limitedD1(env.DB), KV: kv };
  limited.set(env, made);
  return made;
}

type ObjectClass = new (state: DurableObjectState, env: never) => object;

/** The class of a Durable Object on the platform. All its events share its connections. */
export function objectOnPlatform<C extends ObjectClass>(Deployed: C): ObjectClass {
  const connections = new WeakMap<object, Connections>();
  const OnPlatform = class extends (Deployed as ObjectClass) {
    constructor(state: DurableObjectState, env: never) {
      super(state, onPlatform(env));
      connections.set(this, new Connections());
    }
  };
  for (const name of Object.getOwnPropertyNames(Deployed.prototype)) {
    const verb: unknown = Deployed.prototype[name];
    if (name === 'constructor' || typeof verb !== 'function') continue;
    Object.defineProperty(OnPlatform.prototype, name, {
      value(this: object, ...args: unknown[]) {
        const act = () => Reflect.apply(verb, this, args) as unknown;
        const own = connections.get(this);
        return own ? onConnections(own, act) : act();
      },
    });
  }
  return OnPlatform;
}

const { fetch, WebSocket } = globalThis;
globalThis.fetch = (input, init) => subrequest(() => connect(() => fetch(input, init), init?.signal));
Object.assign(globalThis, { WebSocket: queuedWebSocket(WebSocket) });
