/** `npm run docs`: writes the pages that are made from the source. */
import { writeFileSync } from 'node:fs';
import { generatedPages } from './generated-pages.ts';

for (const [file, text] of Object.entries(generatedPages())) {
  writeFileSync(file, text);
  console.log(file);
}
