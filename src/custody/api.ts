/**
 * The RPC contract between the Worker and the custodian. All values are plain, because they cross to another
 * process. Refusals are values too: an error would lose its code on the way.
 * @module
 */
import * as z from 'zod';
import type { ErrorCode } from '../core/errors.ts';
import { REQUEST_KINDS, type RequestKind } from '../core/record-tables.ts';
import type { FailingWork } from './kernel/agenda.ts';
import { parseReason, type Reason } from './kernel/reason.ts';
import type { LimitUse } from './kernel/spending-limits.ts';
import type { Finality } from './nodes/finality.ts';
import type { NodeAgreement } from './nodes/quorum.ts';
import type { UnexplainedSpend } from './recovery/unexplained-spends.ts';

export type { LimitUse } from './kernel/spending-limits.ts';

/** The refusal of a request, with the code that the caller sees. */
export type Refusal = {
  readonly code: ErrorCode;
  readonly message: string;
  /** HTTP status, if it is not the usual one of the code. */
  readonly status?: number;
  readonly retryAfterSeconds?: number;
  readonly details?: Readonly<Record<string, string | number | boolean | null>>;
};

export type Refused = { readonly type: 'refused'; readonly refusal: Refusal };

/** A caller's Idempotency-Key, hashed, and the hash of the route and body that it was used with. */
export type RequestKey = { readonly keyHash: string; readonly bodyHash: string };

export type SwapRequest = {
  readonly amountLamports: bigint;
  readonly key?: RequestKey;
  /** The client for the per-client limits: an IPv4 address or an IPv6 prefix. */
  readonly client: string;
};

/** Null if the object runs an earlier release, which lacks the member. */
const orNull = <T extends z.ZodType>(member: T) => member.nullable().default(null);

/** The object may run the previous release. The Worker therefore parses its views, and a new member has a default. */
export const SwapView = z.object({
  /** Solana signature: the public id. */
  signature: z.string(),
  status: z.enum(['waiting', 'finished', 'failed']),
  detail: z.string(),
  reason: orNull(z.string()),
  amountLamports: z.bigint(),
  expectedSats: z.bigint(),
  minimumSats: z.bigint(),
  btcSats: orNull(z.bigint()),
  btcTxid: orNull(z.string()),
  route: z.string(),
});
export type SwapView = Readonly<z.infer<typeof SwapView>>;

export type SwapAnswer = { readonly replayed: boolean } & (
  | { readonly type: 'created'; readonly swap: SwapView }
  | Refused
);

export type EstimateRequest = {
  readonly amountLamports: bigint;
  /** The client whose share of quotes pays, and for whom a create is rehearsed. */
  readonly client: string;
};

export const SwapQuoted = z.object({
  type: z.literal('quoted'),
  expectedSats: z.bigint(),
  minimumSats: z.bigint(),
  /** Seconds until the BTC arrives, as the bridge expects. */
  etaSeconds: orNull(z.number()),
  route: z.string(),
  /** The refusal that a create of the amount would get now; null when it would be accepted. */
  refusal: orNull(z.custom<Refusal>()),
  /** The smallest swap; null when it is not known. */
  minimum: orNull(z.custom<ShownMinimum>()),
  /** When the quote was requested, in Unix milliseconds. */
  asOfMs: z.number(),
  /** True when the client has no quotes left, so that an older one is shown. */
  stale: z.boolean(),
});

/** `refusal`: the refusal that a create of the amount would get now. */
export type SwapEstimate =
  | Readonly<z.infer<typeof SwapQuoted>>
  /** `isOfCreate`: false when the client's estimates are used up, which says nothing about a create. */
  | { readonly type: 'unquoted'; readonly refusal: Refusal; readonly isOfCreate: boolean };

export type ShownMinimum = {
  readonly lamports: bigint;
  readonly source: 'contract' | 'cost' | 'bridge';
  /** When it was learned, in Unix milliseconds. */
  readonly at: number;
};

/** The smallest swap and the source of that bound. */
export type RoomMinimum =
  | {
      readonly type: 'known';
      readonly minimum: ShownMinimum;
      /** Why an outdated bound could not be read again; null if the bound is current. */
      readonly refusal: Refusal | null;
    }
  | { readonly type: 'unknown'; readonly refusal: Refusal };

/** The current bounds of a swap, in lamports. */
export const SwapRoom = z.object({
  /** Null when no node shows it. */
  balanceLamports: orNull(z.bigint()),
  /** The largest amount that one swap can take now; zero when swaps are not possible. */
  maximumLamports: z.bigint(),
  refusal: orNull(z.custom<Refusal>()),
  minimum: z.custom<RoomMinimum>(),
});
export type SwapRoom = Readonly<z.infer<typeof SwapRoom>>;

