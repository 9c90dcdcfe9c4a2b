import type { Child } from 'hono/jsx';
import type { Token } from '../../packages/client/src/index.ts';
import { powerWords } from '../../src/chain/solana/token-powers.ts';
import { grouped, inWords } from './format.ts';

/** The power to mint is the creator's choice, so it is a warning. Every other power is worse. */
const markOf = (power: string): string => (power === 'mint' ? 'mark warn' : 'mark bad');

const PowerMarks = ({ powers }: { powers: Token['powers'] }) => {
  if (powers === null) return <span class="mark warn">rights not known</span>;
  if (powers.length === 0) return <span class="mark good">supply fixed</span>;
  return (
    <>
      {powers.map((power) => (
        <span class={markOf(power)}>{powerWords(power)[0]}</span>
      ))}
    </>
  );
};

/** A supply in few digits; all of them on hover. @param amount whole tokens as decimal text */
export const Supply = ({ amount }: { amount: string }) => (
  <span title={grouped(amount)}>{inWords(amount)}</span>
);

/** A listing says nothing good or bad about a token, because anyone can buy one: only its absence has a mark. */
export const ListedMark = ({ at }: { at: string | null }) =>
  at === null ? <span class="mark">not listed</span> : null;

/** The only solid mark, with a seal: it follows from the mint address, which the service configures, and from no name. */
export const OfficialMark = ({ asset }: { asset: string }) => (
  <span class="mark official">
    <svg class="icon" viewBox="0 0 20 20" width="14" height="14" aria-hidden="true">
      <path d="M10 2l7 3v5c0 4-3 7-7 8-4-1-7-4-7-8V5zM6.500 10l2.500 2.500L13.500 8" />
    </svg>{' '}
    official {asset}
  </span>
);

export const kindOf = ({ token_program: program }: Pick<Token, 'token_program'>): string =>
  program === 'token-2022' ? 'Token-2022' : 'SPL token';

type Rated = Pick<Token, 'powers' | 'warning'>;

/** @param standing badge that shows who vouches for the token */
export const TokenBadges = ({ token, standing }: { token: Rated; standing?: Child }) => (
  <span class="badges">
    {standing}
    <PowerMarks powers={token.powers} />
    {token.warning === null ? null : <span class="mark warn">well-known name</span>}
  </span>
);
