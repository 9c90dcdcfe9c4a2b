/**
 * Pays out claims. A payout's operation begins when recipient, reserve and budget allow it. The module
 * records how the operation ended, and rechecks owed payouts. A payout has at most one live operation. Another
 * begins only after the previous one provably moved nothing.
 * @module
 */
import { ACCOUNT_RENT, tokenTransferFee } from '../../chain/solana/token-messages.ts';
import { lamports } from '../../core/amount.ts';
import { DAY_MS, HOUR_MS } from '../../core/durations.ts';
import { failureReason } from '../../core/errors.ts';
import type { Debt } from '../api.ts';
import { backoff, levelOf } from '../kernel/agenda.ts';
import { beginOperation, type Intent, type NotBegun } from '../kernel/begin-operation.ts';
import type { ModuleTools, Work } from '../kernel/module.ts';
import type { Operation } from '../kernel/operation.ts';
import { isRotated, reasonText } from '../kernel/reason.ts';
import { saveClaim, saveEpoch } from './asry-records.ts';
import { type AsryStore, type Claim, checksOf, type OwedReason, type Payout } from './asry-store.ts';
import { type AsryPayoutPorts, type PayoutAccounts, payoutId } from './payout-operation.ts';

/** An owed payout and its claim, as they are stored. */
type Waiting = { readonly claim: Claim; readonly payout: Payout };

/** Maximum debts that the operator's view names. */
const DEBT_EXAMPLES = 5;
/** Recipients in one background run: one call can read all their accounts. */
const RECIPIENTS_PER_RUN = 20;

export class Payouts {
  readonly #tools: ModuleTools;
  readonly #store: AsryStore;
  readonly #ports: AsryPayoutPorts;

  constructor(tools: ModuleTools, store: AsryStore, ports: AsryPayoutPorts) {
    this.#tools = tools;
    this.#store = store;
    this.#ports = ports;
  }

  /** Owed payouts wait in the agenda. One run checks a page of those that are due. */
  readonly work: Work = {
    limit: RECIPIENTS_PER_RUN,
    run: (keys) =>
      this.check(
        keys.flatMap((key) => this.#store.payoutOf(key) ?? []),
        false,
      ),
  };

  debt(): Debt {
    const { now } = this.#tools;
    const owed = this.#store.owedPayouts();
    const isLate = ({ reason, createdAt }: Payout) =>
      (reason !== null && OPERATOR_REASONS.includes(reason)) || now() - createdAt > DAY_MS;
    const late = owed.filter(isLate);
    return {
      name: 'payout_owed',
      count: owed.length,
      atoms: owed.reduce((sum, { atoms }) => sum + atoms, 0n),
      oldestMs: owed[0]?.createdAt ?? null,
      awaitOperator: late.length,
      examples: late
        .slice(0, DEBT_EXAMPLES)
        .map(({ signature, part, reason }) => ({ id: `${signature}:${part}`, reason: reason ?? 'owed' })),
    };
  }

  /** Begins the operation of an owed payout, or returns why the payout stays owed. */
  async #start(
    claim: Claim,
    owed: Payout,
    accounts: PayoutAccounts | undefined,
  ): Promise<Operation | OwedReason> {
    if (!accounts) return 'unread';
    const id = payoutId(claim.signature, claim.operations + 1);
    const begun = await beginOperation<OwedReason>(this.#tools, 'asry', id, () => {
      const now = this.#waiting(owed);
      if (!now || payoutId(now.claim.signature, now.claim.operations + 1) !== id)
        return { ok: false, declined: 'unread' };
      const terms = this.#termsOf(accounts, now.payout, now.claim);
      if (typeof terms === 'string') return { ok: false, declined: terms };
      return { ok: true, intent: this.#intentOf(id, now, accounts, terms) };
    });
    if (begun.type === 'begun') return begun.operation;
    if (begun.type === 'refused') return owedFor(begun.why);
    return begun.type === 'declined' ? begun.declined : 'unread';
  }

