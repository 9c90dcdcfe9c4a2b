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
    'docs/agents.md': withTools(page('docs/agents.md')),
    'docs/configuration.md': configurationPage(),
    'docs/errors.md': withErrors(page('docs/errors.md'), ERRORS, document),
    'docs/licences.md': withLicences(page('docs/licences.md')),
    'docs/scale.md': withCosts(page('docs/scale.md')),
    'SKILL.md': withCodes(page('SKILL.md'), ERRORS, document),
    'packages/client/src/operations.ts': clientTypes(document),
    'src/chain/solana/confusables.ts': confusablesModule(),
  };
}
