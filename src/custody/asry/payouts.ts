/**
 * Pays out claims. A payout's operation begins when receiver, reserve and budget allow it; the module books
 * its end and rechecks owed payouts. A payout has at most one live operation. Another begins only after the
 * previous one provably moved nothing.
 * @module
 */
import { ACCOUNT_RENT, tokenTransferFee } from '../../chain/solana/token-messages.ts';
import { lamports } from '../../core/amount.ts';
import { earliest } from '../../core/due-time.ts';
import { DAY_MS, HOUR_MS } from '../../core/durations.ts';
import { failureReason } from '../../core/errors.ts';
import type { Refusal } from '../api.ts';
import { beginOperation, type Intent, type NotBegun } from '../kernel/begin-operation.ts';
import type { HeldDebts, ModuleTools } from '../kernel/module.ts';
import type { Operation } from '../kernel/operation.ts';
import { mayBePaidBy, RELEASED } from '../kernel/operator-commands.ts';
import { held, reasonText } from '../kernel/reason.ts';
import { blockContradicted } from '../kernel/reconcile.ts';
import { type Backoff, backoff, levelOf } from '../kernel/retries.ts';
import {
  type AsryStore,
  type Claim,
  mirrorClaim,
  mirrorEpoch,
  type OwedReason,
  type Payout,
} from './asry-store.ts';
import { type AsryPayoutPorts, encodePlan, type Payee, payoutId } from './payout-operation.ts';

/** A payout to begin, with its claim. */
export type Taken =
  | {
      readonly type: 'taken';
      readonly claim: Claim;
      readonly payout: Payout;
      /** Writes the claim, if it is new. Call inside a transaction. */
      store(): void;
    }
  | { readonly type: 'refused'; readonly refusal: Refusal }
  /** Another call changed the claim first; decide again. */
  | { readonly type: 'again' };

type NotStarted = Exclude<Taken, { type: 'taken' }> | { readonly type: 'owed'; readonly reason: OwedReason };

type PayoutBegun = { readonly type: 'begun'; readonly operation: Operation } | NotStarted;

/** Receivers in one background run: one call can read all their accounts. */
const RECEIVERS_PER_RUN = 20;
/** Waits between checks of an owed payout: while the chain could not be read, after a failed operation, and for other reasons. */
const UNREAD_CHECKS: Backoff = { first: 2_000, most: 60_000 };
const FAILED_CHECKS: Backoff = { first: 30_000, most: DAY_MS };
const CHECKS: Backoff = { first: 30_000, most: HOUR_MS };

const LONGEST_WAITS = { failed: FAILED_CHECKS.most, other: CHECKS.most };

function checksOf(reason: OwedReason): Backoff {
  if (reason === 'unread') return UNREAD_CHECKS;
  return reason === 'payout_failed' ? FAILED_CHECKS : CHECKS;
}

const AGAIN = { type: 'again' } as const;

