/**
 * S6 to S15: every instruction is checked by its program's own file; sums over all of them follow.
 * @module
 */

import { SWAP_ENDPOINT_PROGRAM, type VaultSwap } from '../../bridges/lifi-chainflip.ts';
import type { Tool } from '../../bridges/lifi-quote.ts';
import type { DecodedTransaction } from '../../chain/solana/message.ts';
import { addressSeed } from '../../chain/solana/program-address.ts';
import { TOKEN_2022_PROGRAM, TOKEN_PROGRAM } from '../../chain/solana/token-program.ts';
import { SIGNATURE_FEE } from '../../chain/solana/transaction.ts';
import type { Sats } from '../../core/amount.ts';
import { type Deployments, UPGRADEABLE } from './deployments.ts';
import {
  ASSOCIATED_TOKEN_PROGRAM,
  COMPUTE_BUDGET_PROGRAM,
  judgeAssociatedToken,
  judgeChainflip,
  judgeComputeBudget,
  judgeSystem,
  judgeToken,
  judgeTracker,
  priorityFee,
  SYSTEM_PROGRAM,
  TRACKER_PROGRAM,
} from './programs.ts';
import { type PolicyReason, type PolicyRefusal, refuse } from './refusal.ts';
import {
  denied,
  type Effect,
  type Judgement,
  type ResolvedInstruction,
  resolveInstructions,
  type TableViews,
} from './resolved-instructions.ts';
import type { PolicyTerms, SwapOrder } from './terms.ts';

/** The account that receives LI.FI's own fee. */
export const LIFI_COLLECTOR = '34FKjAdVcTax2DHqV2XnbXa9J3zmyKcFuFKWbcmgxjgm';

const COMMON = [SYSTEM_PROGRAM, COMPUTE_BUDGET_PROGRAM, TRACKER_PROGRAM];
const ON_ROUTE: Readonly<Record<Tool, readonly string[]>> = {
  near: COMMON,
  chainflip: [...COMMON, SWAP_ENDPOINT_PROGRAM],
};
export type ApprovedShape = {
  /** The one transfer that is not a fee, or the one vault swap. */
  readonly leg:
    | { readonly kind: 'transfer'; readonly to: string; readonly lamports: bigint }
    | { readonly kind: 'vault_swap'; readonly swap: VaultSwap; readonly accounts: readonly string[] };
  /** Index of the leg among the instructions. */
  readonly legAt: number;
  /** Lamports for signature and priority fee. */
  readonly networkFee: bigint;
};

export type InstructionEvidence = {
  readonly tool: Tool;
  readonly transactionId: string;
  readonly order: SwapOrder;
  readonly terms: PolicyTerms;
  /** Minimum output: the quote's own guarantee, which is at least our floor. */
  readonly minimumSats: Sats;
  /** Output expected by LI.FI's quote. */
  readonly expectedSats: Sats;
  readonly tables: TableViews;
  readonly deployments: Deployments;
  /** Solana's current epoch. */
  readonly epoch: bigint;
};

type Verdict = PolicyRefusal | { readonly ok: true; readonly shape: ApprovedShape };

export function checkInstructions(
  transaction: DecodedTransaction,
  p: InstructionEvidence,
):
  | PolicyRefusal
  | {
      readonly ok: true;
      readonly shape: ApprovedShape;
      /** Addresses of all keys, in the order of their indexes on the chain. */
      readonly keys: readonly string[];
    } {
  const resolved = resolveInstructions(transaction, p.tables);
  if (!resolved.ok) return resolved;
  const effects: Effect[] = [];
  for (const [instruction, one] of resolved.instructions.entries()) {
    const verdict = judge(one, p);
    const reason = verdict.ok ? (offRoute(one, p) ?? strayReserve(one, verdict, p.terms)) : verdict.reason;
    if (reason) return { ...refuse(reason), instruction };
    if (verdict.ok) effects.push(verdict.effect);
  }
  const own = new Set(p.terms.ownAccounts);
  if (resolved.keys.some(({ address }) => own.has(address))) return refuse('own_account_touched');
  const summed = sum(effects, p);
  return summed.ok ? { ...summed, keys: resolved.keys.map(({ address }) => address) } : summed;
}

