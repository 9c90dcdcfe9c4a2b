/**
 * The payout of an ASRY reward: one token transfer to the account of the deposit's sender. Its memo names the
 * deposit. The plan fixes all parameters; preparation only reads the chain once more before signing.
 * @module
 */
import { type TokenTransfer, tokenTransferMessage } from '../../chain/solana/token-messages.ts';
import { type OperationKind, type Prepared, plainlyPrepared, settlesByLanding } from '../kernel/module.ts';
import type { Facts, Operation } from '../kernel/operation.ts';
import type { Blockhash } from '../kernel/solana-view.ts';
import type { KindRules } from '../kernel/state-machine.ts';

/**
 * An attempt ends with a failed landing or an expiry. After three attempts the payout is owed again and
 * checked from the start.
 */
export const ASRY_RULES: KindRules = { maxAttempts: 3, retriesPreparation: true, settles: false };

/** The receiver's account and the reserve's account at one slot. */
export type Payee = {
  /** The token program that owns the mint; null if the mint does not exist. */
  readonly program: string | null;
  readonly decimals: number;
  /** Owner of the receiver's associated account; null if the account does not exist. */
  readonly accountOwner: string | null;
  /** ASRY atoms of the reserve. */
  readonly reserveAtoms: bigint;
};

export type AsryPayoutPorts = {
  readonly reserveAddress: string;
  readonly mint: string;
  /** Reads all receivers in one call, in the given order; at most 90. @throws AppError UPSTREAM_FAILED */
  readPayees(receivers: readonly string[]): Promise<Payee[]>;
  latestBlockhash(): Promise<Blockhash>;
};

export type PayoutPlan = {
  readonly deposit: string;
  readonly part: number;
  readonly receiver: string;
  readonly atoms: bigint;
  readonly mint: string;
  /** Null if unknown when planned; the mint's own program is used then. */
  readonly program: string | null;
  readonly decimals: number;
  readonly createAccount: boolean;
};

export const payoutId = (deposit: string, number: number): string => `asry:${deposit}:${number}`;

/** The custodian's name for this use of a payment. */
export const claimPurpose = (deposit: string): string => `asry:${deposit}`;

export const encodePlan = (plan: PayoutPlan): Facts => ({ ...plan, atoms: plan.atoms.toString() });

function transferOf({ id, plan }: Operation, from: string, program: string | null): TokenTransfer {
  return {
    from,
    to: String(plan.receiver),
    mint: String(plan.mint),
    program: String(plan.program ?? program),
    atoms: BigInt(String(plan.atoms)),
    decimals: Number(plan.decimals),
    createAccount: plan.createAccount === true,
    memo: id,
  };
}

export function createAsryKind(ports: AsryPayoutPorts): OperationKind {
  return {
    rules: ASRY_RULES,

    async prepare(operation): Promise<Prepared> {
      const [payee] = await ports.readPayees([String(operation.plan.receiver)]);
      if (!payee) return { ok: false, reason: 'unread' };
      const transfer = transferOf(operation, ports.reserveAddress, payee.program);
      const wrong = objection(payee, transfer);
      if (wrong) return { ok: false, reason: wrong };
      const lifetime = await ports.latestBlockhash();
      return plainlyPrepared(tokenTransferMessage(transfer, lifetime), lifetime);
    },

    settle: settlesByLanding,
  };
}

/** Reason why a transfer would fail or reach a different owner. */
function objection(payee: Payee, transfer: TokenTransfer): string | undefined {
  if (payee.program !== transfer.program || payee.decimals !== transfer.decimals) return 'mint_unexpected';
  if (payee.accountOwner === null) return transfer.createAccount ? undefined : 'recipient_account_missing';
  if (payee.accountOwner !== transfer.to) return 'recipient_account_foreign';
  return payee.reserveAtoms < transfer.atoms ? 'reserve_short_of_asry' : undefined;
}
