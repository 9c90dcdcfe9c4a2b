/**
 * Decides the next step of an operation: a pure function of its row and an observation. Production and the seeded
 * simulator run the same code. It reads no clock and no chain.
 *
 * Three rules keep a payment from happening twice. An attempt is signed once, and its bytes are stored before they are
 * sent. Only a finalized status determines its outcome. Only the complete proof in `attemptVerdict`, from a quorum of
 * the configured nodes, shows that it can never land.
 * @module
 */
import { EXPIRY_BLOCKS } from '../../chain/solana/transaction.ts';
import { lamports } from '../../core/amount.ts';
import { ended, nothingLeft } from './ended-attempt.ts';
import { type NodeView, type Observation, withLateWitnesses } from './observation.ts';
import type { KindRules, Operation, Settlement, Signing } from './operation.ts';
import { code, held, isHeld } from './reason.ts';

export type AttemptVerdict = 'landed' | 'rejected' | 'seen' | 'unseen' | 'dead';

/**
 * The finalized height that a node must exceed before its response proves that an attempt expired. It is derived from
 * the node's own height after it had seen the blockhash. A node's prediction for a blockhash (`lastValidBlockHeight`)
 * is not evidence. Undefined for a node that is not known to have seen the blockhash.
 */
export const expiryHeight = ({ witnesses }: Signing, node: string): bigint | undefined => {
  const witness = witnesses.find((each) => each.node === node);
  return witness && witness.height + EXPIRY_BLOCKS;
};

/**
 * The verdict of the configured nodes on an attempt.
 *
 * A status on any node keeps the attempt alive. One finalized success is enough to prevent another signature. A
 * finalized failure and an expiry allow another signature, so each needs a quorum of nodes that prove it independently.
 * A charged fee proves a failure. A failure without a fee was a no-op, after which the same bytes can still land
 * (SIMD-0290). A node proves an expiry under three conditions. Its finalized height has passed its own `expiryHeight`.
 * Its statuses are at least as new as that height, and its whole history has no status for the attempt. Its history
 * reaches back to the slot at which the attempt was signed.
 */
export function attemptVerdict(signing: Signing, views: readonly NodeView[], quorum: number): AttemptVerdict {
  const seen = views.flatMap((view) => (view.status ? [view.status] : []));
  const final = seen.filter((status) => status.commitment === 'finalized');
  const succeeded = final.some(({ failed }) => !failed);
  const rejections = final.some(({ failed }) => failed) ? rejectionSlots(views).length : 0;
  // If nodes contradict each other about finalized data, the attempt stays undecided. A no-op before a landing is not a
  // contradiction.
  if (rejections >= quorum && !succeeded) return 'rejected';
  if (succeeded && final.every(({ failed, charged }) => !failed || charged === false)) return 'landed';
  if (seen.length > 0) return 'seen';
  const provesAbsence = (view: NodeView) => {
    const witness = signing.witnesses.find(({ node }) => node === view.node);
    return (
      witness !== undefined &&
      view.finalizedHeight > witness.height + EXPIRY_BLOCKS &&
      view.statusSlot >= view.finalizedSlot &&
      view.firstAvailableSlot !== null &&
      view.firstAvailableSlot <= witness.slot
    );
  };
  return new Set(views.filter(provesAbsence).map(({ node }) => node)).size >= quorum ? 'dead' : 'unseen';
}

/**
 * The slots of the largest group of nodes that show the same charged failure. The slot of a single node is not
 * evidence.
 */
function rejectionSlots(views: readonly NodeView[]): readonly bigint[] {
  const slots = views.flatMap(({ status }) =>
    status?.commitment === 'finalized' && status.failed && status.charged === true ? [status.slot] : [],
  );
  const groups = [...Map.groupBy(slots, (slot) => slot).values()];
  return groups.toSorted((one, other) => other.length - one.length)[0] ?? [];
}

export type Effect = 'prepare' | 'send' | 'watch' | 'settle' | 'none';

/** The first and the maximum interval between checks, in milliseconds, and the growth factor. */
type Spacing = readonly [first: number, most: number, growth?: number];

const spaced = (looks: number, [first, most, growth = 1.3]: Spacing): number =>
  Math.min(first * growth ** looks, most);

/** Interval between checks of an operation that may soon end: a quarter of a slot. */
const NEAR_MS = 100;
const WATCH_MS: Spacing = [NEAR_MS, 2_000];
const SETTLE_MS: Spacing = [NEAR_MS, 60_000];
/** Intervals while the next Bitcoin block is awaited, which can arrive at any time, usually within ten minutes. */
const BLOCK_MS: Spacing = [NEAR_MS, 10_000, 1.1];
/** Wait for each slot that a transaction still needs to become final, once a node has seen it: a quarter of a slot. */
const MISSING_SLOT_MS = 100n;
const CONTINUE_MS = 1_000;
const PREPARE_MS: Spacing = [2_000, 60_000];
/**
 * A key holder outside the service, such as the witness, refuses a blockhash that its nodes have not seen. After this
 * wait they usually have seen it.
 */
