import { documentFiles } from '../../scripts/documents/write-documents.ts';
import { type DocumentName, readDocument } from '../../src/features/openapi/routes.ts';
import { Cache } from '../../src/http/cached.ts';

const files = documentFiles();

const fromBuild = async (url: RequestInfo | URL) => {
  const text = files.get(new URL(String(url)).pathname.slice(1));
  return new Response(text ?? null, { status: text === undefined ? 404 : 200 });
};

/**
 * The documents as the Worker reads them.
 * @param fetch by default, the files that a build writes
 * @param now   of the memory
 */
export function documentsFor(origin: string, fetch: Fetcher['fetch'] = fromBuild, now = Date.now) {
  const memory = new Cache({ now, defer: () => undefined });
  return (name: DocumentName) => readDocument({ assets: { fetch }, memory, origin }, name);
}
