/**
 * Decides what happens next to an operation: a pure function of its row and of what was seen. It runs as it is in
 * production and in the seeded simulator. Nothing here reads a clock or a chain, and no caller decides for it.
 *
 * The rules that keep money once-only: an attempt is signed once and its bytes are stored before they leave; only a
 * finalized status says what became of it; only the whole proof of `judgeAttempt`, given by a quorum of the configured
 * nodes, says that it can never land.
 * @module
 */
import { lamports } from '../../core/amount.ts';
import type { Facts, Landing, Operation, Signing } from './operation.ts';

/** One node's view of an attempt, in the order in which it was read: heights, then status, then history. */
export type NodeView = {
  /** The node's `id`. */
  readonly node: string;
  /** One answer of getEpochInfo at finalized. */
  readonly finalizedSlot: bigint;
  readonly finalizedHeight: bigint;
  /** getSignatureStatuses with history search, asked after the line above. */
  readonly statusSlot: bigint;
  readonly status: {
    readonly slot: bigint;
    readonly failed: boolean;
    readonly commitment: 'processed' | 'confirmed' | 'finalized';
  } | null;
  /** getFirstAvailableBlock, asked last; null when it was not needed. */
  readonly firstAvailableSlot: bigint | null;
};

export type AttemptVerdict = 'landed' | 'rejected' | 'seen' | 'unseen' | 'dead';

/** Blocks in which a transaction can land after the one that gave it its blockhash (Agave, MAX_PROCESSING_AGE). */
const BLOCKHASH_LIFE = 150n;
/** Blocks on top of it, for a node whose answers come from several machines. */
const LIFE_MARGIN = 32n;

/**
 * The height that a node's finalized chain must exceed before the node may testify that an attempt is dead. It is
 * derived from the node's own height when the blockhash was already known to it: what a node says about the future of a
 * blockhash (`lastValidBlockHeight`) is not evidence. Undefined for a node that is no witness yet.
 */
export const expiryHeight = (signing: Signing, node: string): bigint | undefined => {
  const witness = signing.witnesses.find((each) => each.node === node);
  return witness && witness.height + BLOCKHASH_LIFE + LIFE_MARGIN;
};

/**
 * The verdict of the configured nodes on an attempt.
 *
 * A status on any node keeps the attempt alive. One finalized success is enough to stop signing again. A finalized
 * failure and a death allow another signature, so each needs a quorum, and each node of it testifies for itself. A node
 * testifies to a death when its finalized height has passed its own `expiryHeight`, its view of statuses is not older than
 * that height and shows none in its whole history, and its history reaches back to the signing.
 */
export function judgeAttempt(signing: Signing, views: readonly NodeView[], quorum: number): AttemptVerdict {
  const seen = views.flatMap((view) => (view.status ? [view.status] : []));
  const final = seen.filter((status) => status.commitment === 'finalized');
  const failures = final.filter(({ failed }) => failed);
  // Nodes that contradict each other about what is final decide nothing.
  if (failures.length >= quorum && failures.length === final.length) return 'rejected';
  if (final.length > 0 && failures.length === 0) return 'landed';
  if (seen.length > 0) return 'seen';
  const provesAbsence = (view: NodeView) => {
    const expiry = expiryHeight(signing, view.node);
    const since = signing.witnesses.find(({ node }) => node === view.node)?.slot;
    return (
      expiry !== undefined &&
      since !== undefined &&
      view.finalizedHeight > expiry &&
      view.statusSlot >= view.finalizedSlot &&
      view.firstAvailableSlot !== null &&
      view.firstAvailableSlot <= since
    );
  };
  return new Set(views.filter(provesAbsence).map(({ node }) => node)).size >= quorum ? 'dead' : 'unseen';
}

/**
 * Makes a node a witness that was none at the signing: it lagged, it was added later, or the row is of a version that
 * stored no witnesses. Its finalized slot must have reached the slots of all other witnesses, so that it knows the
 * blockhash; its height is then at least the blockhash's own, and its testimony comes late, never early.
 */
