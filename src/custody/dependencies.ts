/**
 * What the custodian needs from the platform, the upstreams and the configuration. All of it is passed in, so the
 * simulator runs the same code as the Durable Object.
 * @module
 */
import type { QuoteBudgets } from '../core/call-limits.ts';
import type { ChainTransaction } from '../providers/solana-rpc.ts';
import type { AsryPorts } from './asry/context.ts';
import type { Assemble } from './kernel/executor.ts';
import type { Log, Mirror, Signer, Within } from './kernel/ports.ts';
import type { CustodyLimits } from './limits.ts';
import type { LookUp } from './nodes/signature-lookups.ts';
import type { ChainPort } from './nodes/solana-view.ts';
import type { NodeProbe } from './operator-api.ts';
import type { PaymentDeps } from './payments/context.ts';
import type { Watched } from './recovery/unexplained-spends.ts';
import type { AbsrPorts } from './reserve/daily-mint.ts';
import type { ProofPorts } from './reserve/proof.ts';
import type { SwapPorts } from './swap/operation.ts';
import type { TokenDeps } from './tokens/products.ts';

export type CustodyDeps = {
  readonly chain: ChainPort;
  readonly mirror: Mirror;
  readonly signer: Signer;
  readonly swap: SwapPorts;
  /**
   * A finalized transaction of any version, or null without a quorum. It shows only who moved what. It never pays for
   * anything, because a later version may change the meaning of a member.
   */
  effects(signature: string): Promise<ChainTransaction | null>;
  readonly watched: Watched;
  /** Absent while treasury or mint seed is not set. Stored rows of an absent module wait for the operator. */
  readonly payments?: PaymentDeps & TokenDeps;
  readonly absr?: AbsrPorts;
  readonly asry?: Omit<AsryPorts, 'lookUp'>;
  readonly lookUp: LookUp;
  /** The ownership proof; absent if the service has no public name. */
  readonly proof?: Omit<ProofPorts, 'stop' | 'lastMintSlot'>;
  readonly limits: CustodyLimits;
  readonly swapsDisabled: boolean;
  readonly quoteBudgets: QuoteBudgets;
  readonly assemble: Assemble;
  readonly now: () => number;
  readonly randomId: () => string;
  readonly within: Within;
  /** Names of the upstreams that are skipped because they hang. */
  readonly openCircuits: () => readonly string[];
  readonly probeNodes: () => Promise<readonly NodeProbe[]>;
  readonly contact?: string | undefined;
  /** Id of the Worker version. */
  readonly release?: string | undefined;
  readonly log: Log;
};
