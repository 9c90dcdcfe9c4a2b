import { documentFiles } from '../../scripts/documents/write-documents.ts';
import { documentReader } from '../../src/features/openapi/routes.ts';

const files = documentFiles();

/** The documents as the Worker reads them, from the files that a build writes. */
export const documentsFor = (origin: string) =>
  documentReader(
    {
      fetch: async (url) => {
        const text = files.get(new URL(String(url)).pathname.slice(1));
        return new Response(text ?? null, { status: text === undefined ? 404 : 200 });
      },
    },
    origin,
  );