export function withLateWitnesses(signing: Signing, views: readonly NodeView[]): Signing {
  const known = signing.witnesses.map(({ slot }) => slot).reduce((a, b) => (a > b ? a : b), signing.slot);
  const late = views.filter(
    ({ node, finalizedSlot }) =>
      finalizedSlot >= known && !signing.witnesses.some((witness) => witness.node === node),
  );
  if (late.length === 0) return signing;
  const witnesses = late.map(({ node, finalizedHeight: height }) => ({ node, slot: signing.slot, height }));
  return { ...signing, witnesses: [...signing.witnesses, ...witnesses] };
}

/** What the bridge and the Bitcoin chain say of a swap that has left Solana; or of any kind that awaits something. */
export type Settlement =
  | { readonly state: 'pending'; readonly detail: string }
  | { readonly state: 'complete'; readonly outcome: Facts }
  /** Over, but not as agreed. `arrived`: nothing of it is outstanding any more. */
  | {
      readonly state: 'incomplete';
      readonly reason: string;
      readonly arrived: boolean;
      readonly outcome: Facts;
    };

export type Observation =
  /** The kind declined before anything was signed. */
  | { readonly type: 'refused'; readonly reason: string; readonly outcome?: Facts }
  /** The chain shows the outcome already: there is nothing left to sign. */
  | { readonly type: 'found'; readonly outcome: Facts }
  /** An upstream that planning needs failed. */
  | {
      readonly type: 'unprepared';
      readonly reason: string;
      /** Operations of the kind that wait for their preparation, with this one. */
      readonly waiting: number;
    }
  /** The key service failed or was late. A signature that it may have made is not stored, so it never leaves. */
  | { readonly type: 'unsigned'; readonly reason: string }
  | {
      readonly type: 'signed';
      readonly signing: Signing;
      readonly plan: Facts;
      readonly cost: bigint;
      /** Lamports that may leave, where that is known better now than when they were reserved. */
      readonly spend?: bigint;
    }
  | { readonly type: 'sent'; readonly accepted: boolean }
  /** `landing` comes with a finalized success once the node gives the transaction itself. */
  | {
      readonly type: 'viewed';
      readonly views: readonly NodeView[];
      /** Nodes that must agree. */
      readonly quorum: number;
      readonly landing: Landing | null;
    }
  | { readonly type: 'settlement'; readonly settlement: Settlement }
  | { readonly type: 'unreachable'; readonly reason: string };

/** What the driver must do for an operation now. */
export type Effect = 'prepare' | 'send' | 'watch' | 'settle' | 'none';

/** How a kind differs, for the machine. */
export type KindRules = {
  /** Signings an operation may use. A swap has one: its signature is the public id and its quote grows old. */
  readonly maxAttempts: number;
  /** False: a failed preparation ends the operation. True: it is tried again. */
  readonly retriesPreparation: boolean;
  /** True when preparing it finds out on the chain whether it has happened already. */
  readonly provesItself?: boolean;
  /** True when something is awaited after the landing. */
  readonly settles: boolean;
};

/** Milliseconds between looks: quick at first, then rarer, never rarer than `most`. */
const spaced = (looks: number, first: number, most: number): number =>
  Math.min(first * 1.3 ** Math.min(looks, 60), most);

const WATCH_MS = [700, 2_000] as const;
const SETTLE_MS = [1_500, 60_000] as const;
const PREPARE_MS = [2_000, 60_000] as const;
/** Share of each waiting operation: many of one kind together are prepared no more often than this. */
const WAITING_SHARE_MS = 10_000;
const RAREST_PREPARE_MS = 3_600_000;
/** How long an operation whose quote grows old waits for its signature. */
const UNSIGNED_MS = 2 * 60_000;
/** How often a failed operation with money outstanding is looked at, for what may still arrive. */
const OUTSTANDING_MS = 3_600_000;
/** Looks at an attempt before they grow rare: some five minutes, and no blockhash lives for two. */
const QUICK_LOOKS = 150;
/** After so many, some six hours, no node can prove what became of it: the operator is called, the looks go on. */
const UNPROVEN_LOOKS = 500;
/** After this long without a settlement the operator is called; the looks go on. */
export const STUCK_AFTER_MS = 6 * 3_600_000;

