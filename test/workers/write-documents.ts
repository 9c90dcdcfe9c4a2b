import { writeDocuments } from '../../scripts/documents/write-documents.ts';
import { SITE_FOLDER } from '../../site/build/build-site.ts';

/** The Worker under test reads the API document from the site's files. */
export const setup = (): void => writeDocuments(SITE_FOLDER);
