/**
 * The kernel without modules: the journal, the limits and the executor over storage in memory and a fake chain. Every kind
 * is prepared and settled as a test says. Records the order of its external effects.
 */
import { lamports } from '../../src/core/amount.ts';
import { Agenda } from '../../src/custody/kernel/agenda.ts';
import { beginOperation, type Intent } from '../../src/custody/kernel/begin-operation.ts';
import { Executor } from '../../src/custody/kernel/executor.ts';
import { Journal } from '../../src/custody/kernel/journal.ts';
import type { CustodyModule, ModuleTools } from '../../src/custody/kernel/module.ts';
import type { Operation, OperationKind, Prepared, Settled } from '../../src/custody/kernel/operation.ts';
import type { Storage } from '../../src/custody/kernel/ports.ts';
import { CustodyBounds, type CustodyLimits } from '../../src/custody/limits.ts';
import { RESERVE } from './addresses.ts';
import { createFakeChain } from './fake-chain.ts';
import { LIMITS } from './limits.ts';
import { CREATION, FEE, NOW, PAYOUT, SIGNED_AT, SOL, SWAP } from './sample-operations.ts';
import { createSqliteStorage } from './sqlite-storage.ts';

const RULES = { swap: SWAP, token: CREATION, asry: PAYOUT, absr: PAYOUT, refund: PAYOUT };

export const ready = (change: Partial<Prepared & { ok: true }> = {}): Prepared & { ok: true } => ({
  ok: true,
  message: Uint8Array.of(1, 2, 3),
  signedAt: SIGNED_AT,
  plan: { route: 'near-intents', minimumSats: '124000' },
  cost: 10n,
  once: ['deposit:a'],
  ...change,
});
export const pending: Settled = { settlement: { state: 'pending', detail: 'settling' }, once: [] };

/** The kernel's tools for a module, without an executor: stopping and driving do nothing, and there is enough SOL. */
export function createTools(
  storage: Storage,
  now: () => number,
  {
    limits = {},
    log = () => undefined,
    ...change
  }: Partial<ModuleTools> & { limits?: Partial<CustodyLimits> } = {},
): ModuleTools {
  const bounds = new CustodyBounds({ ...LIMITS, floor: lamports(0n), ...limits });
  return {
    journal: new Journal(storage),
    storage,
    reserveAddress: RESERVE,
    readBalance: async (slot) => ({ lamports: lamports(1_000_000n * SOL), slot }),
    boundsOf: (kind) => bounds.of(kind),
    agenda: new Agenda(storage, now, log),
    now,
    log,
    isVerified: () => true,
    stopBeginning: async () => undefined,
    drive: async () => undefined,
    finish: (id) => (change.drive ?? (async () => undefined))(id),
    ...change,
  };
}

/** Processes the due work of one module, as the alarm does. */
export async function runDue({ work = {} }: CustodyModule, agenda: Agenda): Promise<void> {
  for (const [name, { limit, due, run }] of Object.entries(work)) {
    const ids = due?.(limit) ?? agenda.due(name, limit);
    if (ids.length > 0) await run(ids);
  }
}

export type KernelRig = ReturnType<typeof createKernel>;

export function createKernel(
  kindChange: Partial<OperationKind> = {},
  limits: Partial<CustodyLimits> = {},
  storage = createSqliteStorage(),
) {
  const chain = createFakeChain();
  const clock = { now: NOW };
  const order: string[] = [];
  const logged: string[] = [];
  const state = { stopped: undefined as string | undefined, isVerified: true };
  let signatures = 0;
  const observed = {
    ...storage,
    sync: async () => {
      order.push(`sync ${tools.journal.latest(1)[0]?.state}`);
      return storage.sync();
    },
  };
  const tools = createTools(observed, () => clock.now, {
    journal: new Journal(observed, { onEnd: (operation) => kinds[operation.kind]?.onEnd?.(operation) }),
    limits: { cost_day: 100n, ...limits },
    log: (line) => void logged.push(String(line.event)),
    readBalance: (minSlot) => chain.balance(minSlot),
    stopBeginning: async () => state.stopped,
    drive: (id) => executor.drive(id),
    finish: (id, waitMs) => executor.finish(id, waitMs),
  });
  const { journal } = tools;
  const kinds: Record<string, OperationKind> = Object.fromEntries(
    Object.entries(RULES).map(([kind, rules]) => [
      kind,
      { rules, prepare: async () => ready(), settle: async () => pending, ...kindChange },
    ]),
  );
  const executor = new Executor({
    ...tools,
    chain: {
      ...chain,
      async send(wire) {
        order.push('send');
        return chain.send(wire);
      },
    },
    signer: {
      address: RESERVE,
      async sign() {
        order.push('sign');
        return new Uint8Array(64).fill(++signatures);
      },
    },
    kinds: kinds,
    gate: { isVerified: () => state.isVerified, stop: () => state.stopped },
    within: (work) => work,
    assemble: (message, signature) => ({
      wire: `wire ${message.length}`,
      signature: `signature ${signature[0]}`,
    }),
  });
  return {
    storage,
    journal,
    chain,
    clock,
    order,
    logged,
    state,
    executor,
    tools,
    add: (op: Operation): Operation => storage.transaction(() => journal.insert(op)),
    /** The currently stored row. */
    row(id = 'swap:one'): Operation {
      const found = journal.get(id);
      if (!found) throw new Error(`no row ${id}`);
      return found;
    },
    /** Begins an operation that costs only its fee, except for `change`. */
    begin: (id: string, change: Partial<Intent> = {}) =>
      beginOperation(tools, id.slice(0, id.indexOf(':')), id, () => ({
        ok: true,
        intent: { amount: lamports(0n), reserved: lamports(FEE), plan: {}, ...change },
      })),
  };
}
