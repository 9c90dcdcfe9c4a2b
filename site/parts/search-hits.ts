/**
 * What a search text names: pages by their keywords, and the things that an address, a signature or an id belongs to.
 * @module
 */
import type { Answer, Input, OperationName, Token } from '../../packages/client/src/index.ts';
import { powerWords } from '../../src/chain/solana/token-powers.ts';
import { shortened } from './format.ts';
import { GROUPS } from './places.ts';
import { tokenUrl } from './token-url.ts';

export type Hit = {
  readonly kind: 'Page' | 'Token' | 'Operation' | 'Address' | 'Id';
  readonly url: string;
  readonly name: string;
  readonly about: string;
  /** Further words that find it; never shown. */
  readonly keywords?: string;
  /** A warning about a token, shown before its name. */
  readonly warning?: string | null;
};

/** The service's own addresses; null while unknown or not configured. */
export type OwnAddresses = {
  readonly bitcoin: string | null;
  readonly solana: string | null;
  readonly treasury: string | null;
  readonly absrMint: string | null;
  readonly asryMint: string | null;
};

export const MAX_HITS = 6;

/** Words that visitors use for a page and that its name and line do not have. */
const KEYWORDS: Readonly<Record<string, string>> = {
  '/': 'home supply price coverage covered backed chart',
  '/reserves':
    'verify signature audit archive bitcoin solana address wallet balance transactions badge backing terminal command',
  '/trust': 'security safe scam theft risk operator witness multisig contact custody refund holders',
  '/trust#redemption': 'redeem claim sell convert',
  '/status': 'health uptime outage incident latency cron limits paused frozen',
  '/swap': 'sol btc bridge convert quote buy bitcoin',
  '/exchange': 'changenow convert coins trade order refund',
  '/tokens': 'mint list listing search memecoin spl',
  '/tokens/new': 'mint launch deploy create spl memecoin invoice picture image logo cost price fee refund',
  '/asry': 'reward usdc usdt deposit claim epoch curve invest',
  '/pools': 'orca dex liquidity price tvl volume sell buy',
  '/nostr': 'news social posts relay notes',
  '/visitors': 'analytics statistics privacy tracking views',
  '/agents': 'ai mcp claude llm bot tools curl',
  '/docs': 'api openapi rest endpoint reference developer swagger',
  '/changes': 'release changelog version history update',
};

const MORE_PAGES: readonly Hit[] = [
  {
    kind: 'Page',
    url: '/tokens/new',
    name: 'Create a token',
    about: 'Name it, pay from your wallet, and it is listed',
  },
  {
    kind: 'Page',
    url: '/trust#redemption',
    name: 'Why there is no redemption',
    about: 'ABSR counts the reserve and is no claim on it',
  },
  { kind: 'Page', url: '/changes', name: 'Changes', about: 'What each release changed' },
];

export const PAGE_HITS: readonly Hit[] = [
  ...GROUPS.flatMap(([, , places]) =>
    places.map(([url, name, about]): Hit => ({ kind: 'Page', url, name, about })),
  ),
  ...MORE_PAGES,
].map((hit) => ({ ...hit, keywords: KEYWORDS[hit.url] ?? '' }));

export const matching = (hits: readonly Hit[], words: readonly string[]): Hit[] =>
  hits
    .filter(({ name, about, keywords = '' }) => {
      const text = `${name} ${about} ${keywords}`.toLowerCase();
      return words.every((word) => text.includes(word));
    })
    .slice(0, MAX_HITS);

type Named = Pick<Token, 'name' | 'symbol' | 'mint_address' | 'warning' | 'powers'>;

const warningOf = ({ warning, powers }: Named): string | null => {
  if (warning !== null) return 'well-known name';
  if (powers === null) return 'rights not known';
  const [power] = powers;
  return power === undefined ? null : powerWords(power)[0];
};

export const tokenHit = (token: Named): Hit => ({
  kind: 'Token',
  url: tokenUrl(token.mint_address),
  name: token.name,
  about: `${token.symbol}, ${shortened(token.mint_address)}`,
  warning: warningOf(token),
});

const OWN: Readonly<Record<keyof OwnAddresses, string>> = {
  bitcoin: 'Bitcoin address of the reserve',
  solana: 'Solana address of the reserve',
  treasury: 'Treasury of this service',
  absrMint: 'ABSR, the official mint',
  asryMint: 'ASRY, the official mint',
};

/** What an address of the service or an official symbol names. @param own null while it is not known */
export const ownHits = (text: string, own: OwnAddresses | null): Hit[] =>
  Object.entries(OWN).flatMap(([key, name]): Hit[] => {
    const address: unknown = own === null ? null : Reflect.get(own, key);
    const isNamed = address === text || key === `${text.toLowerCase()}Mint`;
    if (typeof address !== 'string' || !isNamed) return [];
    const url = key.endsWith('Mint') ? tokenUrl(address) : '/reserves';
    return [{ kind: 'Address', name, url, about: shortened(address, 8) }];
  });

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
const SIGNATURE = /^[1-9A-HJ-NP-Za-km-z]{64,88}$/;
const ADDRESS = /^[1-9A-HJ-NP-Za-km-z]{32,44}$/;

/** Null if the service has no such thing. */
type Read = <Name extends OperationName>(name: Name, input: Input<Name>) => Promise<Answer<Name> | null>;

/** The pages of what an address, signature or id names. Each thing is read first, so that each hit has a page. */
export async function namedHits(text: string, read: Read): Promise<readonly Hit[]> {
  const hit = (kind: Hit['kind'], name: string, url: string): Hit => ({
    ...{ kind, name, url },
    about: shortened(text, 8),
  });
  if (UUID.test(text)) {
    const id = text.toLowerCase();
    const invoice = await read('getInvoice', { id });
    return invoice === null ? [] : [hit('Id', 'Invoice of a token', `/tokens/new?invoice=${id}`)];
  }
  if (SIGNATURE.test(text)) {
    const [swap, claim] = await Promise.all([
      read('getSwapStatus', { id: text }),
      read('getAsryClaim', { signature: text }),
    ]);
    return [
      ...(swap === null ? [] : [hit('Id', 'Swap with this signature', `/swap?swap=${text}`)]),
      ...(claim === null ? [] : [hit('Id', 'Payment for ASRY with this signature', `/asry?claim=${text}`)]),
    ];
  }
  if (!ADDRESS.test(text)) return [];
  const [token, created] = await Promise.all([
    read('getToken', { id: text }),
    read('listTokens', { creator: text, limit: 1 }),
  ]);
  return [
    ...(token === null ? [] : [tokenHit(token)]),
    ...(created === null || created.tokens.length === 0
      ? []
      : [hit('Address', 'Tokens of this creator', `/tokens?creator=${text}`)]),
  ];
}

/** What the search says once nothing was found. */
export function noMatchText(text: string): string {
  if (UUID.test(text)) return 'No invoice has this id.';
  if (SIGNATURE.test(text)) return 'No swap and no ASRY reward of this service has this signature.';
  if (ADDRESS.test(text))
    return 'No token, no creator of a listed token and no wallet of this service has this address. A wallet or an explorer shows what it holds.';
  return 'No match. Tokens are found by name, symbol or address.';
}
