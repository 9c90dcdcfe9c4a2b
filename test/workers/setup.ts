import { applyD1Migrations, type D1Migration, reset } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { afterEach, beforeEach } from 'vitest';

beforeEach(() => applyD1Migrations(env.DB, Reflect.get(env, 'TEST_SCHEMA') as D1Migration[]));
afterEach(() => reset());
