/**
 * The operator's view and commands. No command names a destination or an amount; each call leaves an audit
 * row.
 * @module
 */
import { lamports } from '../../core/amount.ts';
import type { CustodyReport, OpsAnswer, OpsCommand, SigningState } from '../api.ts';
import type { Journal } from './journal.ts';
import { isSuspect, settlesIn, unfreeze } from './journal-integrity.ts';
import { isTerminal, type Operation } from './operation.ts';
import { isRepublishing, startRepublishing } from './outbox.ts';
import { recallDisagreement } from './quorum.ts';
import type { Reconciled } from './reconcile.ts';
import type { ChainPort } from './solana-view.ts';
import { type Budget, limitsOf } from './spending-limits.ts';
import { STUCK_AFTER_MS } from './state-machine.ts';

export type OpsPorts = {
  readonly journal: Journal;
  /** False while the journal is suspect, and until it has been compared with D1. */
  readonly isVerified: () => boolean;
  reconcile(): Promise<Reconciled>;
  /** Runs a module's command; undefined when no module has a command of this name. */
  command(name: string, id: string): Promise<OpsAnswer> | undefined;
  readonly now: () => number;
};

/** Rows in one answer. */
const LIST = 50;
/** In SQLite a negative limit means no limit. */
const ALL = -1;

export async function runOps(p: OpsPorts, command: OpsCommand): Promise<OpsAnswer> {
  const answer = await perform(p, command);
  p.journal.audit(command.name, JSON.stringify({ id: command.id ?? null, ok: answer.ok }), p.now());
  return answer;
}

async function perform(p: OpsPorts, { name, id }: OpsCommand): Promise<OpsAnswer> {
  const { journal } = p;
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
        message: 'Open operations that await the operator.',
        rows: journal
          .open()
          .filter((operation) => awaitsOperator(operation, p.now()))
          .map(summary),
      };
    case 'retry':
      return retry(p, id ?? '');
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
    case 'reconcile': {
      if (!p.isVerified() && !isSuspect(journal)) return { ok: false, message: UNVERIFIED };
      const left = settlesIn(journal, p.now());
      if (left > 0) return { ok: false, message: tooEarly(left) };
      const { restored, recovered, checked } = await p.reconcile();
      unfreeze(journal);
      return {
        ok: true,
        message: `${restored} rows restored, ${recovered} recovered from ${checked} signatures; signing may continue.`,
      };
    }
    default:
      return p.command(name, id ?? '') ?? { ok: false, message: 'Unknown command.' };
  }
}

const UNVERIFIED = 'D1 or the chain did not answer, so the journal cannot be checked yet. Retry.';

const tooEarly = (ms: number): string =>
  `A transaction signed before the loss may still land. Retry in ${Math.ceil(ms / 1_000)} seconds.`;

const isHeld = ({ reason }: Operation): boolean => reason?.startsWith('held') ?? false;

/**
 * Whether an operation needs the operator: it is held, it failed before its counterpart arrived, or it could not be
 * signed for hours.
 */
const awaitsOperator = (operation: Operation, now: number): boolean => {
  const { state, unsettled, createdAt } = operation;
  const isLate = state === 'planned' && now - createdAt > STUCK_AFTER_MS;
  return isHeld(operation) || isLate || (state === 'failed' && unsettled > 0n);
};

/** Makes an operation due now; the state machine decides its next step. */
function retry({ journal, now }: OpsPorts, id: string): OpsAnswer {
  const operation = journal.get(id);
  if (!operation) return { ok: false, message: 'No operation has this id.' };
  if (isTerminal(operation)) return { ok: false, message: 'The operation is final and cannot be retried.' };
  const reason = isHeld(operation) ? null : operation.reason;
  const stored = journal.update(operation, { ...operation, reason, looks: 0, dueAt: now() }, now());
  return stored ? { ok: true, message: 'The operation is due now.' } : CHANGED;
}

/**
 * Stops waiting for the counterpart of an operation, which then counts as lost. Its lamports leave the limit on
 * unsettled operations and count as a cost on the day of its signature, so a write-off makes no room for
 * another loss on the same day.
 */
function writeOff({ journal, now }: OpsPorts, id: string): OpsAnswer {
  const operation = journal.get(id);
  if (!operation) return { ok: false, message: 'No operation has this id.' };
  const { state, unsettled, cost } = operation;
  const isLost = state === 'failed' || (state === 'settling' && isHeld(operation));
  if (!isLost || unsettled === 0n) {
    return {
      ok: false,
      message: 'Only a failed or held operation that waits for its counterpart can be written off.',
    };
  }
  const ended =
    state === 'failed' ? {} : ({ state: 'failed', detail: 'written_off', reason: 'written_off' } as const);
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
  reason: operation.reason,
  amountLamports: operation.amount.toString(),
  unsettledLamports: operation.unsettled.toString(),
  signature: operation.signing?.signature ?? null,
  createdAt: new Date(operation.createdAt).toISOString(),
});

/** Which operations are open, and how much of each cap is used. */
export function custodyReport({
  journal,
  mint,
  chain,
  swapsDisabled,
  budgets,
  now,
}: {
  readonly chain: Pick<ChainPort, 'agreement'>;
  readonly swapsDisabled: boolean;
  readonly now: () => number;
  readonly budgets: readonly Budget[];
  readonly journal: Journal;
  readonly mint: CustodyReport['mint'];
}): Omit<CustodyReport, keyof SigningState> {
  const entries = journal.counting(now());
  const open = journal.open();
  return {
    solana: recallDisagreement(journal, chain.agreement(), now()),
    mint,
    // An operator's pause stops more than swaps, so it is reported first.
    paused: journal.getMeta('paused') || (swapsDisabled ? 'disabled' : null),
    openOperations: open.filter((operation) => !isTerminal(operation)).length,
    heldOperations: open.filter((operation) => awaitsOperator(operation, now())).length,
    undeliveredSinceMs: journal.undeliveredSince() ?? null,
    refusedRows: journal.setAside(ALL).length,
    republishing: isRepublishing(journal),
    limits: budgets.flatMap((budget) => limitsOf(budget, entries, now())),
  };
}
