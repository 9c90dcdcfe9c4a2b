/** A chain whose results a test sets. */
import { lamports } from '../../src/core/amount.ts';
import type { NodeView } from '../../src/custody/kernel/observation.ts';
import type { Landing } from '../../src/custody/kernel/operation.ts';
import type { Balance } from '../../src/custody/kernel/spending-limits.ts';
import type { ChainPort } from '../../src/custody/nodes/solana-view.ts';
import { FEE, SOL, statusOf, view } from './sample-operations.ts';

export type FakeChain = ChainPort & {
  /** Wire bytes in the order in which they were sent. */
  readonly sent: string[];
  /** The signers whose attempts were looked up. */
  readonly signers: Set<string>;
  reads: { balance: number; views: number; landing: number };
  /** The results of the next calls; a function may throw or wait. */
  nextBalance: (minSlot: bigint) => Promise<Balance>;
  nextViews: () => NodeView[];
  nextLanding: () => Landing | null;
  accepts: boolean;
};

/** A single node, so there are no contradictions. */
export const AGREEMENT = {
  nodes: 1,
  quorum: 1,
  disagreement: null,
  quorumMissingSince: null,
  quorumMissing: null,
  stalledSince: null,
  consensus: 'unknown',
} as const;

/** @param now moves the block height: 400 ms a block */
export function createFakeChain(now: () => number = () => 0): FakeChain {
  const chain: FakeChain = {
    quorum: 1,
    sent: [],
    signers: new Set(),
    agreement: () => AGREEMENT,
    checkFinality: async () => ({ slot: 940n, floor: 940n }),
    height: async () => BigInt(Math.floor(now() / 400)),
    memory: () => '',
    recall: () => undefined,
    reads: { balance: 0, views: 0, landing: 0 },
    accepts: true,
    nextBalance: async (minSlot) => ({
      lamports: lamports(10n * SOL),
      slot: minSlot > 100n ? minSlot : 100n,
    }),
    nextViews: () => [view()],
    nextLanding: () => null,
    async balance(minSlot) {
      chain.reads.balance++;
      return chain.nextBalance(minSlot);
    },
    async send(wire) {
      chain.sent.push(wire);
      return chain.accepts;
    },
    async views(_signing, signer) {
      chain.signers.add(signer);
      chain.reads.views++;
      return chain.nextViews();
    },
    async landing(_signature, signer) {
      chain.signers.add(signer);
      chain.reads.landing++;
      return chain.nextLanding();
    },
  };
  return chain;
}

/** From now on every node shows the attempt as final, and the transaction that moved `amount`. */
export function land(chain: FakeChain, change: Partial<Landing> = {}): void {
  chain.nextViews = () => [view({ status: statusOf('finalized') })];
  chain.nextLanding = () => ({
    slot: 940n,
    blockTime: 1_790_000_000,
    fee: lamports(FEE),
    debit: lamports(SOL + FEE),
    ...change,
  });
}
