import { FIGURES_POLL_MS, useQuery } from '../api/query.ts';
import { aboutUsd, sol } from './format.ts';

/** A name of usual length: the service charges by the byte. */
const USUAL = { name: 'New Token', symbol: 'TOKEN', token_program: 'token-2022' } as const;

/** The price of a token before its form is opened. */
export function UsualPrice() {
  const { value } = useQuery('quoteToken', USUAL);
  const summary = useQuery('getAbsrSummary', {}, FIGURES_POLL_MS).value;
  const lamports = value?.fee_lamports.toString();
  return (
    <span class="soft number">
      {lamports === undefined ? '' : `for ${sol(lamports)} SOL${aboutUsd(lamports, summary?.solPriceUsd)}`}
    </span>
  );
}
