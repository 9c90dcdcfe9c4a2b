/** `npm run docs`: writes the pages of docs/ that are made from the source. */
import { writeFileSync } from 'node:fs';
import { createApp, type Deps, ERRORS } from '../src/app.ts';
import { apiDocument } from '../src/features/openapi/api-document.ts';
import { errorsPage } from './errors-page.ts';

const app = createApp((): Deps => {
  throw new Error('routes are listed, not called');
});
writeFileSync('docs/errors.md', errorsPage(ERRORS, apiDocument(app, ERRORS, {}, '')));
console.log('docs/errors.md');