/** Every swap is refused, for a reason other than its own amount. */
export type SwapsRefused = {
  /** Code of the newest refusal. */
  readonly code: string;
  /** When the first of them began, in Unix milliseconds. */
  readonly sinceMs: number;
};

/** The state of today's ABSR mint. */
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

/** One day's mint, for the operator. */
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

const ProofSignature = z.object({ scheme: z.string(), signature: z.string() });

/** An archived ownership proof, also in D1. */
export const ProofRecord = z.object({
  message: z.string(),
  /** The time in the message. */
  timestamp: z.iso.datetime(),
  /** Hash of this proof; the next proof names it as its predecessor. */
  hash: z.string(),
  bitcoin: ProofSignature.extend({
    /** The same signature in the encoding that verifiers from before 2026 expect; null if it is the same. */
    unprefixed: z.string().nullable(),
  }),
  solana: ProofSignature,
  /** True when the Bitcoin signature was made outside the service. */
  offline: z.boolean(),
});
export type ProofRecord = z.infer<typeof ProofRecord>;

export type ProofAnswer = { readonly type: 'proof'; readonly proof: ProofRecord } | Refused;

/** A proof text that awaits an offline signature. */
export type ProofDraft = { readonly type: 'draft'; readonly message: string } | Refused;

/** The response of a node to one inexpensive call. */
export type NodeProbe = {
  readonly name: string;
  /** Milliseconds. */
  readonly ms: number;
  /** The reason of the failure, or null. */
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
  /** Ids of some of these, oldest first, each with its reason. */
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
  /** Changes that D1 does not have yet. */
  readonly backlog: number;
  /** Bytes of the journal's storage; null if the platform does not say. */
  readonly journalBytes: number | null;
};

/** Whether signing is frozen and the Bitcoin key is absent. */
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
  /** Null when no mint is configured. */
  mint: orNull(z.custom<MintReport>()),
  paused: orNull(z.string()),
  /** Id of the Worker version that the object runs; null if unknown. */
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
  /** Every limit and its current use. */
  limits: z.array(z.custom<LimitUse>()).readonly(),
  /** The bridge's quotes that estimates have used in two hours. */
  quotes: z.object({ used: z.number(), maximum: z.number() }),
  /** Why the bridge serves no swap until the operator acts. */
  bridgeFault: orNull(z.custom<'fees_over_cap' | 'request_rejected'>()),
});
export type CustodyReport = Readonly<z.infer<typeof CustodyReport>>;

/** Returned by every method instead of its result while these variables are missing or invalid. */
export type NotConfigured = { readonly notConfigured: readonly string[] };

/** Name of the only object that signs. It is the same for every key of the reserve, so a rotation keeps its storage. */
export const CUSTODIAN_NAME = 'custodian';

/** Returned by every method of an object with another name, which reads and writes nothing. */
export type NotCustodian = { readonly notCustodian: true };

/** Returned by a read instead of its result while too many calls of this read are in progress. */
export type Busy = { readonly busy: true };

/** A payment request, as stored by the custodian and in D1. */
export const RequestView = z.object({
  id: z.string(),
  kind: z.enum(REQUEST_KINDS),
  status: z.enum(['pending', 'completed']),
  /** awaiting_payment, seen, paid, creating, completed, expired, refund_due */
  detail: z.string(),
  reason: orNull(z.string()),
  subject: z.record(z.string(), z.unknown()).readonly(),
  feeLamports: z.string(),
  receivedLamports: z.string(),
  reference: z.string(),
  /** ISO 8601. */
  createdAt: z.string(),
  expiresAt: z.string(),
  paidAt: orNull(z.string()),
  completedAt: orNull(z.string()),
  paymentSignature: orNull(z.string()),
  /** A payment transaction that a caller has reported and that is not final yet. */
  reportedSignature: orNull(z.string()),
  tokenId: orNull(z.int()),
  mintAddress: orNull(z.string()),
  refunds: z
    .array(
      z.object({
        signature: z.string(),
        lamports: z.string(),
        payer: orNull(z.string()),
        reason: z.string(),
        status: z.enum(['due', 'paid']),
        /** The transaction that paid the refund. */
        refundSignature: orNull(z.string()),
      }),
    )
    .default([]),
});
export type RequestView = Readonly<z.infer<typeof RequestView>>;

export type OpenRequest = {
  readonly kind: RequestKind;
  readonly subject: Readonly<Record<string, unknown>>;
  /** Cost of the work, without the last five digits, which make the amount unique. */
  readonly baseFeeLamports: bigint;
  readonly client: string;
};

export type RequestOpened = { readonly type: 'opened'; readonly request: RequestView } | Refused;

/** A payment that a caller names for a payment request. */
export type NamedPayment = {
  readonly id: string;
  readonly kind: RequestKind;
  /** Signature of the payment. */
  readonly signature: string;
  readonly client: string;
};

