/**
 * Processes claims; each deposit is claimed once. One transaction consumes the payment, advances the reward curve and
 * stores the claim with the part that is owed. Its payout then begins as in every later check of an owed part. The
 * finalized chain determines the payout, which goes to the deposit's sender. Neither the caller's identity nor the
 * number of calls changes it.
 * @module
 */

import { checkDeposit } from '../../chain/solana/deposit.ts';
import { isTimeOver } from '../../core/due-time.ts';
import { MAX_WAIT_MS } from '../../core/durations.ts';
import { failureReason, upstreamFailed } from '../../core/errors.ts';
import { keepNewest } from '../../core/keep-newest.ts';
import { forCaller } from '../../providers/admission.ts';
import {
  type AsryEpochView,
  type ClaimAnswer,
  type ClaimRequest,
  type ClaimView,
  claimView,
  type Debt,
  payoutView,
  type Refusal,
  type Refused,
} from '../api.ts';
import { refused } from '../kernel/begin-operation.ts';
import { birthOf, olderRefusal } from '../kernel/birth.ts';
import type { CustodyModule, MirrorSource, ModuleTools } from '../kernel/module.ts';
import type { Within } from '../kernel/ports.ts';
import { reasonText } from '../kernel/reason.ts';
import { epochView, mirroredClaims, saveClaim, saveEpoch } from './asry-records.ts';
import { AsryStore, PAYOUT, type Payout } from './asry-store.ts';
import {
  type Deposit,
  KEY_LIFE_MS,
  mismatch,
  newPayout,
  type Opened,
  openClaim,
  ownMoney,
  payoutPart,
  refusal,
  tooSmall,
  unreadable,
  verdictRefusal,
} from './claim-rules.ts';
import { missingEpochs } from './epochs.ts';
import { type AsryPorts, claimPurpose, createAsryKind } from './payout-operation.ts';
import { Payouts } from './payouts.ts';

/** A block's time may be this many seconds ahead of our clock. A node that reports a later time is wrong. */
const MAX_AHEAD_SECONDS = 86_400;

/** A repeated claim reads the chain at most once in this time. */
const REPEAT_MS = 30_000;
/** Maximum deposits whose repeats are remembered; the oldest are forgotten first. */
const MAX_CHECKED = 1_000;

const inSeconds = (ms: number): number => Math.floor(ms / 1_000);

const refuse = (refusal: Refusal, claim: ClaimView | null = null): ClaimAnswer => ({
  ...refused(refusal),
  claim,
});

type ClaimsPorts = AsryPorts & { readonly within: Within };

export class Claims implements CustodyModule {
  readonly kinds: CustodyModule['kinds'];
  readonly work: CustodyModule['work'];
  readonly mirrored: readonly MirrorSource[];
  readonly #tools: ModuleTools;
  readonly #ports: ClaimsPorts;
  readonly #store: AsryStore;
  readonly #payouts: Payouts;
  /** Running checks of owed payouts, by deposit: concurrent calls share one read of the nodes. */
  readonly #checks = new Map<string, Promise<void>>();
  /** When a repeat last read the chain, by deposit, in Unix milliseconds. */
  readonly #checkedAt = new Map<string, number>();

