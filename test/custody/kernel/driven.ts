/** An executor over real storage with a scripted kind; records the order of all its external effects. */
import { lamports } from '../../../src/core/amount.ts';
import { createExecutor } from '../../../src/custody/kernel/executor.ts';
import { openJournal } from '../../../src/custody/kernel/journal.ts';
import type { Operation, OperationKind, Prepared, Settled } from '../../../src/custody/kernel/operation.ts';
import { createFakeChain } from '../../kit/fake-chain.ts';
import { LIMITS as KIT_LIMITS } from '../../kit/limits.ts';
import { NOW, PAYOUT, SIGNED_AT, SWAP } from '../../kit/sample-operations.ts';
import { createSqliteStorage } from '../../kit/sqlite-storage.ts';
import { budgetOf, type Limits } from '../spending.ts';

export const ready = (change: Partial<Prepared & { ok: true }> = {}): Prepared => ({
  ok: true,
  message: Uint8Array.of(1, 2, 3),
  signedAt: SIGNED_AT,
  plan: { route: 'near-intents', minimumSats: '124000' },
  cost: 10n,
  claims: ['deposit:a'],
  ...change,
});
export const pending: Settled = { settlement: { state: 'pending', detail: 'settling' }, claims: [] };

export const LIMITS: Limits = { ...KIT_LIMITS, maxCostDay: lamports(100n), floor: lamports(0n) };

export function setUp(kindChange: Partial<OperationKind> = {}) {
  const storage = createSqliteStorage();
  const journal = openJournal(storage);
  const chain = createFakeChain();
  const clock = { now: NOW };
  const order: string[] = [];
  const logged: string[] = [];
  let stopped: string | undefined;
  const kind: OperationKind = {
    rules: SWAP,
    prepare: async () => ready(),
    settle: async () => pending,
    ...kindChange,
  };
  const watched = {
    ...chain,
    send: async (wire: string) => {
      order.push('send');
      return chain.send(wire);
    },
  };
  const executor = createExecutor({
    journal,
    storage: {
      ...storage,
      sync: async () => {
        order.push(`sync ${journal.latest(1)[0]?.state}`);
        return storage.sync();
      },
    },
    chain: watched,
    signer: {
      address: 'reserve',
      sign: async () => {
        order.push('sign');
        return new Uint8Array(64).fill(7);
      },
    },
    kinds: { swap: kind, asry: { ...kind, rules: PAYOUT } },
    budgetOf: (kind) => budgetOf(kind, LIMITS),
    now: () => clock.now,
    log: (line) => logged.push(String(line.event)),
    isVerified: () => true,
    stop: () => stopped,
    assemble: (message, signature) => ({
      wire: `wire ${message.length}`,
      signature: `signature ${signature[0]}`,
    }),
  });
  const add = (op: Operation): Operation => storage.transaction(() => journal.insert(op));
  return {
    storage,
    journal,
    chain,
    clock,
    order,
    logged,
    executor,
    add,
    stop: (why: string) => (stopped = why),
  };
}
/** The currently stored row. */
export const row = (w: ReturnType<typeof setUp>, id = 'swap:one'): Operation => {
  const found = w.journal.get(id);
  if (!found) throw new Error(`no row ${id}`);
  return found;
};
