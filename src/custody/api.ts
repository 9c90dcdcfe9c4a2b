/**
 * The RPC contract between the Worker and the custodian. All values are plain, because they cross to another
 * process. Refusals are values too: an error would lose its code on the way.
 * @module
 */
import * as z from 'zod';
import type { Lamports } from '../core/amount.ts';
import type { ErrorCode } from '../core/errors.ts';
import { REQUEST_KINDS, type RequestKind } from '../core/record-tables.ts';
import {
  type CustodyReport,
  listOf,
  type MintPreview,
  type MintRow,
  type NodeProbe,
  type OperatorView,
  type OpsAnswer,
  type OpsCommand,
  orNull,
  type SigningState,
} from './operator-api.ts';

export type Refusal = {
  readonly code: ErrorCode;
  readonly message: string;
  /** HTTP status, if it is not the usual one of the code. */
  readonly status?: number;
  readonly retryAfterSeconds?: number;
  readonly details?: Readonly<Record<string, string | number | boolean | null>>;
};

const Refused = z.object({ type: z.literal('refused'), refusal: z.custom<Refusal>() });
export type Refused = Readonly<z.infer<typeof Refused>>;

const orRefused = <T extends z.ZodObject>(result: T) => z.union([result, Refused]);

/** A caller's Idempotency-Key, hashed, and the hash of the route and body that it was used with. */
export type RequestKey = { readonly keyHash: string; readonly bodyHash: string };

export type EstimateRequest = {
  readonly amountLamports: bigint;
  /** The client for the per-client limits: an IPv4 address or an IPv6 prefix. */
  readonly client: string;
};

export type SwapRequest = EstimateRequest & { readonly key?: RequestKey };

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

export const SwapAnswer = z.discriminatedUnion('type', [
  z.object({ type: z.literal('created'), replayed: z.boolean(), swap: SwapView }),
  Refused.extend({ replayed: z.boolean() }),
]);
export type SwapAnswer = Readonly<z.infer<typeof SwapAnswer>>;

const SwapMinimum = z.object({
  lamports: z.custom<Lamports>(),
  /**
   * contract: the lower bound of the API; cost: below it, the bridge's fixed cost exceeds our limit; bridge: the bridge
   * refuses a smaller amount
   */
  source: z.enum(['contract', 'cost', 'bridge']),
  /** When it was learned, in Unix milliseconds. */
  at: z.number(),
});
export type SwapMinimum = Readonly<z.infer<typeof SwapMinimum>>;

export const SwapEstimate = z.discriminatedUnion('type', [
  z.object({
    type: z.literal('quoted'),
    expectedSats: z.bigint(),
    minimumSats: z.bigint(),
    /** Seconds until the BTC arrives, as the bridge expects. */
    etaSeconds: orNull(z.number()),
    route: z.string(),
    /** The refusal that a create call with the amount would return now; null when it would be accepted. */
    refusal: orNull(z.custom<Refusal>()),
    minimum: orNull(SwapMinimum),
    /** When the quote was requested, in Unix milliseconds. */
    asOfMs: z.number(),
    /** True if the client has used up its quotes and an older one is shown. */
    stale: z.boolean(),
  }),
  z.object({
    type: z.literal('unquoted'),
    refusal: z.custom<Refusal>(),
    /** False when the client's estimates are used up, which says nothing about a create call. */
    isOfCreate: z.boolean(),
  }),
]);
export type SwapEstimate = Readonly<z.infer<typeof SwapEstimate>>;

const RoomMinimum = z.discriminatedUnion('type', [
  z.object({
    type: z.literal('known'),
    minimum: SwapMinimum,
    /** Why an outdated bound could not be read again; null if the bound is current. */
    refusal: orNull(z.custom<Refusal>()),
  }),
  z.object({ type: z.literal('unknown'), refusal: z.custom<Refusal>() }),
]);
export type RoomMinimum = Readonly<z.infer<typeof RoomMinimum>>;

export const SwapRoom = z.object({
  /** Null when no node shows it. */
  balanceLamports: orNull(z.bigint()),
  /** The largest amount that one swap can take now; zero when swaps are not possible. */
  maximumLamports: z.bigint(),
  refusal: orNull(z.custom<Refusal>()),
  minimum: RoomMinimum,
});
export type SwapRoom = Readonly<z.infer<typeof SwapRoom>>;

const ProofSignature = z.object({ scheme: z.string(), signature: z.string() });

/** An archived ownership proof, which D1 has too. */
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

export const ProofAnswer = orRefused(z.object({ type: z.literal('proof'), proof: ProofRecord }));
export type ProofAnswer = Readonly<z.infer<typeof ProofAnswer>>;

export const ProofDraft = orRefused(z.object({ type: z.literal('draft'), message: z.string() }));
export type ProofDraft = Readonly<z.infer<typeof ProofDraft>>;

/** Name of the only object that signs. It is the same for every key of the reserve, so a rotation keeps its storage. */
export const CUSTODIAN_NAME = 'custodian';

