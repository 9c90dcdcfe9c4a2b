/**
 * The Durable Object: one instance per reserve key, and the only code that signs.
 * @module
 */
import { DurableObject } from 'cloudflare:workers';
import type { CustodianApi } from './api.ts';
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

/**
 * @param load creates the custodian. Until it has finished, no call reaches the object; if it throws, the
 * object is reset
 */
export function custodianClass(load: (storage: Storage, env: Env) => Promise<Custody>) {
  class CustodianObject extends DurableObject<Env> {
    #loaded: Custody | undefined;

    constructor(ctx: DurableObjectState, env: Env) {
      super(ctx, env);
      void ctx.blockConcurrencyWhile(async () => {
        this.#loaded = await load(platformStorage(ctx), env);
      });
    }

    get #custody(): Custody {
      if (this.#loaded === undefined) throw new Error('the custodian was called before it was created');
      return this.#loaded;
    }

    static {
      for (const verb of Object.keys(VERBS) as (keyof CustodianApi)[]) {
        const value = function (this: CustodianObject, ...args: unknown[]): unknown {
          return Reflect.apply(this.#custody[verb], undefined, args);
        };
        Object.defineProperty(CustodianObject.prototype, verb, { value });
      }
    }

    override alarm(): Promise<void> {
      return this.#custody.alarm();
    }
  }
  return CustodianObject as unknown as new (
    ctx: DurableObjectState,
    env: Env,
  ) => Custodian;
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
