/**
 * Takes claims. A deposit is claimed once: the payment's name, the curve's step, the claim and the intent of its payout
 * are one critical section. Everything that is paid follows from the finalized chain and goes to the deposit's sender;
 * who calls, and how often, changes nothing.
 * @module
 */
import {
  type DepositTerms,
  type DepositTransaction,
  type DepositVerdict,
  judgeDeposit,
} from '../../chain/solana/deposit.ts';
import { MAX_WAIT_MS } from '../../core/limits.ts';
import { type ChainTransaction, failureReason } from '../../providers/solana-rpc.ts';
import type { AsryEpochView, ClaimAnswer, ClaimRequest, Refusal } from '../api.ts';
import type { CustodyModule, ModuleTools } from '../kernel/module.ts';
import type { Mirror } from '../kernel/ports.ts';
import { createSharedWork } from '../kernel/shared-work.ts';
import { type Claim, type OwedReason, openAsryStore, type Payout } from './asry-store.ts';
import { type Deposit, keyRefusal, newPayout, openClaim, ownMoney } from './claim-rules.ts';
import { type ClaimView, claimView } from './claim-view.ts';
import { type AsryProgram, type Epoch, missingEpochs } from './epochs.ts';
import {
  type AsryPayoutPorts,
  claimPurpose,
  createAsryKind,
  type Payee,
  payoutId,
} from './payout-operation.ts';
import { payoutPart } from './payout-rule.ts';
import { AGAIN, createAsryPayouts } from './payouts.ts';
import { type AsryRecoveryPorts, holdSuspect, recognizePayout, restoreClaims } from './recovery.ts';
import * as view from './view.ts';

export type AsryPorts = AsryPayoutPorts & {
  /** The finalized transaction of a quorum of nodes, or null while they do not show it. @throws AppError UPSTREAM_FAILED */
  transaction(signature: string): Promise<DepositTransaction | null>;
  readonly terms: DepositTerms;
  readonly program: AsryProgram;
};

type Within = <T>(work: Promise<T>, ms: number) => Promise<T | undefined>;

/** A block's time may be ahead of our clock by so much; a node that says more is wrong. */
const MAX_AHEAD_SECONDS = 86_400;
const TURNS = 6;

const isRefusal = (value: object): value is Refusal => 'code' in value;

export type Claims = ReturnType<typeof createClaims>;

