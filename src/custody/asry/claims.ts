/**
 * Processes claims; each deposit is claimed once. One critical section consumes the payment, advances the reward
 * curve, and stores the claim and the intent of its payout. Payouts follow from the finalized chain and go to the
 * deposit's sender. Neither the caller's identity nor the number of calls changes them.
 * @module
 */

import { type DepositVerdict, judgeDeposit } from '../../chain/solana/deposit.ts';
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
import type { CustodyModule, ModuleTools } from '../kernel/module.ts';
import {
  type AsryStore,
  type Claim,
  epochView,
  mirrorEpoch,
  mirroredClaims,
  type OwedReason,
  openAsryStore,
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
  type Opened,
  ownMoney,
  type Refused,
  unreadable,
  verdictRefusal,
  wrongAmount,
  wrongAsset,
} from './claim-rules.ts';
import { missingEpochs } from './epochs.ts';
import { type AsryPorts, claimPurpose, createAsryKind, type Payee, payoutId } from './payout-operation.ts';
import { createAsryPayouts, type Taken } from './payouts.ts';

/** Seconds that a block's time may be ahead of our clock. A node that reports a later time is wrong. */
const MAX_AHEAD_SECONDS = 86_400;
const TURNS = 6;

const inSeconds = (ms: number): number => Math.floor(ms / 1_000);

/** The result of the work, or undefined after this many milliseconds; the work continues. */
type Within = <T>(work: Promise<T>, ms: number) => Promise<T | undefined>;

type OnceOnly = ReturnType<typeof createSharedWork>;

/** Reads deposits from the chain and decides whether they are claimable at all. */
function createDepositReader({ now, log }: ModuleTools, p: AsryPorts, once: OnceOnly) {
  /** The deposit with this signature on the chain. */
  async function readDeposit(
    signature: string,
  ): Promise<{ readonly type: 'deposit'; readonly deposit: Deposit } | Refused> {
    const refused = (refusal: Refusal): Refused => ({ type: 'refused', refusal });
    try {
      const transaction = await once(`deposit ${signature}`, () => p.transaction(signature));
      if (!transaction) return refused(notFinal());
      const verdict = judgeDeposit(transaction, p.terms);
      if (verdict.type !== 'deposit') return refused(declined(verdict, signature));
      const { asset, sender, slot, blockTime, creditedAtoms: credited } = verdict;
      if (blockTime > inSeconds(now()) + MAX_AHEAD_SECONDS)
        return refused(heldBack('block_time_ahead', signature));
      const deposit = { signature: transaction.signature, asset, sender, slot, blockTime, credited };
      return { type: 'deposit', deposit };
    } catch (error) {
      const reason = failureReason(error);
      return refused(reason === 'nodes_disagree' ? heldBack(reason, signature) : unreadable(reason));
    }
  }

  function heldBack(reason: string, signature: string): Refusal {
    log({ level: 'warn', event: 'deposit_held', signature, reason });
    return depositHeld(reason);
  }

  function declined(verdict: Exclude<DepositVerdict, { type: 'deposit' }>, signature: string): Refusal {
    if (verdict.type === 'held')
      log({ level: 'warn', event: 'deposit_held', signature, reason: verdict.reason });
    return verdictRefusal(verdict);
  }

  return { readDeposit, heldBack };
}

/** Refuses a request whose asset or amount differs from the deposit's. */
function mismatch({ asset, expectedAtoms }: ClaimRequest, deposit: Deposit): Refusal | undefined {
  if (asset !== deposit.asset) return wrongAsset(asset, deposit.asset);
  if (expectedAtoms !== undefined && expectedAtoms !== deposit.credited)
    return wrongAmount(expectedAtoms, deposit.credited);
  return undefined;
}

/**
 * Returns a function that opens the epochs that have started by now or by a later Unix time in seconds.
 * @throws AppError UPSTREAM_FAILED while the decimals of ASRY cannot be read
 */
