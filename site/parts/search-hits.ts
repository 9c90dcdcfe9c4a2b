/**
 * What a search text names by itself: pages by their keywords, and addresses, signatures and ids by their form. Pure.
 * @module
 */
import type { Token } from '../../packages/client/src/index.ts';
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
  '/': 'home supply price coverage chart',
  '/reserves':
    'verify signature audit archive bitcoin solana address wallet balance transactions badge backing',
  '/trust': 'security risk operator redemption redeem witness multisig contact custody refund',
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

const warningOf = ({ warning, powers }: Token): string | null => {
  if (warning !== null) return 'well-known name';
  if (powers === null) return 'rights not known';
  const [power] = powers;
  return power === undefined ? null : powerWords(power)[0];
};

export const tokenHit = (token: Token): Hit => ({
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

const BASE58 = /^[1-9A-HJ-NP-Za-km-z]+$/;
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** What an address, signature, id or official symbol may name. @param own null while it is not known */
export function namedHits(text: string, own: OwnAddresses | null): Hit[] {
  const about = shortened(text, 8);
  const hit = (kind: Hit['kind'], name: string, url: string): Hit => ({ kind, name, url, about });
  const found = Object.entries(OWN).flatMap(([key, name]): Hit[] => {
    const address: unknown = own === null ? null : Reflect.get(own, key);
    const isNamed = address === text || key === `${text.toLowerCase()}Mint`;
    if (typeof address !== 'string' || !isNamed) return [];
    const url = key.endsWith('Mint') ? tokenUrl(address) : '/reserves';
    return [{ kind: 'Address', name, url, about: shortened(address, 8) }];
  });
  if (found.length > 0) return found;
  if (UUID.test(text)) return [hit('Id', 'Invoice of a token', `/tokens/new?invoice=${text.toLowerCase()}`)];
  if (!BASE58.test(text)) return [];
  if (text.length >= 64 && text.length <= 88)
    return [
      hit('Id', 'Swap with this signature', `/swap?swap=${text}`),
      hit('Id', 'Payment for ASRY with this signature', `/asry?claim=${text}`),
    ];
  if (text.length < 32 || text.length > 44) return [];
  return [
    hit('Address', 'Token with this mint, if it is one', tokenUrl(text)),
    hit('Address', 'Tokens of this creator, if there are any', `/tokens?creator=${text}`),
  ];
}
