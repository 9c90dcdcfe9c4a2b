/**
 * Small texts at fixed paths: sitemap.xml and security.txt.
 * @module
 */

/** Pages of the site that a search engine may list. */
const SITE_PAGES = [
  '/',
  '/reserves',
  '/swap',
  '/exchange',
  '/tokens',
  '/tokens/new',
  '/asry',
  '/pools',
  '/nostr',
  '/agents',
  '/status',
  '/visitors',
  '/docs',
];

/** @param origin of the service @see https://www.sitemaps.org/protocol.html */
export const sitemap = (origin: string): string => `<?xml version="1.0" encoding="UTF-8"?>
<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">
${SITE_PAGES.map((path) => `<url><loc>${origin}${path}</loc></url>`).join('\n')}
</urlset>
`;

/** RFC 9116 recommends less than a year. */
const EXPIRES_AFTER_MONTHS = 6;

/**
 * @param contact `mailto:` or `https:` URL
 * @see https://www.rfc-editor.org/rfc/rfc9116
 */
export function securityText(origin: string, contact: string, nowMs: number): string {
  const now = new Date(nowMs);
  // The first of a month, so that the text changes once a month.
  const expires = new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + EXPIRES_AFTER_MONTHS));
  return `Contact: ${contact}
Expires: ${expires.toISOString()}
Preferred-Languages: en
Canonical: ${origin}/.well-known/security.txt
`;
}
