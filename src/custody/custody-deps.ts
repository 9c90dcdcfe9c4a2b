/**
 * All that a custodian is given from outside.
 * @module
 */
import type { Lamports } from '../core/amount.ts';
import type { AsryPorts } from './asry/claims.ts';
import type { Assemble } from './kernel/executor.ts';
import type { OperationKind } from './kernel/module.ts';
import type { Kind } from './kernel/operation.ts';
import type { Log, Mirror, Signer } from './kernel/ports.ts';
import type { ChainPort } from './kernel/solana-view.ts';
import type { PaymentPorts } from './payments/payment-requests.ts';
import type { AbsrPorts } from './reserve/mint-operation.ts';
import type { ProofPorts } from './reserve/proof.ts';
import type { SwapLimits } from './swap/limits.ts';
import type { SwapPorts } from './swap/operation.ts';
import type { ThirdPartyPorts } from './swap/third-party-payment.ts';

/** What the custodian may spend, from configuration. Lamports unless said otherwise. */
export type CustodyLimits = SwapLimits & {
  /** Stays in the reserve whatever is asked for, except for the fee of the daily mint. */
  readonly floor: Lamports;
  /** Stays on top of the floor for what has been sold: creations, payouts, refunds. Swaps cannot touch it. */
  readonly operatingFloat: Lamports;
  /** Lamports that a day pays back. */
  readonly maxRefundsDay: Lamports;
  /** Token creations begun in a day. */
  readonly maxCreationsDay: bigint;
  /** Reward payouts begun in a day. */
  readonly maxPayoutsDay: bigint;
};

export type CustodyDeps = {
  readonly chain: ChainPort;
  readonly mirror: Mirror;
  readonly signer: Signer;
  readonly swap: SwapPorts;
  /** What a third party's transaction is judged by; absent where no route brings any. */
  readonly thirdParty?: ThirdPartyPorts;
  /** The kinds beside swaps that this instance can carry out; rows of any other are held. */
  readonly kinds?: Partial<Record<Kind, OperationKind>>;
  /** Paid requests; absent where no treasury or mint seed is configured. */
  readonly payments?: Omit<PaymentPorts, 'maxRefundsDay' | 'latestBlockhash'>;
  /** The daily mint; absent where no mint is configured. */
  readonly absr?: AbsrPorts;
  /** Rewards for deposits; absent where no ASRY mint is configured. */
  readonly asry?: AsryPorts;
  /** The ownership proof; absent where the service has no public name. */
  readonly proof?: Omit<ProofPorts, 'archived' | 'stop'>;
  readonly limits: CustodyLimits;
  readonly swapsDisabled: boolean;
  readonly maxCreatesPerClientHour: number;
  readonly assemble: Assemble;
  readonly now: () => number;
  readonly randomId: () => string;
  readonly within: <T>(work: Promise<T>, ms: number) => Promise<T | undefined>;
  readonly log: Log;
};
