/**
 * Processes claims; each deposit is claimed once. One critical section consumes the payment, advances the reward
 * curve, and stores the claim and the intent of its payout. Payouts follow from the finalized chain and go to the
 * deposit's sender. Neither the caller's identity nor the number of calls changes them.
 * @module
 */

import { checkDeposit, type DepositVerdict } from '../../chain/solana/deposit.ts';
import { MAX_WAIT_MS } from '../../core/durations.ts';
import { failureReason, upstreamFailed } from '../../core/errors.ts';
import {
  type AsryEpochView,
  type ClaimAnswer,
  type ClaimRequest,
  type ClaimView,
  claimView,
  type Refusal,
} from '../api.ts';
import type { CustodyModule, MirrorSource, ModuleTools } from '../kernel/module.ts';
import type { Within } from '../kernel/ports.ts';
import {
  AsryStore,
  type Claim,
  epochView,
  mirrorEpoch,
  mirroredClaims,
  type OwedReason,
  type Payout,
  storedClaim,
  withItsClaims,
} from './asry-store.ts';
import {
  alreadyClaimed,
  type ClaimFacts,
  claimsPaused,
  type Deposit,
  decideClaim,
  decideOpening,
  depositHeld,
  inProgress,
  KEY_LIFE_MS,
  keyRefusal,
  keyReused,
  noPrice,
  notFinal,
  notFound,
  type Opened,
  ownMoney,
  type Refused,
  unreadable,
  verdictRefusal,
  wrongAmount,
  wrongAsset,
} from './claim-rules.ts';
import { missingEpochs } from './epochs.ts';
import {
  type AsryPorts,
  claimPurpose,
  createAsryKind,
  type PayoutAccounts,
  payoutId,
} from './payout-operation.ts';
import { Payouts, type TakeResult } from './payouts.ts';

/** Seconds that a block's time may be ahead of our clock. A node that reports a later time is wrong. */
const MAX_AHEAD_SECONDS = 86_400;
const TURNS = 6;

const inSeconds = (ms: number): number => Math.floor(ms / 1_000);

/** Refuses a request whose asset or amount differs from the deposit's. */
function mismatch({ asset, expectedAtoms }: ClaimRequest, deposit: Deposit): Refusal | undefined {
  if (asset !== deposit.asset) return wrongAsset(asset, deposit.asset);
  if (expectedAtoms !== undefined && expectedAtoms !== deposit.credited)
    return wrongAmount(expectedAtoms, deposit.credited);
  return undefined;
}

/** The number of the part that was taken, or why none was. */
type PartTaken = { readonly type: 'taken'; readonly part: number } | Exclude<TakeResult, { type: 'taken' }>;

const refuse = (refusal: Refusal, claim: ClaimView | null = null): ClaimAnswer => ({
  type: 'refused',
  refusal,
  claim,
});

const nothingLeft = (claim: ClaimView | null): ClaimAnswer => {
  const moving = claim?.payouts.some(({ status, paidAtMs }) => status !== 'owed' && paidAtMs === null);
  return refuse(moving ? inProgress() : alreadyClaimed(), claim);
};

type ClaimsPorts = AsryPorts & {
  /** Reason why no operation may begin now. */
  readonly stop: () => Promise<string | undefined>;
  readonly within: Within;
};

export class Claims implements CustodyModule {
  readonly kinds: CustodyModule['kinds'];
  readonly mirrored: readonly MirrorSource[];
  readonly held: Payouts;
  readonly #tools: ModuleTools;
  readonly #p: ClaimsPorts;
  readonly #store: AsryStore;
  readonly #payouts: Payouts;
  readonly #once = createSharedWork();

