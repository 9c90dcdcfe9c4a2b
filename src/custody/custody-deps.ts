/**
 * The dependencies of a custodian.
 * @module
 */
import type { AsryPorts } from './asry/payout-operation.ts';
import type { CustodyLimits } from './budgets.ts';
import type { OperationKind } from './kernel/module.ts';
import type { Kind } from './kernel/operation.ts';
import type { Log, Mirror, Signer } from './kernel/ports.ts';
import type { Assemble } from './kernel/sign-attempt.ts';
import type { ChainPort } from './kernel/solana-view.ts';
import type { PaymentPorts } from './payments/payment-requests.ts';
import type { AbsrPorts } from './reserve/mint-operation.ts';
import type { ProofPorts } from './reserve/proof.ts';
import type { SwapPorts } from './swap/operation.ts';
import type { ThirdPartyPorts } from './swap/third-party-payment.ts';

export type CustodyDeps = {
  readonly chain: ChainPort;
  readonly mirror: Mirror;
  readonly signer: Signer;
  readonly swap: SwapPorts;
  /** Evidence for the policy on third-party transactions; absent if no route uses such transactions. */
  readonly thirdParty?: ThirdPartyPorts;
  /** The kinds besides swaps that this instance supports. Rows of any other kind await the operator. */
  readonly kinds?: Partial<Record<Kind, OperationKind>>;
  /** Payment requests; absent if no treasury or mint seed is configured. */
  readonly payments?: Omit<PaymentPorts, 'maxRefundsDay' | 'latestBlockhash'>;
  /** The daily mint; absent if no mint is configured. */
  readonly absr?: AbsrPorts;
  /** Rewards for deposits; absent if no ASRY mint is configured. */
  readonly asry?: AsryPorts;
  /** The ownership proof; absent if the service has no public name. */
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
