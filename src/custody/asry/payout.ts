/**
 * Pays the parts of claims. A payout is one token transfer to the account of the deposit's sender, and its memo names
 * the deposit. It starts when recipient, reserve and budget allow it. It has at most one live operation. Another starts
 * only after proof that the previous one moved nothing.
 *
 * One storage transaction starts the operation and stores the payout as begun. The transaction that ends the operation
 * stores the payout either as paid, and then also updates its epoch, or as owed. An owed payout waits in the agenda.
 * @module
 */
import {
  ACCOUNT_RENT,
  type TokenTransfer,
  tokenTransferFee,
  tokenTransferMessage,
} from '../../chain/solana/token-messages.ts';
import { lamports } from '../../core/amount.ts';
import { DAY_MS, HOUR_MS } from '../../core/durations.ts';
import { failureReason } from '../../core/errors.ts';
import { type Backoff, failureFacts, levelOf } from '../kernel/agenda.ts';
import { type Begun, beginOperation, type Decision, type NotBegun } from '../kernel/begin-operation.ts';
import {
  type KindRules,
  type Operation,
  type OperationKind,
  type Prepared,
  plainlyPrepared,
  settlesByLanding,
} from '../kernel/operation.ts';
import { isRotated, reasonText } from '../kernel/reason.ts';
import type { Debt } from '../operator-api.ts';
import { type Claim, type OwedReason, type Payout, payoutKey } from './asry-store.ts';
import type { AsryContext, AsryPayoutPorts, PayoutAccounts } from './context.ts';

/** Agenda name of owed payouts. */
export const PAYOUT = 'payout';

/** After one failed or three expired attempts, the payout is owed again and checked from the start. */
const ASRY_RULES: KindRules = {
  maxAttempts: 3,
  retriesPreparation: true,
  endsWhenRejected: true,
  settles: false,
  coveredAt: 'begin',
};

/** Delays before the next check: after a failed read, after a failed operation, and in all other cases. */
const UNREAD_CHECKS: Backoff = { first: 2_000, most: 60_000 };
const FAILED_CHECKS: Backoff = { first: 30_000, most: DAY_MS };
const CHECKS: Backoff = { first: 30_000, most: HOUR_MS };

/** Reasons that only the operator can remove. */
const OPERATOR_REASONS: readonly OwedReason[] = [
  'recipient_account_foreign',
  'reserve_short_of_asry',
  'reserve_short_of_sol',
  'mint_unexpected',
];

/** Failure reasons that are stored as the payout's reason. All others are stored as `payout_failed`. */
const ENDING_REASONS: readonly OwedReason[] = [
  'recipient_account_missing',
  'recipient_account_foreign',
  'reserve_short_of_asry',
  'mint_unexpected',
];

export const payoutId = (deposit: string, number: number): string => `asry:${deposit}:${number}`;

/**
 * Starts owed payouts, or stores why they stay owed. One call reads all their recipients.
 * @param by the cause of the check; a repeated claim does not postpone the next check by the timer
 * @returns ids of the started operations. The timer drives them at once, unless a slow upstream delays other operations
 */
export async function payOwed(
  context: AsryContext,
  payouts: readonly Payout[],
  by: 'alarm' | 'repeat',
): Promise<readonly string[]> {
  const { agenda, log, readAccounts, store } = context;
  if (payouts.length === 0) return [];
  const senders = payouts.map((payout) => store.claimOf(payout).sender);
  const found = await readAccounts(senders).catch((error: unknown) => {
    log({ level: 'warn', event: 'recipients_unread', reason: failureReason(error) });
    return [];
  });
  const begun: string[] = [];
  for (const [index, payout] of payouts.entries()) {
    try {
      begun.push(...(await pay(context, payout, found[index], by)));
    } catch (error) {
      // If another check has started the payout meanwhile, the executor continues it.
      if (store.payout(payoutKey(payout))?.state === 'owed')
        agenda.failed(PAYOUT, payoutKey(payout), failureFacts(error));
    }
  }
  return begun;
}

