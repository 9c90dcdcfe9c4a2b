/**
 * The RPC contract between the Worker and the custodian. All values are plain data, because they cross a process
 * boundary. Refusals are values too: a thrown error would lose its code on the way.
 * @module
 */
import * as z from 'zod';
import type { Lamports } from '../core/amount.ts';
import type { ErrorAction, ErrorCode, ErrorParts } from '../core/errors.ts';
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
  /** HTTP status, if it differs from the code's usual status. */
  readonly status?: number;
  readonly retryAfterSeconds?: number;
  /** The caller's next step, if it differs from that of the code. */
  readonly action?: ErrorAction;
  readonly details?: Readonly<Record<string, string | number | boolean | null>>;
};

const Refused = z.object({ type: z.literal('refused'), refusal: z.custom<Refusal>() });
export type Refused = Readonly<z.infer<typeof Refused>>;

const orRefused = <T extends z.ZodObject>(result: T) => z.union([result, Refused]);

/** Hash of a caller's Idempotency-Key, and hash of the route and body that the key was used with. */
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
   * contract: the API's own minimum; cost: below this amount, the bridge's fixed cost exceeds our limit; bridge: the
   * bridge refuses a smaller amount
   */
  source: z.enum(['contract', 'cost', 'bridge']),
  /** When the minimum was determined, in Unix milliseconds. */
  at: z.number(),
});
export type SwapMinimum = Readonly<z.infer<typeof SwapMinimum>>;

export const SwapEstimate = z.discriminatedUnion('type', [
  z.object({
    type: z.literal('quoted'),
    expectedSats: z.bigint(),
    minimumSats: z.bigint(),
    /** The bridge's estimate of the time until the BTC arrives, in seconds. */
    etaSeconds: orNull(z.number()),
    route: z.string(),
    /** The refusal that a create call for this amount would currently get; null if the call would be accepted. */
    refusal: orNull(z.custom<Refusal>()),
    minimum: orNull(SwapMinimum),
    /** When the quote was requested, in Unix milliseconds. */
    asOfMs: z.number(),
    /** True if the client gets an older quote, because it has used up its share of quotes. */
    stale: z.boolean(),
  }),
  z.object({
    type: z.literal('unquoted'),
    refusal: z.custom<Refusal>(),
    /** True if a create call would get the same refusal. False if only the client's share of estimates is used up. */
    isOfCreate: z.boolean(),
  }),
]);
export type SwapEstimate = Readonly<z.infer<typeof SwapEstimate>>;

const RoomMinimum = z.discriminatedUnion('type', [
  z.object({
    type: z.literal('known'),
    minimum: SwapMinimum,
    /** Why an outdated minimum could not be read again; null if the minimum is current. */
    refusal: orNull(z.custom<Refusal>()),
  }),
  z.object({ type: z.literal('unknown'), refusal: z.custom<Refusal>() }),
]);
export type RoomMinimum = Readonly<z.infer<typeof RoomMinimum>>;

export const SwapRoom = z.object({
  /** Null if the balance could not be read. */
  balanceLamports: orNull(z.bigint()),
  /** The current maximum amount of one swap; zero if swaps are not possible. */
  maximumLamports: z.bigint(),
  refusal: orNull(z.custom<Refusal>()),
  minimum: RoomMinimum,
});
export type SwapRoom = Readonly<z.infer<typeof SwapRoom>>;

const ProofSignature = z.object({ scheme: z.string(), signature: z.string() });

/** An archived ownership proof. D1 has a copy. */
export const ProofRecord = z.object({
  message: z.string(),
  /** The time that the message states. */
  timestamp: z.iso.datetime(),
  /** Hash of this proof; the next proof names it as its predecessor. */
  hash: z.string(),
  bitcoin: ProofSignature.extend({
    /** The same signature in the encoding that pre-2026 verifiers expect; null if the encodings do not differ. */
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

/** What a method can return instead of its result. */
export type NotServed =
  /** An error that the call threw. RPC would keep only its message. */
  | { readonly failed: ErrorParts }
  /** The object is not named `custodian`, so it neither reads nor writes. */
  | { readonly notCustodian: true }
  /** Too many reads of this kind are in progress. */
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
  /** The payment transaction that a caller has reported, while it is not final. */
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
  /** Cost of the work. The fee is this cost rounded up, plus five digits that make the fee unique. */
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
  /**
   * Maximum wait in milliseconds for the payment to be final and its work to end. With 0, both continue in the
   * background.
   */
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
  /** True to validate only: the deposit is not used, and no reward is paid. */
  readonly skipReward: boolean;
  readonly key?: RequestKey;
  readonly client: string;
  /** Maximum wait for the deposit to be final, in milliseconds; 0 if absent. */
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

/**
 * A deposit and its reward. The deposit is in atoms of its asset; the entitlement and its remainder are in atoms of
 * ASRY.
 */
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
  /** The part of `entitledAtoms` whose payment is final on the chain. */
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
  /** Whether the custodian's nodes respond. Only the custodian calls these nodes. */
  probeNodes(): Promise<readonly NodeProbe[]>;
  /** Called often, so it reads only one row. The first call of an instance verifies the journal. */
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
  /**
   * Sets the Durable Object's timer again from stored rows. The cron calls it in case the platform has lost the timer.
   */
  wake(): Promise<void>;
  claimDeposit(request: ClaimRequest): Promise<ClaimAnswer>;
  findClaim(signature: string): Promise<ClaimView | null>;
  listAsryEpochs(limit: number): Promise<AsryEpochView[]>;
  /** The operator's commands. The HTTP route authenticates the caller first. */
  ops(command: OpsCommand): Promise<OpsAnswer>;
};

/** `CustodianApi` over RPC. If the object did not perform a call, the call returns the reason instead of its result. */
export type CustodianRpc = {
  [Verb in keyof CustodianApi]: (
    ...args: Parameters<CustodianApi[Verb]>
  ) => Promise<Awaited<ReturnType<CustodianApi[Verb]>> | NotServed>;
};
