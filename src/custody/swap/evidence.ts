/**
 * The data for a support request to the bridge: its signed quote, our deposit, and every status that it has shown.
 * @module
 */

import type { Journal } from '../kernel/journal.ts';
import type { Facts } from '../kernel/operation.ts';
import { reasonText } from '../kernel/reason.ts';
import type { OpsAnswer } from '../operator-api.ts';

type Status = { readonly at: string; readonly shown: string };

export const statusesOf = ({ bridgeStatuses }: Facts): readonly Status[] =>
  typeof bridgeStatuses === 'string' ? (JSON.parse(bridgeStatuses) as Status[]) : [];

/** The only place that 1Click names for questions about swaps. */
const SUPPORT = 'Send it to https://github.com/defuse-protocol/one-click-sdk-typescript/issues.';

/** @param id of the operation, or the public id of the swap */
export function swapEvidence(journal: Pick<Journal, 'get' | 'bySignature'>, id: string): OpsAnswer {
  const operation = journal.get(id) ?? journal.bySignature(id);
  if (operation?.kind !== 'swap' || !operation.signing)
    return { ok: false, message: 'No signed swap has this id.' };
  const { state, detail, reason, signer, amount, signing, signedAt, landing, plan, outcome } = operation;
  const { signedQuote, ...agreed } = plan;
  const { bridgeStatuses: _statuses, refundSearch: _search, ...result } = outcome;
  const evidence = {
    operation: operation.id,
    state: { state, detail, reason: reasonText(reason) },
    signedQuote: typeof signedQuote === 'string' ? (JSON.parse(signedQuote) as unknown) : null,
    agreed,
    deposit: {
      signature: signing.signature,
      from: signer,
      signedAt: signedAt === null ? null : new Date(signedAt).toISOString(),
      lamports: amount.toString(),
      slot: landing?.slot.toString() ?? null,
      blockTime: landing?.blockTime ?? null,
    },
    statuses: statusesOf(outcome),
    result,
  };
  return {
    ok: true,
    message: `Evidence of ${operation.id}. ${SUPPORT}`,
    text: `${JSON.stringify(evidence, null, 2)}\n`,
  };
}
