/**
 * What the operator and the status see of the custodian, over RPC like the rest of `CustodianApi`.
 * @module
 */
import * as z from 'zod';
import type { FailingWork } from './kernel/agenda.ts';
import type { LimitUse } from './kernel/spending-limits.ts';
import type { Finality } from './nodes/finality.ts';
import type { NodeAgreement } from './nodes/quorum.ts';
import type { UnexplainedSpend } from './recovery/unexplained-spends.ts';

export type { LimitUse } from './kernel/spending-limits.ts';

/** Null if the object runs an earlier release, which lacks the member. */
export const orNull = <T extends z.ZodType>(member: T) => member.nullable().default(null);

/** Every swap is refused, for a reason other than its own amount. */
export type SwapsRefused = {
  readonly code: string;
  /** When the first of them began, in Unix milliseconds. */
  readonly sinceMs: number;
};

export type MintReport = {
  /** UTC date. */
  readonly day: string;
  readonly state: 'scheduled' | 'waiting' | 'minted' | 'none' | 'failed';
  /** Stable code of the reason why nothing is minted. */
  readonly reason: string | null;
  /** False when the operator must act. */
  readonly ok: boolean;
};

/** The mint that would be made now. Atoms and sats are decimal text. */
export type MintPreview = {
  readonly day: string;
  readonly verdict: 'mint' | 'none' | 'wait';
  readonly reason: string | null;
  readonly mintAtoms: string | null;
  readonly reserveSats: string | null;
  readonly supplyAtoms: string | null;
  readonly decimals: number | null;
  /** Confirmations that incoming Bitcoin needs before the mint includes it. */
  readonly depth: number;
  readonly indexes: readonly {
    readonly name: string;
    readonly tipHeight: number;
    readonly confirmedSats: string;
    readonly pendingSpentSats: string;
    readonly youngTransactions: number;
  }[];
  readonly nodes: readonly { readonly name: string; readonly slot: string; readonly supplyAtoms: string }[];
};

export type MintRow = {
  readonly day: string;
  readonly state: string;
  readonly reason: string | null;
  readonly mintAtoms: string | null;
  readonly reserveSats: string | null;
  readonly supplyAtoms: string | null;
  readonly signature: string | null;
  /** Unix seconds. */
  readonly blockTime: number | null;
};

/** The response of a node to one inexpensive call. */
export type NodeProbe = {
  readonly name: string;
  /** Milliseconds. */
  readonly ms: number;
  readonly failure: string | null;
  /** Its newest finalized slot as decimal text; null if it failed. */
  readonly slot: string | null;
};

export const DEBTS = ['refund_due', 'payment_unmatched', 'payout_owed'] as const;

/** Debts to others whose payment has not begun. */
export type Debt = {
  readonly name: (typeof DEBTS)[number];
  readonly count: number;
  /** Lamports; atoms of ASRY for `payout_owed`. */
  readonly atoms: bigint;
  /** When the oldest one became owed, in Unix milliseconds; null if unknown or if nothing is owed. */
  readonly oldestMs: number | null;
  /** How many of them wait for the operator. */
  readonly awaitOperator: number;
  /** Ids of some of these, the oldest or the largest first, each with its reason. */
  readonly examples: readonly { readonly id: string; readonly reason: string }[];
};

export type OpenOperation = {
  readonly id: string;
  readonly kind: string;
  readonly state: string;
  readonly reason: string | null;
  readonly lamports: string;
  /** Unix milliseconds. */
  readonly createdAtMs: number;
  readonly awaitsOperator: boolean;
};

/** The part of the report that only the operator sees, with the names of what needs action. */
export type OperatorView = {
  /** When and why the object last ran on its own; null if it has not since this instance started. */
  readonly lastRun: { readonly atMs: number; readonly cause: 'cron' | 'alarm' } | null;
  /** Oldest first, but operations that await the operator come first; at most `MOST_OPEN`. */
  readonly open: readonly OpenOperation[];
  readonly debts: readonly Debt[];
  readonly failing: readonly FailingWork[];
  /** Events of the last 90 minutes that are logged once an hour while their cause lasts. */
  readonly recent: readonly {
    readonly event: string;
    /** The node or the operation that it is about; empty if none. */
    readonly about: string;
  }[];
  readonly solana: NodeAgreement & Finality;
  readonly backlog: number;
  /** Bytes of the journal's storage; null if the platform does not say. */
  readonly journalBytes: number | null;
};

const SigningState = z.object({
  /** True without the Bitcoin key: the operator signs proofs offline. */
  watchOnly: z.boolean(),
  /** `unverified` until the journal is checked. */
  frozen: orNull(z.string()),
});
export type SigningState = Readonly<z.infer<typeof SigningState>>;

export const CustodyReport = SigningState.extend({
  /** Whether the Solana nodes agree, and whether the chain finalizes slots. */
  solana: z.object({
    nodes: z.number(),
    quorum: z.number(),
    disagreement: orNull(z.custom<NonNullable<NodeAgreement['disagreement']>>()),
    quorumMissingSince: orNull(z.number()),
    quorumMissing: orNull(z.custom<NonNullable<NodeAgreement['quorumMissing']>>()),
    stalledSince: orNull(z.number()),
    consensus: z.custom<Finality['consensus']>().default('unknown'),
  }),
  /** Names of the upstreams that the custodian skips because they hang. */
  openCircuits: z.array(z.string()).readonly().default([]),
  mint: orNull(z.custom<MintReport>()),
  paused: orNull(z.string()),
  release: orNull(z.string()),
  /** Transactions that no row explains and for which signing is frozen. */
  unexplainedSpends: z.array(z.custom<UnexplainedSpend>()).readonly().default([]),
  /** Reasons about sources are those of the last wake; all others are current. Null while swaps can begin. */
  swapsRefused: orNull(z.custom<SwapsRefused>()),
  /** When the cron last woke the custodian without a failure, in Unix milliseconds. */
  lastWakeMs: orNull(z.number()),
  openOperations: z.number(),
  heldOperations: z.number(),
  /** When the oldest change that is not in D1 yet was made. Rows that D1 refuses are left out. */
  undeliveredSinceMs: orNull(z.number()),
  /** Rows that D1 has refused repeatedly while it accepted others. */
  refusedRows: z.number(),
  /** True after D1 was restored to an older state, until every row was sent again. */
  mirrorRestored: z.boolean(),
  limits: z.array(z.custom<LimitUse>()).readonly(),
  /** The bridge's quotes that estimates have used in two hours. */
  quotes: z.object({ used: z.number(), maximum: z.number() }),
  /** Why the bridge serves no swap until the operator acts. */
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
   * The object of the command. `retry`, `write-off`: an operation. `refund`: an invoice, a listing request, or a
   * payment's signature. `evidence`: a swap. `restore-storage`: a time in ISO 8601. `begin-anew`: the code of the
   * confirmation.
   */
  readonly id?: string;
};

export type OpsAnswer = {
  readonly ok: boolean;
  readonly message: string;
  readonly rows?: readonly Readonly<Record<string, string | number | null>>[];
  /** Text that the operator must use unchanged. */
  readonly text?: string;
};
