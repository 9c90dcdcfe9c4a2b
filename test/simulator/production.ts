/**
 * The code under test, loaded from a folder: `src` itself, or a copy of it with one rule broken.
 * @module
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Mirror } from '../../src/custody/kernel/ports.ts';
import type { D1Like } from './d1-model.ts';

export type Production = Pick<typeof import('../../src/custody/custodian.ts'), 'createCustodian'> &
  Pick<typeof import('../../src/custody/kernel/solana-view.ts'), 'createSolanaView'> &
  Pick<typeof import('../../src/custody/kernel/operation.ts'), 'decodeOperation'> &
  Pick<typeof import('../../src/providers/solana-rpc.ts'), 'createSolanaRpc' | 'RpcRefusal'> &
  Pick<typeof import('../../src/core/errors.ts'), 'upstreamFailed'> & {
    readonly createD1Mirror: (database: D1Like) => Mirror;
    /** Text of schema.sql. */
    readonly schema: string;
  };

export const OWN_SOURCE = join(import.meta.dirname, '../../src');

/** @param source folder with the layout of `src`, beside its schema.sql */
export async function loadProduction(source: string): Promise<Production> {
  const load = (file: string) => import(pathToFileURL(join(source, file)).href);
  const [custodian, chainPort, outbox, operation, rpc, errors] = await Promise.all([
    load('custody/custodian.ts'),
    load('custody/kernel/solana-view.ts'),
    load('custody/kernel/outbox.ts'),
    load('custody/kernel/operation.ts'),
    load('providers/solana-rpc.ts'),
    load('core/errors.ts'),
  ]);
  return {
    createCustodian: custodian.createCustodian,
    createSolanaView: chainPort.createSolanaView,
    createD1Mirror: outbox.createD1Mirror,
    decodeOperation: operation.decodeOperation,
    createSolanaRpc: rpc.createSolanaRpc,
    RpcRefusal: rpc.RpcRefusal,
    upstreamFailed: errors.upstreamFailed,
    schema: readFileSync(join(source, '../schema.sql'), 'utf8'),
  };
}
