/**
 * One movement signed by the reserve's key: its row in the journal and in D1. Its kind has the functions that prepare
 * and settle it.
 * @module
 */
import { type Lamports, lamports } from '../../core/amount.ts';
import { stringifyJson } from '../../core/json.ts';
import { parseReason, type Reason, reasonText } from './reason.ts';

export type Kind = string;

/**
 * planned   the intent is durable; not signed yet
 * signed    the bytes are stored, and sent until the outcome is final
 * settling  final on Solana; what it pays for, such as a swap's Bitcoin, has not arrived yet
 * done, failed  ended; no further movement
 */
export type State = 'planned' | 'signed' | 'settling' | 'done' | 'failed';

/** The single transaction of an attempt, stored before it is sent. */
export type Signing = {
  readonly signature: string;
  /** Base64 of the signed transaction. Resent unchanged, never signed again. */
  readonly wire: string;
  /**
   * Present while a key outside the service has not signed. The bytes were not sent. But whoever has that key can
   * complete and send them, so this is an attempt like any other.
   */
  readonly lacksSignature?: true;
} & SignedAt;

export type SignedAt = {
  /** The lowest slot of the witnesses. A node's history must reach back to it to prove an expiry. */
  readonly slot: bigint;
  /** Nodes that had seen the blockhash, each with its own height. */
  readonly witnesses: readonly Witness[];
};

/** A node's height after it had seen the blockhash. Only such a node can prove that the attempt expired. */
export type Witness = {
  /** The node's `id`. */
  readonly node: string;
  readonly slot: bigint;
  readonly height: bigint;
};

/** A finalized landing, as the chain shows it. */
export type Landing = {
  readonly slot: bigint;
  /** Unix seconds. */
  readonly blockTime: number | null;
  readonly fee: Lamports;
  /** Lamports that left the reserve, fee included; negative if more came in. */
  readonly debit: Lamports;
};

/** JSON data of a kind; atoms are decimal strings. */
export type Facts = Readonly<Record<string, string | number | boolean | null>>;

export type Operation = {
  /** Number in the journal, from 1, without gaps. */
  readonly seq: number;
  /** Natural key, for example `swap:<request key>`. */
  readonly id: string;
  readonly kind: Kind;
  /** Address of the reserve's key when the operation was planned. Only this key can sign the operation. */
  readonly signer: string;
  readonly state: State;
  /** A finer state for display: sent, landed, refunded, expired ... */
  readonly detail: string;
  /** Why the operation waits, has failed or awaits the operator. */
  readonly reason: Reason | null;
  /** Raised by every change of any operation; D1 keeps the row with the highest. */
  readonly revision: number;
  /** Unix milliseconds. */
  readonly createdAt: number;
  readonly updatedAt: number;
  /** When the latest attempt was signed; null before it is first signed. */
  readonly signedAt: number | null;
  /** Null if the operation needs no further check. Current only in the result of `Journal.get`. */
  readonly dueAt: number | null;
  /** Number of checks since the last change; the wait grows with it. Current only in the result of `Journal.get`. */
  readonly looks: number;

  /** Lamports to move. They count against the limits if they have left the reserve or may still leave it. */
  readonly amount: Lamports;
  /** Amount, fees and rent that are set aside, in lamports. Zero once a balance on the chain shows the outcome. */
  readonly reserved: Lamports;
  /** Lamports sent for something that has not arrived, such as a swap's Bitcoin. */
  readonly unsettled: Lamports;
  /**
   * Worst-case loss in lamports. For a swap: against the independent price. For a payout: the fee of a failed
   * transaction.
   */
  readonly cost: Lamports;
  /**
   * A balance at this slot or later includes the outcome; null while lamports are `reserved`, or if none has left the
   * reserve.
   */
  readonly releasedSlot: bigint | null;

  /** 1 for the first signing. */
  readonly attempt: number;
  readonly signing: Signing | null;
  readonly landing: Landing | null;
  /** The kind's decisions at planning and signing. */
  readonly plan: Facts;
  readonly outcome: Facts;
};

export const isTerminal = (operation: Operation): boolean =>
  operation.state === 'done' || operation.state === 'failed';

/** The names that only this operation may use (see `Journal.useOnce`), derived from its plan and outcome. */
export function namesUsedBy({ plan, outcome }: Operation): string[] {
  const names: string[] = [];
  if (typeof plan.depositAddress === 'string') names.push(`deposit:${plan.depositAddress}`);
  if (typeof outcome.btcTxid === 'string') names.push(`output:${outcome.btcTxid}:${outcome.btcVout}`);
  if (typeof outcome.refundSignature === 'string') names.push(`payment:${outcome.refundSignature}`);
  return names;
}

const BIGINTS = [
  'amount',
  'reserved',
  'unsettled',
  'cost',
  'releasedSlot',
  'slot',
  'height',
  'fee',
  'debit',
] as const;

export const encodeOperation = (operation: Operation): string =>
  stringifyJson({ ...operation, reason: reasonText(operation.reason) });

/** An operation as `encodeOperation` writes it. Its reason is text, and its amounts are text until `withAtoms`. */
type Row = Omit<Operation, 'reason'> & { readonly reason: string | null };

/** A JSON reviver would take ten times as long, and the spending limits decode many rows. */
export function decodeOperation(text: string): Operation {
  const row = withAtoms(JSON.parse(text) as Row);
  const { signing, landing, reason } = row;
  return {
    ...row,
    reason: reason === null ? null : parseReason(reason),
    signing: signing && { ...withAtoms(signing), witnesses: signing.witnesses.map(withAtoms) },
    landing: landing && withAtoms(landing),
  };
}

