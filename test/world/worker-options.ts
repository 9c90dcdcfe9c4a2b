import { existsSync, readFileSync } from 'node:fs';
import { unstable_getMiniflareWorkerOptions, unstable_readConfig, unstable_splitSqlQuery } from 'wrangler';

/** A Worker's configuration for Miniflare, in types that JSON can represent. */
export type WorkerOptions = ReturnType<typeof readWorkerOptions>;

/**
 * Reads a Worker's configuration and the statements of its schema as wrangler does.
 * @param schemaPath applied to D1 where the file exists
 */
export function readWorkerOptions(configPath: string, schemaPath?: string) {
  const config = unstable_readConfig({ config: configPath });
  const { modulesRules: _rules, ...worker } = unstable_getMiniflareWorkerOptions(config).workerOptions;
  const hasSchema = schemaPath !== undefined && existsSync(schemaPath);
  const databases: { readonly binding: string; readonly id: string }[] = config.d1_databases.map(
    (one: { readonly binding: string; readonly database_id?: string }) => ({
      binding: one.binding,
      id: one.database_id ?? one.binding,
    }),
  );
  return {
    worker,
    vars: config.vars,
    compatibilityDate: config.compatibility_date,
    databases,
    crons: config.triggers.crons ?? [],
    schema: hasSchema ? unstable_splitSqlQuery(readFileSync(schemaPath, 'utf8')) : [],
  };
}
