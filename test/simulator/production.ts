/**
 * The code under test, loaded from a folder: `src` itself, or a copy of it with one rule broken.
 * @module
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

export type Production = typeof import('../../src/custody/custodian.ts') &
  typeof import('../../src/wiring/custody.ts') &
  typeof import('../../src/config.ts') &
  typeof import('../../src/providers/esplora.ts') &
  typeof import('../../src/providers/near-intents.ts') &
  typeof import('../../src/providers/price-venues.ts') &
  typeof import('../../src/bridges/near-intents.ts') &
  typeof import('../../src/custody/kernel/operation.ts') &
  typeof import('../../src/providers/solana-rpc.ts') &
  typeof import('../../src/core/errors.ts') &
  typeof import('../../src/custody/kernel/signer.ts') &
  typeof import('../../src/core/call-limits.ts') &
  typeof import('../../src/providers/admission.ts') & {
    /** Text of schema.sql. */
    readonly schema: string;
    /** An earlier release: every second instance runs it, so that each restart is an upgrade or a rollback. */
    readonly previous?: Production;
  };

const FILES = [
  'custody/custodian.ts',
  'wiring/custody.ts',
  'config.ts',
  'providers/esplora.ts',
  'providers/near-intents.ts',
  'providers/price-venues.ts',
  'bridges/near-intents.ts',
  'custody/kernel/operation.ts',
  'providers/solana-rpc.ts',
  'core/errors.ts',
  'custody/kernel/signer.ts',
  'core/call-limits.ts',
  'providers/admission.ts',
];

export const OWN_SOURCE = join(import.meta.dirname, '../../src');

/**
 * @param source   folder with the layout of `src`, next to its schema.sql
 * @param previous the same of an earlier release
 */
export async function loadProduction(source: string, previous?: string): Promise<Production> {
  const modules = await Promise.all(FILES.map((file) => import(pathToFileURL(join(source, file)).href)));
  const schema = readFileSync(join(source, '../schema.sql'), 'utf8');
  const before = previous === undefined ? {} : { previous: await loadProduction(previous) };
  return Object.assign({ schema, ...before }, ...modules);
}
