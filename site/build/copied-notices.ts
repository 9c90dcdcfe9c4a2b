/** Licence texts of what the site publishes without bundling it: Vite's `licenses.md` has the bundled modules only. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const MODULES = join(import.meta.dirname, '../../node_modules');
const COPIED = ['@fontsource-variable/geist'];

/** Markdown in the form of Vite's file. @throws Error when a package has no license file */
export const copiedNotices = (): string =>
  COPIED.map((name) => {
    const read = (file: string): string => readFileSync(join(MODULES, name, file), 'utf8');
    const { version, license } = JSON.parse(read('package.json')) as { version: string; license: string };
    return `\n\n## ${name} - ${version} (${license})\n\n${read('LICENSE')}`;
  }).join('');
