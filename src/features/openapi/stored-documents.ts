/**
 * The API document and the texts derived from it. The build writes them below the site's files: once with a
 * placeholder for the service's origin, and once for a service without a configured origin. They are not part
 * of the Worker's script, which every isolate must read before its first answer.
 * @module
 */
import { utf8ToBytes } from '@noble/hashes/utils.js';
import { asEntityTag, type Tagged } from '../../http/memoized-json.ts';

export const DOCUMENTS = ['openapi.json', 'openapi-3.1.json', 'llms.txt', 'llms-full.txt'] as const;
export type DocumentName = (typeof DOCUMENTS)[number];

/** Below `/api/`, so that a public request for a file reaches the router, which has no such path. */
export const DOCUMENTS_FOLDER = 'api/documents';
export const ORIGIN_PLACEHOLDER = 'https://origin.invalid';
export const folderOf = (hasOrigin: boolean): string =>
  `${DOCUMENTS_FOLDER}/${hasOrigin ? 'with-origin' : 'without-origin'}`;

/**
 * Reads each document once and caches it. A failed read is not cached.
 * @param origin of absolute links; empty if not configured
 * @throws Error when the asset server does not have the document
 */
export function documentReader(
  assets: Pick<Fetcher, 'fetch'>,
  origin: string,
): (name: DocumentName) => Promise<Tagged> {
  const kept = new Map<DocumentName, Promise<Tagged>>();

  async function read(name: DocumentName): Promise<Tagged> {
    const response = await assets.fetch(`https://assets/${folderOf(origin !== '')}/${name}`);
    if (!response.ok) throw new Error(`the site has no ${name}: ${response.status}`);
    const text = await response.text();
    const bytes = new Uint8Array(utf8ToBytes(text.replaceAll(ORIGIN_PLACEHOLDER, origin)));
    return { bytes, etag: asEntityTag(new Uint8Array(await crypto.subtle.digest('SHA-256', bytes))) };
  }

  return (name) => {
    const known = kept.get(name) ?? read(name);
    kept.set(name, known);
    known.catch(() => kept.delete(name));
    return known;
  };
}