export type ConfirmRequest = NamedPayment & {
  /**
   * Longest wait for the payment to be final and the creation to begin, in milliseconds. With 0 the creation begins in
   * the background.
   */
  readonly waitMs: number;
};

export type PaymentConfirmed = { readonly type: 'confirmed'; readonly request: RequestView } | Refused;

export type ClaimRequest = {
  /** Base58 of 64 bytes. */
  readonly signature: string;
  readonly asset: 'USDC' | 'USDT';
  /** The amount that the caller expects the treasury to have received, in atoms. */
  readonly expectedAtoms?: bigint;
  /** Dollar value of the requested part of the reward, in millionths of a dollar. */
  readonly rewardMicroUsd?: bigint;
  /** True to validate only: nothing is consumed or paid. */
  readonly skipReward: boolean;
  readonly key?: RequestKey;
  readonly client: string;
  /** Longest wait for the deposit to be final, in milliseconds; 0 if absent. */
  readonly waitMs?: number;
};

const ClaimPayoutView = z.object({
  /** Number of the part, from 1. */
  part: z.int(),
  status: z.enum(['sent', 'pending', 'owed']),
  atoms: z.bigint(),
  signature: orNull(z.string()),
  /** Reason why the payout is still owed. */
  reason: orNull(z.string()),
  createdAtMs: z.number(),
  /** When the payment became final on the chain. */
  paidAtMs: orNull(z.number()),
});
export type ClaimPayoutView = Readonly<z.infer<typeof ClaimPayoutView>>;

/** A claimed deposit, or a deposit that could be claimed. The latter has no payouts and no `claimedAtMs`. */
export const ClaimView = z.object({
  /** First signature of the deposit. */
  signature: z.string(),
  asset: z.enum(['USDC', 'USDT']),
  sender: z.string(),
  slot: z.bigint(),
  /** Unix seconds. */
  blockTime: z.number(),
  creditedAtoms: z.bigint(),
  feeBps: z.number(),
  feeAtoms: z.bigint(),
  netAtoms: z.bigint(),
  epoch: z.int(),
  entitlementAtoms: z.bigint(),
  /** Part of the entitlement that can still be claimed. */
  remainingAtoms: z.bigint(),
  claimedAtMs: orNull(z.number()),
  payouts: z.array(ClaimPayoutView).readonly().default([]),
});
export type ClaimView = Readonly<z.infer<typeof ClaimView>>;

export type ClaimAnswer =
  /** This call, or the earlier call with the same key, made the payout `part`. */
  | { readonly type: 'claimed'; readonly replayed: boolean; readonly claim: ClaimView; readonly part: number }
  | { readonly type: 'validated'; readonly claim: ClaimView }
  | (Refused & { readonly claim: ClaimView | null });

export const AsryEpochView = z.object({
  number: z.int(),
  /** Unix seconds. An epoch ends when the next one starts. */
  startsAt: z.number(),
  endsAt: z.number(),
  capAtoms: z.bigint(),
  depthAtoms: z.bigint(),
  depositsAtoms: z.bigint(),
  /** Total reward that these deposits have earned. */
  entitledAtoms: z.bigint(),
  /** The part of it whose payment is final on the chain. */
  paidAtoms: z.bigint(),
  /** Reward for the next deposit atom, in millionths of a reward atom, not rounded. */
  nextUnitMicroAtoms: z.bigint(),
  /** Reward atoms for the next dollar, before the fee. */
  nextDollarAtoms: z.bigint(),
  claims: z.number(),
  /** Price of one ASRY in trillionths of a dollar. */
  price: orNull(z.bigint()),
  decimals: z.number(),
});
export type AsryEpochView = Readonly<z.infer<typeof AsryEpochView>>;

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

export type CustodianApi = {
  createSwap(request: SwapRequest): Promise<SwapAnswer>;
  /** Makes every check of `createSwap` and has no effect. */
  estimateSwap(request: EstimateRequest): Promise<SwapEstimate>;
  findSwap(signature: string): Promise<SwapView | null>;
  swapRoom(): Promise<SwapRoom>;
  report(): Promise<CustodyReport>;
  operatorView(): Promise<OperatorView>;
  /** Whether the custodian's nodes respond; nobody else calls them. */
  probeNodes(): Promise<readonly NodeProbe[]>;
  /** Called often, so it reads one row only. The first call of an instance verifies the journal. */
  signingState(): Promise<SigningState>;
  openRequest(request: OpenRequest): Promise<RequestOpened>;
  findRequest(id: string): Promise<RequestView | null>;
  /** Books the payment of a request and begins the work that it pays for. */
  confirmPayment(request: ConfirmRequest): Promise<PaymentConfirmed>;
  /** The newest ownership proof; a new one is signed once an hour and after a mint. */
  proof(): Promise<ProofAnswer>;
  /** The text of the next proof, for a Bitcoin key that is kept outside the service. */
  draftProof(): Promise<ProofDraft>;
  /** Accepts the Bitcoin signature of the draft. */
  submitProof(signature: string): Promise<ProofAnswer>;
  /** What the daily mint would do now. */
  previewMint(): Promise<MintPreview>;
  /** Daily mints, newest first. */
  listMints(limit: number): Promise<MintRow[]>;
  /** Sets the Durable Object's timer again from stored rows. The cron calls it, in case the platform lost the timer. */
  wake(): Promise<void>;
  claimDeposit(request: ClaimRequest): Promise<ClaimAnswer>;
  /** The record of a claimed deposit, by its first signature. */
  findClaim(signature: string): Promise<ClaimView | null>;
  /** Epochs, newest first. */
  listAsryEpochs(limit: number): Promise<AsryEpochView[]>;
  /** The operator's commands. The HTTP route authenticates the caller first. */
  ops(command: OpsCommand): Promise<OpsAnswer>;
};

