import { readFileSync } from 'node:fs';
import { ERRORS } from '../src/core/errors.ts';
import { clientTypes } from './client-types.ts';
import { configurationPage, exampleSettings } from './configuration-page.ts';
import { confusablesModule } from './confusables-page.ts';
import { documentOf } from './documents/write-documents.ts';
import { withErrors } from './errors-page.ts';
import { withLicences } from './licences-page.ts';
import { withCosts } from './scale-page.ts';
import { withCodes } from './skill-page.ts';
import { withTools } from './tools-table.ts';

const page = (file: string): string => readFileSync(file, 'utf8');

/** The generated pages by file. In some only the tables are generated, in others the whole text. */
export function generatedPages(): Record<string, string> {
  const document = documentOf('');
  return {
    '.dev.vars.example': exampleSettings(),
    'docs/use/agents.md': withTools(page('docs/use/agents.md')),
    'docs/run/configuration.md': configurationPage(),
    'docs/use/errors.md': withErrors(page('docs/use/errors.md'), ERRORS, document),
    'docs/build/licences.md': withLicences(page('docs/build/licences.md')),
    'docs/run/scale.md': withCosts(page('docs/run/scale.md')),
    'SKILL.md': withCodes(page('SKILL.md'), ERRORS, document),
    'packages/client/src/operations.ts': clientTypes(document),
    'src/chain/solana/confusables.ts': confusablesModule(),
  };
}
