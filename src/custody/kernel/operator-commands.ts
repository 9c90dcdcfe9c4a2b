/**
 * The operator's view and commands. No command names a destination or an amount; each call leaves an audit row.
 * @module
 */
import { lamports } from '../../core/amount.ts';
import { DAY_MS } from '../../core/durations.ts';
import type { OpsAnswer, OpsCommand } from '../api.ts';
import { frozenReason, isSuspect, type SigningGate, settlesIn, unfreeze } from './journal-integrity.ts';
import type { HeldDebts, ModuleTools } from './module.ts';
import { isTerminal, type Kind, type Operation } from './operation.ts';
import { isRepublishing, startRepublishing } from './outbox.ts';
import type { Mirror } from './ports.ts';
import { code, isHeld, isReconciled, reasonText } from './reason.ts';
import type { Reconciled } from './reconcile.ts';
import { type Limit, limitUse } from './spending-limits.ts';
import { type KindRules, STUCK_AFTER_MS, step } from './state-machine.ts';

export type OpsPorts = Pick<ModuleTools, 'journal' | 'storage' | 'now'> & {
  readonly mirror: Pick<Mirror, 'apply'>;
  /** Debts of every module that await the operator. */
  readonly held: readonly HeldDebts[];
  /** Undefined if this instance does not support the kind. */
  rulesOf(kind: Kind): KindRules | undefined;
  readonly gate: Pick<SigningGate, 'isVerified'>;
  reconcile(): Promise<Reconciled>;
  /** Runs a module's command; undefined when no module has a command of this name. */
  command(name: string, id: string): Promise<OpsAnswer> | undefined;
};

/** Maximum rows in one response. */
const LIST = 50;
/** In SQLite a negative limit means no limit. */
const ALL = -1;

export async function runOps(p: OpsPorts, command: OpsCommand): Promise<OpsAnswer> {
  const answer = await perform(p, command);
  p.journal.audit(command.name, JSON.stringify({ id: command.id ?? null, ok: answer.ok }), p.now());
  return answer;
}

/** Commands allowed in a suspect journal. Others would change rows that reconciliation is about to replace. */
const SUSPECT_COMMANDS: readonly OpsCommand['name'][] = [
  'pause',
  'resume',
  'operations',
  'held',
  'reconcile',
  'restore-storage',
];

async function perform(p: OpsPorts, { name, id }: OpsCommand): Promise<OpsAnswer> {
  const { journal } = p;
  if (isSuspect(journal) && !SUSPECT_COMMANDS.includes(name))
    return { ok: false, message: 'The journal is frozen. Run `ops reconcile` first.' };
  switch (name) {
    case 'pause':
      journal.setMeta('paused', 'operator');
      return { ok: true, message: 'Paused. No new transaction is signed; signed ones continue.' };
    case 'resume':
      journal.setMeta('paused', '');
      return { ok: true, message: 'Resumed.' };
    case 'operations':
      return { ok: true, message: 'The newest operations.', rows: journal.latest(LIST).map(summary) };
    case 'held':
      return {
        ok: true,
        message: 'Open operations and debts that await the operator.',
        rows: [
          ...journal
            .open()
            .filter((operation) => awaitsOperator(operation, p.now()))
            .map(summary),
          ...p.held.flatMap((debts) => debts.list()),
        ],
      };
    case 'retry':
      return release(p, id ?? '', 'owed') ?? retry(p, id ?? '');
    case 'end':
      return release(p, id ?? '', 'paid') ?? end(p, id ?? '');
    case 'write-off':
      return writeOff(p, id ?? '');
    case 'republish': {
      const rows = journal.setAside(LIST);
      journal.retryRefused(p.now());
      startRepublishing(journal);
      return {
        ok: true,
        message: `Refused rows are tried again now: ${rows.length}. Every row is compared with D1 in the background.`,
        rows,
      };
    }
    case 'reconcile':
      return reconcile(p);
    case 'restore-storage':
      return restoreStorage(p, id ?? '');
    default:
      return p.command(name, id ?? '') ?? { ok: false, message: 'Unknown command.' };
  }
}

