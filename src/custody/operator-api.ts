/**
 * The custodian's state as the operator and the status page get it, over RPC like the rest of `CustodianApi`.
 * @module
 */
import * as z from 'zod';
import type { OperationLimit } from '../core/operation-limits.ts';
import type { Consensus } from '../providers/solana-rpc.ts';

/** Null if the object runs an earlier release that lacks the member. */
export const orNull = <T extends z.ZodType>(member: T) => member.nullable().default(null);

/** Empty if the object runs an earlier release that lacks the member. */
export const listOf = <T extends z.ZodType>(row: T) => z.array(row).readonly().default([]);

/** Every swap is refused, for a reason other than its own amount. */
const SwapsRefused = z.object({
  code: z.string(),
  /** Since when every swap has been refused, in Unix milliseconds. */
  sinceMs: z.number(),
});
export type SwapsRefused = Readonly<z.infer<typeof SwapsRefused>>;

const MintReport = z.object({
  /** UTC date. */
  day: z.string(),
  state: z.enum(['scheduled', 'waiting', 'minted', 'none', 'failed']),
  /** Stable code of the reason why no tokens are minted. */
  reason: orNull(z.string()),
  /** False when the operator must act. */
  ok: z.boolean(),
});
export type MintReport = Readonly<z.infer<typeof MintReport>>;

/** The mint that would be made now. Atoms and sats are decimal text. */
export const MintPreview = z.object({
  day: z.string(),
  verdict: z.enum(['mint', 'none', 'wait']),
  reason: orNull(z.string()),
  mintAtoms: orNull(z.string()),
  reserveSats: orNull(z.string()),
  supplyAtoms: orNull(z.string()),
  decimals: orNull(z.number()),
  /** Confirmations that incoming Bitcoin needs before the mint includes it. */
  depth: z.number(),
  indexes: listOf(
    z.object({
      name: z.string(),
      tipHeight: z.number(),
      confirmedSats: z.string(),
      pendingSpentSats: z.string(),
      youngTransactions: z.number(),
    }),
  ),
  nodes: listOf(z.object({ name: z.string(), slot: z.string(), supplyAtoms: z.string() })),
});
export type MintPreview = Readonly<z.infer<typeof MintPreview>>;

export const MintRow = z.object({
  day: z.string(),
  state: z.string(),
  reason: orNull(z.string()),
  mintAtoms: orNull(z.string()),
  reserveSats: orNull(z.string()),
  supplyAtoms: orNull(z.string()),
  signature: orNull(z.string()),
  /** Unix seconds. */
  blockTime: orNull(z.number()),
});
export type MintRow = Readonly<z.infer<typeof MintRow>>;

/** A node's response to one inexpensive call. */
export const NodeProbe = z.object({
  name: z.string(),
  /** Milliseconds. */
  ms: z.number(),
  failure: orNull(z.string()),
  /** Its newest finalized slot as decimal text; null if it failed. */
  slot: orNull(z.string()),
});
export type NodeProbe = Readonly<z.infer<typeof NodeProbe>>;

export const DEBTS = ['refund_due', 'payment_unmatched', 'payout_owed'] as const;

/** Debts to others whose payment has not started. */
const Debt = z.object({
  name: z.enum(DEBTS),
  count: z.number(),
  /** Lamports; atoms of ASRY for `payout_owed`. */
  atoms: z.bigint(),
  /** When the oldest one became owed, in Unix milliseconds; null if unknown or if nothing is owed. */
  oldestMs: orNull(z.number()),
  /** Number of these debts that wait for the operator. */
  awaitOperator: z.number(),
  /** Examples of these debts, the oldest or the largest first, each with its reason. */
  examples: listOf(z.object({ id: z.string(), reason: z.string() })),
});
export type Debt = Readonly<z.infer<typeof Debt>>;

const OpenOperation = z.object({
  id: z.string(),
  kind: z.string(),
  state: z.string(),
  reason: orNull(z.string()),
  lamports: z.string(),
  /** Unix milliseconds. */
  createdAtMs: z.number(),
  awaitsOperator: z.boolean(),
});
export type OpenOperation = Readonly<z.infer<typeof OpenOperation>>;

/** Work that has failed often enough to alert the operator. */
const FailingWork = z.object({
  work: z.string(),
  id: z.string(),
  failures: z.number(),
  /** Null if the failure occurred in an earlier instance. */
  reason: orNull(z.string()),
});
export type FailingWork = Readonly<z.infer<typeof FailingWork>>;

/** Whether the Solana nodes agree, and whether the chain finalizes slots. */
const Agreement = z.object({
  nodes: z.number(),
  quorum: z.number(),
  disagreement: orNull(z.object({ at: z.number(), question: z.string(), nodes: listOf(z.string()) })),
  quorumMissingSince: orNull(z.number()),
  quorumMissing: orNull(z.object({ question: z.string(), nodes: listOf(z.string()) })),
  stalledSince: orNull(z.number()),
  consensus: z.custom<Consensus>().default('unknown'),
});