const OTHERS_SEE_MS = 2_000;
/** Added to the interval for each waiting operation of the kind, so the total rate of preparations stays bounded. */
const WAITING_SHARE_MS = 10_000;
const RAREST_PREPARE_MS = 3_600_000;
/** After this time an unsigned operation with an expiring quote is abandoned. */
const UNSIGNED_MS = 2 * 60_000;
/** Interval between checks of a failed operation whose outstanding money may still arrive. */
const OUTSTANDING_MS = 3_600_000;
/** Number of frequent checks of an attempt. They take about five minutes; a blockhash expires in less than two. */
const QUICK_LOOKS = 150;
/** After this many checks without a proven outcome, about six hours, the operator is alerted. The checks continue. */
const UNPROVEN_LOOKS = 500;
/** After this time without a settlement the operator is alerted. The checks continue. */
export const STUCK_AFTER_MS = 6 * 3_600_000;
const NONE = lamports(0n);

function preparedAmong(waiting: number): Spacing {
  const [first, most] = PREPARE_MS;
  return [first, Math.min(Math.max(most, waiting * WAITING_SHARE_MS), RAREST_PREPARE_MS)];
}

/** The effect that an operation's row requires. The row is the only input, so a crash does not change the effect. */
export function effectOf(operation: Operation): Effect {
  switch (operation.state) {
    case 'planned':
      return isHeld(operation.reason) ? 'none' : 'prepare';
    case 'signed':
      // The transaction is sent once, then watched even if no node confirmed the send: the confirmation may have been
      // lost.
      return operation.looks === 0 ? 'send' : 'watch';
    case 'settling':
      return 'settle';
    case 'failed':
      return isOutstanding(operation) ? 'settle' : 'none';
    default:
      // A state unknown to this version is left to the operator.
      return 'none';
  }
}

/** The row after an observation. An observation that does not fit the state changes nothing. */
export function step(operation: Operation, seen: Observation, rules: KindRules, now: number): Operation {
  const next = advance(operation, seen, rules, now);
  return next === operation ? operation : { ...next, updatedAt: now };
}

function advance(op: Operation, seen: Observation, rules: KindRules, now: number): Operation {
  switch (seen.type) {
    case 'refused':
    case 'unprepared':
      if (op.state !== 'planned') return op;
      if (seen.type === 'unprepared' && rules.retriesPreparation)
        return { ...op, ...lookAgain(op, preparedAmong(seen.waiting), now), reason: seen.reason };
      return { ...nothingLeft(op), reason: seen.reason, outcome: { ...op.outcome, ...seen.outcome } };

    case 'found':
      return op.state === 'planned' ? foundDone(op, seen.outcome) : op;

    case 'unsigned': {
      if (op.state !== 'planned') return op;
      const waits = rules.retriesPreparation || now - op.createdAt < UNSIGNED_MS;
      return waits
        ? { ...op, ...lookAgain(op, PREPARE_MS, now), reason: seen.reason }
        : { ...nothingLeft(op), reason: seen.reason };
    }

    case 'signed':
      return op.state === 'planned' ? signed(op, seen, rules, now) : op;

    case 'incomplete':
      if (op.state !== 'signed') return op;
      return {
        ...op,
        ...lookAgain(op, PREPARE_MS, now),
        reason: isHeld(op.reason) ? op.reason : seen.reason,
      };

    case 'completed': {
      if (op.state !== 'signed' || !op.signing) return op;
      const { lacksSignature: _, ...signing } = op.signing;
      return { ...op, signing: { ...signing, wire: seen.wire }, reason: null, looks: 0, dueAt: now };
    }

    case 'sent':
      if (op.state !== 'signed') return op;
      return { ...op, detail: seen.accepted ? 'sent' : 'signed', ...watchAgain(op, now) };

    case 'viewed':
      return op.state === 'signed' && op.signing ? judged(op, op.signing, seen, rules, now) : op;

    case 'settlement':
      return op.state === 'settling' || isOutstanding(op) ? settled(op, seen.settlement, now) : op;

    case 'unreachable':
      if (op.state === 'signed') return { ...op, ...watchAgain(op, now) };
      if (op.state === 'settling') return { ...op, ...lookAgain(op, SETTLE_MS, now), ...stuck(op, now) };
      return isOutstanding(op) ? { ...op, dueAt: now + OUTSTANDING_MS } : op;
  }
}

const signed = (
  op: Operation,
  { signing, plan, cost }: Extract<Observation, { type: 'signed' }>,
  rules: KindRules,
  now: number,
): Operation => ({
  ...op,
  state: 'signed',
  detail: 'signed',
  reason: signing.lacksSignature ? op.reason : null,
  signing,
  signedAt: now,
  plan: { ...op.plan, ...plan },
  cost: lamports(cost),
  unsettled: rules.settles ? op.amount : NONE,
  looks: 0,
  dueAt: signing.lacksSignature ? now + OTHERS_SEE_MS : now,
});

/** The result that the operation should have produced already exists. */
const foundDone = (op: Operation, outcome: Operation['outcome']): Operation => ({
  ...op,
  state: 'done',
  detail: 'done',
  reason: null,
  reserved: NONE,
  dueAt: null,
  outcome: { ...op.outcome, ...outcome },
});

