/**
 * The Durable Object: one instance per reserve key, and the only code that signs. The platform exposes only the methods
 * of its prototype, so nothing else of the custodian is reachable.
 * @module
 */
import { DurableObject } from 'cloudflare:workers';
import { AppError } from '../core/errors.ts';
import type {
  ClaimRequest,
  ConfirmRequest,
  CustodianRpc,
  NotConfigured,
  OpenRequest,
  OpsCommand,
  SwapRequest,
} from '../custody/api.ts';
import { type Custody, createCustodian } from '../custody/custodian.ts';
import type { Storage } from '../custody/kernel/ports.ts';
import { custodyDeps } from './custody.ts';

export class Custodian extends DurableObject<Env> implements CustodianRpc {
  /** The failure to create it, if its settings are incomplete. After any other error the platform resets the object. */
  readonly #custody: Custody | AppError;

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env);
    this.#custody = custodyOf(ctx, env);
  }

  createSwap(request: SwapRequest) {
    return this.#call((custody) => custody.createSwap(request));
  }
  previewSwap(request: Omit<SwapRequest, 'key'>) {
    return this.#call((custody) => custody.previewSwap(request));
  }
  findSwap(signature: string) {
    return this.#call((custody) => custody.findSwap(signature));
  }
  swapRoom() {
    return this.#call((custody) => custody.swapRoom());
  }
  report() {
    return this.#call((custody) => custody.report());
  }
  signingState() {
    return this.#call((custody) => custody.signingState());
  }
  openRequest(request: OpenRequest) {
    return this.#call((custody) => custody.openRequest(request));
  }
  findRequest(id: string) {
    return this.#call((custody) => custody.findRequest(id));
  }
  confirmPayment(request: ConfirmRequest) {
    return this.#call((custody) => custody.confirmPayment(request));
  }
  proof() {
    return this.#call((custody) => custody.proof());
  }
  draftProof() {
    return this.#call((custody) => custody.draftProof());
  }
  submitProof(signature: string) {
    return this.#call((custody) => custody.submitProof(signature));
  }
  previewMint() {
    return this.#call((custody) => custody.previewMint());
  }
  listMints(limit: number) {
    return this.#call((custody) => custody.listMints(limit));
  }
  wake() {
    return this.#call((custody) => custody.wake());
  }
  claimDeposit(request: ClaimRequest) {
    return this.#call((custody) => custody.claimDeposit(request));
  }
  findClaim(signature: string) {
    return this.#call((custody) => custody.findClaim(signature));
  }
  listAsryEpochs(limit: number) {
    return this.#call((custody) => custody.listAsryEpochs(limit));
  }
  ops(command: OpsCommand) {
    return this.#call((custody) => custody.ops(command));
  }

  override async alarm(): Promise<void> {
    await this.#call((custody) => custody.alarm());
  }

  async #call<T>(work: (custody: Custody) => Promise<T>): Promise<T | NotConfigured> {
    try {
      if (this.#custody instanceof AppError) throw this.#custody;
      return await work(this.#custody);
    } catch (error) {
      if (!isNotConfigured(error)) throw error;
      const variables = error.details?.variables;
      return { notConfigured: Array.isArray(variables) ? variables.map(String) : [] };
    }
  }
}

const isNotConfigured = (error: unknown): error is AppError =>
  error instanceof AppError && error.code === 'NOT_CONFIGURED';

function custodyOf(ctx: DurableObjectState, env: Env): Custody | AppError {
  try {
    return createCustodian(platformStorage(ctx), custodyDeps(env));
  } catch (error) {
    if (isNotConfigured(error)) return error;
    throw error;
  }
}

/** The response of the operator's command leaves the object before it restarts. */
const RESTART_MS = 5_000;

function platformStorage(ctx: DurableObjectState): Storage {
  const { storage } = ctx;
  return {
    exec: (query, ...params) =>
      storage.sql.exec<ReturnType<Storage['exec']>[number]>(query, ...params).toArray(),
    transaction: (work) => storage.transactionSync(work),
    sync: () => storage.sync(),
    setAlarm: (at) => (at === null ? storage.deleteAlarm() : storage.setAlarm(at)),
    async restore(at) {
      await storage.onNextSessionRestoreBookmark(await storage.getBookmarkForTime(at));
      setTimeout(() => ctx.abort('the storage is restored'), RESTART_MS);
    },
  };
}
