/**
 * The payout of an ASRY reward: one token transfer to the account of the deposit's sender, with a memo that names the
 * deposit. All that it needs was decided when it was planned; here the chain is looked at once more before signing.
 * @module
 */
import { type TokenTransfer, tokenTransferMessage } from '../../chain/solana/token-transfer.ts';
import { type OperationKind, type Prepared, plainlyPrepared, settlesByLanding } from '../kernel/module.ts';
import type { Facts, Operation } from '../kernel/operation.ts';
import type { Blockhash } from '../kernel/solana-view.ts';
import type { KindRules } from '../kernel/state-machine.ts';

/** An attempt that landed with an error or died; after some the payout is owed again and looked at from the start. */
export const ASRY_RULES: KindRules = { maxAttempts: 3, retriesPreparation: true, settles: false };

/** The receiver's account and ours, as one slot shows them. */
export type Payee = {
  /** The token program that owns the mint; null when there is no such mint. */
  readonly program: string | null;
  readonly decimals: number;
  /** Whose account the receiver's associated one is; null while there is none. */
  readonly accountOwner: string | null;
  /** ASRY atoms of the reserve. */
  readonly reserveAtoms: bigint;
};

export type AsryPayoutPorts = {
  readonly reserveAddress: string;
  readonly mint: string;
  /** One read for all of them, in the order asked; at most 90. @throws AppError UPSTREAM_FAILED */
  readPayees(receivers: readonly string[]): Promise<Payee[]>;
  latestBlockhash(): Promise<Blockhash>;
};

export type PayoutPlan = {
  readonly deposit: string;
  readonly part: number;
  readonly receiver: string;
  readonly atoms: bigint;
  readonly mint: string;
  /** Null when it was not known: then the mint's own. */
  readonly program: string | null;
  readonly decimals: number;
  readonly createAccount: boolean;
};

export const payoutId = (deposit: string, number: number): string => `asry:${deposit}:${number}`;

/** What the custodian calls this use of a payment. */
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

/** Why a transfer would fail or reach a different owner. */
function objection(payee: Payee, transfer: TokenTransfer): string | undefined {
  if (payee.program !== transfer.program || payee.decimals !== transfer.decimals) return 'mint_unexpected';
  if (payee.accountOwner === null) return transfer.createAccount ? undefined : 'recipient_account_missing';
  if (payee.accountOwner !== transfer.to) return 'recipient_account_foreign';
  return payee.reserveAtoms < transfer.atoms ? 'reserve_short_of_asry' : undefined;
}