  constructor(tools: ModuleTools, ports: ClaimsPorts) {
    this.#tools = tools;
    this.#ports = ports;
    this.#store = new AsryStore(tools.storage, tools.now);
    this.#payouts = new Payouts(tools, this.#store, ports);
    this.kinds = { asry: { ...createAsryKind(ports), onEnd: (operation) => this.#payouts.end(operation) } };
    this.work = { [PAYOUT]: this.#payouts.work };
    this.mirrored = mirroredClaims(this.#store);
  }

  async claim(request: ClaimRequest): Promise<ClaimAnswer> {
    const answer = await this.#decide(request);
    // The rows are durable before the response is sent, so a crash cannot undo them.
    await this.#tools.storage.sync();
    return answer;
  }

  find(signature: string): ClaimView | null {
    const claim = this.#store.claim(signature);
    if (!claim) return null;
    const payouts = this.#store.payouts(signature).map((payout) => {
      const operation = this.#tools.journal.get(payout.operationId);
      return payoutView(
        payout,
        operation && {
          signature: operation.signing?.signature ?? null,
          reason: reasonText(operation.reason),
          finishedAt: operation.state === 'done' ? operation.updatedAt : null,
        },
      );
    });
    return claimView(claim, payouts);
  }

  async epochs(limit: number): Promise<AsryEpochView[]> {
    await this.#openEpochs();
    return this.#store.epochs(limit).map(epochView);
  }

  debts(): readonly Debt[] {
    return [this.#payouts.debt()];
  }

  /** Opens the epoch of the current time once the previous one has ended. */
  onCron(): Promise<void> {
    return this.#openEpochs();
  }

  /** A refusal with the stored claim, if there is one. */
  #refuse(why: Refusal, signature: string): ClaimAnswer {
    return refuse(why, this.find(signature));
  }

  #claimed({ signature, part }: Pick<Payout, 'signature' | 'part'>, replayed: boolean): ClaimAnswer {
    const claim = this.find(signature);
    return claim ? { type: 'claimed', replayed, claim, part } : refuse(refusal('CLAIM_IN_PROGRESS'));
  }

  /** The stored result for the request's idempotency key. */
  #replay({ key }: ClaimRequest): ClaimAnswer | undefined {
    const payout = key && this.#store.payoutByKey(key.keyHash, this.#tools.now() - KEY_LIFE_MS);
    if (!payout) return undefined;
    return payout.bodyHash === key.bodyHash
      ? this.#claimed(payout, true)
      : refuse(refusal('IDEMPOTENCY_KEY_REUSED'));
  }

  async #decide(request: ClaimRequest): Promise<ClaimAnswer> {
    const replayed = this.#replay(request);
    if (replayed) return replayed;
    const stored = this.#store.claim(request.signature);
    const read = stored ? { type: 'deposit' as const, deposit: stored } : await this.#readDeposit(request);
    if (read.type === 'refused') return refuse(read.refusal);
    const { deposit } = read;
    const { signature } = deposit;
    const wrong = mismatch(request, deposit);
    if (wrong) return this.#refuse(wrong, signature);
    const older = stored ? undefined : olderRefusal(this.#tools.journal, deposit, this.#tools.contact);
    if (older) return refuse(older);
    const why = await this.#tools.stopBeginning('asry');
    const known = this.#store.claim(signature);
    if (known?.left === 0n) return this.#finished(signature, request.client, why === undefined);
    if (why) return this.#refuse(refusal('CLAIMS_PAUSED', { reason: why }), signature);
    try {
      await this.#openEpochs(deposit.blockTime);
    } catch (error) {
      return this.#refuse(unreadable(failureReason(error)), signature);
    }
    return request.skipReward ? this.#preview(request, deposit) : this.#claimPart(request, deposit);
  }