/** The operator must look whether it was signed before the journal was lost. */
export const HELD_RECONCILED = 'held_reconciled';

/** The range of waits between two preparations. */
function preparedAmong(waiting: number): readonly [number, number] {
  const [first, most] = PREPARE_MS;
  return [first, Math.min(Math.max(most, waiting * WAITING_SHARE_MS), RAREST_PREPARE_MS)];
}

const NONE = lamports(0n);

/** No look is further away than this; one that is was set by a clock that has gone back since. */
export const FARTHEST_CHECK_MS = 2 * OUTSTANDING_MS;

export const isDue = ({ dueAt }: Operation, now: number): boolean =>
  dueAt !== null && (dueAt <= now || dueAt > now + FARTHEST_CHECK_MS);

/** The effect that an operation's row asks for; after a crash it is all there is to go by. */
export function effectOf(operation: Operation): Effect {
  switch (operation.state) {
    case 'planned':
      return operation.reason?.startsWith('held') ? 'none' : 'prepare';
    case 'signed':
      // Sent once, then watched even if no node said that it took it: its answer alone may be what was lost.
      return operation.looks === 0 ? 'send' : 'watch';
    case 'settling':
      return 'settle';
    case 'failed':
      return isOutstanding(operation) ? 'settle' : 'none';
    default:
      // A state that this version does not know is held, never acted on.
      return 'none';
  }
}

/** The row after an observation. An observation that does not fit the state changes nothing. */
export function step(operation: Operation, seen: Observation, rules: KindRules, now: number): Operation {
  const next = advance(operation, seen, rules, now);
  return next === operation ? operation : { ...next, updatedAt: now };
}

function advance(op: Operation, seen: Observation, rules: KindRules, now: number): Operation {
  const wait: Wait = (range) => lookAgain(op, range, now);

  switch (seen.type) {
    case 'refused':
      if (op.state !== 'planned') return op;
      return { ...nothingLeft(op), reason: seen.reason, outcome: { ...op.outcome, ...seen.outcome } };

    case 'found':
      if (op.state !== 'planned') return op;
      return {
        ...op,
        state: 'done',
        detail: 'done',
        reason: null,
        reserved: NONE,
        dueAt: null,
        outcome: { ...op.outcome, ...seen.outcome },
      };

    case 'unprepared':
      if (op.state !== 'planned') return op;
      if (rules.retriesPreparation)
        return { ...op, ...wait(preparedAmong(seen.waiting)), reason: seen.reason };
      return { ...nothingLeft(op), reason: seen.reason };

    case 'unsigned': {
      if (op.state !== 'planned') return op;
      const waits = rules.retriesPreparation || now - op.createdAt < UNSIGNED_MS;
      return waits
        ? { ...op, ...wait(PREPARE_MS), reason: seen.reason }
        : { ...nothingLeft(op), reason: seen.reason };
    }

    case 'signed':
      if (op.state !== 'planned') return op;
      return {
        ...op,
        state: 'signed',
        detail: 'signed',
        reason: null,
        signing: seen.signing,
        plan: { ...op.plan, ...seen.plan },
        cost: lamports(seen.cost),
        reserved: seen.spend === undefined ? op.reserved : lamports(seen.spend),
        unsettled: rules.settles ? op.amount : NONE,
        looks: 0,
        dueAt: now,
      };

    case 'sent':
      if (op.state !== 'signed') return op;
      return { ...op, detail: seen.accepted ? 'sent' : 'signed', ...watchAgain(op, now) };

    case 'viewed':
      return op.state === 'signed' && op.signing ? judged(op, op.signing, seen, rules, now) : op;

    case 'settlement':
      return op.state === 'settling' || isOutstanding(op) ? settled(op, seen.settlement, now, wait) : op;

    case 'unreachable':
      if (op.state === 'signed') return { ...op, ...watchAgain(op, now) };
      if (op.state === 'settling') return { ...op, ...wait(SETTLE_MS), ...stuck(op, now) };
      return isOutstanding(op) ? { ...op, dueAt: now + OUTSTANDING_MS } : op;
  }
}

