/**
 * The custodian's calls: all that the rest of the service knows of it. Plain values, since they cross to another
 * process; refusals are values too, since an error would lose its code on the way.
 * @module
 */
import type { ClaimView } from './asry/claim-view.ts';
import type { NodeAgreement } from './kernel/quorum.ts';
import type { Limit } from './kernel/spending-limits.ts';

export { type ClaimPayoutView, type ClaimView, claimView, payoutView } from './asry/claim-view.ts';
export type { Limit } from './kernel/spending-limits.ts';

/** A decision against a request, with the code that the caller sees. */
export type Refusal = {
  readonly code: string;
  readonly message: string;
  readonly retryAfterSeconds?: number;
  readonly details?: Readonly<Record<string, string | number | boolean | null>>;
};

/** A caller's Idempotency-Key, hashed, and the hash of route and body that it stands for. */
export type RequestKey = { readonly keyHash: string; readonly bodyHash: string };

export type SwapRequest = {
  readonly amountLamports: bigint;
  readonly key?: RequestKey;
  /** Whom the per-client limits count: an IP, or an IPv6 prefix. */
  readonly client: string;
};

export type SwapView = {
  /** Solana signature: the public id. */
  readonly signature: string;
  readonly status: 'waiting' | 'finished' | 'failed';
  readonly detail: string;
  readonly reason: string | null;
  readonly amountLamports: bigint;
  readonly expectedSats: bigint;
  readonly minimumSats: bigint;
  readonly btcSats: bigint | null;
  readonly btcTxid: string | null;
  readonly route: string;
};

export type SwapAnswer = { readonly replayed: boolean } & (
  | { readonly type: 'created'; readonly swap: SwapView }
  | { readonly type: 'refused'; readonly refusal: Refusal }
);

export type SwapPreview =
  | {
      readonly type: 'possible';
      readonly expectedSats: bigint;
      readonly minimumSats: bigint;
      readonly costLamports: bigint;
      readonly route: string;
    }
  | { readonly type: 'refused'; readonly refusal: Refusal };

/** What may be swapped now. Lamports. */
export type SwapRoom = {
  readonly balanceLamports: bigint;
  /** The most that one swap may take at this moment; zero when none can. */
  readonly maximumLamports: bigint;
  /** What balance, floor and reservations leave for one swap, its fees deducted. */
  readonly spendableLamports: bigint;
  readonly refusal: Refusal | null;
};

/** How today's mint of ABSR stands. */
export type MintReport = {
  /** UTC date. */
  readonly day: string;
  readonly state: 'scheduled' | 'waiting' | 'minted' | 'none' | 'failed';
  /** Stable code of why nothing is minted. */
  readonly reason: string | null;
  /** False when the operator should act. */
  readonly ok: boolean;
};

