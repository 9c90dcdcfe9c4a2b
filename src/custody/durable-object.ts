/**
 * The Durable Object: one instance a reserve key, the only thing that signs. Calls and alarm go straight through.
 * @module
 */
import { DurableObject } from 'cloudflare:workers';
import type { ClaimRequest, ConfirmRequest, OpenRequest, OpsCommand, SwapRequest } from './api.ts';
import { type Custody, createCustodian } from './custodian.ts';
import type { CustodyDeps } from './custody-deps.ts';
import type { Storage } from './kernel/ports.ts';

export function custodianClass(depsFor: (env: Env) => CustodyDeps) {
  return class extends DurableObject<Env> implements Custody {
    readonly #custody: Custody;

    constructor(ctx: DurableObjectState, env: Env) {
      super(ctx, env);
      this.#custody = createCustodian(platformStorage(ctx), depsFor(env));
    }

    createSwap(request: SwapRequest) {
      return this.#custody.createSwap(request);
    }

    previewSwap(request: Omit<SwapRequest, 'key'>) {
      return this.#custody.previewSwap(request);
    }

    findSwap(signature: string) {
      return this.#custody.findSwap(signature);
    }

    swapRoom() {
      return this.#custody.swapRoom();
    }

    report() {
      return this.#custody.report();
    }

    openRequest(request: OpenRequest) {
      return this.#custody.openRequest(request);
    }

    findRequest(id: string) {
      return this.#custody.findRequest(id);
    }

    confirmPayment(request: ConfirmRequest) {
      return this.#custody.confirmPayment(request);
    }

    proof() {
      return this.#custody.proof();
    }

    draftProof() {
      return this.#custody.draftProof();
    }

    submitProof(signature: string) {
      return this.#custody.submitProof(signature);
    }

    previewMint() {
      return this.#custody.previewMint();
    }

    listMints(limit: number) {
      return this.#custody.listMints(limit);
    }

    claimDeposit(request: ClaimRequest) {
      return this.#custody.claimDeposit(request);
    }

    findClaim(signature: string) {
      return this.#custody.findClaim(signature);
    }

    listAsryEpochs(limit: number) {
      return this.#custody.listAsryEpochs(limit);
    }

    ops(command: OpsCommand) {
      return this.#custody.ops(command);
    }

    wake() {
      return this.#custody.wake();
    }

    override alarm() {
      return this.#custody.alarm();
    }
  };
}

function platformStorage({ storage }: DurableObjectState): Storage {
  return {
    exec: (query, ...params) =>
      storage.sql.exec<ReturnType<Storage['exec']>[number]>(query, ...params).toArray(),
    transaction: (work) => storage.transactionSync(work),
    sync: () => storage.sync(),
    setAlarm: (at) => (at === null ? storage.deleteAlarm() : storage.setAlarm(at)),
  };
}