/** The operation failed, but what it sent may still be delivered or returned. */
const isOutstanding = (op: Operation): boolean => op.state === 'failed' && op.unsettled > 0n;

const lookAgain = ({ looks }: Pick<Operation, 'looks'>, spacing: Spacing, now: number) => ({
  looks: looks + 1,
  dueAt: now + spaced(looks, spacing),
});

const watchAgain = (op: Operation, now: number): Partial<Operation> => ({
  ...lookAgain(op, op.looks < QUICK_LOOKS ? WATCH_MS : SETTLE_MS, now),
  reason: op.looks < UNPROVEN_LOOKS ? null : held('unproven'),
});

/** Plans the next check of a transaction that a node has seen, from the number of slots until it is final. */
function watchSeen(op: Operation, views: readonly NodeView[], now: number): Partial<Operation> {
  const again = watchAgain(op, now);
  const missing = views.flatMap(({ status, finalizedSlot }) => (status ? [status.slot - finalizedSlot] : []));
  const [least] = missing.toSorted((one, other) => (one < other ? -1 : 1));
  // `least` is 0 or less if the slot is already final but too few nodes show the transaction.
  if (least === undefined || least <= 0n || op.looks >= QUICK_LOOKS) return again;
  const [near, most] = WATCH_MS;
  return { ...again, dueAt: now + Math.min(Math.max(Number(least * MISSING_SLOT_MS), near), most) };
}

function judged(
  op: Operation,
  signing: Signing,
  seen: Extract<Observation, { type: 'viewed' }>,
  rules: KindRules,
  now: number,
): Operation {
  switch (attemptVerdict(signing, seen.views, seen.quorum)) {
    case 'landed': {
      if (!seen.landing) return { ...op, detail: 'landed', ...watchSeen(op, seen.views, now) };
      const landed = {
        ...op,
        landing: seen.landing,
        reserved: NONE,
        cost: rules.settles ? op.cost : NONE,
        releasedSlot: seen.landing.slot,
        looks: 0,
        reason: null,
      };
      return rules.settles
        ? { ...landed, state: 'settling', detail: 'settling', dueAt: now }
        : { ...landed, state: 'done', detail: 'done', dueAt: null };
    }
    case 'rejected': {
      const slot = rejectionSlots(seen.views)[0] ?? null;
      return ended(op, 'rejected', slot, rules, now);
    }
    case 'dead':
      // No lamports left the reserve, so a balance at any slot is correct.
      return ended(op, 'expired', null, rules, now);
    case 'seen':
      return { ...op, detail: 'landed', ...watchSeen(op, seen.views, now) };
    case 'unseen': {
      // The transaction has not landed, or a fork undid its landing. The same bytes are sent again until the outcome is
      // final.
      const witnessed = { ...op, signing: withLateWitnesses(signing, seen.views) };
      const again = watchAgain(op, now);
      return signing.lacksSignature
        ? { ...witnessed, ...again, reason: again.reason ?? op.reason }
        : { ...witnessed, ...again, detail: 'sent' };
    }
  }
}

function settled(op: Operation, settlement: Settlement, now: number): Operation {
  const late = op.state === 'failed';
  switch (settlement.state) {
    case 'pending': {
      const seen = { ...op, outcome: { ...op.outcome, ...settlement.progress } };
      const looks = settlement.hasMoved ? 0 : op.looks;
      const spacing = settlement.awaitsBlock && !isStuck(op, now) ? BLOCK_MS : SETTLE_MS;
      const next = late
        ? { ...seen, looks: op.looks + 1, dueAt: now + OUTSTANDING_MS }
        : { ...seen, detail: settlement.detail, ...lookAgain({ looks }, spacing, now), ...stuck(op, now) };
      return settlement.continues ? { ...next, looks: op.looks, dueAt: now + CONTINUE_MS } : next;
    }
    case 'complete':
      return {
        ...op,
        // The public state is already `failed`. A later arrival is recorded, but the state does not change.
        state: late ? 'failed' : 'done',
        detail: late ? 'late' : 'done',
        reason: late ? op.reason : null,
        unsettled: NONE,
        dueAt: null,
        outcome: { ...op.outcome, ...settlement.outcome },
      };
    case 'incomplete':
      if (late && !settlement.arrived) return { ...op, dueAt: now + OUTSTANDING_MS };
      return {
        ...op,
        state: 'failed',
        detail: settlement.reason,
        reason: code(settlement.reason),
        unsettled: settlement.arrived ? NONE : op.unsettled,
        cost: settlement.cost ?? op.cost,
        dueAt: settlement.arrived ? null : now + OUTSTANDING_MS,
        looks: 0,
        outcome: { ...op.outcome, ...settlement.outcome },
      };
  }
}

const isStuck = ({ createdAt }: Operation, now: number): boolean => now - createdAt > STUCK_AFTER_MS;

const stuck = (op: Operation, now: number): Partial<Operation> =>
  isStuck(op, now) ? { detail: 'held', reason: held('unsettled') } : {};
