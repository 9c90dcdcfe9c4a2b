/**
 * Creates the API document and its text for models from the service's routes, and the list of the site's pages. Writes all
 * three to the folder that the Worker reads.
 * @module
 */
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { LISTED_PAGES } from '../../site/listed-pages.ts';
import { createApp, type Deps } from '../../src/app.ts';
import { ERRORS } from '../../src/core/errors.ts';
import {
  DOCUMENTS,
  type DocumentName,
  folderOf,
  ORIGIN_PLACEHOLDER,
} from '../../src/features/openapi/routes.ts';
import { apiDocument } from './api-document.ts';
import { EXAMPLES } from './examples.ts';
import { llmsText } from './llms-text.ts';
import type { ApiDocument } from './shared-parts.ts';

/** @param origin of absolute links; empty for none */
export function documentOf(origin: string): ApiDocument {
  const app = createApp((): Deps => {
    throw new Error('routes are listed, not called');
  });
  return apiDocument(app, ERRORS, EXAMPLES, origin);
}

/** The files of the documents by their path below the site. */
export function documentFiles(): ReadonlyMap<string, string> {
  const files = new Map<string, string>();
  for (const origin of [ORIGIN_PLACEHOLDER, '']) {
    const document = documentOf(origin);
    const texts: Readonly<Record<DocumentName, string>> = {
      'openapi.json': JSON.stringify(document),
      'llms.txt': llmsText(document, EXAMPLES),
      'pages.txt': LISTED_PAGES.join('\n'),
    };
    for (const name of DOCUMENTS) files.set(`${folderOf(origin !== '')}/${name}`, texts[name]);
  }
  return files;
}

/**
 * Replaces a file only when its text differs, and by a rename, because a running Worker may be reading it.
 */
export function writeDocuments(site: string): void {
  for (const [path, text] of documentFiles()) {
    const file = join(site, path);
    if (existsSync(file) && readFileSync(file, 'utf8') === text) continue;
    mkdirSync(join(file, '..'), { recursive: true });
    writeFileSync(`${file}.${process.pid}`, text);
    renameSync(`${file}.${process.pid}`, file);
  }
}