/** `CustodianApi` over RPC. A call may return the reason why the object did not perform it, instead of its result. */
export type CustodianRpc = {
  [Verb in keyof CustodianApi]: (
    ...args: Parameters<CustodianApi[Verb]>
  ) => Promise<Awaited<ReturnType<CustodianApi[Verb]>> | NotConfigured | NotCustodian | Busy>;
};

/**
 * The known facts of a claimed deposit. Amounts are in atoms of its asset; the entitlement and its remainder are in
 * atoms of ASRY.
 */
export type ClaimedDeposit = {
  /** First signature of the deposit. */
  readonly signature: string;
  readonly asset: 'USDC' | 'USDT';
  readonly sender: string;
  readonly slot: bigint;
  /** Unix seconds. */
  readonly blockTime: number;
  readonly credited: bigint;
  readonly feeBps: number;
  readonly fee: bigint;
  readonly net: bigint;
  readonly epoch: number;
  readonly entitlement: bigint;
  /** Part of the entitlement that no payout has paid or promised yet. */
  readonly left: bigint;
};

/** @param claim.claimedAt Unix milliseconds; null before the claim */
export const claimView = (
  claim: ClaimedDeposit & { readonly claimedAt: number | null },
  payouts: readonly ClaimPayoutView[],
): ClaimView => ({
  signature: claim.signature,
  asset: claim.asset,
  sender: claim.sender,
  slot: claim.slot,
  blockTime: claim.blockTime,
  creditedAtoms: claim.credited,
  feeBps: claim.feeBps,
  feeAtoms: claim.fee,
  netAtoms: claim.net,
  epoch: claim.epoch,
  entitlementAtoms: claim.entitlement,
  remainingAtoms: claim.left,
  claimedAtMs: claim.claimedAt,
  payouts,
});

type PayoutRow = {
  readonly part: number;
  readonly atoms: bigint;
  readonly state: PayoutState;
  readonly reason: string | null;
  readonly createdAt: number;
  readonly paidAt: number | null;
};

/**
 * owed   promised; no transaction is signed for it
 * begun  an operation pays it
 * paid   the recipient has it
 */
export type PayoutState = 'owed' | 'begun' | 'paid';

type PayoutOperation = {
  /** Null before it is signed. */
  readonly signature: string | null;
  /** Why the payout waits. */
  readonly reason: string | null;
  /** When the payout became final, in Unix milliseconds. */
  readonly finishedAt: number | null;
};

/**
 * Why a started payout is still unsigned: a limit, a stop of all signing, or an operation that awaits the
 * operator.
 */
const WAITS: Readonly<Record<Reason['type'], string | undefined>> = {
  limit: 'daily_limit',
  stopped: 'paused',
  held: 'paused',
  upstream: undefined,
  code: undefined,
};

/**
 * The state of a payout, from its row and its operation. Either of them may be newer than the other.
 * @param operation undefined before one begins
 */
export function payoutView(
  { part, atoms, reason, createdAt, state, paidAt }: PayoutRow,
  operation: PayoutOperation | undefined,
): ClaimPayoutView {
  const { signature = null, finishedAt = null } = operation ?? {};
  const base = { part, atoms, createdAtMs: createdAt };
  if (state === 'paid' || (state === 'begun' && signature !== null))
    return { ...base, status: 'sent', signature, reason: null, paidAtMs: paidAt ?? finishedAt };
  const unsent = { ...base, signature: null, paidAtMs: null };
  const waits = {
    // A failed read is retried within seconds; neither the caller nor the operator needs to act.
    owed: reason === 'unread' ? null : reason,
    begun: WAITS[parseReason(operation?.reason ?? '').type],
  }[state];
  return waits
    ? { ...unsent, status: 'owed', reason: waits }
    : { ...unsent, status: 'pending', reason: null };
}
