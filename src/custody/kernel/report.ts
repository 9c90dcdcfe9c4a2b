/**
 * The custodian's status report: whether it works, which operations are open, and how much of each cap is
 * used.
 * @module
 */
import type { CustodyReport } from '../api.ts';
import type { Journal } from './journal.ts';
import { frozenReason } from './journal-integrity.ts';
import { isTerminal } from './operation.ts';
import type { Signer } from './ports.ts';
import { recallDisagreement } from './quorum.ts';
import type { ChainPort } from './solana-view.ts';
import { type Budget, limitsOf } from './spending-limits.ts';

export function custodyReport({
  journal,
  mint,
  chain,
  signer,
  swapsDisabled,
  budgets,
  now,
}: {
  readonly chain: Pick<ChainPort, 'agreement'>;
  readonly signer: Pick<Signer, 'address'>;
  readonly swapsDisabled: boolean;
  readonly now: () => number;
  readonly budgets: readonly Budget[];
  readonly journal: Journal;
  readonly mint: CustodyReport['mint'];
}): CustodyReport {
  const entries = journal.counting(now());
  const open = journal.open();
  return {
    reserveAddress: signer.address,
    solana: recallDisagreement(journal, chain.agreement(), now()),
    mint,
    frozen: frozenReason(journal) ?? null,
    // An operator's pause stops more than swaps, so it is reported first.
    paused: journal.getMeta('paused') || (swapsDisabled ? 'disabled' : null),
    openOperations: open.filter((operation) => !isTerminal(operation)).length,
    heldOperations: open.filter((operation) => operation.reason?.startsWith('held')).length,
    undeliveredSinceMs: journal.undeliveredSince() ?? null,
    limits: budgets.flatMap((budget) => limitsOf(budget, entries, now())),
  };
}