function createEpochOpener(
  { journal, storage, now }: ModuleTools,
  store: AsryStore,
  { program, readMint }: Pick<AsryPorts, 'program' | 'readMint'>,
) {
  return async function openEpochs(time = 0): Promise<void> {
    const until = Math.max(time, inSeconds(now()));
    if ((store.lastEnd() ?? 0) > until) return;
    const mint = await readMint();
    if (!mint) throw upstreamFailed('solana-rpc', 'mint_unexpected');
    storage.transaction(() => {
      const [last] = store.epochs(1);
      for (const epoch of missingEpochs(last, program, until, inSeconds(now()), mint.decimals)) {
        const opened = withItsClaims(store, epoch);
        store.putEpoch(opened);
        mirrorEpoch(journal, opened, now());
      }
    });
  };
}

/** A part that was taken, by its number; or why none was. */
type PartTaken = { readonly type: 'taken'; readonly part: number } | Exclude<Taken, { type: 'taken' }>;

/** Takes the next part of a claim and begins its payout. */
function createTaking(
  { journal, storage, drive, now, log }: ModuleTools,
  p: AsryPorts & {
    readonly store: AsryStore;
    readonly payouts: ReturnType<typeof createAsryPayouts>;
    readonly once: OnceOnly;
    readonly within: Within;
  },
) {
  const { program, store, payouts, once } = p;

  /** The claim that a deposit would create now, in an epoch that is stored. */
  function opening(deposit: Deposit): Opened | Refused {
    const { signature, blockTime } = deposit;
    return decideOpening(deposit, {
      usedFor: journal.consumerOf(`payment:${signature}`),
      own: ownMoney(deposit, {
        isDepositAddress: journal.consumerOf(`deposit:${deposit.sender}`) !== undefined,
        sharesAddress: p.terms.treasury === p.terms.reserve,
        unsettledSince: journal.open().flatMap((op) => (op.unsettled > 0n ? [op.createdAt] : [])),
      }),
      epoch: store.epochAt(blockTime),
      oldest: inSeconds(now()) - program.maxAgeSeconds,
      minimumDeposit: program.minimumDeposit,
      seq: store.nextSeq(),
      now: now(),
    });
  }

  /** The stored claim of a deposit with its epoch, or the claim that it would open. */
  function claimOf(deposit: Deposit): ClaimFacts['claim'] {
    const claim = store.claim(deposit.signature);
    if (!claim) return opening(deposit);
    const epoch = store.epoch(claim.epoch);
    return epoch ? { type: 'known', claim, epoch } : { type: 'refused', refusal: alreadyClaimed() };
  }

  /** The payout that an earlier request with this key created. */
  const earlier = ({ key }: ClaimRequest): Payout | undefined =>
    key && store.payoutByKey(key.keyHash, now() - KEY_LIFE_MS);

  /** The next part of a claim. `store` writes the claim, if it is new; call it inside a transaction. */
  function take(request: ClaimRequest, deposit: Deposit): Taken {
    const decision = decideClaim(request, {
      isRepeat: earlier(request) !== undefined,
      claim: claimOf(deposit),
      parts: store.payouts(deposit.signature).length,
      now: now(),
    });
    if (decision.type !== 'take') return decision;
    const { claim, payout, opened } = decision;
    return {
      type: 'taken',
      claim,
      payout,
      store() {
        if (opened) {
          journal.consumeOnce(`payment:${claim.signature}`, claimPurpose(claim.signature), now());
          store.putEpoch(opened);
          mirrorEpoch(journal, opened, now());
        }
        if (request.key) journal.recordCall('key', request.client, now());
      },
    };
  }

  async function readPayee(sender: string): Promise<Payee | undefined> {
    try {
      return (await once(`payee ${sender}`, () => p.readPayees([sender])))[0];
    } catch (error) {
      log({ level: 'warn', event: 'payees_unread', reason: failureReason(error) });
      return undefined;
    }
  }

  /** Stores the part as owed. The background run pays it later. */
  function promise(request: ClaimRequest, deposit: Deposit, reason: OwedReason): PartTaken {
    return storage.transaction(() => {
      const taken = take(request, deposit);
      if (taken.type !== 'taken') return taken;
      taken.store();
      payouts.save(taken.claim, payouts.owe(taken.payout, reason));
      return { type: 'taken', part: taken.payout.part };
    });
  }

  /** Claims the next part and begins its payout. */
  async function claimPart(request: ClaimRequest, deposit: Deposit): Promise<PartTaken> {
    if (store.payouts(deposit.signature).some(({ reason }) => reason === 'payout_failed'))
      return promise(request, deposit, 'payout_failed');
    const payee = await readPayee(deposit.sender);
    if (!payee) return promise(request, deposit, 'unread');
    const { signature } = deposit;
    const operations = store.claim(signature)?.operations ?? 0;
    const begun = await payouts.begin({ signature, operations }, payee, () => take(request, deposit));
    switch (begun.type) {
      case 'begun':
        // The alarm continues a payout whose operation is not done in time.
        await p.within(drive(begun.operation.id), MAX_WAIT_MS);
        return { type: 'taken', part: Number(begun.operation.plan.part) };
      case 'owed':
        return begun.reason === 'paused'
          ? { type: 'refused', refusal: claimsPaused('stopped') }
          : promise(request, deposit, begun.reason);
      default:
        return begun;
    }
  }

  return { opening, earlier, claimPart };
}

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

