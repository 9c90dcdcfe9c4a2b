/** Rows in each state, as written by the state machine. */
import { lamports } from '../../src/core/amount.ts';
import type { NodeView } from '../../src/custody/kernel/observation.ts';
import type { KindRules } from '../../src/custody/kernel/operation.ts';
import {
  type Operation,
  plannedOperation,
  type SignedAt,
  type Signing,
} from '../../src/custody/kernel/operation.ts';
import { code } from '../../src/custody/kernel/reason.ts';
import type { ChainTransaction } from '../../src/providers/solana-rpc.ts';
import { chainTransaction } from '../world/solana-shapes.ts';
import { RESERVE } from './addresses.ts';

export const NOW = 1_790_000_000_000;
export const SOL = 1_000_000_000n;
export const FEE = 5_900n;

export const SWAP: KindRules = {
  maxAttempts: 1,
  retriesPreparation: false,
  settles: true,
  coveredAt: 'begin',
};
/** A payout: it is signed again after a proven expiry, and is done when it lands. */
export const PAYOUT: KindRules = {
  maxAttempts: 3,
  retriesPreparation: true,
  settles: false,
  coveredAt: 'begin',
};
/** A sold creation: it is signed only while the balance covers its cost. */
export const CREATION: KindRules = { ...PAYOUT, coveredAt: 'signature' };

/** Both nodes had the height 818: expiry is provable from the finalized height 1,001 on. */
export const SIGNED_AT: SignedAt = {
  slot: 900n,
  witnesses: ['one', 'two'].map((node) => ({ node, slot: 900n, height: 818n })),
};

export const signingOf = (name: string): Signing => ({
  signature: `signature-${name}`,
  wire: `wire-${name}`,
  ...SIGNED_AT,
});

export const planned = (change: Partial<Operation> = {}): Operation => ({
  ...plannedOperation({
    id: 'swap:one',
    kind: 'swap',
    signer: RESERVE,
    amount: lamports(SOL),
    reserved: lamports(SOL + FEE),
    plan: { bodyHash: null },
    now: NOW,
  }),
  seq: 1,
  revision: 1,
  ...change,
});

export const signed = (change: Partial<Operation> = {}): Operation =>
  planned({
    state: 'signed',
    detail: 'sent',
    signing: signingOf('one'),
    unsettled: lamports(SOL),
    cost: lamports(10_000_000n),
    plan: { bodyHash: null, route: 'near-intents', depositAddress: 'deposit', minimumSats: '124000' },
    ...change,
  });

export const settling = (change: Partial<Operation> = {}): Operation =>
  signed({
    state: 'settling',
    detail: 'settling',
    reserved: lamports(0n),
    releasedSlot: 950n,
    landing: { slot: 950n, blockTime: NOW / 1_000, fee: lamports(FEE), debit: lamports(SOL + FEE) },
    ...change,
  });

export const done = (change: Partial<Operation> = {}): Operation =>
  settling({ state: 'done', detail: 'done', unsettled: lamports(0n), dueAt: null, ...change });

/** A failed operation whose money may still arrive. */
export const outstanding = (change: Partial<Operation> = {}): Operation =>
  settling({ state: 'failed', detail: 'bridge_failed', reason: code('bridge_failed'), ...change });

/** A failed operation of which nothing is awaited. */
export const closed = (change: Partial<Operation> = {}): Operation =>
  planned({
    state: 'failed',
    detail: 'refused',
    reason: code('quote_signature'),
    amount: lamports(0n),
    reserved: lamports(0n),
    dueAt: null,
    plan: { bodyHash: null, askedLamports: SOL.toString() },
    ...change,
  });

/** A node that proves nothing: it has not passed the attempt's last height and shows no status. */
export const view = (change: Partial<NodeView> = {}): NodeView => ({
  node: 'one',
  finalizedSlot: 1_000n,
  finalizedHeight: 950n,
  statusSlot: 1_010n,
  status: null,
  firstAvailableSlot: null,
  ...change,
});

/** The complete proof that `signingOf` can never land. */
export const deathProof = (change: Partial<NodeView> = {}): NodeView =>
  view({
    finalizedSlot: 1_200n,
    finalizedHeight: 1_001n,
    statusSlot: 1_200n,
    firstAvailableSlot: 0n,
    ...change,
  });

export const statusOf = (
  commitment: 'processed' | 'confirmed' | 'finalized',
  failed = false,
  charged: boolean | null = failed && commitment === 'finalized' ? true : null,
): NonNullable<NodeView['status']> => ({ slot: 940n, failed, commitment, charged });

/** A finalized payment of 1 SOL by the reserve. */
export const reserveTransfer = (
  signature: string,
  change: Partial<ChainTransaction> = {},
): ChainTransaction =>
  chainTransaction(
    signature,
    { reserve: -SOL - FEE, [`deposit-of-${signature}`]: SOL, system: 0n },
    { slot: 950n, blockTime: NOW / 1_000, fee: FEE, ...change },
  );

/** Stored members of a paid token request, without its id, reference and fee. */
export const PAID_REQUEST = {
  kind: 'token',
  state: 'paid',
  subject: { mint: 'mint', name: 'Moon', symbol: 'MOON', decimals: 9, supply: '1', program: 'token' },
  client: 'client',
  createdAt: NOW,
  expiresAt: NOW,
  closesAt: NOW,
  received: '0',
  parts: [],
  paymentSignature: null,
  reported: null,
  paidAt: NOW,
  completedAt: null,
  tokenId: null,
  creations: 1,
  reason: null,
} as const;