async function pay(
  context: AsryContext,
  asked: Payout,
  accounts: PayoutAccounts | undefined,
  by: 'alarm' | 'repeat',
): Promise<readonly string[]> {
  const { storage, store } = context;
  const claim = store.claimOf(asked);
  const id = payoutId(claim.signature, claim.operations + 1);
  const begun: Begun<OwedReason> = accounts
    ? await beginOperation(context, 'asry', id, () => decide(context, id, asked, accounts))
    : { type: 'declined', declined: 'unread' };
  if (begun.type === 'begun') return [id];
  const reason =
    begun.type === 'declined' ? begun.declined : begun.type === 'refused' ? owedFor(begun.why) : 'unread';
  storage.transaction(() => {
    const now = owedNow(context, asked);
    const keep = by === 'alarm' ? keepOwed : saveOwed;
    if (now) keep(context, now.claim, now.payout, reason);
  });
  return [];
}

function owedNow({ store }: AsryContext, asked: Payout): { claim: Claim; payout: Payout } | undefined {
  const payout = store.payout(payoutKey(asked));
  return payout?.state === 'owed' ? { claim: store.claimOf(payout), payout } : undefined;
}

function decide(
  context: AsryContext,
  id: string,
  asked: Payout,
  accounts: PayoutAccounts,
): Decision<OwedReason> {
  const { agenda, mint, now, source, store } = context;
  const owed = owedNow(context, asked);
  // Another check has started the payout meanwhile.
  if (!owed) return { ok: false, declined: 'unread' };
  const { claim, payout } = owed;
  const { decimals, program } = accounts;
  const accountRent = ACCOUNT_RENT[program ?? ''];
  if (accountRent === undefined || decimals !== store.epochOf(claim).decimals)
    return { ok: false, declined: 'mint_unexpected' };
  const objection = objectionTo(context, accounts, payout, claim);
  if (objection) return { ok: false, declined: objection };
  const createAccount = accounts.accountOwner === null;
  const rent = createAccount ? accountRent : 0n;
  const rentAt = createAccount ? now() : null;
  const begun = { ...payout, state: 'begun', reason: null, operationId: id, rent, rentAt } as const;
  return {
    ok: true,
    intent: {
      amount: lamports(rent),
      reserved: lamports(rent + tokenTransferFee({ createAccount })),
      plan: {
        deposit: claim.signature,
        part: payout.part,
        receiver: claim.sender,
        atoms: payout.atoms.toString(),
        mint,
        program,
        decimals,
        createAccount,
        source: source ?? null,
      },
      store() {
        store.save({ ...claim, operations: claim.operations + 1 }, begun);
        agenda.suspend(PAYOUT, payoutKey(payout));
      },
    },
  };
}

function objectionTo(
  { now, store }: AsryContext,
  { accountOwner, reserveAtoms }: PayoutAccounts,
  payout: Payout,
  { sender, signature }: Claim,
): OwedReason | undefined {
  if (accountOwner !== null && accountOwner !== sender) return 'recipient_account_foreign';
  const promised = store.begunPayouts().reduce((sum, { atoms }) => sum + atoms, 0n);
  if (reserveAtoms - promised < payout.atoms) return 'reserve_short_of_asry';
  if (accountOwner !== null) return undefined;
  // Rent is paid at most once per claim and once a day per owner, because an owner who closes the account keeps the
  // rent.
  const openings = store.payouts(signature).filter(({ rentAt }) => rentAt !== null);
  if (openings.some(({ state }) => state === 'begun')) return 'unread';
  const wasOpened = openings.length > 0 || store.hasOpenedAccount(sender, now() - DAY_MS);
  return wasOpened ? 'recipient_account_closed' : undefined;
}

function owedFor(why: NotBegun): OwedReason {
  switch (why.code) {
    case 'STOPPED':
      return 'paused';
    case 'UNREADABLE':
      return 'unread';
    case 'INSUFFICIENT_BALANCE':
      return 'reserve_short_of_sol';
    case 'LIMIT_REACHED':
      return why.limit.counts === 'amount' ? 'rent_budget_spent' : 'daily_limit';
  }
}

/** Stores why a payout is owed. Call inside a transaction. */
function saveOwed(
  { agenda, log, store }: AsryContext,
  claim: Claim,
  payout: Payout,
  reason: OwedReason,
): void {
  if (OPERATOR_REASONS.includes(reason) && agenda.isDueAgain(`payout_owed ${reason}`, HOUR_MS))
    log({ level: 'alarm', event: 'payout_owed', payout: payoutKey(payout), reason });
  store.save(claim, { ...payout, state: 'owed', reason, rent: 0n, rentAt: null });
}

