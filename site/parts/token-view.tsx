/**
 * What a visitor sees of a token first: who it is, what its rights mean for holders, and how much of it exists. The page
 * of a token and the preview of a new one show the same.
 * @module
 */
import type { Child } from 'hono/jsx';
import type { TokenRecord } from '../../packages/client/src/index.ts';
import { powerWords } from '../../src/chain/solana/token-powers.ts';
import { counted } from './format.ts';
import { Notice } from './notice.tsx';
import { Tile } from './tile.tsx';
import { ListedMark, OfficialMark, Supply, TokenBadges } from './token-badges.tsx';
import { Description, Foreign, tintOf } from './token-text.tsx';

export type HolderFact = { readonly isGood: boolean; readonly text: string };

const UNREADABLE = 'The rights over this token could not be read from the chain.';

const bad = (text: string): HolderFact => ({ isGood: false, text });
const good = (text: string): HolderFact => ({ isGood: true, text });

type HeldToken = Pick<TokenRecord, 'powers' | 'update_authority' | 'uri'>;

/** What is fixed of a token that nobody may rename. The chain has only a link to picture and description. */
const fixedText = (uri: string | null): string =>
  uri === null
    ? 'Name and symbol can never change.'
    : 'Name, symbol and the link to its data can never change. A web site serves picture and description behind that link, and could change them.';

/** The meaning of the rights over a token for its holders. Only a mint that gives nobody a power is described as safe. */
export function holderFacts({ powers, update_authority: editor, uri }: HeldToken): HolderFact[] {
  if (!powers) return [bad(UNREADABLE)];
  const canRename = bad('One address can change the name, symbol and picture.');
  if (powers.length > 0)
    return [...powers.map((power) => bad(powerWords(power)[1])), ...(editor === null ? [] : [canRename])];
  return [
    good('The supply is fixed: no key can create more.'),
    good('No key can freeze your tokens.'),
    editor === null ? good(fixedText(uri)) : canRename,
  ];
}

/** The summary of the list of facts. */
function verdictOf({ powers }: HeldToken, facts: readonly HolderFact[]): string {
  if (!powers) return 'Rights over this token: not known';
  const warnings = facts.filter(({ isGood }) => !isGood).length;
  return warnings === 0
    ? 'Nobody has a right over this token'
    : `Rights over this token: ${counted(warnings, 'warning')}`;
}

export const HolderList = ({ token }: { token: HeldToken }) => {
  const facts = holderFacts(token);
  return (
    <div class={`holder-facts ${facts.every(({ isGood }) => isGood) ? 'good' : 'warn'}`}>
      <strong>{verdictOf(token, facts)}</strong>
      <ul class="rights" aria-label="What its rights mean for holders">
        {facts.map(({ isGood, text }) => (
          <li class={isGood ? 'good' : 'warn'}>{text}</li>
        ))}
      </ul>
    </div>
  );
};

/** What the chain and the creator say about a token, and who vouches for it. */
export type Viewed = Pick<
  TokenRecord,
  'name' | 'symbol' | 'description' | 'warning' | 'listed_at' | 'official'
> &
  HeldToken;

/** The chain has no name for this token that may be shown. */
const NAMELESS = 'Token without a name';

const Standing = ({ token: { official, listed_at: listedAt } }: { token: Viewed }) =>
  official === null ? <ListedMark at={listedAt} /> : <OfficialMark asset={official.asset} />;

/** How much of a token exists, in whole tokens. */
export const SupplyTile = ({ supply }: { supply: string }) => (
  <Tile name="Supply" value={<Supply amount={supply} />} />
);

const Name = ({ name, isPart }: { name: string; isPart: boolean }) => {
  const text = <Foreign text={name === '' ? NAMELESS : name} />;
  return isPart ? <h2>{text}</h2> : <h1>{text}</h1>;
};

type TokenHeadProps = {
  readonly token: Viewed;
  /** Whether the page is about more than this token: its name is not the page's heading then. */
  readonly isPart?: boolean;
  readonly picture: Child;
};

/** Who a token is: its picture, its name, and what its creator says of it. */
export const TokenHead = ({ token, isPart = false, picture }: TokenHeadProps) => (
  <div class={`token-head ${tintOf(token.symbol)}`}>
    {picture}
    <div>
      <Name name={token.name} isPart={isPart} />
      <span class="row">
        {token.symbol === token.name ? null : (
          <span class="soft">
            <Foreign text={token.symbol} />
          </span>
        )}
        <TokenBadges token={token} standing={<Standing token={token} />} />
      </span>
    </div>
    {token.description === '' ? null : (
      <div class="token-says">
        <Description text={token.description} />
      </div>
    )}
  </div>
);

type TokenViewProps = TokenHeadProps & {
  /** What an official token is for, above what its rights mean. */
  readonly purpose?: Child;
  /** Buttons below the name. */
  readonly actions?: Child;
  /** What follows the meaning of the rights, such as figures. */
  readonly children?: Child;
};

export const TokenView = ({ purpose, actions, children, ...head }: TokenViewProps) => (
  <div class="token-view">
    <div class="group">
      <TokenHead {...head} />
      {actions}
    </div>
    <div class="group">
      {head.token.warning === null ? null : (
        <Notice kind="warn" title="The name or symbol resembles a well-known token.">
          <p>A creator may choose any name. Compare the mint address before you trust it.</p>
        </Notice>
      )}
      {purpose}
      <HolderList token={head.token} />
    </div>
    {children}
  </div>
);
