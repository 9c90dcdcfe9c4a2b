/**
 * The operator's view and commands. Commands never name a destination or an amount; each call is logged.
 * @module
 */
import { lamports } from '../../core/amount.ts';
import { DAY_MS } from '../../core/durations.ts';
import type { OpenOperation, OpsAnswer, OpsCommand } from '../operator-api.ts';
import { birthOf } from './birth.ts';
import { freeze, frozenReason, isSuspect, liftFreeze } from './journal-integrity.ts';
import type { Commands, ModuleTools } from './module.ts';
import { isTerminal, type Operation } from './operation.ts';
import { isMirrorRestored } from './outbox.ts';
import type { Mirror } from './ports.ts';
import { code, isHeld, reasonText } from './reason.ts';
import { type Limit, limitUse } from './spending-limits.ts';
import { STUCK_AFTER_MS } from './state-machine.ts';

export type KernelCommandPorts = Pick<ModuleTools, 'journal' | 'storage' | 'now' | 'log'> & {
  readonly mirror: Pick<Mirror, 'apply' | 'mark'>;
};

const LIST = 50;
/** In SQLite a negative limit means no limit. */
const ALL = -1;

/** Commands allowed in a suspect journal. Other commands would change rows that may be outdated. */
const SUSPECT_COMMANDS: readonly OpsCommand['name'][] = [
  'pause',
  'resume',
  'operations',
  'restore-storage',
  'begin-anew',
  'unfreeze',
];

const LOST_ROWS: OpsAnswer = {
  ok: false,
  message: 'The journal has lost rows. Run `ops restore-storage` or `ops begin-anew` first.',
};

export async function runOps(
  { journal, log }: Pick<ModuleTools, 'journal' | 'log'>,
  commands: Commands,
  { name, id }: OpsCommand,
): Promise<OpsAnswer> {
  const isRefused = isSuspect(journal) && !SUSPECT_COMMANDS.includes(name);
  const answer = isRefused ? LOST_ROWS : await commands[name]?.(id ?? '');
  log({ level: 'info', event: 'operator_command', command: name, id: id ?? null, ok: answer?.ok ?? false });
  return answer ?? { ok: false, message: 'Unknown command.' };
}

export const kernelCommands = (ports: KernelCommandPorts): Commands => ({
  async pause() {
    ports.journal.setMeta('paused', 'operator');
    return { ok: true, message: 'Paused. No new transaction is signed; signed ones continue.' };
  },
  async resume() {
    ports.journal.setMeta('paused', '');
    return { ok: true, message: 'Resumed.' };
  },
  operations: async () => ({
    ok: true,
    message: 'The newest operations.',
    rows: ports.journal.latest(LIST).map(summary),
  }),
  retry: async (id) => retry(ports, id),
  'write-off': async (id) => writeOff(ports, id),
  'restore-storage': (time) => restoreStorage(ports, time),
});

const HISTORY_MS = 30 * DAY_MS;

/**
 * First writes a mark to D1 that is newer than the restored journal's. The restored journal then freezes when it
 * compares the marks.
 */
async function restoreStorage(ports: KernelCommandPorts, time: string): Promise<OpsAnswer> {
  const { storage, journal, mirror, now, log } = ports;
  const at = Date.parse(time);
  if (!(at < now() && at > now() - HISTORY_MS))
    return { ok: false, message: 'Name a time within the last 30 days, such as 2026-11-20T12:00:00Z.' };
  if (!storage.restore) return { ok: false, message: NO_HISTORY };
  try {
    // A suspect journal keeps its revision, because `unfreeze` compares that revision with those in D1.
    const mark = isSuspect(journal)
      ? (await mirror.mark()) + 1
      : storage.transaction(() => journal.queue.takeMark());
    await storage.sync();
    await mirror.apply([], mark, birthOf(journal));
    const isLost = isSuspect(journal);
    const earlier = frozenReason(journal);
    // The restore undoes all writes from now on, so signing and recording stop until the restart.
    if (!isLost) freeze(journal, 'journal_behind_mirror', log);
    try {
      await storage.restore(at);
    } catch (error) {
      if (!isLost && isSuspect(journal)) liftFreeze(journal, earlier);
      throw error;
    }
    const text = `The object restarts with its storage of ${new Date(at).toISOString()}, frozen.`;
    return { ok: true, message: text };
  } catch (error) {
    return { ok: false, message: `${NO_HISTORY} ${String(error).slice(0, 200)}` };
  }
}

const NO_HISTORY =
  'Nothing was restored: D1 did not respond, or the platform keeps no history of the storage, as on a local machine.';

