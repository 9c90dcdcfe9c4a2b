/**
 * All that a custodian is given from outside.
 * @module
 */
import type { AsryPorts } from './asry/claims.ts';
import type { IntentKind } from './kernel/begin-operation.ts';
import type { Assemble } from './kernel/executor.ts';
import type { KindDriver } from './kernel/kind.ts';
import type { Log, Mirror, Signer } from './kernel/ports.ts';
import type { ChainPort } from './kernel/solana-view.ts';
import type { Limits } from './kernel/spending-limits.ts';
import type { PaymentDeskPorts } from './payments/payment-requests.ts';
import type { RefundKindPorts } from './payments/refund-operation.ts';
import type { AbsrPorts } from './reserve/mint-operation.ts';
import type { ProofPorts } from './reserve/proof.ts';
import type { SwapPorts } from './swap/operation.ts';
import type { ForeignPorts } from './swap/third-party-payment.ts';

export type CustodyDeps = {
  readonly chain: ChainPort;
  readonly mirror: Mirror;
  readonly signer: Signer;
  readonly swap: SwapPorts;
  /** What a third party's transaction is judged by; absent where no route brings any. */
  readonly foreign?: ForeignPorts;
  /** The kinds beside swaps that this instance can carry out; rows of any other are held. */
  readonly kinds?: Partial<Record<IntentKind, KindDriver>>;
  /** Paid requests; absent where no treasury or mint seed is configured. */
  readonly payments?: PaymentDeskPorts & Pick<RefundKindPorts, 'balanceOf' | 'leastBalance' | 'findPaid'>;
  /** The daily mint; absent where no mint is configured. */
  readonly absr?: AbsrPorts;
  /** Rewards for deposits; absent where no ASRY mint is configured. */
  readonly asry?: AsryPorts;
  /** The ownership proof; absent where the service has no public name. */
  readonly proof?: Omit<ProofPorts, 'archived' | 'stop'>;
  readonly limits: Limits;
  readonly swapsDisabled: boolean;
  readonly maxCreatesPerClientHour: number;
  readonly assemble: Assemble;
  readonly now: () => number;
  readonly randomId: () => string;
  readonly within: <T>(work: Promise<T>, ms: number) => Promise<T | undefined>;
  readonly log: Log;
};
