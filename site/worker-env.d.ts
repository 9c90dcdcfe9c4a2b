/** The Worker's bindings that shared types mention; the site itself has none. */
interface Env {
  LIMITER: RateLimit;
  NETWORK_LIMITER: RateLimit;
  PROVIDER_LIMITER: RateLimit;
  DB: D1Database;
  KV: KVNamespace;
}

declare module '*.css' {}