/** Converts the amounts among parsed members in place; nested members stay unchanged. */
function withAtoms<T extends object>(members: T): T {
  const row = members as Record<string, unknown>;
  for (const name of BIGINTS) {
    const value = row[name];
    if (typeof value === 'string' && /^-?\d+$/.test(value)) row[name] = BigInt(value);
  }
  return members;
}

const NONE = lamports(0n);

/** The intent of a new operation. The journal assigns its number and revision. */
export function plannedOperation({
  now,
  ...intent
}: Pick<Operation, 'id' | 'kind' | 'signer' | 'amount' | 'reserved' | 'plan'> & {
  readonly now: number;
}): Operation {
  return {
    ...intent,
    seq: 0,
    revision: 0,
    state: 'planned',
    detail: 'planned',
    reason: null,
    createdAt: now,
    updatedAt: now,
    signedAt: null,
    dueAt: now,
    looks: 0,
    unsettled: NONE,
    cost: NONE,
    releasedSlot: null,
    attempt: 1,
    signing: null,
    landing: null,
    outcome: {},
  };
}

export function mirrorStatus(operation: Operation): 'waiting' | 'finished' | 'failed' {
  switch (operation.state) {
    case 'done':
      return 'finished';
    case 'failed':
      return 'failed';
    default:
      return 'waiting';
  }
}

export const textOf = (value: unknown): string | null => (typeof value === 'string' ? value : null);

/** The state of an operation after its landing. For a swap: what the bridge and the Bitcoin chain report. */
export type Settlement =
  | {
      readonly state: 'pending';
      readonly detail: string;
      /** How far a search has progressed; stored for the next check. */
      readonly progress?: Facts;
      /** True if the bridge reports progress since the last check, so settlement may be near. */
      readonly hasMoved?: boolean;
      /** True if the operation only waits for the next Bitcoin block. */
      readonly awaitsBlock?: boolean;
      /** More entries must be read, so the next check follows at once. */
      readonly continues?: boolean;
    }
  | { readonly state: 'complete'; readonly outcome: Facts }
  /** Ended, but not as agreed. If `arrived` is set, the debt is settled. */
  | {
      readonly state: 'incomplete';
      readonly reason: string;
      readonly arrived: boolean;
      /**
       * The final cost in lamports, at least the cost agreed before the operation was signed. If absent, the agreed
       * cost.
       */
      readonly cost?: Lamports;
      readonly outcome: Facts;
    };

export type KindRules = {
  /**
   * Maximum signings of one operation. A swap is signed once, because its signature is the public id and its quote
   * expires.
   */
  readonly maxAttempts: number;
  /** True: a failed preparation is retried. False: it ends the operation. */
  readonly retriesPreparation: boolean;
  /** Present if a failure on the chain ends the operation, because another attempt would probably fail too. */
  readonly endsWhenRejected?: true;
  /** True if the operation waits for another event after it has landed. */
  readonly settles: boolean;
  /**
   * When the balance must cover an operation. Sold work starts regardless of the balance, because its cost was reserved
   * when it was sold. It is signed only while the balance covers it.
   */
  readonly coveredAt: 'begin' | 'signature';
};

export type Prepared =
  | {
      readonly ok: true;
      /** The transaction message. The reserve signs it as the fee payer. */
      readonly message: Uint8Array;
      /**
       * Signatures of the message's other signers, in their order after the fee payer. Absent if the reserve is the
       * only signer.
       * @param signature the reserve's
       * @throws AppError UPSTREAM_FAILED if a signer does not respond or refuses; the attempt is then not stored
       */
      cosign?(signature: Uint8Array): Promise<readonly Uint8Array[]>;
      /** Present if the kind's `complete` adds a signature. `cosign` returns a blank one. */
      readonly lacksSignature?: true;
      /** Slot and block heights at which the message's blockhash was read. */
      readonly signedAt: SignedAt;
      readonly plan: Facts;
      readonly cost: bigint;
      /** Names that only this operation may use (see `Journal.useOnce`), such as `deposit:<address>`. */
      readonly once: readonly string[];
    }
  | { readonly ok: false; readonly reason: string; readonly outcome?: Facts }
  /** The chain already shows the outcome. */
  | { readonly ok: false; readonly found: Facts };

export type Ready = Extract<Prepared, { ok: true }>;

export type Settled = {
  readonly settlement: Settlement;
  /** Names that only this operation may use, like `once` of `Ready`: a Bitcoin output, or the payment of a refund. */
  readonly once: readonly string[];
};

export type OperationKind = {
  readonly rules: KindRules;
  /** Reads and checks upstream data. Signs nothing. @throws AppError UPSTREAM_FAILED */
  prepare(operation: Operation): Promise<Prepared>;
  /**
   * The transaction with the signature of a key outside the service. That key sees only stored attempts.
   * @param wire base64
   * @throws AppError UPSTREAM_FAILED
   */
  complete?(operation: Operation, wire: string): Promise<string>;
  /**
   * @param isUsed whether another operation already uses this name, such as `output:<txid>:<vout>`
   * @returns undefined for a row that this version cannot settle; the row is then held for the operator
   */
  settle(operation: Operation, isUsed: (name: string) => boolean): Promise<Settled | undefined>;
  /**
   * Records the outcome in the transaction that ends the operation. A throw rolls back the end, which is then retried.
   */
  onEnd?(operation: Operation): void;
};

/** A message that is ready to be signed, without further costs or names to use. */
export const plainlyPrepared = (message: Uint8Array, { slot, witnesses }: SignedAt): Ready => ({
  ok: true,
  message,
  signedAt: { slot, witnesses },
  plan: {},
  cost: 0n,
  once: [],
});

/** `settle` for a kind whose operations are complete once they have landed. */
export const settlesByLanding: OperationKind['settle'] = async () => ({
  settlement: { state: 'complete', outcome: {} },
  once: [],
});