/** The rows of payouts: what is owed and until when it waits, and the end of the operations that pay it. */
function createPayoutRows({ journal, storage, retries, now, log }: ModuleTools, store: AsryStore) {
  const nextCheckAt = (reason: OwedReason, tries: number): number =>
    now() + backoff(tries + 1, checksOf(reason));

  /** Stores a claim and one of its payouts and queues the D1 update. Call inside a transaction. */
  function save(claim: Claim, payout: Payout): void {
    store.putPayout(payout);
    const changed = { ...claim, changes: claim.changes + 1 };
    store.putClaim(changed);
    mirrorClaim(journal, store, changed, now());
  }

  /** Alerts the operator, once an hour, to a reason that only the operator can remove. */
  function reportOwed({ signature, part }: Payout, reason: OwedReason): void {
    if (!OPERATOR_REASONS.includes(reason)) return;
    if (!journal.isDueAgain(`payout_owed ${reason}`, HOUR_MS, now())) return;
    log({ level: 'alarm', event: 'payout_owed', payout: `${signature}:${part}`, reason });
  }

  function owe(payout: Payout, reason: OwedReason): Payout {
    reportOwed(payout, reason);
    return {
      ...payout,
      state: 'owed',
      reason,
      rent: 0n,
      rentAt: null,
      tries: payout.tries + 1,
      dueAt: nextCheckAt(reason, payout.tries),
    };
  }

  /** Books a paid payout in its claim and epoch. Call inside a transaction. */
  function bookPaid(claim: Claim, payout: Payout): void {
    save(claim, { ...payout, state: 'paid' });
    const epoch = store.epoch(claim.epoch);
    if (!epoch) return;
    const paid = { ...epoch, paid: epoch.paid + payout.atoms, changes: epoch.changes + 1 };
    store.putEpoch(paid);
    mirrorEpoch(journal, paid, now());
  }

  /** Books a payout whose operation has ended. */
  function settle(payout: Payout, operation: Operation): void {
    storage.transaction(() => {
      const claim = store.claim(payout.signature);
      const stored = store.payouts(payout.signature).find(({ part }) => part === payout.part);
      if (!claim || stored?.state !== 'begun' || stored.operationId !== operation.id) return;
      if (operation.state !== 'done') {
        const because = reasonText(operation.reason);
        const reason = isOwedReason(because) ? because : 'payout_failed';
        save(claim, owe(stored, reason));
        log({
          level: levelOf(stored.tries + 1),
          event: 'payout_failed',
          operation: operation.id,
          reason: because,
        });
        return;
      }
      const { landing, updatedAt } = operation;
      const spent = landing ? landing.debit - landing.fee : stored.rent;
      const rent = spent > 0n ? spent : 0n;
      const paidAt = landing?.blockTime ? landing.blockTime * 1_000 : updatedAt;
      bookPaid(claim, { ...stored, paidAt, rent, rentAt: rent > 0n ? stored.rentAt : null });
    });
  }

  const ended = retries.rows({
    name: 'payout_ended',
    read: store.ended,
    idOf: ({ signature, part }) => `${signature}:${part}`,
  });

  /** Books all payouts whose operations have ended since the last run. */
  const settleEnded = (): void =>
    ended.run(RECEIVERS_PER_RUN, (payout) => {
      const operation = payout.operationId === null ? undefined : journal.get(payout.operationId);
      if (operation) settle(payout, operation);
    });

  return { save, owe, bookPaid, nextCheckAt, settleEnded, nextEnded: ended.nextAt };
}

/** Payouts that a lost journal may have paid. */
function createHeldPayouts(
  tools: Pick<ModuleTools, 'journal' | 'now'>,
  store: AsryStore,
  { save, owe, bookPaid }: Pick<ReturnType<typeof createPayoutRows>, 'save' | 'owe' | 'bookPaid'>,
) {
  const { journal, now } = tools;
  const idOf = ({ signature, part }: Payout): string => `payout:${signature}:${part}`;

  function holdOf({ signature, operations }: Claim): void {
    const payouts = store.payouts(signature);
    const paying = payouts.flatMap(({ state, operationId }) => (state === 'begun' ? [operationId] : []));
    blockContradicted(tools, (number) => payoutId(signature, number), operations, paying);
    for (const payout of payouts) {
      const operation = payout.operationId === null ? undefined : journal.get(payout.operationId);
      const isPaying = payout.state === 'begun' && operation !== undefined && operation.state !== 'failed';
      const claim = store.claim(signature);
      if (claim && payout.state !== 'paid' && !isPaying)
        save(claim, { ...payout, state: 'held', dueAt: null });
    }
  }

  return {
    hold: (): void => store.claims().forEach(holdOf),

    list: () =>
      store.held().map((payout) => ({
        id: idOf(payout),
        kind: 'payout',
        state: 'held',
        reason: reasonText(held('reconciled')),
        atoms: payout.atoms.toString(),
        createdAt: new Date(payout.createdAt).toISOString(),
      })),

    release(id, as) {
      const payout = store.held().find((each) => idOf(each) === id);
      const claim = payout && store.claim(payout.signature);
      if (!claim) return undefined;
      const by = journal.blockedBy(payoutId(claim.signature, 1));
      if (as === 'owed' && by !== undefined) return mayBePaidBy(by);
      if (as === 'owed') save(claim, owe(payout, 'unread'));
      else bookPaid(claim, { ...payout, paidAt: now() });
      return RELEASED[as];
    },
  } satisfies HeldDebts & Record<string, unknown>;
}

