/**
 * Claims the reward of a deposit, once for each deposit. The finalized chain determines the reward, which goes to the
 * deposit's sender. Neither the caller's identity nor the number of calls changes it.
 *
 * One storage transaction stores a new claim. It writes `payment:<signature>` in `once`, the epoch's next position on
 * the curve, the claim, its first part as owed, and the part's agenda row. The claim of a later part stores only the
 * claim, the part and its agenda row. The call then pays the part in the same way as the timer does (`payout.ts`).
 * @module
 */
import { checkDeposit } from '../../chain/solana/deposit.ts';
import { isTimeOver } from '../../core/due-time.ts';
import { DAY_MS, MAX_WAIT_MS } from '../../core/durations.ts';
import { failureReason } from '../../core/errors.ts';
import { keepNewest } from '../../core/keep-newest.ts';
import { forCaller } from '../../providers/admission.ts';
import type { ClaimAnswer, ClaimRequest, ClaimView, Refusal, Refused } from '../api.ts';
import { refused } from '../kernel/begin-operation.ts';
import { birthOf, olderRefusal } from '../kernel/birth.ts';
import { reasonText } from '../kernel/reason.ts';
import { payoutView } from '../payout-view.ts';
import { type Claim, type Payout, payoutKey } from './asry-store.ts';
import { refusal, tooSmall, unreadable, verdictRefusal } from './claim-refusals.ts';
import { type AsryContext, openEpochs } from './context.ts';
import { atomsOfPart, type Epoch, entitlementOf, RECEIVE_FEE_BPS, receiveFee } from './epochs.ts';
import { keepOwed, PAYOUT, payOwed } from './payout.ts';

/** A block's time may be this many seconds ahead of our clock. A node that reports a later time is wrong. */
const MAX_AHEAD_SECONDS = 86_400;
const KEY_LIFE_MS = 7 * DAY_MS;
/** Minimum interval between two reads of the chain for a repeated claim. */
const REPEAT_MS = 30_000;
/** Maximum deposits whose repeats are remembered; the oldest are forgotten first. */
const MAX_REPEATED = 1_000;
/** A bridge returns an undelivered payment within this time after the swap was signed. */
const RETURN_MS = DAY_MS;
/** A block's time is in whole seconds and may be this much earlier than our clock showed when the swap was signed. */
const BLOCK_TIME_LAG_MS = 120_000;

type Deposit = Pick<Claim, 'signature' | 'asset' | 'sender' | 'slot' | 'blockTime' | 'creditedAtoms'>;

export async function claimDeposit(context: AsryContext, request: ClaimRequest): Promise<ClaimAnswer> {
  const answer = await claim(context, request);
  // The rows are durable before the response is sent, so a crash cannot undo them.
  await context.storage.sync();
  return answer;
}

async function claim(context: AsryContext, request: ClaimRequest): Promise<ClaimAnswer> {
  const { contact, isVerified, journal, stopBeginning, store } = context;
  if (!isVerified()) {
    const reason = (await stopBeginning('asry')) ?? 'unverified';
    return withClaim(context, refusal('CLAIMS_PAUSED', { reason }));
  }
  const replayed = replayOf(context, request);
  if (replayed) return replayed;
  const stored = store.claim(request.signature);
  const read = stored ? ({ type: 'deposit', deposit: stored } as const) : await readDeposit(context, request);
  if (read.type === 'refused') return withClaim(context, read.refusal);
  const { deposit } = read;
  const { signature } = deposit;
  const wrong = mismatch(request, deposit);
  if (wrong) return withClaim(context, wrong, signature);
  const older = stored ? undefined : olderRefusal(journal, deposit, contact);
  if (older) return withClaim(context, older);
  const stopped = await stopBeginning('asry');
  if (store.claim(signature)?.remainingAtoms === 0n)
    return repeat(context, request, signature, stopped === undefined);
  if (stopped) return withClaim(context, refusal('CLAIMS_PAUSED', { reason: stopped }), signature);
  try {
    await openEpochs(context, deposit.blockTime);
  } catch (error) {
    return withClaim(context, unreadable(failureReason(error)), signature);
  }
  return request.skipReward ? preview(context, request, deposit) : claimPart(context, request, deposit);
}

