/**
 * The D1 database of the page views. With the binding `ANALYTICS_DB` it is a separate database, so that page
 * views cannot stop the custodian's mirror. Without it, it is `DB`. The binding is optional in wrangler.toml,
 * so the generated type of `Env` does not have it.
 */
export const analyticsDatabase = (env: Env & { readonly ANALYTICS_DB?: D1Database }): D1Database =>
  env.ANALYTICS_DB ?? env.DB;
