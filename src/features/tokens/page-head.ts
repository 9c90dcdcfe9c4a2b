import type { z } from '@hono/zod-openapi';
import { powerWords } from '../../chain/solana/token-powers.ts';
import { grouped } from '../../core/amount.ts';
import type { TokenRecord } from './token-view.ts';

/** Title, description and canonical URL of a page. */
export type PageHead = {
  readonly title: string;
  readonly description: string;
  readonly url: string;
};

type TokenBody = z.infer<typeof TokenRecord>;

const MAX_DESCRIPTION_CHARS = 300;

/** The text without characters that are invisible or change the writing direction. */
const visible = (text: string): string => text.replaceAll(/\p{C}/gu, '');

function powerBadges({ powers }: TokenBody): string[] {
  if (powers === null) return ['rights not known'];
  return powers.length === 0 ? ['supply fixed'] : powers.map((power) => powerWords(power)[0]);
}

/** The chain has no name for this token that may be shown. */
const NAMELESS = 'Token without a name';

function standing({ official, listed_at: listedAt }: TokenBody): string {
  if (official !== null) return `Official ${official.asset} of this reserve`;
  return listedAt === null ? 'Not listed' : 'Listed';
}

/** Facts that a reader should see before the name of a token. */
const badges = (token: TokenBody): string[] => [
  ...(token.warning === null ? [] : ['Its name or symbol resembles a well-known token']),
  standing(token),
  ...powerBadges(token),
];

/** The head of a token's page, from which previews of links are made. */
export function tokenHead(token: TokenBody, origin: string): PageHead {
  const [name, symbol] = [visible(token.name) || NAMELESS, visible(token.symbol)];
  const facts = `${badges(token).join(', ')}. Supply ${grouped(token.supply_ui)} ${symbol}. Mint ${token.mint_address}.`;
  return {
    title: `${symbol === '' || symbol === name ? name : `${name} (${symbol})`} · Sluice`,
    description: `${facts} ${visible(token.description)}`.trim().slice(0, MAX_DESCRIPTION_CHARS),
    url: `${origin}/token/${token.mint_address}`,
  };
}