/**
 * Stores why a payout is owed, and plans its next check. Each reason postpones the check, so that no payout blocks the
 * head of the queue. Call inside a transaction.
 * @returns number of checks and operations so far that did not pay it
 */
export function keepOwed(context: AsryContext, claim: Claim, payout: Payout, reason: OwedReason): number {
  saveOwed(context, claim, payout, reason);
  return context.agenda.postpone(
    PAYOUT,
    payoutKey(payout),
    reason === 'unread' ? UNREAD_CHECKS : reason === 'payout_failed' ? FAILED_CHECKS : CHECKS,
  );
}

/** Prepares a payout's operation from its plan. The chain is read again only to see whether the transfer would fail. */
export function createPayoutKind(ports: AsryPayoutPorts): OperationKind {
  return {
    rules: ASRY_RULES,

    async prepare(operation): Promise<Prepared> {
      const [accounts] = await ports.readAccounts([String(operation.plan.receiver)]);
      const transfer = transferOf(operation);
      const wrong = accounts ? wouldFail(accounts, transfer) : 'unread';
      if (wrong) return { ok: false, reason: wrong };
      const lifetime = await ports.latestBlockhash();
      const prepared = plainlyPrepared(tokenTransferMessage(transfer, lifetime), lifetime);
      return { ...prepared, cost: tokenTransferFee(transfer) };
    },

    settle: settlesByLanding,
  };
}

const transferOf = ({ id, signer, plan }: Operation): TokenTransfer => ({
  from: signer,
  to: String(plan.receiver),
  mint: String(plan.mint),
  program: String(plan.program),
  atoms: BigInt(String(plan.atoms)),
  decimals: Number(plan.decimals),
  createAccount: plan.createAccount === true,
  ...(typeof plan.source === 'string' ? { source: plan.source } : {}),
  memo: id,
});

function wouldFail(accounts: PayoutAccounts, transfer: TokenTransfer): OwedReason | undefined {
  if (accounts.program !== transfer.program || accounts.decimals !== transfer.decimals)
    return 'mint_unexpected';
  if (accounts.accountOwner === null) return transfer.createAccount ? undefined : 'recipient_account_missing';
  if (accounts.accountOwner !== transfer.to) return 'recipient_account_foreign';
  return accounts.reserveAtoms < transfer.atoms ? 'reserve_short_of_asry' : undefined;
}

/** Records the outcome of a payout's operation. Call inside the storage transaction that ends it. */
export const endPayout =
  (context: AsryContext) =>
  ({ id, state, plan, reason, landing, updatedAt }: Operation): void => {
    const { agenda, log, store } = context;
    const payout = store.payouts(String(plan.deposit)).find(({ operationId }) => operationId === id);
    if (payout?.state !== 'begun') return;
    const claim = store.claimOf(payout);
    if (state === 'done') {
      const rent = landing ? landing.debit - landing.fee : payout.rent;
      const paidAt = landing?.blockTime ? landing.blockTime * 1_000 : updatedAt;
      const rentAt = rent > 0n ? payout.rentAt : null;
      store.save(claim, { ...payout, state: 'paid', paidAt, rent, rentAt });
      agenda.plan(PAYOUT, payoutKey(payout), null);
      const epoch = store.epochOf(claim);
      store.saveEpoch({ ...epoch, paid: epoch.paid + payout.atoms });
      return;
    }
    // After a change of the reserve's key, the payout is checked from the start, like a new one.
    if (isRotated(reason)) {
      keepOwed(context, claim, payout, 'unread');
      return;
    }
    const text = reasonText(reason);
    const why = ENDING_REASONS.find((each) => each === text) ?? 'payout_failed';
    const level = levelOf(keepOwed(context, claim, payout, why));
    log({ level, event: 'payout_failed', operation: id, reason: text });
  };

export const payoutDebt = ({ now, store }: AsryContext): Debt =>
  store.payoutDebt(OPERATOR_REASONS, now() - DAY_MS);
