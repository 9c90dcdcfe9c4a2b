/**
 * Composes the custodian for all tests: the production modules over fakes, which a test may replace. Unit
 * tests and the tests of mints and proofs use it.
 */

import { base64 } from '@scure/base';
import { signedTransaction } from '../../src/chain/solana/transaction.ts';
import { quoteBudgets } from '../../src/core/call-limits.ts';
import type { SwapRequest } from '../../src/custody/api.ts';
import { Custodian } from '../../src/custody/custodian.ts';
import type { CustodyDeps } from '../../src/custody/dependencies.ts';
import { Journal } from '../../src/custody/kernel/journal.ts';
import type { Operation } from '../../src/custody/kernel/operation.ts';
import type { Storage } from '../../src/custody/kernel/ports.ts';
import type { LookUp } from '../../src/custody/nodes/signature-lookups.ts';
import type { ChainTransaction } from '../../src/providers/solana-rpc.ts';
import { RESERVE } from './addresses.ts';
import { createFakeBridge, createSwapPorts } from './fake-bridge.ts';
import { createFakeChain } from './fake-chain.ts';
import { createFakeMirror } from './fake-mirror.ts';
import { LIMITS } from './limits.ts';
import { NOW, SOL } from './sample-operations.ts';
import { createSqliteStorage, type SqliteStorage } from './sqlite-storage.ts';

/** Makes bytes and signature as in production. Those of the fakes are short and readable instead. */
export const assembleTransaction: CustodyDeps['assemble'] = (message, signature, cosignatures) => {
  const { wire, signature: text } = signedTransaction(message, [signature, ...cosignatures]);
  return { wire: base64.encode(wire), signature: text };
};

/** A look-up that does not wait: each transaction is final or pending at once. */
export const lookUpOf =
  (transaction: (signature: string) => Promise<ChainTransaction | null>): LookUp =>
  async ({ signature }) => {
    const found = await transaction(signature);
    return found ? { type: 'final', transaction: found } : { type: 'pending' };
  };

/** Every dependency of a custodian, and the custodian that has them over any storage. */
export function createCustodyFakes(change: Partial<CustodyDeps> = {}) {
  const clock = { now: NOW };
  const chain = createFakeChain(() => clock.now);
  const bridge = createFakeBridge();
  const mirror = createFakeMirror();
  const swap = createSwapPorts(bridge);
  const logged: string[] = [];
  let keys = 0;
  let signatures = 0;
  const deps: CustodyDeps = {
    chain,
    mirror,
    swap,
    effects: (signature) => (change.swap ?? swap).transaction(signature),
    watched: { accounts: [] },
    signer: { address: RESERVE, sign: async () => new Uint8Array(64).fill(++signatures) },
    limits: LIMITS,
    swapsDisabled: false,
    quoteBudgets: quoteBudgets(180),
    assemble: (_message, signature) => ({
      wire: `wire-${signature[0]}`,
      signature: `signature-${signature[0]}`,
    }),
    now: () => clock.now,
    randomId: () => `random-${++keys}`,
    openCircuits: () => [],
    probeNodes: async () => [],
    within: (work) => work,
    lookUp: lookUpOf((signature) => (change.payments ?? change.swap ?? swap).transaction(signature)),
    log: (line) => logged.push(String(line.event)),
    ...change,
  };
  return {
    clock,
    chain,
    bridge,
    mirror,
    swap,
    logged,
    deps,
    /** An instance on this storage. */
    start: (storage: Storage) => new Custodian(storage, deps),
    /** How many signatures were made. */
    signatures: () => signatures,
  };
}

const MINUTE_MS = 60_000;
const MOST_ALARMS = 5_000;

export type CustodianWorld = ReturnType<typeof createCustodianWorld>;

/** A custodian over storage in memory. A second instance may be started on the same storage, as after an eviction. */
export function createCustodianWorld(
  change: Partial<CustodyDeps> = {},
  storage: SqliteStorage = createSqliteStorage(),
) {
  const fakes = createCustodyFakes(change);
  const { clock } = fakes;
  const start = (on: Storage = storage) => fakes.start(on);
  const custody = start();
  /** The stored state, as a new instance would read it. */
  const journal = new Journal(storage);
  return {
    ...fakes,
    storage,
    custody,
    /** Fires every alarm within this time and, with `cron`, the cron of each minute. Returns the number of alarms. */
    async pass(ms: number, cron = false): Promise<number> {
      const end = clock.now + ms;
      let minute = cron ? clock.now + MINUTE_MS : Number.POSITIVE_INFINITY;
      for (let fired = 0; ; ) {
        const alarm = storage.alarm ?? Number.POSITIVE_INFINITY;
        const next = Math.min(alarm, minute);
        clock.now = Math.max(clock.now, Math.min(next, end));
        if (next > end) return fired;
        if (alarm <= minute) {
          await custody.alarm();
          fired++;
        } else {
          await custody.wake();
          minute += MINUTE_MS;
        }
      }
    },
    /** Fires alarms until the condition is met; returns their number. */
    async passUntil(isMet: () => boolean, of: Custodian = custody): Promise<number> {
      for (let fired = 0; fired < MOST_ALARMS; fired++) {
        if (isMet()) return fired;
        if (storage.alarm === null) throw new Error('no alarm is set');
        clock.now = Math.max(clock.now, storage.alarm);
        await of.alarm();
      }
      throw new Error('the condition was never met');
    },
    /** Another instance on the same storage. */
    start,
    journal,
    /** Stores an operation, as an earlier instance would have done. */
    add: (operation: Operation): Operation => storage.transaction(() => journal.insert(operation)),
  };
}

/** A request for a swap; each client has its own hourly limit. */
export const request = (change: Partial<SwapRequest> = {}): SwapRequest => ({
  amountLamports: SOL,
  client: '192.0.2.1',
  ...change,
});

export const keyed = (name: string, change: Partial<SwapRequest> = {}): SwapRequest =>
  request({ key: { keyHash: `key-${name}`, bodyHash: `body-${SOL}` }, ...change });