/** Returns a function that computes what a payout takes from the reserve. */
function createPayoutTerms(store: AsryStore, now: () => number) {
  /** ASRY in the reserve that no pending transfer will move. */
  const freeAtoms = (payee: Payee): bigint =>
    store.begun().reduce((left, payout) => left - payout.atoms, payee.reserveAtoms);

  /** The amount that a payout takes from the reserve, or the reason why it waits. */
  function termsOf(
    payee: Payee,
    payout: Payout,
    { epoch, sender: receiver }: Claim,
  ): { rent: bigint; tokenProgram: string } | OwedReason {
    const { program: tokenProgram } = payee;
    const rent = ACCOUNT_RENT[tokenProgram ?? ''];
    if (tokenProgram === null || rent === undefined || payee.decimals !== store.epoch(epoch)?.decimals)
      return 'mint_unexpected';
    if (payee.accountOwner !== null && payee.accountOwner !== receiver) return 'recipient_account_foreign';
    if (freeAtoms(payee) < payout.atoms) return 'reserve_short_of_asry';
    if (payee.accountOwner !== null) return { rent: 0n, tokenProgram };
    const opening = openingOf(payout, receiver);
    if (opening === 'under_way') return 'unread';
    return opening === 'done' ? 'recipient_account_closed' : { rent, tokenProgram };
  }

  /**
   * Whether the rent of the receiver's account was paid before: once per claim, and once per owner and day.
   * An owner who closes the account keeps its rent, so the rent is not paid again.
   */
  function openingOf({ signature }: Payout, owner: string): 'none' | 'under_way' | 'done' {
    const openings = store.payouts(signature).filter(({ rent }) => rent > 0n);
    if (openings.some(({ state }) => state === 'begun')) return 'under_way';
    return openings.length > 0 || store.hasOpenedAccount(owner, now() - DAY_MS) ? 'done' : 'none';
  }

  return termsOf;
}