async function readDeposit(
  { lookUp, log, now, terms }: AsryContext,
  { signature, client, waitMs = 0 }: ClaimRequest,
): Promise<{ readonly type: 'deposit'; readonly deposit: Deposit } | Refused> {
  const unclear = (reason: string): void => log({ level: 'warn', event: 'deposit_held', signature, reason });
  try {
    const found = await lookUp({ signature, client, waitMs, unknownMs: 0, until: 'final' });
    if (found.type === 'refused') return found;
    if (found.type !== 'final')
      return refused(refusal(found.type === 'unknown' ? 'DEPOSIT_NOT_FOUND' : 'DEPOSIT_NOT_FINAL'));
    const { transaction } = found;
    const verdict = checkDeposit(transaction, terms);
    if (verdict.type === 'held') unclear(verdict.reason);
    if (verdict.type !== 'deposit') return refused(verdictRefusal(verdict));
    const { asset, sender, slot, blockTime, creditedAtoms } = verdict;
    if (blockTime <= inSeconds(now()) + MAX_AHEAD_SECONDS) {
      const deposit = { signature: transaction.signature, asset, sender, slot, blockTime, creditedAtoms };
      return { type: 'deposit', deposit };
    }
    unclear('block_time_ahead');
    return refused(refusal('DEPOSIT_HELD', { reason: 'block_time_ahead' }));
  } catch (error) {
    const reason = failureReason(error);
    if (reason !== 'nodes_disagree') return refused(unreadable(reason));
    unclear(reason);
    return refused(refusal('DEPOSIT_HELD', { reason }));
  }
}

function mismatch({ asset, expectedAtoms: expected }: ClaimRequest, deposit: Deposit): Refusal | undefined {
  if (asset !== deposit.asset)
    return {
      code: 'DEPOSIT_WRONG_ASSET',
      message: `This payment is in ${deposit.asset}, not in ${asset}.`,
      details: { asset, creditedAsset: deposit.asset },
    };
  if (expected === undefined || expected === deposit.creditedAtoms) return undefined;
  return {
    code: 'DEPOSIT_AMOUNT_MISMATCH',
    message: `Expected ${expected} atoms, but the treasury received ${deposit.creditedAtoms}.`,
    details: { expectedAtomic: expected.toString(), creditedAtomic: deposit.creditedAtoms.toString() },
  };
}

async function claimPart(
  context: AsryContext,
  request: ClaimRequest,
  deposit: Deposit,
): Promise<ClaimAnswer> {
  // Another call with this key may have ended while this one waited. From here on, no `await` comes before the part is
  // stored.
  const replayed = replayOf(context, request);
  if (replayed) return replayed;
  const part = storePart(context, request, deposit);
  if ('code' in part) return withClaim(context, part, deposit.signature);
  // A failed payout costs a fee, so only the timer retries it. If a payout takes too long, the timer continues it.
  if (part.reason !== 'payout_failed') await context.within(payNow(context, [part], 'alarm'), MAX_WAIT_MS);
  return claimed(context, part, false);
}

async function payNow(context: AsryContext, ...owed: [readonly Payout[], 'alarm' | 'repeat']): Promise<void> {
  for (const id of await payOwed(context, ...owed)) await context.drive(id);
}

