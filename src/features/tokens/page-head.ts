import type { z } from '@hono/zod-openapi';
import { POWER_WORDS } from '../../chain/solana/token-powers.ts';
import { grouped } from '../../core/amount.ts';
import type { Token } from './routes.ts';

/** Title, description and canonical URL of a page. */
export type PageHead = {
  readonly title: string;
  readonly description: string;
  readonly url: string;
};

type TokenBody = z.infer<typeof Token>;

const MAX_DESCRIPTION_CHARS = 300;

/** The text without characters that are invisible or change the writing direction. */
const visible = (text: string): string => text.replaceAll(/\p{C}/gu, '');

function powerBadges({ powers }: TokenBody): string[] {
  if (powers === null) return ['rights not known'];
  return powers.length === 0 ? ['supply fixed'] : powers.map((power) => POWER_WORDS[power][0]);
}

/** Facts that a reader should see before the name of a token. */
const badges = (token: TokenBody): string[] => [
  ...(token.warning === null ? [] : ['Its name or symbol resembles a well-known token']),
  token.listed_at === null ? 'Not listed' : 'Listed',
  ...powerBadges(token),
];

/** The head of a token's page, from which previews of links are made. */
export function tokenHead(token: TokenBody, origin: string): PageHead {
  const [name, symbol] = [visible(token.name), visible(token.symbol)];
  const facts = `${badges(token).join(', ')}. Supply ${grouped(token.supply_ui)} ${symbol}. Mint ${token.mint_address}.`;
  return {
    title: `${name} (${symbol}) · Sluice`,
    description: `${facts} ${visible(token.description)}`.trim().slice(0, MAX_DESCRIPTION_CHARS),
    url: `${origin}/token/${token.mint_address}`,
  };
}
