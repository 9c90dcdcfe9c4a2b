/** A whole custodian over fakes; a second instance may be started on the same storage, as after an eviction. */

import type { SwapRequest } from '../../src/custody/api.ts';
import { type CustodyDeps, createCustodian } from '../../src/custody/custodian.ts';
import { openJournal } from '../../src/custody/kernel/journal.ts';
import { createFakeBridge, createSwapPorts, RESERVE } from './fake-bridge.ts';
import { createFakeChain } from './fake-chain.ts';
import { createFakeMirror } from './fake-mirror.ts';
import { LIMITS } from './limits.ts';
import { NOW, SOL } from './sample-operations.ts';
import { createSqliteStorage, type SqliteStorage } from './sqlite-storage.ts';

export type CustodianWorld = ReturnType<typeof createCustodianWorld>;

export function createCustodianWorld(
  change: Partial<CustodyDeps> = {},
  storage: SqliteStorage = createSqliteStorage(),
) {
  const clock = { now: NOW };
  const chain = createFakeChain();
  const bridge = createFakeBridge();
  const mirror = createFakeMirror();
  const swap = createSwapPorts([bridge]);
  const logged: string[] = [];
  let keys = 0;
  let signatures = 0;
  const deps: CustodyDeps = {
    chain,
    mirror,
    swap,
    signer: { address: RESERVE, sign: async () => new Uint8Array(64).fill(++signatures) },
    limits: LIMITS,
    swapsDisabled: false,
    maxCreatesPerClientHour: 6,
    assemble: (_message, signature) => ({
      wire: `wire-${signature[0]}`,
      signature: `signature-${signature[0]}`,
    }),
    now: () => clock.now,
    randomId: () => `random-${++keys}`,
    within: (work) => work,
    log: (line) => logged.push(String(line.event)),
    ...change,
  };
  const start = (on = storage) => createCustodian(on, deps);
  return {
    clock,
    chain,
    bridge,
    mirror,
    swap,
    logged,
    storage,
    deps,
    custody: start(),
    /** Another instance on the same storage. */
    start,
    /** The stored state, as a new instance would read it. */
    journal: openJournal(storage),
    /** How many signatures were made. */
    signatures: () => signatures,
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