export function createClaims(
  tools: ModuleTools,
  p: AsryPorts & {
    readonly mirror: Pick<Mirror, 'recordsAfter'>;
    /** Why nothing may begin now. */
    readonly stop: () => Promise<string | undefined>;
    readonly within: Within;
  },
) {
  const { journal, storage, now, log } = tools;
  const { program } = p;
  const store = openAsryStore(storage);
  const payouts = createAsryPayouts(tools, store, p);
  const unixNow = (): number => Math.floor(now() / 1_000);

  /** Opens the epochs that have begun, up to a time. */
  function openEpochs(until: number): void {
    const [last] = store.epochs(1);
    if (last && last.endsAt > until) return;
    storage.transaction(() => {
      for (const epoch of missingEpochs(last, program, until, unixNow())) {
        store.putEpoch(epoch);
        view.mirrorEpoch(journal, epoch, now());
      }
    });
  }

  const once = createSharedWork();

  /** What the chain says of a signature. */
  async function examine(signature: string): Promise<Deposit | Refusal> {
    try {
      const transaction = await once(`deposit ${signature}`, () => p.transaction(signature));
      if (!transaction) return view.notFinal();
      const verdict = judgeDeposit(transaction, p.terms);
      if (verdict.type !== 'deposit') return declined(verdict, signature);
      const { asset, sender, slot, blockTime, creditedAtoms: credited } = verdict;
      if (blockTime > unixNow() + MAX_AHEAD_SECONDS) return heldBack('block_time_ahead', signature);
      return { signature: transaction.signature, asset, sender, slot, blockTime, credited };
    } catch (error) {
      const reason = failureReason(error);
      return reason === 'nodes_disagree' ? heldBack(reason, signature) : view.unreadable(reason);
    }
  }

  function heldBack(reason: string, signature: string): Refusal {
    log({ level: 'warn', event: 'deposit_held', signature, reason });
    return view.held(reason);
  }

  function declined(verdict: Exclude<DepositVerdict, { type: 'deposit' }>, signature: string): Refusal {
    if (verdict.type === 'held')
      log({ level: 'warn', event: 'deposit_held', signature, reason: verdict.reason });
    return view.verdictRefusal(verdict);
  }

  /** Whether the caller means this deposit. */
  function mismatch({ asset, expectedAtoms }: ClaimRequest, deposit: Deposit): Refusal | undefined {
    if (asset !== deposit.asset) return view.wrongAsset(asset, deposit.asset);
    if (expectedAtoms !== undefined && expectedAtoms !== deposit.credited)
      return view.wrongAmount(expectedAtoms, deposit.credited);
    return undefined;
  }

  /** The claim that a deposit makes now, not yet stored, and the epoch after it. */
  function opened(deposit: Deposit): { claim: Claim; epoch: Epoch } | Refusal {
    const { signature, blockTime } = deposit;
    const used = journal.consumerOf(`payment:${signature}`);
    if (used !== undefined && used !== claimPurpose(signature)) return view.paymentUsed(used);
    const own = ownMoney(deposit, {
      isDepositAddress: journal.consumerOf(`deposit:${deposit.sender}`) !== undefined,
      sharesAddress: p.terms.treasury === p.terms.reserve,
      unsettledSince: journal.open().flatMap((op) => (op.unsettled > 0n ? [op.createdAt] : [])),
    });
    if (own === 'own_movement') return view.verdictRefusal({ type: 'refused', reason: own });
    if (own) return view.claimsPaused(own);
    openEpochs(Math.max(blockTime, unixNow()));
    const epoch = store.epochAt(blockTime);
    if (!epoch || blockTime < unixNow() - program.maxAgeSeconds) return view.tooOld(blockTime);
    return openClaim(deposit, epoch, {
      minimumDeposit: program.minimumDeposit,
      seq: store.nextSeq(),
      now: now(),
    });
  }

  /** The payout that this request's key has asked for already. */
  const earlier = ({ key }: ClaimRequest): Payout | undefined =>
    key && store.payoutByKey(key.keyHash, now() - view.KEY_LIFE_MS);

  /** Takes the next part of a claim, and the claim itself where it is new. Inside a transaction; refuses before it writes. */
  function take(request: ClaimRequest, deposit: Deposit): { claim: Claim; payout: Payout } | Refusal {
    // The first call with this key has come this far in the meantime.
    if (earlier(request)) return AGAIN;
    const known = store.claim(deposit.signature);
    const made = known ? undefined : opened(deposit);
    if (made && isRefusal(made)) return made;
    const claim = known ?? made?.claim;
    const epoch = made?.epoch ?? (known && store.epoch(known.epoch));
    if (!claim || !epoch || claim.left === 0n) return view.alreadyClaimed();
    const parts = store.payouts(claim.signature).length;
    const { entitlement, left } = claim;
    const { price, decimals } = epoch;
    const part = payoutPart({
      entitlement,
      left,
      parts,
      microUsd: request.rewardMicroUsd ?? null,
      price,
      decimals,
    });
    if (!part.ok) return view.noPrice();

    if (made) {
      journal.consumeOnce(`payment:${claim.signature}`, claimPurpose(claim.signature), now());
      store.putEpoch(made.epoch);
      view.mirrorEpoch(journal, made.epoch, now());
    }
    if (request.key) journal.recordCall('key', request.client, now());
    const payout = newPayout(claim, { part: parts + 1, atoms: part.atoms, key: request.key, now: now() });
    return { claim: { ...claim, left: left - part.atoms }, payout };
  }

  async function readPayee(sender: string): Promise<Payee | undefined> {
    try {
      return (await once(`payee ${sender}`, () => p.readPayees([sender])))[0];
    } catch (error) {
      log({ level: 'warn', event: 'payees_unread', reason: failureReason(error) });
      return undefined;
    }
  }

  /** Stores the part as owed: it is promised, and the sweep pays it. */
  function promise(request: ClaimRequest, deposit: Deposit, reason: OwedReason): Payout | Refusal {
    return storage.transaction(() => {
      const taken = take(request, deposit);
      if (isRefusal(taken)) return taken;
      const payout = payouts.owe(taken.payout, reason);
      payouts.save(taken.claim, payout);
      return payout;
    });
  }

  /** Claims the next part and begins its payout; undefined when another call came in between. */
  async function claimPart(request: ClaimRequest, deposit: Deposit): Promise<Payout | Refusal | undefined> {
    const payee = await readPayee(deposit.sender);
    if (!payee) return promise(request, deposit, 'unread');
    const { signature } = deposit;
    const operations = store.claim(signature)?.operations ?? 0;
    let taken: Payout | undefined;
    const work = payouts.begin({ signature, operations }, payee, () => {
      const got = take(request, deposit);
      taken = isRefusal(got) ? undefined : got.payout;
      return got;
    });
    const begun = await p.within(work, MAX_WAIT_MS);
    // Late: what the critical section has stored, the alarm goes on with. Taking another part now would be one too many.
    if (!begun) return store.payouts(signature).find(({ part }) => part === taken?.part) ?? view.inProgress();
    switch (begun.type) {
      case 'begun':
        return taken;
      case 'owed':
        return begun.reason === 'paused'
          ? view.claimsPaused('stopped')
          : promise(request, deposit, begun.reason);
      case 'refused':
        return begun.refusal;
      case 'again':
        return undefined;
    }
  }

  const refuse = (refusal: Refusal, claim: ClaimView | null = null): ClaimAnswer => ({
    type: 'refused',
    refusal,
    claim,
  });

  const record = (signature: string): ClaimView | null => view.storedClaim(store, journal, signature);

  function claimed(signature: string, part: number, replayed: boolean): ClaimAnswer {
    const claim = record(signature);
    return claim ? { type: 'claimed', replayed, claim, part } : refuse(view.inProgress());
  }

  /** The answer that this key stands for. */
  function replay(request: ClaimRequest): ClaimAnswer | undefined {
    const payout = earlier(request);
    if (!payout) return undefined;
    if (payout.bodyHash !== request.key?.bodyHash) return refuse(view.keyReused());
    return claimed(payout.signature, payout.part, true);
  }

  const nothingLeft = (claim: ClaimView | null): ClaimAnswer => {
    const moving = claim?.payouts.some(({ status, paidAtMs }) => status !== 'owed' && paidAtMs === null);
    return refuse(moving ? view.inProgress() : view.alreadyClaimed(), claim);
  };

  /** Nothing is left: what became of it. Whatever is owed is looked at again, since the caller may have mended it. */
  async function finished(signature: string): Promise<ClaimAnswer> {
    const owed = store.payouts(signature).filter(({ state }) => state === 'owed');
    if (owed.length > 0)
      await p.within(
        once(`look ${signature}`, () => payouts.lookNow(owed)),
        MAX_WAIT_MS,
      );
    return nothingLeft(record(signature));
  }

  /** The answer to a call that nothing can come of, from the rows alone. */
  function settled(request: ClaimRequest): ClaimAnswer | undefined {
    const claim = request.key ? undefined : store.claim(request.signature);
    if (claim?.left !== 0n || mismatch(request, claim)) return undefined;
    const stored = record(claim.signature);
    return stored?.payouts.some(({ status }) => status === 'owed') ? undefined : nothingLeft(stored);
  }

  /** What a claim would be, without one. */
  function preview(request: ClaimRequest, deposit: Deposit): ClaimAnswer {
    const known = record(deposit.signature);
    if (known) return { type: 'validated', claim: known };
    const made = opened(deposit);
    if (isRefusal(made)) return refuse(made);
    if (request.rewardMicroUsd !== undefined && made.epoch.price === null) return refuse(view.noPrice());
    return { type: 'validated', claim: claimView({ ...made.claim, claimedAt: null }, []) };
  }

  async function decide(request: ClaimRequest): Promise<ClaimAnswer> {
    for (let turn = 0; turn < TURNS; turn++) {
      const replayed = replay(request);
      if (replayed) return replayed;
      const deposit = store.claim(request.signature) ?? (await examine(request.signature));
      if (isRefusal(deposit)) return refuse(deposit);
      const wrong = mismatch(request, deposit);
      if (wrong) return refuse(wrong, record(deposit.signature));
      const known = store.claim(deposit.signature);
      const why = program.disabled ? 'disabled' : await p.stop();
      if (known?.left === 0n)
        return why ? refuse(view.alreadyClaimed(), record(deposit.signature)) : finished(deposit.signature);
      if (why) return refuse(view.claimsPaused(why), record(deposit.signature));
      // Paid by an instance whose claim nobody remembers.
      if (!known && journal.get(payoutId(deposit.signature, 1)))
        return refuse(heldBack('reconciled', deposit.signature));
      if (request.skipReward) return preview(request, deposit);
      const tooMany = keyRefusal(journal, request, now());
      if (tooMany) return refuse(tooMany);
      const got = await claimPart(request, deposit);
      if (!got || got === AGAIN) continue;
      return isRefusal(got)
        ? refuse(got, record(deposit.signature))
        : claimed(deposit.signature, got.part, false);
    }
    return refuse(view.inProgress(), record(request.signature));
  }

  const recovery: AsryRecoveryPorts = {
    journal,
    storage,
    store,
    mirror: p.mirror,
    mint: p.mint,
    decimals: program.decimals,
    now,
    log,
  };

  return {
    kinds: { asry: createAsryKind(p) },
    restore: () => restoreClaims(recovery),
    holdSuspect: () => holdSuspect(recovery),
    recognize: (transaction: ChainTransaction, memo: string | undefined) =>
      recognizePayout(transaction, memo, p.reserveAddress),

    /** The answer to a claim that leaves nothing to do, such as a repeat; undefined for any other. */
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

    /** The newest epochs, unless one has begun that is not open yet. */
    openEpochs(limit: number): AsryEpochView[] | undefined {
      const [last] = store.epochs(1);
      return last && last.endsAt > unixNow() ? store.epochs(limit).map(view.epochView) : undefined;
    },

    epochs(limit: number): AsryEpochView[] {
      openEpochs(unixNow());
      return store.epochs(limit).map(view.epochView);
    },

    nextRunAt(): number | undefined {
      const [last] = store.epochs(1);
      const epochEnds = last ? last.endsAt * 1_000 : now();
      return Math.min(epochEnds, payouts.nextAt() ?? epochEnds);
    },

    async run(): Promise<void> {
      openEpochs(unixNow());
      payouts.settleEnded();
      await payouts.sweep();
    },
  } satisfies CustodyModule & Record<string, unknown>;
}
