/** `npm run docs`: writes the pages that are generated from the source. */
import { writeFileSync } from 'node:fs';
import { argumentsOrUsage, readArguments } from './command-line.ts';
import { generatedPages } from './generated-pages.ts';

argumentsOrUsage('npm run docs', (args) => readArguments(args, {}));

for (const [file, text] of Object.entries(generatedPages())) {
  writeFileSync(file, text);
  console.log(file);
}
