import { applyD1Migrations, type D1Migration, reset } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { beforeEach } from 'vitest';

const MIGRATIONS = Reflect.get(env, 'TEST_SCHEMA') as D1Migration[];

export const migrate = (database: D1Database = env.DB) => applyD1Migrations(database, MIGRATIONS);

/** Gives each test of a file empty storage. A file that does not call this has it once, because it costs 300 ms. */
export function freshStorageForEachTest(): void {
  beforeEach(async () => {
    await reset();
    await migrate();
  });
}
