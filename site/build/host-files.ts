/**
 * Files for the host: headers, redirects, and the public explorers and nodes that a visitor's browser reads. The
 * content policy is derived from these sources, so it names exactly the origins that a page may contact.
 * @module
 */

export type Sources = {
  /** Base URLs of two or more Esplora APIs with different operators. */
  readonly explorers: readonly string[];
  /** JSON-RPC nodes, tried in order until one responds. */
  readonly rpcUrls: readonly string[];
};

/** Public, usable without a key, and open to calls from any page. */
export const PUBLIC_SOURCES: Sources = {
  explorers: ['https://mempool.space/api', 'https://blockstream.info/api'],
  rpcUrls: ['https://solana-rpc.publicnode.com', 'https://api.mainnet-beta.solana.com'],
};

/** @param images sources of pictures: the page of a token loads the creator's picture on request */
export function contentPolicy({ explorers, rpcUrls }: Sources, images = "'self' data:"): string {
  const origins = [...new Set([...explorers, ...rpcUrls].map((url) => new URL(url).origin))];
  return [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    `img-src ${images}`,
    "font-src 'self'",
    "manifest-src 'self'",
    `connect-src 'self' ${origins.join(' ')}`,
    "form-action 'self'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
  ].join('; ');
}

/**
 * Pages that show a token's picture. A second policy could only narrow the general one, so these pages first remove
 * the general one.
 */
const PICTURE_PAGES = ['/token', '/tokens/new'];

const headers = (sources: Sources): string => `/*
  Content-Security-Policy: ${contentPolicy(sources)}
  X-Content-Type-Options: nosniff
  Referrer-Policy: no-referrer
  Permissions-Policy: camera=(), geolocation=(), microphone=(), payment=(), usb=()
  Cross-Origin-Opener-Policy: same-origin
  Strict-Transport-Security: max-age=31536000
${PICTURE_PAGES.map(
  (path) => `${path}
  ! Content-Security-Policy
  Content-Security-Policy: ${contentPolicy(sources, "'self' data: https:")}
`,
).join('')}/assets/*
  Cache-Control: public, max-age=31536000, immutable
`;

/** Known paths of similar services, redirected here. */
const MOVED = [
  ['/index.html', '/'],
  ['/proof-of-reserves.html', '/reserves'],
  ['/proof-of-reserves', '/reserves'],
  ['/reserves-bitcoin.html', '/reserves'],
  ['/reserves-solana.html', '/reserves'],
  ['/reserves.html', '/reserves'],
  ['/proof.html', '/reserves'],
  ['/arbitrage.html', '/reserves'],
  ['/swap.html', '/swap'],
  ['/exchange.html', '/exchange'],
  ['/exchanges.html', '/exchange'],
  ['/explorer.html', '/tokens'],
  ['/repository.html', '/tokens'],
  ['/tokens.html', '/tokens'],
  ['/create-token.html', '/tokens/new'],
  ['/token-creator.html', '/tokens/new'],
  ['/asry.html', '/asry'],
  ['/treasury.html', '/asry'],
  ['/pools.html', '/pools'],
  ['/dex.html', '/pools'],
  ['/nostr.html', '/nostr'],
  ['/nostr-feed.html', '/nostr'],
  ['/api.html', '/agents'],
  ['/agents.html', '/agents'],
  ['/mcp.html', '/agents'],
  ['/status.html', '/status'],
  ['/visitors.html', '/visitors'],
  ['/analytics.html', '/visitors'],
] as const;

const redirects = (): string => MOVED.map(([from, to]) => `${from} ${to} 301\n`).join('');

/** File name to content. */
export const hostFiles = (sources: Sources): ReadonlyMap<string, string> =>
  new Map([
    ['_headers', headers(sources)],
    ['_redirects', redirects()],
    ['verify-sources.json', `${JSON.stringify(sources, undefined, 2)}\n`],
  ]);