/** What a method may return instead of its result. */
export type NotServed =
  /** These variables are missing or invalid. */
  | { readonly notConfigured: readonly string[] }
  /** The object has another name, so it reads and writes nothing. */
  | { readonly notCustodian: true }
  /** Too many calls of this read are in progress. */
  | { readonly busy: true };

/** A payment request, as stored by the custodian and in D1. */
export const RequestView = z.object({
  id: z.string(),
  kind: z.enum(REQUEST_KINDS),
  status: z.enum(['pending', 'completed']),
  /** awaiting_payment, seen, paid, creating, completed, expired, refund_due */
  detail: z.string(),
  reason: orNull(z.string()),
  subject: z.record(z.string(), z.unknown()).readonly(),
  /** The treasury to pay; null in a row of an earlier release. */
  payee: orNull(z.string()),
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
  refunds: listOf(
    z.object({
      signature: z.string(),
      lamports: z.string(),
      payer: orNull(z.string()),
      reason: z.string(),
      status: z.enum(['due', 'paid']),
      refundSignature: orNull(z.string()),
    }),
  ),
});
export type RequestView = Readonly<z.infer<typeof RequestView>>;

export type OpenRequest = {
  readonly kind: RequestKind;
  readonly subject: Readonly<Record<string, unknown>>;
  /** Cost of the work, without the last five digits, which make the amount unique. */
  readonly baseFeeLamports: bigint;
  readonly client: string;
};

export const RequestOpened = orRefused(z.object({ type: z.literal('opened'), request: RequestView }));
export type RequestOpened = Readonly<z.infer<typeof RequestOpened>>;

export type NamedPayment = {
  readonly id: string;
  readonly kind: RequestKind;
  readonly signature: string;
  readonly client: string;
};

export type ConfirmRequest = NamedPayment & {
  /** Longest wait in milliseconds until the payment is final and its work has ended. With 0 both end in the background. */
  readonly waitMs: number;
};

export const PaymentConfirmed = orRefused(z.object({ type: z.literal('confirmed'), request: RequestView }));
export type PaymentConfirmed = Readonly<z.infer<typeof PaymentConfirmed>>;

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
  reason: orNull(z.string()),
  createdAtMs: z.number(),
  /** When the payment became final on the chain. */
  paidAtMs: orNull(z.number()),
});
export type ClaimPayoutView = Readonly<z.infer<typeof ClaimPayoutView>>;

/** A deposit and its reward. Amounts are in atoms of its asset; the entitlement and its rest are in atoms of ASRY. */
const ClaimedDeposit = z.object({
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
  /** Part of the entitlement that no payout has paid or promised yet. */
  remainingAtoms: z.bigint(),
});
export type ClaimedDeposit = Readonly<z.infer<typeof ClaimedDeposit>>;

/** A claim, or a deposit that could be claimed. The latter has no payouts and no `claimedAtMs`. */
export const ClaimView = ClaimedDeposit.extend({
  claimedAtMs: orNull(z.number()),
  payouts: listOf(ClaimPayoutView),
});
export type ClaimView = Readonly<z.infer<typeof ClaimView>>;

export const ClaimAnswer = z.discriminatedUnion('type', [
  /** This call, or the earlier call with the same key, made the payout `part`. */
  z.object({ type: z.literal('claimed'), replayed: z.boolean(), claim: ClaimView, part: z.int() }),
  z.object({ type: z.literal('validated'), claim: ClaimView }),
  Refused.extend({ claim: orNull(ClaimView) }),
]);
export type ClaimAnswer = Readonly<z.infer<typeof ClaimAnswer>>;

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

export type CustodianApi = {
  createSwap(request: SwapRequest): Promise<SwapAnswer>;
  /** Checks everything that `createSwap` checks, and has no effect. */
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
  confirmPayment(request: ConfirmRequest): Promise<PaymentConfirmed>;
  /** The newest ownership proof; a new one is signed once an hour and after a mint. */
  proof(): Promise<ProofAnswer>;
  draftProof(): Promise<ProofDraft>;
  submitProof(signature: string): Promise<ProofAnswer>;
  previewMint(): Promise<MintPreview>;
  listMints(limit: number): Promise<MintRow[]>;
  /** Sets the Durable Object's timer again from stored rows. The cron calls it, in case the platform lost the timer. */
  wake(): Promise<void>;
  claimDeposit(request: ClaimRequest): Promise<ClaimAnswer>;
  findClaim(signature: string): Promise<ClaimView | null>;
  listAsryEpochs(limit: number): Promise<AsryEpochView[]>;
  /** The operator's commands. The HTTP route authenticates the caller first. */
  ops(command: OpsCommand): Promise<OpsAnswer>;
};

/** `CustodianApi` over RPC. A call may return the reason why the object did not perform it, instead of its result. */
export type CustodianRpc = {
  [Verb in keyof CustodianApi]: (
    ...args: Parameters<CustodianApi[Verb]>
  ) => Promise<Awaited<ReturnType<CustodianApi[Verb]>> | NotServed>;
};