/** The part of the report that only the operator sees. It names what needs action. */
export const OperatorView = z.object({
  /**
   * When the object last ran without a call, and what caused it; null if it has not run since this instance started.
   */
  lastRun: orNull(z.object({ atMs: z.number(), cause: z.enum(['cron', 'alarm']) })),
  /** Operations that await the operator come first; within each group, the oldest first. At most `MOST_OPEN`. */
  open: listOf(OpenOperation),
  debts: listOf(Debt),
  failing: listOf(FailingWork),
  /** Events of the last 90 minutes that are logged once an hour while their cause lasts. */
  recent: listOf(
    z.object({
      event: z.string(),
      /** The node or operation that the event concerns; empty if there is none. */
      about: z.string(),
    }),
  ),
  solana: Agreement,
  backlog: z.number(),
  /** Size of the journal's storage in bytes; null if the platform does not report it. */
  journalBytes: orNull(z.number()),
});
export type OperatorView = Readonly<z.infer<typeof OperatorView>>;

/** The use of a limit. */
const LimitUse = z.object({
  name: z.string(),
  unit: z.custom<OperationLimit['unit']>(),
  windowMs: orNull(z.number()),
  label: z.string(),
  maximum: z.bigint(),
  used: z.bigint(),
  /** When the limit will have room again, in Unix milliseconds; null while it has room. */
  availableAt: orNull(z.number()),
});
export type LimitUse = Readonly<z.infer<typeof LimitUse>>;

/** The amount that an account of the reserve lost, or that was minted. */
const Moved = z.object({
  /** Mint of the token; null for SOL. */
  mint: orNull(z.string()),
  /** Lamports including the fee, or atoms. */
  atoms: z.string(),
  /** Owner of the account that gained most; null if no account gained. */
  receiver: orNull(z.string()),
});
export type Moved = Readonly<z.infer<typeof Moved>>;

const UnexplainedSpend = z.object({
  signature: z.string(),
  /** ISO 8601; null if no quorum of nodes gives the block's time. */
  time: orNull(z.string()),
  /** Whether the reserve's key signed the transaction; false if only the owner, a delegate or other signers did. */
  signedByReserve: z.boolean(),
  moved: listOf(Moved),
  memo: orNull(z.string()),
});
export type UnexplainedSpend = Readonly<z.infer<typeof UnexplainedSpend>>;

export const SigningState = z.object({
  /** True if the service lacks the Bitcoin key: the operator signs proofs offline. */
  watchOnly: z.boolean(),
  /** Reason of the freeze; `unverified` until the journal is checked. */
  frozen: orNull(z.string()),
});
export type SigningState = Readonly<z.infer<typeof SigningState>>;

export const CustodyReport = SigningState.extend({
  solana: Agreement,
  /** Names of the upstreams that the custodian skips because they hang. */
  openCircuits: listOf(z.string()),
  mint: orNull(MintReport),
  paused: orNull(z.string()),
  release: orNull(z.string()),
  /** Transactions that no row explains and for which signing is frozen. */
  unexplainedSpends: listOf(UnexplainedSpend),
  /** A reason from an upstream is as old as the last cron run; all others are current. Null while swaps can start. */
  swapsRefused: orNull(SwapsRefused),
  /** When the cron last woke the custodian without a failure, in Unix milliseconds. */
  lastWakeMs: orNull(z.number()),
  openOperations: z.number(),
  heldOperations: z.number(),
  /** When the oldest change that is not in D1 yet was made, in Unix milliseconds. Rows that D1 refuses are excluded. */
  undeliveredSinceMs: orNull(z.number()),
  /** Rows that D1 has refused repeatedly while it accepted others. */
  refusedRows: z.number(),
  /** True from the time when D1 is restored to an older state until every row has been sent again. */
  mirrorRestored: z.boolean(),
  limits: z.array(LimitUse).readonly(),
  /** The number of bridge quotes that estimates have used in two hours. */
  quotes: z.object({ used: z.number(), maximum: z.number() }),
  /** Why the bridge refuses every swap until the operator acts. */
  bridgeFault: orNull(z.custom<'fees_over_cap' | 'request_rejected'>()),
});
export type CustodyReport = Readonly<z.infer<typeof CustodyReport>>;

export const OPS_COMMANDS = [
  'pause',
  'resume',
  'operations',
  'retry',
  'unfreeze',
  'begin-anew',
  'write-off',
  'refund',
  'unmatched',
  'evidence',
  'restore-storage',
  'republish',
  'fingerprint',
] as const;

export type OpsCommand = {
  readonly name: (typeof OPS_COMMANDS)[number];
  /**
   * What the command acts on. `retry`, `write-off`: an operation. `refund`: an invoice, a listing request, or a
   * payment's signature. `evidence`: a swap. `restore-storage`: a time in ISO 8601. `begin-anew` and `unfreeze`: the
   * confirmation code.
   */
  readonly id?: string;
};

export const OpsAnswer = z.object({
  ok: z.boolean(),
  message: z.string(),
  rows: z
    .array(z.record(z.string(), z.union([z.string(), z.number(), z.null()])).readonly())
    .readonly()
    .optional(),
  /** A message that the operator must use unchanged. */
  text: z.string().optional(),
});
export type OpsAnswer = Readonly<z.infer<typeof OpsAnswer>>;