/** What a mint would do now. Decimal text for atoms and sats. */
export type MintPreview = {
  readonly day: string;
  readonly verdict: 'mint' | 'none' | 'wait';
  readonly reason: string | null;
  readonly mintAtoms: string | null;
  readonly reserveSats: string | null;
  readonly supplyAtoms: string | null;
  readonly decimals: number | null;
  /** Confirmations that an income needs to count. */
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

/** A day's mint, for the operator. */
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

/** An ownership proof as it is archived. */
export type ProofRecord = {
  readonly message: string;
  /** The time in the message, ISO 8601. */
  readonly timestamp: string;
  /** What the next proof names as the one before it. */
  readonly hash: string;
  readonly bitcoin: {
    readonly scheme: string;
    readonly signature: string;
    /** The same signature as verifiers from before 2026 read it, where that differs. */
    readonly unprefixed: string | null;
  };
  readonly solana: { readonly scheme: string; readonly signature: string };
  /** The Bitcoin signature was made outside the service. */
  readonly offline: boolean;
};

export type ProofAnswer =
  | { readonly type: 'proof'; readonly proof: ProofRecord }
  | { readonly type: 'refused'; readonly refusal: Refusal };

/** A text that waits for an offline signature. */
export type ProofDraft =
  | { readonly type: 'draft'; readonly message: string }
  | { readonly type: 'refused'; readonly refusal: Refusal };

export type CustodyReport = {
  readonly reserveAddress: string;
  /** How far the Solana nodes agree. */
  readonly solana: NodeAgreement;
  /** Null where no mint is configured. */
  readonly mint: MintReport | null;
  readonly frozen: string | null;
  readonly paused: string | null;
  readonly openOperations: number;
  readonly heldOperations: number;
  readonly undeliveredSinceMs: number | null;
  /** Every cap, with what is used of it. */
  readonly limits: readonly Limit[];
};

/** A request that waits for a payment, as the custodian keeps it. */
export type RequestView = {
  readonly id: string;
  readonly kind: 'token' | 'listing';
  readonly status: 'pending' | 'completed';
  /** awaiting_payment, seen, paid, creating, completed, expired, refund_due */
  readonly detail: string;
  readonly reason: string | null;
  readonly subject: Readonly<Record<string, unknown>>;
  readonly feeLamports: string;
  readonly receivedLamports: string;
  readonly reference: string;
  /** ISO 8601. */
  readonly createdAt: string;
  readonly expiresAt: string;
  readonly paidAt: string | null;
  readonly completedAt: string | null;
  readonly paymentSignature: string | null;
  readonly tokenId: number | null;
  readonly mintAddress: string | null;
  readonly refunds: readonly {
    readonly signature: string;
    readonly lamports: string;
    readonly payer: string | null;
    readonly reason: string;
    readonly status: 'due' | 'paid';
    /** The transaction that paid it back. */
    readonly refundSignature: string | null;
  }[];
};

export type OpenRequest = {
  readonly kind: 'token' | 'listing';
  readonly subject: Readonly<Record<string, unknown>>;
  /** What the work costs, before the digits that make the amount its own. */
  readonly baseFeeLamports: bigint;
  readonly client: string;
};

export type RequestOpened =
  | { readonly type: 'opened'; readonly request: RequestView }
  | { readonly type: 'refused'; readonly refusal: Refusal };

export type ConfirmRequest = {
  /** Of the payment request. */
  readonly id: string;
  readonly kind: RequestView['kind'];
  /** Of the payment. */
  readonly signature: string;
  /** Longest wait for the creation to begin; 0 leaves it to the background. */
  readonly waitMs: number;
};

export type PaymentConfirmed =
  | { readonly type: 'confirmed'; readonly request: RequestView }
  | { readonly type: 'refused'; readonly refusal: Refusal };

export type ClaimRequest = {
  /** Base58 of 64 bytes. */
  readonly signature: string;
  readonly asset: 'USDC' | 'USDT';
  /** What the caller expects to have been received, in atoms. */
  readonly expectedAtoms?: bigint;
  /** Value of the reward that is asked for now, in millionths of a dollar. */
  readonly rewardMicroUsd?: bigint;
  /** Validate only: nothing is consumed or paid. */
  readonly skipReward: boolean;
  readonly key?: RequestKey;
  readonly client: string;
};

export type ClaimAnswer =
  /** This call, or the one that it repeats, made the payout `part`. */
  | { readonly type: 'claimed'; readonly replayed: boolean; readonly claim: ClaimView; readonly part: number }
  | { readonly type: 'validated'; readonly claim: ClaimView }
  | { readonly type: 'refused'; readonly refusal: Refusal; readonly claim: ClaimView | null };

export type AsryEpochView = {
  readonly number: number;
  /** Unix seconds; the end is the next one's start. */
  readonly startsAt: number;
  readonly endsAt: number;
  readonly capAtoms: bigint;
  readonly depthAtoms: bigint;
  readonly depositsAtoms: bigint;
  /** What these deposits have earned. */
  readonly entitledAtoms: bigint;
  /** Of it, final on the chain. */
  readonly paidAtoms: bigint;
  /** Millionths of a reward atom for the next deposit atom, unrounded. */
  readonly nextUnitMicroAtoms: bigint;
  /** Reward atoms for the next dollar, before the fee. */
  readonly nextDollarAtoms: bigint;
  readonly claims: number;
  /** Trillionths of a dollar for a whole ASRY. */
  readonly price: bigint | null;
  readonly decimals: number;
};

export type OpsCommand = {
  readonly name:
    | 'pause'
    | 'resume'
    | 'operations'
    | 'held'
    | 'retry'
    | 'refund'
    | 'reconcile'
    | 'trust-programs';
  /** The operation of `retry`; the invoice, listing request or payment of `refund`. */
  readonly id?: string;
};

export type OpsAnswer = {
  readonly ok: boolean;
  readonly message: string;
  readonly rows?: readonly Readonly<Record<string, string | number | null>>[];
};

export type CustodianApi = {
  createSwap(request: SwapRequest): Promise<SwapAnswer>;
  /** All of `createSwap` but the reservation and the signature. */
  previewSwap(request: Omit<SwapRequest, 'key'>): Promise<SwapPreview>;
  findSwap(signature: string): Promise<SwapView | null>;
  swapRoom(): Promise<SwapRoom>;
  report(): Promise<CustodyReport>;
  openRequest(request: OpenRequest): Promise<RequestOpened>;
  findRequest(id: string): Promise<RequestView | null>;
  /** Books the payment of a request and begins what it buys. */
  confirmPayment(request: ConfirmRequest): Promise<PaymentConfirmed>;
  /** The newest ownership proof; a new one is signed at most once an hour. */
  proof(): Promise<ProofAnswer>;
  /** The text of the next proof, for a Bitcoin key that is kept elsewhere. */
  draftProof(): Promise<ProofDraft>;
  /** Takes the Bitcoin signature of the draft. */
  submitProof(signature: string): Promise<ProofAnswer>;
  /** A dry run of the daily mint. */
  previewMint(): Promise<MintPreview>;
  /** The days' mints, newest first. */
  listMints(limit: number): Promise<MintRow[]>;
  /** Sets the alarm again from what is stored; the cron's tick calls it, in case an alarm was lost. */
  wake(): Promise<void>;
  claimDeposit(request: ClaimRequest): Promise<ClaimAnswer>;
  /** The record of a claimed deposit, by its first signature. */
  findClaim(signature: string): Promise<ClaimView | null>;
  /** Newest first. */
  listAsryEpochs(limit: number): Promise<AsryEpochView[]>;
  /** The operator's commands; the route in front checks who asks. */
  ops(command: OpsCommand): Promise<OpsAnswer>;
};
