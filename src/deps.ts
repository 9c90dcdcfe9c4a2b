/**
 * Builds every client and store from the configuration, once an isolate.
 * @module
 */
import { waitUntil } from 'cloudflare:workers';
import type { Deps } from './app.ts';
import { readConfig } from './config.ts';
import { stringifyJson } from './core/json.ts';
import { createCache } from './http/cached.ts';

const log = (line: Readonly<Record<string, unknown>>) => console.log(stringifyJson(line));

function buildApiDeps(env: Env): Deps {
  const config = readConfig(env);
  const cache = createCache({ kv: env.KV, now: Date.now, defer: waitUntil });
  return { log, config, cache, db: env.DB, now: Date.now };
}

let built: Deps | undefined;

/** One set an isolate: caches live in it, and its configuration cannot change. */
export function apiDeps(env: Env): Deps {
  built ??= buildApiDeps(env);
  return built;
}