/** True if the operation is held, has been unsigned for hours, or has failed with unsettled lamports. */
const awaitsOperator = (operation: Operation, now: number): boolean => {
  const { state, unsettled, createdAt } = operation;
  const isLate = state === 'planned' && now - createdAt > STUCK_AFTER_MS;
  return isHeld(operation.reason) || isLate || (state === 'failed' && unsettled > 0n);
};

/** Makes an operation due now; the state machine decides its next step. */
function retry({ journal, now }: KernelCommandPorts, id: string): OpsAnswer {
  const operation = journal.get(id);
  if (!operation) return { ok: false, message: 'No operation has this id.' };
  if (isTerminal(operation)) return { ok: false, message: 'The operation is final and cannot be retried.' };
  const reason = isHeld(operation.reason) ? null : operation.reason;
  const stored = journal.update(operation, { ...operation, reason, looks: 0, dueAt: now() }, now());
  return stored ? { ok: true, message: 'The operation is due now.' } : CHANGED;
}

/**
 * Stops waiting for what an operation is owed, such as a swap's Bitcoin, and treats it as lost. Its lamports leave the
 * limit on unsettled operations and become a cost on the day it was signed. The daily limit on costs then counts them,
 * so a write-off does not make room for another loss on that day.
 */
function writeOff({ journal, now }: KernelCommandPorts, id: string): OpsAnswer {
  const operation = journal.get(id);
  if (!operation) return { ok: false, message: 'No operation has this id.' };
  const { state, unsettled, cost } = operation;
  const isLost = state === 'failed' || (state === 'settling' && isHeld(operation.reason));
  if (!isLost || unsettled === 0n) {
    return {
      ok: false,
      message: 'Only a failed or held operation that still waits for money can be written off.',
    };
  }
  const ended =
    state === 'failed'
      ? {}
      : ({ state: 'failed', detail: 'written_off', reason: code('written_off') } as const);
  const stored = journal.update(
    operation,
    {
      ...operation,
      ...ended,
      unsettled: lamports(0n),
      cost: lamports(cost + unsettled),
      dueAt: null,
      outcome: { ...operation.outcome, writtenOffLamports: unsettled.toString() },
    },
    now(),
  );
  return stored
    ? {
        ok: true,
        message: `Written off: ${unsettled} lamports. If money arrives later, this operation will not record it.`,
      }
    : CHANGED;
}

const CHANGED: OpsAnswer = { ok: false, message: 'The operation has changed in the meantime. Retry.' };

const summary = (operation: Operation) => ({
  id: operation.id,
  kind: operation.kind,
  signer: operation.signer,
  state: operation.state,
  detail: operation.detail,
  reason: reasonText(operation.reason),
  amountLamports: operation.amount.toString(),
  unsettledLamports: operation.unsettled.toString(),
  signature: operation.signing?.signature ?? null,
  createdAt: new Date(operation.createdAt).toISOString(),
});

const MOST_OPEN = 20;

/** Operations that await the operator come first; within each group, the oldest first. */
export function openOperations({ journal, now }: Pick<ModuleTools, 'journal' | 'now'>): OpenOperation[] {
  const shown = journal
    .open()
    .map((operation) => ({ operation, isHeld: awaitsOperator(operation, now()) }))
    .filter(({ operation, isHeld: isWaiting }) => isWaiting || !isTerminal(operation))
    .toSorted((one, other) => Number(other.isHeld) - Number(one.isHeld));
  return shown.slice(0, MOST_OPEN).map(({ operation, isHeld: awaits }) => ({
    id: operation.id,
    kind: operation.kind,
    state: operation.detail,
    reason: reasonText(operation.reason),
    lamports: operation.amount.toString(),
    createdAtMs: operation.createdAt,
    awaitsOperator: awaits,
  }));
}

export function custodyReport({ journal, reserveAddress, now }: ModuleTools, limits: readonly Limit[]) {
  const kinds = new Set(limits.map(({ kind }) => kind));
  const entries = new Map([...kinds].map((kind) => [kind, journal.counting(reserveAddress, now(), kind)]));
  const open = journal.open();
  return {
    openOperations: open.filter((operation) => !isTerminal(operation)).length,
    heldOperations: open.filter((operation) => awaitsOperator(operation, now())).length,
    undeliveredSinceMs: journal.queue.undeliveredSince() ?? null,
    refusedRows: journal.queue.setAside(ALL).length,
    mirrorRestored: isMirrorRestored(journal),
    limits: limits.map((limit) => limitUse(limit, entries.get(limit.kind) ?? [], now())),
  };
}
