/**
 * The Durable Object: one instance per reserve key, and the only code that signs.
 * @module
 */
import { DurableObject } from 'cloudflare:workers';
import { AppError } from '../core/errors.ts';
import type { CustodianApi, NotConfigured } from './api.ts';
import type { Custody } from './custodian.ts';
import type { Storage } from './kernel/ports.ts';

/**
 * Every method that the Worker can call. The platform exposes only methods of the prototype, so nothing else
 * is reachable.
 */
const VERBS: Readonly<Record<keyof CustodianApi, true>> = {
  createSwap: true,
  previewSwap: true,
  findSwap: true,
  swapRoom: true,
  report: true,
  signingState: true,
  openRequest: true,
  findRequest: true,
  confirmPayment: true,
  proof: true,
  draftProof: true,
  submitProof: true,
  previewMint: true,
  listMints: true,
  wake: true,
  claimDeposit: true,
  findClaim: true,
  listAsryEpochs: true,
  ops: true,
};

type Custodian = DurableObject<Env> & CustodianApi;

/** @throws every error except NOT_CONFIGURED, whose variables it returns */
function asNotConfigured(error: unknown): NotConfigured {
  if (!(error instanceof AppError && error.code === 'NOT_CONFIGURED')) throw error;
  const variables = error.details?.variables;
  return { notConfigured: Array.isArray(variables) ? variables.map(String) : [] };
}

/**
 * @param load creates the custodian. Until it has finished, no call reaches the object. If it throws NOT_CONFIGURED,
 * the object does nothing and every verb returns that; after any other error the object is reset
 */
export function custodianClass(load: (storage: Storage, env: Env) => Promise<Custody>) {
  class CustodianObject extends DurableObject<Env> {
    #loading: Promise<Custody> | undefined;

    constructor(ctx: DurableObjectState, env: Env) {
      super(ctx, env);
      void ctx.blockConcurrencyWhile(() => {
        this.#loading = load(platformStorage(ctx), env);
        return this.#loading.catch(asNotConfigured);
      });
    }

    async #call(work: (custody: Custody) => unknown): Promise<unknown> {
      try {
        const custody = await this.#loading;
        if (custody === undefined) throw new Error('the custodian was called before it was created');
        return await work(custody);
      } catch (error) {
        return asNotConfigured(error);
      }
    }

    static {
      for (const verb of Object.keys(VERBS) as (keyof CustodianApi)[]) {
        const value = function (this: CustodianObject, ...args: unknown[]): Promise<unknown> {
          return this.#call((custody) => Reflect.apply(custody[verb], undefined, args));
        };
        Object.defineProperty(CustodianObject.prototype, verb, { value });
      }
    }

    override async alarm(): Promise<void> {
      await this.#call((custody) => custody.alarm());
    }
  }
  return CustodianObject as unknown as new (
    ctx: DurableObjectState,
    env: Env,
  ) => Custodian;
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
