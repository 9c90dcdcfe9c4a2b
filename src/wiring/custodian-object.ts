/**
 * The Durable Object named `custodian`, the only code that signs. An object with another name refuses every call and
 * does not write. The platform exposes only the methods of the class's prototype, so other members are unreachable.
 * @module
 */
import { DurableObject } from 'cloudflare:workers';
import { AppError } from '../core/errors.ts';
import {
  type ClaimRequest,
  type ConfirmRequest,
  CUSTODIAN_NAME,
  type CustodianRpc,
  type EstimateRequest,
  type NotServed,
  type OpenRequest,
  type SwapRequest,
} from '../custody/api.ts';
import { Custodian } from '../custody/custodian.ts';
import type { Storage } from '../custody/kernel/ports.ts';
import type { OpsCommand } from '../custody/operator-api.ts';
import { CallSlots, type Priority } from '../providers/admission.ts';
import { custodyDeps } from './custody.ts';

/**
 * Maximum concurrent calls to one read-only method. Further calls are refused, so that a burst of reads does not block
 * work on money on the only thread.
 */
const MAX_READS = 32;

export class CustodianObject extends DurableObject<Env> implements CustodianRpc {
  /**
   * An AppError if settings are missing; undefined in an object with another name. After any other error during its
   * creation, the platform resets the object.
   */
  readonly #custodian: Custodian | AppError | undefined;
  readonly #slots = new CallSlots();
  /** Number of running calls for each public method that does not sign. */
  readonly #reads = new Map<keyof CustodianRpc, number>();

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env);
    this.#custodian = ctx.id.name === CUSTODIAN_NAME ? custodianOf(ctx, env) : undefined;
  }

  createSwap(request: SwapRequest) {
    return this.#call((custodian) => custodian.createSwap(request));
  }
  estimateSwap(request: EstimateRequest) {
    return this.#read('estimateSwap', (custodian) => custodian.estimateSwap(request));
  }
  findSwap(signature: string) {
    return this.#read('findSwap', (custodian) => custodian.findSwap(signature));
  }
  swapRoom() {
    return this.#read('swapRoom', (custodian) => custodian.swapRoom());
  }
  report() {
    return this.#call((custodian) => custodian.report());
  }
  operatorView() {
    return this.#call((custodian) => custodian.operatorView());
  }
  probeNodes() {
    return this.#read('probeNodes', (custodian) => custodian.probeNodes());
  }
  signingState() {
    return this.#call((custodian) => custodian.signingState());
  }
  openRequest(request: OpenRequest) {
    return this.#call((custodian) => custodian.openRequest(request));
  }
  findRequest(id: string) {
    return this.#read('findRequest', (custodian) => custodian.findRequest(id));
  }
  confirmPayment(request: ConfirmRequest) {
    return this.#call((custodian) => custodian.confirmPayment(request));
  }
  proof() {
    return this.#call((custodian) => custodian.proof());
  }
  draftProof() {
    return this.#call((custodian) => custodian.draftProof());
  }
  submitProof(signature: string) {
    return this.#call((custodian) => custodian.submitProof(signature));
  }
  previewMint() {
    return this.#call((custodian) => custodian.previewMint(), 'user');
  }
  listMints(limit: number) {
    return this.#call((custodian) => custodian.listMints(limit));
  }
  wake() {
    return this.#call((custodian) => custodian.wake());
  }
  claimDeposit(request: ClaimRequest) {
    return this.#call((custodian) => custodian.claimDeposit(request));
  }
  findClaim(signature: string) {
    return this.#read('findClaim', (custodian) => custodian.findClaim(signature));
  }
  listAsryEpochs(limit: number) {
    return this.#read('listAsryEpochs', (custodian) => custodian.listAsryEpochs(limit));
  }
  ops(command: OpsCommand) {
    return this.#call((custodian) => custodian.ops(command));
  }

  override async alarm(): Promise<void> {
    const custodian = this.#custodian;
    if (custodian === undefined) return this.ctx.storage.deleteAlarm();
    if (custodian instanceof AppError) return;
    await this.#slots.run('own', () => custodian.alarm());
  }

  /**
   * The object has one thread. Each read yields once before it starts, so that the timer, create calls and confirm
   * calls that have arrived run first. All reads of a burst are counted before any of them starts.
   */
  async #read<T>(
    verb: keyof CustodianRpc,
    work: (custodian: Custodian) => Promise<T>,
  ): Promise<T | NotServed> {
    const running = this.#reads.get(verb) ?? 0;
    if (running >= MAX_READS) return { busy: true };
    this.#reads.set(verb, running + 1);
    try {
      await scheduler.wait(0);
      return await this.#call(work, 'user');
    } finally {
      this.#reads.set(verb, (this.#reads.get(verb) ?? 1) - 1);
    }
  }

  async #call<T>(
    work: (custodian: Custodian) => Promise<T>,
    priority: Priority = 'own',
  ): Promise<T | NotServed> {
    const custodian = this.#custodian;
    if (custodian === undefined) return { notCustodian: true };
    try {
      if (custodian instanceof AppError) throw custodian;
      return await this.#slots.run(priority, () => work(custodian));
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      const { code, message, status, retryAfterSeconds, action, details } = error;
      return { failed: { code, message, status, retryAfterSeconds, action, details } };
    }
  }
}

const isNotConfigured = (error: unknown): error is AppError =>
  error instanceof AppError && error.code === 'NOT_CONFIGURED';

function custodianOf(ctx: DurableObjectState, env: Env): Custodian | AppError {
  try {
    return new Custodian(platformStorage(ctx), custodyDeps(env));
  } catch (error) {
    if (isNotConfigured(error)) return error;
    throw error;
  }
}

/** Delay of the restart, so that the response to the operator's command is sent first. */
const RESTART_MS = 5_000;

function platformStorage(ctx: DurableObjectState): Storage {
  const { storage } = ctx;
  return {
    exec: (query, ...params) =>
      storage.sql.exec<ReturnType<Storage['exec']>[number]>(query, ...params).toArray(),
    transaction: (work) => storage.transactionSync(work),
    sync: () => storage.sync(),
    setAlarm: (at) => (at === null ? storage.deleteAlarm() : storage.setAlarm(at)),
    bytes: () => storage.sql.databaseSize,
    async restore(at) {
      await storage.onNextSessionRestoreBookmark(await storage.getBookmarkForTime(at));
      setTimeout(() => ctx.abort('the storage is restored'), RESTART_MS);
    },
  };
}