/** Answers claims from stored rows, or takes the next part of the deposit's reward. */
function createClaimAnswers(
  tools: ModuleTools,
  p: ClaimsPorts & {
    readonly store: AsryStore;
    readonly payouts: ReturnType<typeof createAsryPayouts>;
    readonly openEpochs: ReturnType<typeof createEpochOpener>;
  },
) {
  const { journal, now } = tools;
  const { store, payouts } = p;
  const once = createSharedWork();
  const { readDeposit, heldBack } = createDepositReader(tools, p, once);
  const { opening, earlier, claimPart } = createTaking(tools, { ...p, once });

  const record = (signature: string): ClaimView | null => storedClaim(store, journal, signature);

  function claimed(signature: string, part: number, replayed: boolean): ClaimAnswer {
    const claim = record(signature);
    return claim ? { type: 'claimed', replayed, claim, part } : refuse(inProgress());
  }

  /** The stored answer of this request's key. */
  function replay(request: ClaimRequest): ClaimAnswer | undefined {
    const payout = earlier(request);
    if (!payout) return undefined;
    if (payout.bodyHash !== request.key?.bodyHash) return refuse(keyReused());
    return claimed(payout.signature, payout.part, true);
  }

  /**
   * The result of a claim with nothing left to take. Owed payouts are checked again, because the caller may
   * have removed the obstacle. One that failed costs a fee, so only the clock retries it.
   */
  async function finished(signature: string): Promise<ClaimAnswer> {
    const owed = store
      .payouts(signature)
      .filter(({ state, reason }) => state === 'owed' && reason !== 'payout_failed');
    if (owed.length > 0)
      await p.within(
        once(`payouts ${signature}`, () => payouts.checkNow(owed)),
        MAX_WAIT_MS,
      );
    return nothingLeft(record(signature));
  }

  /** The result of a call that can have no effect, from stored rows alone. */
  function settled(request: ClaimRequest): ClaimAnswer | undefined {
    const claim = request.key ? undefined : store.claim(request.signature);
    if (claim?.left !== 0n || mismatch(request, claim)) return undefined;
    const stored = record(claim.signature);
    return stored?.payouts.some(({ status }) => status === 'owed') ? undefined : nothingLeft(stored);
  }

  /** Whether a lost journal may have paid a part that the stored claim does not show. */
  function mayBePaid(signature: string, known: Claim | undefined): boolean {
    const first = payoutId(signature, 1);
    return journal.blockedBy(first) !== undefined || (!known && journal.get(first) !== undefined);
  }

  /** The claim that a call would create, without creating it. */
  function preview(request: ClaimRequest, deposit: Deposit): ClaimAnswer {
    const known = record(deposit.signature);
    if (known) return { type: 'validated', claim: known };
    const made = opening(deposit);
    if (made.type === 'refused') return refuse(made.refusal);
    if (request.rewardMicroUsd !== undefined && made.epoch.price === null) return refuse(noPrice());
    return { type: 'validated', claim: claimView({ ...made.claim, claimedAt: null }, []) };
  }

  async function decide(request: ClaimRequest): Promise<ClaimAnswer> {
    for (let turn = 0; turn < TURNS; turn++) {
      const replayed = replay(request);
      if (replayed) return replayed;
      const stored = store.claim(request.signature);
      const read = stored
        ? { type: 'deposit' as const, deposit: stored }
        : await readDeposit(request.signature);
      if (read.type === 'refused') return refuse(read.refusal);
      const { deposit } = read;
      const wrong = mismatch(request, deposit);
      if (wrong) return refuse(wrong, record(deposit.signature));
      const known = store.claim(deposit.signature);
      const why = await p.stop();
      if (known?.left === 0n)
        return why ? refuse(alreadyClaimed(), record(deposit.signature)) : finished(deposit.signature);
      if (why) return refuse(claimsPaused(why), record(deposit.signature));
      if (mayBePaid(deposit.signature, known))
        return refuse(heldBack('reconciled', deposit.signature), record(deposit.signature));
      try {
        await p.openEpochs(deposit.blockTime);
      } catch (error) {
        return refuse(unreadable(failureReason(error)), record(deposit.signature));
      }
      if (request.skipReward) return preview(request, deposit);
      const tooMany = keyRefusal(journal, request, now());
      if (tooMany) return refuse(tooMany);
      const got = await claimPart(request, deposit);
      if (got.type === 'again') continue;
      return got.type === 'refused'
        ? refuse(got.refusal, record(deposit.signature))
        : claimed(deposit.signature, got.part, false);
    }
    return refuse(inProgress(), record(request.signature));
  }

  return { record, settled, decide };
}