  constructor(tools: ModuleTools, p: ClaimsPorts) {
    this.#tools = tools;
    this.#p = p;
    this.#store = new AsryStore(tools.storage);
    this.#payouts = new Payouts(tools, this.#store, p);
    this.kinds = { asry: createAsryKind(p) };
    this.mirrored = mirroredClaims(this.#store, tools);
    this.held = this.#payouts;
  }

  hold(): void {
    this.#payouts.hold();
  }

  /** The stored response to a claim that leaves nothing to do, such as a repeat; undefined for any other claim. */
  async storedAnswer(request: ClaimRequest): Promise<ClaimAnswer | undefined> {
    const answer = this.#settled(request);
    if (answer) await this.#tools.storage.sync();
    return answer;
  }

  async claim(request: ClaimRequest): Promise<ClaimAnswer> {
    const answer = await this.#decide(request);
    // Durable before the response: a crash must not undo it.
    await this.#tools.storage.sync();
    return answer;
  }

  find(signature: string): ClaimView | null {
    return this.#record(signature);
  }

  /** The newest epochs; undefined when an epoch has started that is not stored yet. */
  newestEpochs(limit: number): AsryEpochView[] | undefined {
    const [last] = this.#store.epochs(1);
    return last && last.endsAt > inSeconds(this.#tools.now())
      ? this.#store.epochs(limit).map(epochView)
      : undefined;
  }

  async epochs(limit: number): Promise<AsryEpochView[]> {
    await this.#openEpochs();
    return this.#store.epochs(limit).map(epochView);
  }

  nextRunAt(): number | undefined {
    const last = this.#store.lastEnd();
    const epochEnds = last === undefined ? this.#tools.now() : last * 1_000;
    return Math.min(epochEnds, this.#payouts.nextAt() ?? epochEnds);
  }

  async run(): Promise<void> {
    this.#payouts.settleEnded();
    await this.#payouts.sweep();
    await this.#openEpochs();
  }

  #record(signature: string): ClaimView | null {
    return storedClaim(this.#store, this.#tools.journal, signature);
  }

  #claimed(signature: string, part: number, replayed: boolean): ClaimAnswer {
    const claim = this.#record(signature);
    return claim ? { type: 'claimed', replayed, claim, part } : refuse(inProgress());
  }

  /** The stored response of this request's key. */
  #replay(request: ClaimRequest): ClaimAnswer | undefined {
    const payout = this.#earlier(request);
    if (!payout) return undefined;
    if (payout.bodyHash !== request.key?.bodyHash) return refuse(keyReused());
    return this.#claimed(payout.signature, payout.part, true);
  }

  /**
   * The result of a claim with nothing left to take. Owed payouts are checked again, because the caller may
   * have removed the obstacle. One that failed costs a fee, so only the clock retries it.
   */
  async #finished(signature: string): Promise<ClaimAnswer> {
    const owed = this.#store
      .payouts(signature)
      .filter(({ state, reason }) => state === 'owed' && reason !== 'payout_failed');
    if (owed.length > 0)
      await this.#p.within(
        this.#once(`payouts ${signature}`, () => this.#payouts.checkNow(owed)),
        MAX_WAIT_MS,
      );
    return nothingLeft(this.#record(signature));
  }