/**
 * Completes a frozen journal and leaves it paused, so that the operator reads the report before anything is signed. In a
 * journal that is not frozen it only reports.
 */
async function reconcile(p: OpsPorts): Promise<OpsAnswer> {
  const { journal } = p;
  if (!p.gate.isVerified() && !isSuspect(journal)) return { ok: false, message: UNVERIFIED };
  const left = settlesIn(journal, p.now());
  if (left > 0) return { ok: false, message: tooEarly(left) };
  const { restored, checked, unexplained } = await p.reconcile();
  if (frozenReason(journal) !== undefined) {
    journal.setMeta('paused', 'reconciled');
    unfreeze(journal);
  }
  const report = `${restored} rows restored from D1. ${unexplained.length} of ${checked} listed transactions were signed by the reserve and have no row.`;
  const isPaused = journal.getMeta('paused') === 'reconciled';
  return { ok: true, message: isPaused ? `${report} ${STILL_PAUSED}` : report, rows: unexplained };
}

const STILL_PAUSED =
  'Signing is paused: read the report and `ops held`, compare both with an explorer, then `ops resume`.';

const HISTORY_MS = 30 * DAY_MS;

/**
 * Restores the object's own storage. D1 gets a mark that the restored journal cannot know, so the journal starts frozen
 * even if no row has changed since.
 */
async function restoreStorage({ storage, journal, mirror, now }: OpsPorts, time: string): Promise<OpsAnswer> {
  const at = Date.parse(time);
  if (!(at < now() && at > now() - HISTORY_MS))
    return { ok: false, message: 'Name a time within the last 30 days, such as 2026-11-20T12:00:00Z.' };
  if (!storage.restore) return { ok: false, message: NO_HISTORY };
  try {
    const mark = storage.transaction(() => journal.takeMark());
    await storage.sync();
    await mirror.apply([], mark);
    await storage.restore(at);
    const text = `The object restarts with its storage of ${new Date(at).toISOString()}, frozen.`;
    return { ok: true, message: `${text} Wait ten minutes, then \`ops reconcile\`.` };
  } catch (error) {
    return { ok: false, message: `${NO_HISTORY} ${String(error).slice(0, 200)}` };
  }
}

const NO_HISTORY =
  'Nothing was restored: D1 did not respond, or the platform keeps no history of the storage. A local one keeps none.';

const UNVERIFIED = 'D1 or the chain did not respond, so the journal cannot be checked yet. Retry.';

const tooEarly = (ms: number): string =>
  `A transaction signed before the loss may still land. Retry in ${Math.ceil(ms / 1_000)} seconds.`;

/**
 * Whether an operation needs the operator: it is held, it failed with lamports unsettled, or it could not be
 * signed for hours.
 */
const awaitsOperator = (operation: Operation, now: number): boolean => {
  const { state, unsettled, createdAt } = operation;
  const isLate = state === 'planned' && now - createdAt > STUCK_AFTER_MS;
  return isHeld(operation.reason) || isLate || (state === 'failed' && unsettled > 0n);
};

/** Ends the hold of a debt; undefined when no held debt has this id. */
const release = ({ storage, held }: OpsPorts, id: string, as: 'owed' | 'paid'): OpsAnswer | undefined =>
  storage.transaction(() => {
    for (const debts of held) {
      const answer = debts.release(id, as);
      if (answer) return answer;
    }
    return undefined;
  });

export const RELEASED: Readonly<Record<'owed' | 'paid', OpsAnswer>> = {
  owed: { ok: true, message: 'It is owed again and no longer held.' },
  paid: { ok: true, message: 'It is treated as paid. Nothing was signed for it.' },
};

