/**
 * The D1 database of the page views: a database of its own where `ANALYTICS_DB` is bound, so that neither their volume
 * nor their size can stop the custodian's mirror. Without that binding it is `DB`. The binding is optional in
 * wrangler.toml, so the generated type of `Env` does not have it.
 */
export const analyticsDatabase = (env: Env & { readonly ANALYTICS_DB?: D1Database }): D1Database =>
  env.ANALYTICS_DB ?? env.DB;