/** Stores the next part of a claim as owed; for a deposit without a claim, one transaction also stores the claim. */
function storePart(
  context: AsryContext,
  { key, rewardMicroUsd }: ClaimRequest,
  deposit: Deposit,
): Payout | Refusal {
  const { agenda, journal, now, storage, store } = context;
  const { signature } = deposit;
  const known = store.claim(signature);
  const found = known
    ? ({ type: 'known', claim: known, epoch: store.epochOf(known) } as const)
    : freshClaim(context, deposit);
  if (found.type === 'refused') return found.refusal;
  const { claim, epoch } = found;
  if (claim.remainingAtoms === 0n) return refusal('ALREADY_CLAIMED');
  const earlier = store.payouts(signature);
  const atoms = atomsOfPart(claim, epoch, { parts: earlier.length, microUsd: rewardMicroUsd ?? null });
  if (atoms === undefined) return refusal('REWARD_USD_UNAVAILABLE');
  const hasFailed = earlier.some(({ reason }) => reason === 'payout_failed');
  const payout: Payout = {
    signature,
    part: earlier.length + 1,
    atoms,
    state: 'owed',
    reason: hasFailed ? 'payout_failed' : 'unread',
    operationId: null,
    rent: 0n,
    rentAt: null,
    keyHash: key?.keyHash ?? null,
    bodyHash: key?.bodyHash ?? null,
    createdAt: now(),
    paidAt: null,
  };
  const after = { ...claim, remainingAtoms: claim.remainingAtoms - atoms };
  storage.transaction(() => {
    if (found.type === 'fresh') {
      journal.useOnce(`payment:${signature}`, claimName(signature), now());
      store.saveEpoch(epoch);
    }
    if (hasFailed) keepOwed(context, after, payout, 'payout_failed');
    else {
      store.save(after, payout);
      agenda.plan(PAYOUT, payoutKey(payout), now());
    }
  });
  return payout;
}

const claimName = (signature: string): string => `asry:${signature}`;

type FreshClaim = { readonly type: 'fresh'; readonly claim: Claim; readonly epoch: Epoch };

function freshClaim(context: AsryContext, deposit: Deposit): FreshClaim | Refused {
  const { journal, now, program, store } = context;
  const { signature, sender, blockTime, creditedAtoms } = deposit;
  const user = journal.userOf(`payment:${signature}`);
  if (user !== undefined && user !== claimName(signature))
    return refused(refusal('DEPOSIT_ALREADY_USED', { purpose: user.split(':')[0] ?? '' }));
  const own = ownMoney(deposit, {
    isOwnSender: journal.userOf(`deposit:${sender}`) !== undefined || journal.isSigner(sender),
    unsettledSince: unsettledSince(context),
  });
  if (own === 'own_movement') return refused(verdictRefusal({ type: 'refused', reason: own }));
  if (own) return refused(refusal('CLAIMS_PAUSED', { reason: own }));
  const epoch = store.epochAt(blockTime);
  if (!epoch || blockTime < inSeconds(now()) - program.maxAgeSeconds)
    return refused(refusal('DEPOSIT_TOO_OLD', { blockTime }));
  const feeAtoms = receiveFee(creditedAtoms);
  const netAtoms = creditedAtoms - feeAtoms;
  const after = epoch.deposits + netAtoms;
  const entitlementAtoms = entitlementOf(epoch, epoch.deposits, netAtoms);
  if (creditedAtoms < program.minimumDeposit || entitlementAtoms === 0n)
    return refused(tooSmall(creditedAtoms, program.minimumDeposit));
  const claim: Claim = {
    ...deposit,
    feeBps: RECEIVE_FEE_BPS,
    feeAtoms,
    netAtoms,
    epoch: epoch.number,
    before: epoch.deposits,
    after,
    entitlementAtoms,
    remainingAtoms: entitlementAtoms,
    operations: 0,
    claimedAtMs: now(),
  };
  const advanced = { ...epoch, deposits: after, claims: epoch.claims + 1 };
  return { type: 'fresh', claim, epoch: advanced };
}

/**
 * Start times of the treasury's swaps whose money has neither arrived nor come back. The lost journal may have had such
 * a swap until the birth of this journal.
 */
function unsettledSince({ journal, reserveAddress, terms }: AsryContext): number[] {
  const birth = birthOf(journal);
  return [
    ...journal
      .open()
      .flatMap(({ signer, unsettled, createdAt }) =>
        signer === terms.treasury && unsettled > 0n ? [createdAt] : [],
      ),
    ...(birth && terms.treasury === reserveAddress ? [birth.at] : []),
  ];
}

/**
 * The reason why a deposit may be the reserve's own money. If a key that signs swaps owns the treasury, tokens that a
 * bridge returns look like a deposit.
 * @param given.isOwnSender true if one of our swaps paid the sender, or if the sender is or was the reserve
 */
