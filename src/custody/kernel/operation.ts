/**
 * One movement that the reserve key signs: its row in the journal and in D1's mirror.
 * @module
 */
import { type Lamports, lamports } from '../../core/amount.ts';

/** Name of an operation kind; each module declares its own. */
export type Kind = string;

/**
 * planned   the intent is durable, nothing is signed
 * signed    bytes are stored and sent until the chain has decided
 * settling  final on Solana; what it pays for is on its way
 * done, failed  nothing moves any more
 */
export type State = 'planned' | 'signed' | 'settling' | 'done' | 'failed';

/** The one transaction of an attempt, stored before it is sent. */
export type Signing = {
  readonly signature: string;
  /** Base64 of the signed transaction. Sent again as it is, never signed again. */
  readonly wire: string;
} & SignedAt;

/** Where the chain was when an attempt was signed. */
export type SignedAt = {
  /** Slot from which a node's history must reach to prove an absence: the lowest of the witnesses' slots. */
  readonly slot: bigint;
  /** Nodes that had seen the blockhash, each with its own height. Empty in rows of an older version. */
  readonly witnesses: readonly Witness[];
};

/** One node's own block height after it had seen an attempt's blockhash; no other node can testify with it. */
export type Witness = {
  /** The node's `id`. */
  readonly node: string;
  /** Slot of its view. */
  readonly slot: bigint;
  readonly height: bigint;
};

/** A finalized landing as the chain tells it. */
export type Landing = {
  readonly slot: bigint;
  /** Unix seconds. */
  readonly blockTime: number | null;
  /** Network fee in lamports. */
  readonly fee: Lamports;
  /** What left the reserve, fee included. Less than zero when more came in. */
  readonly debit: Lamports;
  /** Whether a token balance of the reserve's differs; a node that keeps none, or an older row, does not say. */
  readonly movesTokens?: boolean;
};

/** JSON of a kind: decimal text for atoms. */
export type Facts = Readonly<Record<string, string | number | boolean | null>>;

export type Operation = {
  /** Order of the journal, from 1, without gaps. */
  readonly seq: number;
  /** Natural key, such as `swap:<request key>`. */
  readonly id: string;
  readonly kind: Kind;
  readonly state: State;
  /** Finer than the state, for people: sent, landed, refunded, expired ... */
  readonly detail: string;
  /** Stable code of why it failed or is held. */
  readonly reason: string | null;
  /** Counts up with every change of any operation; D1 keeps the highest. */
  readonly revision: number;
  /** Unix milliseconds. */
  readonly createdAt: number;
  readonly updatedAt: number;
  /** When the alarm looks again; null when there is nothing left to do. */
  readonly dueAt: number | null;
  /** Looks in a row without a change; spaces them out. */
  readonly looks: number;

  /** Lamports to be moved, counted against the caps while they are or may be gone. */
  readonly amount: Lamports;
  /** Lamports that must stay free for it: amount, fees and rent. Zero once the chain's balance shows the outcome. */
  readonly reserved: Lamports;
  /** Lamports sent for something that has not arrived. */
  readonly unsettled: Lamports;
  /** Worst-case loss against the independent price, in lamports. */
  readonly cost: Lamports;
  /** Slot from which a balance shows the outcome; null while `reserved` or nothing ever left. */
  readonly releasedSlot: bigint | null;

  /** 1 for the first signing. */
  readonly attempt: number;
  readonly signing: Signing | null;
  readonly landing: Landing | null;
  /** What the kind decided when it planned and signed. */
  readonly plan: Facts;
  /** What came of it. */
  readonly outcome: Facts;
};

/** Nothing moves any more and nothing is awaited. */
export const isTerminal = (operation: Operation): boolean =>
  operation.state === 'done' || operation.state === 'failed';

/** The names that a row has taken for itself, read back from what it decided. */
export function namesConsumedBy({ plan, outcome }: Operation): string[] {
  const names: string[] = [];
  if (typeof plan.depositAddress === 'string') names.push(`deposit:${plan.depositAddress}`);
  if (typeof plan.quoteId === 'string') names.push(`lifi:${plan.quoteId}`);
  if (typeof plan.messageHash === 'string') names.push(`lifi-message:${plan.messageHash}`);
  if (typeof plan.vaultSwap === 'string') names.push(`vault-swap:${plan.vaultSwap}`);
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
  JSON.stringify(operation, (_key, value: unknown) => (typeof value === 'bigint' ? value.toString() : value));

type Row = Partial<Operation> & Pick<Operation, 'seq' | 'id' | 'kind' | 'state'>;

/**
 * Reads a row of this or an older version: a member that did not exist then has its neutral value. Every sum of the
 * spending limits reads all rows that count, so this must not cost more than the parsing: a reviver costs ten times that.
 */
export function decodeOperation(text: string): Operation {
  const row = withAtoms(JSON.parse(text)) as Row;
  const { signing = null, landing = null, plan = {}, outcome = {} } = row;
  return {
    ...BLANK,
    ...row,
    signing: signing && decodeSigning(signing),
    landing: landing && withAtoms(landing),
    plan,
    outcome,
  };
}

const decodeSigning = (signing: Signing): Signing => ({
  ...withAtoms(signing),
  witnesses: (signing.witnesses ?? []).map(withAtoms),
});

/** Members as they were parsed, the amounts among them read in place; members of a member are left alone. */
function withAtoms<T extends object>(members: T): T {
  const row = members as Record<string, unknown>;
  for (const name of BIGINTS) {
    const value = row[name];
    if (typeof value === 'string' && /^-?\d+$/.test(value)) row[name] = BigInt(value);
  }
  return members;
}

const NONE = lamports(0n);

const BLANK = {
  detail: '',
  reason: null,
  revision: 0,
  createdAt: 0,
  updatedAt: 0,
  dueAt: null,
  looks: 0,
  amount: NONE,
  reserved: NONE,
  unsettled: NONE,
  cost: NONE,
  releasedSlot: null,
  attempt: 1,
  signing: null,
  landing: null,
  plan: {},
  outcome: {},
} as const;

/** The intent of a new operation. Its number and revision are the journal's to give. */
export function plannedOperation(p: {
  id: string;
  kind: Kind;
  amount: Lamports;
  reserved: Lamports;
  plan: Facts;
  now: number;
}): Operation {
  const { now, ...intent } = p;
  return {
    ...BLANK,
    ...intent,
    seq: 0,
    state: 'planned',
    detail: 'planned',
    createdAt: now,
    updatedAt: now,
    dueAt: now,
  };
}

export type PublicStatus = 'waiting' | 'finished' | 'failed';

export function mirrorStatus(operation: Operation): PublicStatus {
  switch (operation.state) {
    case 'done':
      return 'finished';
    case 'failed':
      return 'failed';
    default:
      return 'waiting';
  }
}
