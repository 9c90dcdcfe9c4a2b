import { readFileSync } from 'node:fs';
import { createApp, type Deps } from '../src/app.ts';
import { ERRORS } from '../src/core/errors.ts';
import { clientTypes } from './client-types.ts';
import { configurationPage, exampleSettings } from './configuration-page.ts';
import { apiDocument } from './documents/api-document.ts';
import { errorsPage } from './errors-page.ts';
import { licencesPage } from './licences-page.ts';
import { withCosts } from './scale-page.ts';
import { skillModule, skillPage } from './skill-page.ts';
import { withTools } from './tools-table.ts';

/** Pages generated from the source, by file. */
export function generatedPages(): Record<string, string> {
  const app = createApp((): Deps => {
    throw new Error('routes are listed, not called');
  });
  const document = apiDocument(app, ERRORS, {}, '');
  const skill = skillPage(ERRORS, document);
  return {
    '.dev.vars.example': exampleSettings(),
    'docs/agents.md': withTools(readFileSync('docs/agents.md', 'utf8')),
    'docs/configuration.md': configurationPage(),
    'docs/errors.md': errorsPage(ERRORS, document),
    'docs/licences.md': licencesPage(),
    'docs/scale.md': withCosts(readFileSync('docs/scale.md', 'utf8')),
    'SKILL.md': skill,
    'packages/client/src/operations.ts': clientTypes(document),
    'src/mcp/skill-text.ts': skillModule(skill),
  };
}
