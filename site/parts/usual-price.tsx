import { useQuery } from '../api/query.ts';
import { sol } from './format.ts';

/** A name of usual length: the service charges by the byte. */
const USUAL = { name: 'New Token', symbol: 'TOKEN', token_program: 'token-2022' } as const;

/** The price of a token before its form is opened. */
export function UsualPrice() {
  const { value } = useQuery('quoteToken', USUAL);
  return (
    <span class="soft number">{value === null ? '' : `${sol(value.fee_lamports.toString())} SOL, once`}</span>
  );
}
