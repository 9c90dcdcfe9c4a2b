/**
 * The limits of the platform that a local workerd does not have, around a Worker's environment.
 * @module
 */
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
  kv ??= new PlatformKv(env.KV).location();
  const made = { ...env, DB: limitedD1(env.DB), KV: kv };
  limited.set(env, made);
  return made;
}

const { fetch } = globalThis;
globalThis.fetch = (input, init) => subrequest(() => fetch(input, init));
