import { AppError, notConfigured } from '../core/errors.ts';
import type { CustodianApi } from '../custody/api.ts';
import { log } from './clients.ts';

/**
 * The custodian's calls over the wire. A call that fails says so; whether it acted is the custodian's to know.
 * @param missing variables without which it does not start
 */
export function custodianClient(
  env: Env,
  reserveAddress: string | null,
  missing: readonly string[],
): CustodianApi {
  async function call<T>(ask: (stub: ReturnType<Env['CUSTODIAN']['getByName']>) => Promise<T>): Promise<T> {
    if (reserveAddress === null || missing.length > 0) throw notConfigured(missing);
    try {
      return await ask(env.CUSTODIAN.getByName(reserveAddress));
    } catch (cause) {
      log({ level: 'error', event: 'custodian_failed', error: String(cause).slice(0, 200) });
      throw new AppError('CUSTODIAN_UNAVAILABLE', 'The custodian does not answer.', {
        retryAfterSeconds: 5,
        cause,
      });
    }
  }
  return {
    createSwap: (request) => call(async (stub) => stub.createSwap(request)),
    previewSwap: (request) => call(async (stub) => stub.previewSwap(request)),
    findSwap: (signature) => call(async (stub) => stub.findSwap(signature)),
    swapRoom: () => call(async (stub) => stub.swapRoom()),
    report: () => call(async (stub) => stub.report()),
    openRequest: (request) => call(async (stub) => stub.openRequest(request)),
    findRequest: (id) => call(async (stub) => stub.findRequest(id)),
    confirmPayment: (request) => call(async (stub) => stub.confirmPayment(request)),
    proof: () => call(async (stub) => stub.proof()),
    draftProof: () => call(async (stub) => stub.draftProof()),
    submitProof: (signature) => call(async (stub) => stub.submitProof(signature)),
    claimDeposit: (request) => call(async (stub) => stub.claimDeposit(request)),
    findClaim: (signature) => call(async (stub) => stub.findClaim(signature)),
    listAsryEpochs: (limit) => call(async (stub) => stub.listAsryEpochs(limit)),
    previewMint: () => call(async (stub) => stub.previewMint()),
    listMints: (limit) => call(async (stub) => stub.listMints(limit)),
    ops: (command) => call(async (stub) => stub.ops(command)),
    wake: () => call(async (stub) => stub.wake()),
  };
}
