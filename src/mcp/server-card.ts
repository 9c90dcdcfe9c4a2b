/**
 * The documents that a client reads before it connects: the server card, and the catalog that names it.
 * @module
 * @see https://modelcontextprotocol.io/seps/2127-mcp-server-cards
 */
import { DESCRIPTION, TITLE, VERSION } from './server.ts';

/** Reverse-DNS name of the server at this origin, as in `server.json` and the registry: `example.sluice/mcp`. */
export const serverName = (origin: string): string =>
  `${new URL(origin).hostname
    .replace(/[^\w.-]/g, '')
    .split('.')
    .toReversed()
    .join('.')}/sluice-mcp`;

const MAX_AGE_SECONDS = 3_600;
const CARD_TYPE = 'application/mcp-server-card+json';

export const serverCard = (origin: string, path: string) => ({
  $schema: 'https://static.modelcontextprotocol.io/schemas/v1/server-card.schema.json',
  name: serverName(origin),
  version: VERSION,
  title: TITLE,
  description: DESCRIPTION,
  websiteUrl: `${origin}/agents`,
  remotes: [{ type: 'streamable-http', url: `${origin}${path}` }],
});

const catalog = (origin: string, path: string) => ({
  specVersion: 'draft',
  entries: [
    {
      identifier: `urn:air:${new URL(origin).hostname}:sluice-mcp`,
      displayName: TITLE,
      type: CARD_TYPE,
      url: `${origin}${path}/server-card`,
    },
  ],
});

/** The document at this path; undefined unless the path is a discovery path. */
export function discoveryDocument(pathname: string, path: string, origin: string): Response | undefined {
  switch (pathname) {
    case `${path}/server-card`:
    case '/.well-known/mcp/server-card.json':
      return document(serverCard(origin, path), CARD_TYPE);
    case '/.well-known/mcp/catalog.json':
      return document(catalog(origin, path), 'application/json');
    default:
      return undefined;
  }
}

const document = (value: object, type: string): Response =>
  new Response(JSON.stringify(value), {
    headers: {
      'Content-Type': type,
      'Cache-Control': `public, max-age=${MAX_AGE_SECONDS}`,
      'X-Content-Type-Options': 'nosniff',
      'Access-Control-Allow-Origin': '*',
      'Access-Control-Allow-Methods': 'GET',
      'Access-Control-Allow-Headers': 'Content-Type',
    },
  });