  /** The result of a call that can have no effect, from stored rows alone. */
  #settled(request: ClaimRequest): ClaimAnswer | undefined {
    const claim = request.key ? undefined : this.#store.claim(request.signature);
    if (claim?.left !== 0n || mismatch(request, claim)) return undefined;
    const stored = this.#record(claim.signature);
    return stored?.payouts.some(({ status }) => status === 'owed') ? undefined : nothingLeft(stored);
  }

  /** Whether a lost journal may have paid a part that the stored claim does not show. */
  #mayBePaid(signature: string, known: Claim | undefined): boolean {
    const first = payoutId(signature, 1);
    return (
      this.#tools.journal.blockedBy(first) !== undefined ||
      (!known && this.#tools.journal.get(first) !== undefined)
    );
  }

  /** The claim that a call would create, without creating it. */
  #preview(request: ClaimRequest, deposit: Deposit): ClaimAnswer {
    const known = this.#record(deposit.signature);
    if (known) return { type: 'validated', claim: known };
    const made = this.#opening(deposit);
    if (made.type === 'refused') return refuse(made.refusal);
    if (request.rewardMicroUsd !== undefined && made.epoch.price === null) return refuse(noPrice());
    return { type: 'validated', claim: claimView({ ...made.claim, claimedAt: null }, []) };
  }

  async #decide(request: ClaimRequest): Promise<ClaimAnswer> {
    for (let turn = 0; turn < TURNS; turn++) {
      const replayed = this.#replay(request);
      if (replayed) return replayed;
      const stored = this.#store.claim(request.signature);
      const read = stored ? { type: 'deposit' as const, deposit: stored } : await this.#readDeposit(request);
      if (read.type === 'refused') return refuse(read.refusal);
      const { deposit } = read;
      const wrong = mismatch(request, deposit);
      if (wrong) return refuse(wrong, this.#record(deposit.signature));
      const known = this.#store.claim(deposit.signature);
      const why = await this.#p.stop();
      if (known?.left === 0n)
        return why
          ? refuse(alreadyClaimed(), this.#record(deposit.signature))
          : this.#finished(deposit.signature);
      if (why) return refuse(claimsPaused(why), this.#record(deposit.signature));
      if (this.#mayBePaid(deposit.signature, known))
        return refuse(this.#heldBack('reconciled', deposit.signature), this.#record(deposit.signature));
      try {
        await this.#openEpochs(deposit.blockTime);
      } catch (error) {
        return refuse(unreadable(failureReason(error)), this.#record(deposit.signature));
      }
      if (request.skipReward) return this.#preview(request, deposit);
      const tooMany = keyRefusal(this.#tools.journal, request, this.#tools.now());
      if (tooMany) return refuse(tooMany);
      const got = await this.#claimPart(request, deposit);
      if (got.type === 'again') continue;
      return got.type === 'refused'
        ? refuse(got.refusal, this.#record(deposit.signature))
        : this.#claimed(deposit.signature, got.part, false);
    }
    return refuse(inProgress(), this.#record(request.signature));
  }

  /** The claim that a deposit would create now, in an epoch that is stored. */
  #opening(deposit: Deposit): Opened | Refused {
    const { signature, blockTime } = deposit;
    return decideOpening(deposit, {
      usedFor: this.#tools.journal.consumerOf(`payment:${signature}`),
      own: ownMoney(deposit, {
        isDepositAddress: this.#tools.journal.consumerOf(`deposit:${deposit.sender}`) !== undefined,
        sharesAddress: this.#p.terms.treasury === this.#p.terms.reserve,
        unsettledSince: this.#tools.journal.open().flatMap((op) => (op.unsettled > 0n ? [op.createdAt] : [])),
      }),
      epoch: this.#store.epochAt(blockTime),
      oldest: inSeconds(this.#tools.now()) - this.#p.program.maxAgeSeconds,
      minimumDeposit: this.#p.program.minimumDeposit,
      seq: this.#store.nextSeq(),
      now: this.#tools.now(),
    });
  }

  /** The stored claim of a deposit with its epoch, or the claim that it would open. */
  #claimOf(deposit: Deposit): ClaimFacts['claim'] {
    const claim = this.#store.claim(deposit.signature);
    if (!claim) return this.#opening(deposit);
    const epoch = this.#store.epoch(claim.epoch);
    return epoch ? { type: 'known', claim, epoch } : { type: 'refused', refusal: alreadyClaimed() };
  }

  /** The payout that an earlier request with this key created. */
  #earlier({ key }: ClaimRequest): Payout | undefined {
    return key && this.#store.payoutByKey(key.keyHash, this.#tools.now() - KEY_LIFE_MS);
  }

  /** The next part of a claim. `store` writes the claim, if it is new; call it inside a transaction. */
  #take(request: ClaimRequest, deposit: Deposit): TakeResult {
    const decision = decideClaim(request, {
      isRepeat: this.#earlier(request) !== undefined,
      claim: this.#claimOf(deposit),
      parts: this.#store.payouts(deposit.signature).length,
      now: this.#tools.now(),
    });
    if (decision.type !== 'take') return decision;
    const { claim, payout, opened } = decision;
    return {
      type: 'taken',
      claim,
      payout,
      store: () => {
        if (opened) {
          this.#tools.journal.consumeOnce(
            `payment:${claim.signature}`,
            claimPurpose(claim.signature),
            this.#tools.now(),
          );
          this.#store.putEpoch(opened);
          mirrorEpoch(this.#tools.journal, opened, this.#tools.now());
        }
        if (request.key) this.#tools.journal.recordCall('key', request.client, this.#tools.now());
      },
    };
  }

  async #readAccountsOf(sender: string): Promise<PayoutAccounts | undefined> {
    try {
      return (await this.#once(`recipient ${sender}`, () => this.#p.readAccounts([sender])))[0];
    } catch (error) {
      this.#tools.log({ level: 'warn', event: 'recipients_unread', reason: failureReason(error) });
      return undefined;
    }
  }

  /** Stores the part as owed. The background run pays it later. */
  #promise(request: ClaimRequest, deposit: Deposit, reason: OwedReason): PartTaken {
    return this.#tools.storage.transaction(() => {
      const taken = this.#take(request, deposit);
      if (taken.type !== 'taken') return taken;
      taken.store();
      this.#payouts.save(taken.claim, this.#payouts.owe(taken.payout, reason));
      return { type: 'taken', part: taken.payout.part };
    });
  }

  /** Claims the next part and begins its payout. */
  async #claimPart(request: ClaimRequest, deposit: Deposit): Promise<PartTaken> {
    if (this.#store.payouts(deposit.signature).some(({ reason }) => reason === 'payout_failed'))
      return this.#promise(request, deposit, 'payout_failed');
    const accounts = await this.#readAccountsOf(deposit.sender);
    if (!accounts) return this.#promise(request, deposit, 'unread');
    const { signature } = deposit;
    const operations = this.#store.claim(signature)?.operations ?? 0;
    const begun = await this.#payouts.begin({ signature, operations }, accounts, () =>
      this.#take(request, deposit),
    );
    switch (begun.type) {
      case 'begun':
        // The alarm continues a payout whose operation is not done in time.
        await this.#p.within(this.#tools.drive(begun.operation.id), MAX_WAIT_MS);
        return { type: 'taken', part: Number(begun.operation.plan.part) };
      case 'owed':
        return begun.reason === 'paused'
          ? { type: 'refused', refusal: claimsPaused('stopped') }
          : this.#promise(request, deposit, begun.reason);
      default:
        return begun;
    }
  }

  /** The deposit of a request on the chain. */
  async #readDeposit({
    signature,
    client,
    waitMs = 0,
  }: ClaimRequest): Promise<{ readonly type: 'deposit'; readonly deposit: Deposit } | Refused> {
    const refused = (refusal: Refusal): Refused => ({ type: 'refused', refusal });
    try {
      const found = await this.#p.lookUp({ signature, client, waitMs, until: 'final' });
      if (found.type === 'refused') return found;
      if (found.type !== 'final') return refused(found.type === 'unknown' ? notFound() : notFinal());
      const { transaction } = found;
      const verdict = checkDeposit(transaction, this.#p.terms);
      if (verdict.type !== 'deposit') return refused(this.#declined(verdict, signature));
      const { asset, sender, slot, blockTime, creditedAtoms: credited } = verdict;
      if (blockTime > inSeconds(this.#tools.now()) + MAX_AHEAD_SECONDS)
        return refused(this.#heldBack('block_time_ahead', signature));
      const deposit = { signature: transaction.signature, asset, sender, slot, blockTime, credited };
      return { type: 'deposit', deposit };
    } catch (error) {
      const reason = failureReason(error);
      return refused(reason === 'nodes_disagree' ? this.#heldBack(reason, signature) : unreadable(reason));
    }
  }

  #heldBack(reason: string, signature: string): Refusal {
    this.#tools.log({ level: 'warn', event: 'deposit_held', signature, reason });
    return depositHeld(reason);
  }

  #declined(verdict: Exclude<DepositVerdict, { type: 'deposit' }>, signature: string): Refusal {
    if (verdict.type === 'held')
      this.#tools.log({ level: 'warn', event: 'deposit_held', signature, reason: verdict.reason });
    return verdictRefusal(verdict);
  }

  /** Opens the epochs that have started by now or by a later Unix time in seconds. @throws AppError UPSTREAM_FAILED while the decimals of ASRY cannot be read */
  async #openEpochs(time = 0): Promise<void> {
    const until = Math.max(time, inSeconds(this.#tools.now()));
    if ((this.#store.lastEnd() ?? 0) > until) return;
    const mint = await this.#p.readMint();
    if (!mint) throw upstreamFailed('solana-rpc', 'mint_unexpected');
    this.#tools.storage.transaction(() => {
      const [last] = this.#store.epochs(1);
      for (const epoch of missingEpochs(
        last,
        this.#p.program,
        until,
        inSeconds(this.#tools.now()),
        mint.decimals,
      )) {
        const opened = withItsClaims(this.#store, epoch);
        this.#store.putEpoch(opened);
        mirrorEpoch(this.#tools.journal, opened, this.#tools.now());
      }
    });
  }
}

/** Runs one piece of work per name and shares its result with all concurrent callers. */
function createSharedWork() {
  const shared = new Map<string, Promise<unknown>>();
  return function once<T>(name: string, work: () => Promise<T>): Promise<T> {
    const running = shared.get(name) as Promise<T> | undefined;
    if (running) return running;
    const started = work().finally(() => shared.delete(name));
    shared.set(name, started);
    return started;
  };
}