function judge(instruction: ResolvedInstruction, p: InstructionEvidence): Judgement {
  switch (instruction.program) {
    case SYSTEM_PROGRAM:
      return judgeSystem(instruction, p.terms.reserveAddress);
    case COMPUTE_BUDGET_PROGRAM:
      return judgeComputeBudget(instruction);
    case TOKEN_PROGRAM:
    case TOKEN_2022_PROGRAM:
      return judgeToken(instruction, p.terms.reserveAddress);
    case ASSOCIATED_TOKEN_PROGRAM:
      return judgeAssociatedToken(instruction, p.terms.reserveAddress);
    case TRACKER_PROGRAM:
      return judgeTracker(instruction, p);
    case SWAP_ENDPOINT_PROGRAM:
      return judgeChainflip(instruction, p.terms, p);
    default:
      return denied('program_unknown');
  }
}

function offRoute({ program }: ResolvedInstruction, p: InstructionEvidence): PolicyReason | undefined {
  if (!ON_ROUTE[p.tool].includes(program)) return 'program_not_on_route';
  if (!UPGRADEABLE.includes(program)) return undefined;
  const deployment = p.deployments.get(program);
  if (!deployment || deployment.current === null) return 'program_deploy_unread';
  return deployment.recorded !== null && deployment.recorded !== deployment.current
    ? 'program_redeployed'
    : undefined;
}

/**
 * Every instruction of the transaction has our signature, so our key may occur only where a program needs it.
 */
function strayReserve(
  { accounts, data }: ResolvedInstruction,
  { reserveAt, reserveInData }: Judgement & { ok: true },
  { reserveAddress, ownAccounts }: PolicyTerms,
): PolicyReason | undefined {
  const isStray = accounts.some(
    ({ address, isSigner }, index) => (address === reserveAddress || isSigner) && !reserveAt.includes(index),
  );
  if (isStray) return 'reserve_mentioned';
  const isInData =
    occurrences(data, reserveAddress) > reserveInData ||
    ownAccounts.some((own) => occurrences(data, own) > 0);
  return isInData ? 'own_key_in_data' : undefined;
}

function occurrences(data: Uint8Array, address: string): number {
  const key = addressSeed(address);
  let count = 0;
  for (let at = 0; at + 32 <= data.length; at += 1) {
    if (key.every((byte, index) => byte === data[at + index])) count += 1;
  }
  return count;
}

function sum(effects: readonly Effect[], { terms, order, tool }: InstructionEvidence): Verdict {
  const priority = priorityFee(effects);
  if (priority === undefined) return refuse('compute_repeated');
  if (priority > terms.limits.maxPriorityFee) return refuse('compute_price');
  if (effects.filter(({ kind }) => kind === 'tracker').length !== 1) return refuse('tracker_count');
  let fees = 0n;
  const legs: { leg: ApprovedShape['leg']; legAt: number }[] = [];
  for (const [legAt, leg] of effects.entries()) {
    if (leg.kind === 'transfer' && leg.to === LIFI_COLLECTOR) fees += leg.lamports;
    else if (leg.kind === 'transfer' || leg.kind === 'vault_swap') legs.push({ leg, legAt });
  }
  const [first, ...more] = legs;
  if (!first) return refuse('payment_missing');
  if (more.length > 0) return refuse('payment_count');
  const { leg } = first;
  if (leg.kind !== (tool === 'near' ? 'transfer' : 'vault_swap')) return refuse('payment_missing');
  const paid = leg.kind === 'transfer' ? leg.lamports : leg.swap.lamports;
  if (paid + fees !== order.amount) return refuse('payment_total');
  if (fees * 10_000n > order.amount * BigInt(terms.limits.maxFeeBps)) return refuse('fee_over_cap');
  return { ok: true, shape: { ...first, networkFee: SIGNATURE_FEE + priority } };
}