function ownMoney(
  deposit: Pick<Deposit, 'blockTime'>,
  given: { readonly isOwnSender: boolean; readonly unsettledSince: readonly number[] },
): 'own_movement' | 'swap_unsettled' | undefined {
  if (given.isOwnSender) return 'own_movement';
  const paidAt = deposit.blockTime * 1_000;
  const mayReturn = given.unsettledSince.some(
    (since) => paidAt >= since - BLOCK_TIME_LAG_MS && paidAt <= since + RETURN_MS,
  );
  return mayReturn ? 'swap_unsettled' : undefined;
}

function preview(context: AsryContext, { rewardMicroUsd }: ClaimRequest, deposit: Deposit): ClaimAnswer {
  const known = findClaim(context, deposit.signature);
  if (known) return { type: 'validated', claim: known };
  const fresh = freshClaim(context, deposit);
  if (fresh.type === 'refused') return withClaim(context, fresh.refusal);
  if (rewardMicroUsd !== undefined && fresh.epoch.price === null)
    return withClaim(context, refusal('REWARD_USD_UNAVAILABLE'));
  return { type: 'validated', claim: { ...fresh.claim, claimedAtMs: null, payouts: [] } };
}

/**
 * The response to a claim whose parts are all promised. Owed payouts are checked again, because the caller may have
 * removed the obstacle. A failed payout costs a fee, so only the timer retries it.
 */
async function repeat(
  context: AsryContext,
  { client }: ClaimRequest,
  signature: string,
  mayBegin: boolean,
): Promise<ClaimAnswer> {
  const { now, repeats, store, within } = context;
  const owed = store
    .payouts(signature)
    .filter(({ state, reason }) => state === 'owed' && reason !== 'payout_failed');
  if (mayBegin && owed.length > 0) {
    const last = repeats.get(signature);
    const isDue = !last || isTimeOver(last.at + REPEAT_MS, REPEAT_MS, now());
    const done = isDue ? forCaller(client, () => payNow(context, owed, 'repeat')) : last.done;
    if (isDue) keepNewest(repeats, signature, { at: now(), done }, MAX_REPEATED);
    await within(done, MAX_WAIT_MS);
  }
  const claim = findClaim(context, signature);
  const moving = claim?.payouts.some(({ status, paidAtMs }) => status !== 'owed' && paidAtMs === null);
  return withClaim(context, refusal(moving ? 'CLAIM_IN_PROGRESS' : 'ALREADY_CLAIMED'), signature);
}

function replayOf(context: AsryContext, { key }: ClaimRequest): ClaimAnswer | undefined {
  const payout = key && context.store.payoutByKey(key.keyHash, context.now() - KEY_LIFE_MS);
  if (!payout) return undefined;
  return payout.bodyHash === key.bodyHash
    ? claimed(context, payout, true)
    : withClaim(context, refusal('IDEMPOTENCY_KEY_REUSED'));
}

function claimed(context: AsryContext, { signature, part }: Payout, replayed: boolean): ClaimAnswer {
  const claim = findClaim(context, signature);
  return claim
    ? { type: 'claimed', replayed, claim, part }
    : withClaim(context, refusal('CLAIM_IN_PROGRESS'));
}

const withClaim = (context: AsryContext, why: Refusal, signature?: string): ClaimAnswer => ({
  ...refused(why),
  claim: signature === undefined ? null : findClaim(context, signature),
});

export function findClaim({ journal, store }: AsryContext, signature: string): ClaimView | null {
  const claim = store.claim(signature);
  if (!claim) return null;
  const payouts = store.payouts(signature).map((payout) => {
    const operation = journal.get(payout.operationId);
    return payoutView(
      payout,
      operation && {
        signature: operation.signing?.signature ?? null,
        reason: reasonText(operation.reason),
        finishedAt: operation.state === 'done' ? operation.updatedAt : null,
      },
    );
  });
  return { ...claim, payouts };
}

const inSeconds = (ms: number): number => Math.floor(ms / 1_000);
