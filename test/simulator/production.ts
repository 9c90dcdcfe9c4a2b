/**
 * The code under test, loaded from a folder: `src` itself, or a copy of it with one rule broken.
 * @module
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

export type Production = Pick<typeof import('../../src/custody/custodian.ts'), 'Custodian'> &
  Pick<typeof import('../../src/wiring/custody.ts'), 'composeCustody'> &
  Pick<typeof import('../../src/config.ts'), 'readConfig'> &
  Pick<typeof import('../../src/providers/esplora.ts'), 'createEsplora'> &
  Pick<typeof import('../../src/custody/kernel/operation.ts'), 'decodeOperation'> &
  Pick<
    typeof import('../../src/providers/solana-rpc.ts'),
    'createSolanaRpc' | 'RpcRefusal' | 'asUpstreamFailure'
  > &
  Pick<typeof import('../../src/core/errors.ts'), 'upstreamFailed'> &
  Pick<typeof import('../../src/core/call-limits.ts'), 'nodeCalls'> &
  Pick<typeof import('../../src/providers/admission.ts'), 'Admission' | 'CallSlots'> &
  Pick<typeof import('../../src/custody/kernel/signer.ts'), 'createRemoteSigner'> & {
    /** Text of schema.sql. */
    readonly schema: string;
    /** An earlier release: every second instance runs it, so that each restart is an upgrade or a rollback. */
    readonly previous?: Production;
  };

export const OWN_SOURCE = join(import.meta.dirname, '../../src');

/**
 * @param source   folder with the layout of `src`, next to its schema.sql
 * @param previous the same of an earlier release
 */
export async function loadProduction(source: string, previous?: string): Promise<Production> {
  const load = (file: string) => import(pathToFileURL(join(source, file)).href);
  const [custodian, wiring, config, esplora, operation, rpc, errors, signer, limits, admission] =
    await Promise.all([
      load('custody/custodian.ts'),
      load('wiring/custody.ts'),
      load('config.ts'),
      load('providers/esplora.ts'),
      load('custody/kernel/operation.ts'),
      load('providers/solana-rpc.ts'),
      load('core/errors.ts'),
      load('custody/kernel/signer.ts'),
      load('core/call-limits.ts'),
      load('providers/admission.ts'),
    ]);
  return {
    Custodian: custodian.Custodian,
    composeCustody: wiring.composeCustody,
    readConfig: config.readConfig,
    createEsplora: esplora.createEsplora,
    decodeOperation: operation.decodeOperation,
    createSolanaRpc: rpc.createSolanaRpc,
    RpcRefusal: rpc.RpcRefusal,
    asUpstreamFailure: rpc.asUpstreamFailure,
    upstreamFailed: errors.upstreamFailed,
    createRemoteSigner: signer.createRemoteSigner,
    nodeCalls: limits.nodeCalls,
    Admission: admission.Admission,
    CallSlots: admission.CallSlots,
    schema: readFileSync(join(source, '../schema.sql'), 'utf8'),
    ...(previous === undefined ? {} : { previous: await loadProduction(previous) }),
  };
}