/** @param by a transaction of the reserve, or an operation */
export const mayBePaidBy = (by: string): OpsAnswer => ({
  ok: false,
  message: `It may have been paid by ${by}. Compare the two in an explorer, then \`ops end\`, or pay by hand.`,
});

/** Ends a held operation that was executed before the journal was lost. Signs nothing. */
function end({ journal, now, rulesOf }: OpsPorts, id: string): OpsAnswer {
  const operation = journal.get(id);
  const rules = operation && rulesOf(operation.kind);
  if (!rules || operation.state !== 'planned' || !isReconciled(operation.reason))
    return {
      ok: false,
      message: 'No unsigned operation or debt with this id is held after a reconciliation.',
    };
  // The counterpart of an operation that settles has not arrived, so the operation is not done.
  const next = rules.settles
    ? step(operation, { type: 'refused', reason: code('ended') }, rules, now())
    : step(operation, { type: 'found', outcome: { endedBy: 'operator' } }, rules, now());
  return journal.update(operation, next, now())
    ? { ok: true, message: 'The operation has ended. Nothing was signed for it.' }
    : CHANGED;
}

/** Makes an operation due now; the state machine decides its next step. */
function retry({ journal, now }: OpsPorts, id: string): OpsAnswer {
  const operation = journal.get(id);
  if (!operation) return { ok: false, message: 'No operation has this id.' };
  if (isTerminal(operation)) return { ok: false, message: 'The operation is final and cannot be retried.' };
  const by = journal.blockedBy(id);
  if (by !== undefined && isHeld(operation.reason)) return mayBePaidBy(by);
  const reason = isHeld(operation.reason) ? null : operation.reason;
  const stored = journal.update(operation, { ...operation, reason, looks: 0, dueAt: now() }, now());
  return stored ? { ok: true, message: 'The operation is due now.' } : CHANGED;
}

/**
 * Stops waiting for the counterpart of an operation and treats it as lost. Its lamports leave the limit on
 * unsettled operations and become a cost on the day of its signature. So a write-off makes no room for another
 * loss on the same day.
 */
function writeOff({ journal, now }: OpsPorts, id: string): OpsAnswer {
  const operation = journal.get(id);
  if (!operation) return { ok: false, message: 'No operation has this id.' };
  const { state, unsettled, cost } = operation;
  const isLost = state === 'failed' || (state === 'settling' && isHeld(operation.reason));
  if (!isLost || unsettled === 0n) {
    return {
      ok: false,
      message: 'Only a failed or held operation that waits for its counterpart can be written off.',
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
        message: `Written off: ${unsettled} lamports. A later arrival is not booked for this operation.`,
      }
    : CHANGED;
}

const CHANGED: OpsAnswer = { ok: false, message: 'The operation has changed in the meantime. Retry.' };

const summary = (operation: Operation) => ({
  id: operation.id,
  kind: operation.kind,
  state: operation.state,
  detail: operation.detail,
  reason: reasonText(operation.reason),
  amountLamports: operation.amount.toString(),
  unsettledLamports: operation.unsettled.toString(),
  signature: operation.signing?.signature ?? null,
  createdAt: new Date(operation.createdAt).toISOString(),
});

/** Which operations are open, and how much of each limit is used. */
export function custodyReport({ journal, held, now }: OpsPorts, limits: readonly Limit[]) {
  const entries = journal.counting(now());
  const open = journal.open();
  return {
    openOperations: open.filter((operation) => !isTerminal(operation)).length,
    heldOperations:
      open.filter((operation) => awaitsOperator(operation, now())).length +
      held.reduce((sum, debts) => sum + debts.list().length, 0),
    undeliveredSinceMs: journal.undeliveredSince() ?? null,
    refusedRows: journal.setAside(ALL).length,
    republishing: isRepublishing(journal),
    limits: limits.map((limit) => limitUse(limit, entries, now())),
  };
}