/** Failed, but what was sent for it may still arrive. */
const isOutstanding = (op: Operation): boolean => op.state === 'failed' && op.unsettled > 0n;

/** Over before anything left: nothing is reserved, nothing counts. */
const nothingLeft = (op: Operation): Operation => ({
  ...op,
  state: 'failed',
  detail: 'refused',
  reserved: NONE,
  unsettled: NONE,
  cost: NONE,
  amount: NONE,
  dueAt: null,
  plan: { ...op.plan, askedLamports: op.amount.toString() },
});

type Range = readonly [first: number, most: number];
type Wait = (range: Range) => { looks: number; dueAt: number };

const lookAgain = (op: Operation, [first, most]: Range, now: number) => ({
  looks: op.looks + 1,
  dueAt: now + spaced(op.looks, first, most),
});

const watchAgain = (op: Operation, now: number): Partial<Operation> => ({
  ...lookAgain(op, op.looks < QUICK_LOOKS ? WATCH_MS : SETTLE_MS, now),
  reason: op.looks < UNPROVEN_LOOKS ? null : 'held_unproven',
});

function judged(
  op: Operation,
  signing: Signing,
  seen: Extract<Observation, { type: 'viewed' }>,
  rules: KindRules,
  now: number,
): Operation {
  switch (judgeAttempt(signing, seen.views, seen.quorum)) {
    case 'landed': {
      if (!seen.landing) return { ...op, detail: 'landed', ...watchAgain(op, now) };
      const landed = {
        ...op,
        landing: seen.landing,
        reserved: NONE,
        releasedSlot: seen.landing.slot,
        looks: 0,
        reason: null,
      };
      return rules.settles
        ? { ...landed, state: 'settling', detail: 'settling', dueAt: now }
        : { ...landed, state: 'done', detail: 'done', dueAt: null };
    }
    case 'rejected': {
      const slot = seen.views.find((view) => view.status?.commitment === 'finalized')?.status?.slot ?? null;
      return ended(op, 'rejected', slot, rules, now);
    }
    case 'dead':
      // Nothing left, so a balance of any slot is right.
      return ended(op, 'expired', null, rules, now);
    case 'seen':
      return { ...op, detail: 'landed', ...watchAgain(op, now) };
    case 'unseen': {
      // A landing that a fork took back is on its way again: the same bytes are sent until the chain has decided.
      const witnessed = withLateWitnesses(signing, seen.views);
      return { ...op, signing: witnessed, detail: 'sent', ...watchAgain(op, now) };
    }
  }
}

/** An attempt is over without its movement: another may be signed, or the operation has failed. */
function ended(op: Operation, reason: string, slot: bigint | null, rules: KindRules, now: number): Operation {
  if (op.attempt < rules.maxAttempts) {
    return {
      ...op,
      state: 'planned',
      detail: 'planned',
      // A row of a lost journal may have been signed once more than it remembers.
      reason: op.plan.reconciled === true ? HELD_RECONCILED : reason,
      attempt: op.attempt + 1,
      signing: null,
      unsettled: NONE,
      cost: NONE,
      looks: 0,
      dueAt: now,
    };
  }
  return { ...nothingLeft(op), detail: reason, reason, releasedSlot: slot };
}

function settled(op: Operation, settlement: Settlement, now: number, wait: Wait): Operation {
  const late = op.state === 'failed';
  switch (settlement.state) {
    case 'pending':
      if (late) return { ...op, looks: op.looks + 1, dueAt: now + OUTSTANDING_MS };
      return { ...op, detail: settlement.detail, ...wait(SETTLE_MS), ...stuck(op, now) };
    case 'complete':
      return {
        ...op,
        // Failed was said in public: what arrives afterwards is booked, and the word stands.
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
        reason: settlement.reason,
        unsettled: settlement.arrived ? NONE : op.unsettled,
        dueAt: settlement.arrived ? null : now + OUTSTANDING_MS,
        looks: 0,
        outcome: { ...op.outcome, ...settlement.outcome },
      };
  }
}

const stuck = (op: Operation, now: number): Partial<Operation> =>
  now - op.createdAt > STUCK_AFTER_MS ? { detail: 'held', reason: 'held_unsettled' } : {};
