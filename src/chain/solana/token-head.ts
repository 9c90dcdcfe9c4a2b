import { grouped } from '../../core/amount.ts';
import { powerWords, type TokenPower } from './token-powers.ts';

export type PageHead = {
  readonly title: string;
  readonly description: string;
  /** Canonical URL. */
  readonly url: string;
  /** HTTPS URL of the picture for link previews; null for the picture of the built page. */
  readonly image: string | null;
};

/** What the head says of a token, as the API returns it. */
type HeadToken = {
  readonly name: string;
  readonly symbol: string;
  readonly description: string;
  readonly mint_address: string;
  /** Whole tokens, as decimal text. */
  readonly supply_ui: string;
  readonly powers: readonly TokenPower[] | null;
  readonly warning: string | null;
  readonly official: { readonly asset: string } | null;
  readonly listed_at: string | null;
  readonly image: string | null;
};

const MAX_DESCRIPTION_CHARS = 300;

/** A string without characters that are invisible or change the writing direction. */
const visible = (text: string): string => text.replaceAll(/\p{C}/gu, '');

function powerBadges({ powers }: HeadToken): string[] {
  if (powers === null) return ['rights not known'];
  return powers.length === 0 ? ['supply fixed'] : powers.map((power) => powerWords(power)[0]);
}

/** Shown if the chain has no displayable name for a token. */
const NAMELESS = 'Token without a name';

/**
 * A listing says nothing about a token, because anyone can buy a listing. So the page only says when a token is not
 * listed.
 */
function standing({ official, listed_at: listedAt }: HeadToken): string[] {
  if (official !== null) return [`Official ${official.asset} of this reserve`];
  return listedAt === null ? ['not listed'] : [];
}

const capitalized = (text: string): string => `${text.slice(0, 1).toUpperCase()}${text.slice(1)}`;

/** Facts that a reader should see before the name of a token. */
const badges = (token: HeadToken): string[] => [
  ...(token.warning === null ? [] : ['Its name or symbol resembles a well-known token']),
  ...standing(token),
  ...powerBadges(token),
];

/** The head of a token's page, from which previews of links are made. */
export function tokenHead(token: HeadToken, origin: string): PageHead {
  const [name, symbol] = [visible(token.name) || NAMELESS, visible(token.symbol)];
  const facts = `${capitalized(badges(token).join(', '))}.`;
  const figures = `Supply ${grouped(token.supply_ui)} ${symbol}. Mint ${token.mint_address}.`;
  const words = visible(token.description);
  return {
    title: `${symbol === '' || symbol === name ? name : `${name} (${symbol})`} · Sluice`,
    description: `${facts} ${words === '' ? '' : `${words} · `}${figures}`.slice(0, MAX_DESCRIPTION_CHARS),
    url: `${origin}/token/${token.mint_address}`,
    image: token.image?.startsWith('https://') ? token.image : null,
  };
}