  /** Takes the next part of a claim and begins its payout. */
  async #claimPart(request: ClaimRequest, deposit: Deposit): Promise<ClaimAnswer> {
    // Another call with this key may have ended while this one waited. Nothing is awaited until the part is stored.
    const replayed = this.#replay(request);
    if (replayed) return replayed;
    const payout = this.#take(request, deposit);
    if ('code' in payout) return this.#refuse(payout, deposit.signature);
    // A failed payout costs a fee, so only the background retries it. The alarm continues any payout that is not done
    // in time.
    if (payout.reason !== 'payout_failed')
      await this.#ports.within(this.#payouts.check([payout], false), MAX_WAIT_MS);
    return this.#claimed(payout, false);
  }

  /** Stores the next part of a claim as owed; for a deposit without a claim, one transaction also stores the claim. */
  #take(request: ClaimRequest, deposit: Deposit): Payout | Refusal {
    const { journal, storage, now } = this.#tools;
    const { signature } = deposit;
    const known = this.#store.claim(signature);
    const opened = known ? undefined : this.#opening(deposit);
    if (opened?.type === 'refused') return opened.refusal;
    const claim = known ?? opened?.claim;
    const epoch = opened?.epoch ?? (known && this.#store.epoch(known.epoch));
    if (!claim || !epoch || claim.left === 0n) return refusal('ALREADY_CLAIMED');
    const earlier = this.#store.payouts(signature);
    const atoms = payoutPart({
      ...claim,
      parts: earlier.length,
      microUsd: request.rewardMicroUsd ?? null,
      price: epoch.price,
      decimals: epoch.decimals,
    });
    if (atoms === undefined) return refusal('REWARD_USD_UNAVAILABLE');
    const fresh = newPayout(claim, { part: earlier.length + 1, atoms, key: request.key, now: now() });
    const hasFailed = earlier.some(({ reason }) => reason === 'payout_failed');
    const payout = hasFailed ? this.#payouts.owe(fresh, 'payout_failed') : fresh;
    storage.transaction(() => {
      if (opened) {
        journal.useOnce(`payment:${signature}`, claimPurpose(signature), now());
        saveEpoch(this.#tools, this.#store, opened.epoch);
      }
      saveClaim(this.#tools, this.#store, { ...claim, left: claim.left - atoms }, payout);
    });
    return payout;
  }

  /**
   * The result of a claim with no part left. Owed payouts are checked again, because the caller may have removed the
   * obstacle. A failed payout costs a fee, so only the background retries it.
   */
  async #finished(signature: string, client: string, mayBegin: boolean): Promise<ClaimAnswer> {
    const owed = this.#store
      .payouts(signature)
      .filter(({ state, reason }) => state === 'owed' && reason !== 'payout_failed');
    if (mayBegin && owed.length > 0 && this.#isCheckDue(signature))
      await this.#ports.within(
        forCaller(client, () => this.#checkOnce(signature, owed)),
        MAX_WAIT_MS,
      );
    const claim = this.find(signature);
    const moving = claim?.payouts.some(({ status, paidAtMs }) => status !== 'owed' && paidAtMs === null);
    return refuse(refusal(moving ? 'CLAIM_IN_PROGRESS' : 'ALREADY_CLAIMED'), claim);
  }

  /**
   * Whether a repeated claim may read the chain again. Anyone may repeat any claim, so other repeats get the stored
   * result.
   */
  #isCheckDue(signature: string): boolean {
    const checkedAt = this.#checkedAt.get(signature) ?? 0;
    return this.#checks.has(signature) || isTimeOver(checkedAt + REPEAT_MS, REPEAT_MS, this.#tools.now());
  }

  #checkOnce(signature: string, owed: readonly Payout[]): Promise<void> {
    const running = this.#checks.get(signature);
    if (running) return running;
    const check = this.#payouts.check(owed, true).finally(() => this.#checks.delete(signature));
    this.#checks.set(signature, check);
    keepNewest(this.#checkedAt, signature, this.#tools.now(), MAX_CHECKED);
    return check;
  }

  /** The claim that a call would create, without creating it. */
  #preview(request: ClaimRequest, deposit: Deposit): ClaimAnswer {
    const known = this.find(deposit.signature);
    if (known) return { type: 'validated', claim: known };
    const opened = this.#opening(deposit);
    if (opened.type === 'refused') return refuse(opened.refusal);
    if (request.rewardMicroUsd !== undefined && opened.epoch.price === null)
      return refuse(refusal('REWARD_USD_UNAVAILABLE'));
    return { type: 'validated', claim: claimView({ ...opened.claim, claimedAt: null }, []) };
  }

  /** The claim that a deposit would create now, in an epoch that is stored. */
  #opening(deposit: Deposit): Opened | Refused {
    const { journal, now } = this.#tools;
    const { program } = this.#ports;
    const { signature, sender, blockTime, credited } = deposit;
    const usedFor = journal.usedBy(`payment:${signature}`);
    if (usedFor !== undefined && usedFor !== claimPurpose(signature))
      return refused(refusal('DEPOSIT_ALREADY_USED', { purpose: usedFor.split(':')[0] ?? '' }));
    const own = ownMoney(deposit, {
      isOwnSender: journal.usedBy(`deposit:${sender}`) !== undefined || journal.isSigner(sender),
      unsettledSince: this.#unsettledSince(),
    });
    if (own === 'own_movement') return refused(verdictRefusal({ type: 'refused', reason: own }));
    if (own) return refused(refusal('CLAIMS_PAUSED', { reason: own }));
    const epoch = this.#store.epochAt(blockTime);
    if (!epoch || blockTime < inSeconds(now()) - program.maxAgeSeconds)
      return refused(refusal('DEPOSIT_TOO_OLD', { blockTime }));
    const opened = openClaim(deposit, epoch, { seq: this.#store.nextSeq(), now: now() });
    return credited < program.minimumDeposit || opened.claim.entitlement === 0n
      ? refused(tooSmall(credited, program.minimumDeposit))
      : opened;
  }

  /**
   * Start of each swap of the treasury's address whose proceeds are missing. A lost journal may have had such a swap
   * until its end.
   */
  #unsettledSince(): number[] {
    const { journal, reserveAddress } = this.#tools;
    const { treasury } = this.#ports.terms;
    const birth = birthOf(journal);
    return [
      ...journal
        .open()
        .flatMap(({ signer, unsettled, createdAt }) =>
          signer === treasury && unsettled > 0n ? [createdAt] : [],
        ),
      ...(birth && treasury === reserveAddress ? [birth.at] : []),
    ];
  }

  /** Reads the deposit of a request from the chain. */
  async #readDeposit({
    signature,
    client,
    waitMs = 0,
  }: ClaimRequest): Promise<{ readonly type: 'deposit'; readonly deposit: Deposit } | Refused> {
    try {
      const found = await this.#ports.lookUp({ signature, client, waitMs, unknownMs: 0, until: 'final' });
      if (found.type === 'refused') return found;
      if (found.type !== 'final')
        return refused(refusal(found.type === 'unknown' ? 'DEPOSIT_NOT_FOUND' : 'DEPOSIT_NOT_FINAL'));
      const { transaction } = found;
      const verdict = checkDeposit(transaction, this.#ports.terms);
      if (verdict.type === 'held') this.#logHeld(verdict.reason, signature);
      if (verdict.type !== 'deposit') return refused(verdictRefusal(verdict));
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
    this.#logHeld(reason, signature);
    return refusal('DEPOSIT_HELD', { reason });
  }

  #logHeld(reason: string, signature: string): void {
    this.#tools.log({ level: 'warn', event: 'deposit_held', signature, reason });
  }

  /** Opens the epochs that have started by now or by a later Unix time in seconds. @throws AppError UPSTREAM_FAILED while the decimals of ASRY cannot be read */
  async #openEpochs(time = 0): Promise<void> {
    const until = Math.max(time, inSeconds(this.#tools.now()));
    if ((this.#store.lastEnd() ?? 0) > until) return;
    const mint = await this.#ports.readMint();
    if (!mint) throw upstreamFailed('solana-rpc', 'mint_unexpected');
    this.#tools.storage.transaction(() => {
      const [last] = this.#store.epochs(1);
      for (const epoch of missingEpochs(
        last,
        this.#ports.program,
        until,
        inSeconds(this.#tools.now()),
        mint.decimals,
      )) {
        saveEpoch(this.#tools, this.#store, epoch);
      }
    });
  }
}