  #intentOf(
    id: string,
    { claim, payout }: Waiting,
    { decimals }: PayoutAccounts,
    { rent, tokenProgram }: { readonly rent: bigint; readonly tokenProgram: string },
  ): Intent {
    const createAccount = rent > 0n;
    const begun = {
      ...payout,
      state: 'begun',
      reason: null,
      operationId: id,
      rent,
      rentAt: createAccount ? this.#tools.now() : null,
      dueAt: null,
    } as const;
    return {
      amount: lamports(rent),
      reserved: lamports(rent + tokenTransferFee({ createAccount })),
      plan: {
        deposit: claim.signature,
        part: payout.part,
        receiver: claim.sender,
        atoms: payout.atoms.toString(),
        mint: this.#ports.mint,
        program: tokenProgram,
        decimals,
        createAccount,
        source: this.#ports.source ?? null,
      },
      store: () => this.#save({ ...claim, operations: claim.operations + 1 }, begun),
    };
  }

  /** A payout as it is stored now, if it is still owed. */
  #waiting({ signature, part }: Payout): Waiting | undefined {
    const claim = this.#store.claim(signature);
    const payout = this.#store.payouts(signature).find((each) => each.part === part);
    return claim && payout?.state === 'owed' ? { claim, payout } : undefined;
  }

  async #retry(payout: Payout, accounts: PayoutAccounts | undefined, asked: boolean): Promise<void> {
    const claim = this.#store.claim(payout.signature);
    if (!claim) return;
    const begun = await this.#start(claim, payout, accounts);
    if (typeof begun !== 'string') return this.#tools.drive(begun.id);
    // Owed payouts wait in the agenda. One run checks those that are due, up to a limit.
    this.#tools.storage.transaction(() => {
      const now = this.#waiting(payout);
      if (!now) return;
      const owed = this.owe(now.payout, begun);
      const { tries, dueAt } = now.payout;
      this.#save(now.claim, asked ? { ...owed, tries, dueAt } : owed);
    });
  }

  /**
   * Begins owed payouts, or stores why they stay owed. One call reads all their recipients.
   * @param asked true if a caller repeats a claim: this does not postpone the next background check
   */
  async check(payouts: readonly Payout[], asked: boolean): Promise<void> {
    if (payouts.length === 0) return;
    const senders = payouts.map(({ signature }) => this.#store.claim(signature)?.sender ?? '');
    const found = await this.#ports.readAccounts(senders).catch((error: unknown) => {
      this.#tools.log({ level: 'warn', event: 'recipients_unread', reason: failureReason(error) });
      return [];
    });
    for (const [index, payout] of payouts.entries()) {
      try {
        await this.#retry(payout, found[index], asked);
      } catch (error) {
        this.#postpone(payout, error);
      }
    }
  }

  /**
   * Postpones an owed payout whose retry threw, so that it does not block others. If it has started meanwhile,
   * the executor handles it.
   */
  #postpone({ signature, part, tries: before }: Payout, error: unknown): void {
    const stored = this.#store.payouts(signature).find((each) => each.part === part);
    const tries = before + 1;
    if (stored?.state === 'owed')
      this.#store.putPayout({ ...stored, tries, dueAt: this.#nextCheckAt('unread', tries) });
    const facts = { payout: `${signature}:${part}`, error: String(error).slice(0, 200) };
    this.#tools.log({ level: levelOf(tries), event: 'payout_unbooked', ...facts });
  }

  #save(claim: Claim, payout: Payout): void {
    saveClaim(this.#tools, this.#store, claim, payout);
  }

  /** Sends an alarm, at most once an hour, for a reason that only the operator can remove. */
  #reportOwed({ signature, part }: Payout, reason: OwedReason): void {
    if (!OPERATOR_REASONS.includes(reason)) return;
    if (!this.#tools.journal.isDueAgain(`payout_owed ${reason}`, HOUR_MS, this.#tools.now())) return;
    this.#tools.log({ level: 'alarm', event: 'payout_owed', payout: `${signature}:${part}`, reason });
  }

  owe(payout: Payout, reason: OwedReason): Payout {
    this.#reportOwed(payout, reason);
    return {
      ...payout,
      state: 'owed',
      reason,
      rent: 0n,
      rentAt: null,
      tries: payout.tries + 1,
      dueAt: this.#nextCheckAt(reason, payout.tries),
    };
  }

  /** Books a paid payout in its claim and epoch. Call inside a transaction. */
  #bookPaid(claim: Claim, payout: Payout): void {
    this.#save(claim, { ...payout, state: 'paid' });
    const epoch = this.#store.epoch(claim.epoch);
    if (!epoch) return;
    const paid = epoch.paid + payout.atoms;
    saveEpoch(this.#tools, this.#store, { ...epoch, paid, changes: epoch.changes + 1 });
  }

  /** Books a payout whose operation ends. Call inside the storage transaction that ends it. */
  end({ id, state, plan, reason: because, landing, updatedAt }: Operation): void {
    const claim = this.#store.claim(String(plan.deposit));
    const stored = this.#store.payouts(String(plan.deposit)).find(({ operationId }) => operationId === id);
    if (!claim || stored?.state !== 'begun') return;
    if (state !== 'done') {
      // A payout that the key can no longer sign is checked from the start, like a new one.
      if (isRotated(because)) {
        this.#save(claim, this.owe(stored, 'unread'));
        return;
      }
      const text = reasonText(because);
      const reason = ENDING_REASONS.find((each) => each === text) ?? 'payout_failed';
      this.#save(claim, this.owe(stored, reason));
      const level = levelOf(stored.tries + 1);
      this.#tools.log({ level, event: 'payout_failed', operation: id, reason: text });
      return;
    }
    const spent = landing ? landing.debit - landing.fee : stored.rent;
    const rent = spent > 0n ? spent : 0n;
    const paidAt = landing?.blockTime ? landing.blockTime * 1_000 : updatedAt;
    this.#bookPaid(claim, { ...stored, paidAt, rent, rentAt: rent > 0n ? stored.rentAt : null });
  }

  #nextCheckAt(reason: OwedReason, tries: number): number {
    return this.#tools.now() + backoff(tries + 1, checksOf(reason));
  }

  /** ASRY atoms in the reserve that no pending payout will move. */
  #freeAtoms(accounts: PayoutAccounts): bigint {
    return this.#store.begunPayouts().reduce((left, payout) => left - payout.atoms, accounts.reserveAtoms);
  }

  /** The rent that a payout must pay and its token program, or the reason why the payout waits. */
  #termsOf(
    accounts: PayoutAccounts,
    payout: Payout,
    { epoch, sender: recipient }: Claim,
  ): { rent: bigint; tokenProgram: string } | OwedReason {
    const { program: tokenProgram } = accounts;
    const rent = ACCOUNT_RENT[tokenProgram ?? ''];
    if (
      tokenProgram === null ||
      rent === undefined ||
      accounts.decimals !== this.#store.epoch(epoch)?.decimals
    )
      return 'mint_unexpected';
    if (accounts.accountOwner !== null && accounts.accountOwner !== recipient)
      return 'recipient_account_foreign';
    if (this.#freeAtoms(accounts) < payout.atoms) return 'reserve_short_of_asry';
    if (accounts.accountOwner !== null) return { rent: 0n, tokenProgram };
    const opening = this.#openingOf(payout, recipient);
    if (opening === 'under_way') return 'unread';
    return opening === 'done' ? 'recipient_account_closed' : { rent, tokenProgram };
  }

  /**
   * Whether the rent of the recipient's account was already paid. It is paid at most once per claim and once a day per
   * owner, because an owner who closes the account keeps its rent.
   */
  #openingOf({ signature }: Payout, owner: string): 'none' | 'under_way' | 'done' {
    const openings = this.#store.payouts(signature).filter(({ rent }) => rent > 0n);
    if (openings.some(({ state }) => state === 'begun')) return 'under_way';
    const aDayAgo = this.#tools.now() - DAY_MS;
    return openings.length > 0 || this.#store.hasOpenedAccount(owner, aDayAgo) ? 'done' : 'none';
  }
}

/** Why the kernel did not begin a payout, which stays owed. */
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

/** Reasons that only the operator can remove. */
const OPERATOR_REASONS: readonly OwedReason[] = [
  'recipient_account_foreign',
  'reserve_short_of_asry',
  'reserve_short_of_sol',
  'mint_unexpected',
];

/** Failure reasons that are stored as the payout's own reason. Any other is stored as `payout_failed`. */
const ENDING_REASONS: readonly OwedReason[] = [
  'recipient_account_missing',
  'recipient_account_foreign',
  'reserve_short_of_asry',
  'mint_unexpected',
];
