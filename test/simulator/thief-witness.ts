/**
 * The mint witness in the thief's runs: the real code, in a process that crashes and restarts, with storage that stays.
 * @module
 */
import { encodeBase58 } from '../../src/chain/solana/address.ts';
import { reserveViews } from '../../src/custody/reserve/reserve-views.ts';
import { Witness } from '../../src/witness/cosign.ts';
import type { LastSigned } from '../../src/witness/decision.ts';
import {
  BITCOIN_ADDRESS,
  isSignatureBy,
  signatureBy,
  TERMS,
  type ThiefWorld,
  WITNESS,
} from './thief-world.ts';

/** `before`, `after`: around the write of the row. `response`: the signature is lost on the way. */
type Crash = 'before' | 'after' | 'response';

export type MintWitness = {
  /** The signature, or the code of the refusal. */
  cosign(transaction: string): Promise<Uint8Array | string>;
  restart(): void;
  crashNext(crash: Crash): void;
};

/** The witness's process with its storage. A row that an earlier instance writes after a restart is not stored. */
/** No source hangs. */
export const unlimited = <T>(work: Promise<T>): Promise<T> => work;

export function createMintWitness(world: ThiefWorld, count: (name: string) => void): MintWitness {
  const { nodes, indexes } = world.witnessSide;
  const stored = { row: undefined as LastSigned | undefined, signed: new Set<string>() };
  let crash: Crash | undefined;
  let instance = 0;
  const open = (): Witness => {
    const own = ++instance;
    return new Witness({
      terms: TERMS,
      nodes,
      indexes: indexes.length,
      reserveViews: (depth) => reserveViews({ indexes, bitcoinAddress: BITCOIN_ADDRESS }, depth, unlimited),
      within: unlimited,
      sign: async (message) => signatureBy(WITNESS, message),
      stored: {
        last: () => stored.row,
        hasSigned: (signature) => stored.signed.has(signature),
        async sign(row) {
          await world.scheduler.sleep(1);
          if (own !== instance) throw new Error('replaced');
          if (crash !== 'before') {
            stored.row = row;
            stored.signed.add(row.signature);
          }
          if (crash === 'before' || crash === 'after') die();
        },
      },
      now: () => world.scheduler.now(),
    });
  };
  function die(): never {
    count(`crash ${crash} the row is stored`);
    crash = undefined;
    current = open();
    throw new Error('crashed');
  }
  let current = open();
  return {
    async cosign(transaction) {
      try {
        const result = await current.cosign(transaction);
        if (result.type === 'refused') return result.refusal;
        if (crash !== 'response') return result.signature;
        crash = undefined;
        return 'response lost';
      } catch {
        return 'failed';
      }
    },
    restart() {
      current = open();
    },
    crashNext(kind) {
      crash = kind;
    },
  };
}

/**
 * The signatures of a run are bytes that only `signatureBy` makes. WebCrypto would verify in another thread, and virtual
 * time would pass meanwhile. Returns what restores the platform's verification.
 */
export function modelSignatures(): () => void {
  const { subtle } = crypto;
  const keys = new WeakMap<object, string>();
  Object.assign(subtle, {
    async importKey(_format: string, bytes: Uint8Array) {
      const imported = {};
      keys.set(imported, encodeBase58(bytes));
      return imported;
    },
    verify: async (_algorithm: string, imported: object, signature: Uint8Array, message: Uint8Array) =>
      isSignatureBy(keys.get(imported) ?? '', message, signature),
  });
  return () => {
    Reflect.deleteProperty(subtle, 'importKey');
    Reflect.deleteProperty(subtle, 'verify');
  };
}