export function createAsryPayouts(tools: ModuleTools, store: AsryStore, p: AsryPayoutPorts) {
  const { storage, now, log } = tools;
  const rows = createPayoutRows(tools, store);
  const { save, owe, nextCheckAt, settleEnded, nextEnded } = rows;
  const termsOf = createPayoutTerms(store, now);

  /**
   * Begins a payout's operation. Its first step runs with `drive`.
   * @param obtain runs in the critical section and only reads
   */
  async function begin(
    claim: Pick<Claim, 'signature' | 'operations'>,
    payee: Payee,
    obtain: () => Taken,
  ): Promise<PayoutBegun> {
    const id = payoutId(claim.signature, claim.operations + 1);
    const begun = await beginOperation<NotStarted>(tools, 'asry', id, () => {
      const got = obtain();
      if (got.type !== 'taken') return { ok: false, declined: got };
      if (payoutId(got.claim.signature, got.claim.operations + 1) !== id)
        return { ok: false, declined: AGAIN };
      const terms = termsOf(payee, got.payout, got.claim);
      if (typeof terms === 'string') return { ok: false, declined: { type: 'owed', reason: terms } };
      return { ok: true, intent: intentOf(id, got, payee, terms) };
    });
    switch (begun.type) {
      case 'begun':
        return { type: 'begun', operation: begun.operation };
      case 'known':
        return AGAIN;
      case 'declined':
        return begun.declined;
      case 'refused':
        return { type: 'owed', reason: owedFor(begun.why) };
    }
  }

  function intentOf(
    id: string,
    { claim, payout, store: storeClaim }: Extract<Taken, { type: 'taken' }>,
    { decimals }: Payee,
    { rent, tokenProgram }: { readonly rent: bigint; readonly tokenProgram: string },
  ): Intent {
    const createAccount = rent > 0n;
    const { atoms, part } = payout;
    const begun = {
      ...payout,
      state: 'begun',
      reason: null,
      operationId: id,
      rent,
      rentAt: createAccount ? now() : null,
      dueAt: null,
    } as const;
    return {
      amount: lamports(rent),
      reserved: lamports(rent + tokenTransferFee({ createAccount })),
      plan: encodePlan({
        deposit: claim.signature,
        part,
        receiver: claim.sender,
        atoms,
        mint: p.mint,
        program: tokenProgram,
        decimals,
        createAccount,
      }),
      store() {
        storeClaim();
        save({ ...claim, operations: claim.operations + 1 }, begun);
      },
    };
  }

  /** The payout as of the last check, if it is still owed. */
  const waiting =
    ({ signature, part }: Payout) =>
    (): Taken => {
      const claim = store.claim(signature);
      const payout = store.payouts(signature).find((each) => each.part === part);
      return claim && payout?.state === 'owed' ? { type: 'taken', claim, payout, store() {} } : AGAIN;
    };

  /** @param asked whether a caller requested the check, which does not postpone the next background check */
  async function retry(payout: Payout, payee: Payee | undefined, asked: boolean): Promise<void> {
    const claim = store.claim(payout.signature);
    if (!claim) return;
    const begun = payee
      ? await begin(claim, payee, waiting(payout))
      : { type: 'owed' as const, reason: 'unread' as const };
    if (begun.type === 'begun') return tools.drive(begun.operation.id);
    // Every refusal postpones the next check. Otherwise this row would stay first in the queue.
    const reason = begun.type === 'owed' ? begun.reason : 'unread';
    storage.transaction(() => {
      const got = waiting(payout)();
      if (got.type !== 'taken') return;
      const owed = owe(got.payout, reason);
      const { tries, dueAt } = got.payout;
      save(got.claim, asked ? { ...owed, tries, dueAt } : owed);
    });
  }

  /** Checks payouts again and reads all their receivers in one call. */
  async function check(payouts: readonly Payout[], asked: boolean): Promise<void> {
    if (payouts.length === 0) return;
    const senders = payouts.map(({ signature }) => store.claim(signature)?.sender ?? '');
    const payees = await p.readPayees(senders).catch((error: unknown) => {
      log({ level: 'warn', event: 'payees_unread', reason: failureReason(error) });
      return [];
    });
    for (const [index, payout] of payouts.entries()) {
      try {
        await retry(payout, payees[index], asked);
      } catch (error) {
        postpone(payout, error);
      }
    }
  }

  /**
   * Postpones an owed payout whose retry threw, so that it does not block others. If it has begun meanwhile,
   * the executor handles it.
   */
  function postpone({ signature, part, tries: before }: Payout, error: unknown): void {
    const stored = store.payouts(signature).find((each) => each.part === part);
    const tries = before + 1;
    if (stored?.state === 'owed') store.putPayout({ ...stored, tries, dueAt: nextCheckAt('unread', tries) });
    const payout = `${signature}:${part}`;
    log({ level: levelOf(tries), event: 'payout_unbooked', payout, error: String(error).slice(0, 200) });
  }

  return {
    begin,
    save,
    owe,
    settleEnded,
    held: createHeldPayouts(tools, store, rows),
    checkNow: (payouts: readonly Payout[]): Promise<void> => check(payouts, true),
    nextAt: () => earliest(nextEnded(), store.nextDue(now(), LONGEST_WAITS)),
    sweep: (): Promise<void> => check(store.owedDue(now(), LONGEST_WAITS, RECEIVERS_PER_RUN), false),
  };
}

/** Why a payout stays owed that the kernel did not begin. */
function owedFor(why: NotBegun): OwedReason {
  switch (why.code) {
    case 'STOPPED':
      return 'paused';
    case 'UNREADABLE':
    case 'BLOCKED':
      return 'unread';
    case 'INSUFFICIENT_BALANCE':
      return 'reserve_short_of_sol';
    case 'LIMIT_REACHED':
      return why.limit.counts === 'amount' ? 'rent_budget_spent' : 'daily_limit';
  }
}

/** Reasons that only the operator can remove. */
const OPERATOR_REASONS: readonly OwedReason[] = [
  'recipient_account_foreign',
  'reserve_short_of_asry',
  'reserve_short_of_sol',
  'mint_unexpected',
];

const OWED_REASONS: readonly string[] = [
  'recipient_account_missing',
  'recipient_account_foreign',
  'reserve_short_of_asry',
  'mint_unexpected',
] satisfies OwedReason[];

const isOwedReason = (reason: string | null): reason is OwedReason =>
  reason !== null && OWED_REASONS.includes(reason);
