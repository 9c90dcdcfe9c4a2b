/**
 * The dependencies that all actions on payments share.
 * @module
 */
import type { ChainTransaction, SolanaNode } from '../../providers/solana-rpc.ts';
import type { ModuleTools } from '../kernel/module.ts';
import type { CustodyBounds } from '../limits.ts';
import type { LookUp } from '../nodes/signature-lookups.ts';
import type { Blockhash } from '../nodes/solana-view.ts';
import type { Products } from '../product.ts';
import type { RequestStore } from './request-store.ts';
import type { TreasuryStore } from './treasury-store.ts';

/** Each node has its own queue, so a node that hides or invents payments does not delay the others. */
export type TreasuryNode = Pick<SolanaNode, 'id' | 'name' | 'signaturesFor' | 'firstAvailableBlock'>;

/** The reads of a refund before it is signed. @throws AppError UPSTREAM_FAILED */
export type RefundReads = {
  balanceOf(address: string): Promise<bigint>;
  leastBalance(): Promise<bigint>;
  latestBlockhash(): Promise<Blockhash>;
};

export type PaymentDeps = RefundReads & {
  readonly treasuryAddress: string;
  /** Payers whose wallet belongs to an exchange, not to the customer. */
  readonly heldPayers: ReadonlySet<string>;
  readonly nodes: readonly TreasuryNode[];
  /** The finalized transaction shown by a quorum of nodes, or null without a quorum. @throws AppError UPSTREAM_FAILED */
  transaction(signature: string): Promise<ChainTransaction | null>;
  readonly lookUp: LookUp;
  readonly randomBytes: (length: number) => Uint8Array;
  readonly randomId: () => string;
};

export type PaymentContext = ModuleTools &
  PaymentDeps & {
    readonly products: Products;
    readonly bounds: CustodyBounds;
    readonly requests: RequestStore;
    readonly treasury: TreasuryStore;
  };