export function createClaims(tools: ModuleTools, p: ClaimsPorts) {
  const { storage, now } = tools;
  const store = openAsryStore(storage);
  const payouts = createAsryPayouts(tools, store, p);
  const openEpochs = createEpochOpener(tools, store, p);
  const { record, settled, decide } = createClaimAnswers(tools, { ...p, store, payouts, openEpochs });

  return {
    kinds: { asry: createAsryKind(p) },
    mirrored: mirroredClaims(store, tools),
    hold: payouts.held.hold,
    held: payouts.held,

    /** The stored answer to a claim that leaves nothing to do, such as a repeat; undefined for any other claim. */
    async storedAnswer(request: ClaimRequest): Promise<ClaimAnswer | undefined> {
      const answer = settled(request);
      if (answer) await storage.sync();
      return answer;
    },

    async claim(request: ClaimRequest): Promise<ClaimAnswer> {
      const answer = await decide(request);
      // Durable before the answer: a crash must not undo it.
      await storage.sync();
      return answer;
    },

    find: (signature: string): ClaimView | null => record(signature),

    /** The newest epochs; undefined when an epoch has started that is not stored yet. */
    openEpochs(limit: number): AsryEpochView[] | undefined {
      const [last] = store.epochs(1);
      return last && last.endsAt > inSeconds(now()) ? store.epochs(limit).map(epochView) : undefined;
    },

    async epochs(limit: number): Promise<AsryEpochView[]> {
      await openEpochs();
      return store.epochs(limit).map(epochView);
    },

    nextRunAt(): number | undefined {
      const last = store.lastEnd();
      const epochEnds = last === undefined ? now() : last * 1_000;
      return Math.min(epochEnds, payouts.nextAt() ?? epochEnds);
    },

    async run(): Promise<void> {
      payouts.settleEnded();
      await payouts.sweep();
      await openEpochs();
    },
  } satisfies CustodyModule & Record<string, unknown>;
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
