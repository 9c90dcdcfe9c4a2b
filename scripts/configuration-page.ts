/** docs/run/configuration.md and .dev.vars.example, generated from the declarations of src/config.ts. */
import { AREAS, DECLARATIONS, type Declaration } from '../src/config.ts';

const INTRODUCTION = `# Configuration

[.dev.vars.example](../../.dev.vars.example) lists every variable with its default. Give secrets as secret bindings or in \`.dev.vars\`, never in
\`[vars]\`. A variable that is invalid, or required and not set, switches off the areas that need it: they return 503 \`NOT_CONFIGURED\`, which
names the variable. An invalid limit never falls back to its default. If the custodian's variables are missing, or a
key does not belong to the reserve, proof, ABSR, ASRY, creations and listings are off too.`;

const EXAMPLE_INTRODUCTION = `# Every variable that the service reads. Copy to .dev.vars (chmod 600), or let \`npm run ops -- keygen --out .dev.vars\` begin it,
# and fill in the ones you use. An empty or commented line takes its default. An area without its required variables is off.`;

const sections = Object.entries(AREAS).map(([area, heading]) => ({
  heading,
  variables: DECLARATIONS.filter(([, { areas }]) => areas[0] === area),
}));

/** Markdown links, reduced to their text. */
const plain = (markdown: string): string => markdown.replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1');

function standing({ required, secret, default: standard }: Declaration): string {
  const value = standard ? `\`${standard.replaceAll(',', ', ')}\`` : required ? 'required' : 'none';
  return secret ? `${value} (secret)` : value;
}

const pageOf = (paragraphs: readonly string[]): string => `${paragraphs.join('\n\n')}\n`;

export const configurationPage = (): string =>
  pageOf([
    INTRODUCTION,
    ...sections.flatMap(({ heading, variables }) => [
      `## ${heading}`,
      [
        '| variable | default | meaning |',
        '|---|---|---|',
        ...variables.map(([name, declared]) => `| \`${name}\` | ${standing(declared)} | ${declared.about} |`),
      ].join('\n'),
    ]),
  ]);

export const exampleSettings = (): string =>
  pageOf([
    EXAMPLE_INTRODUCTION,
    ...sections.map(({ heading, variables }) =>
      [
        `# --- ${heading}`,
        ...variables.flatMap(([name, { about, default: standard, required, secret }]) => {
          const traits = [required ? 'Required. ' : '', secret ? 'Secret. ' : ''].join('');
          return [`# ${traits}${plain(about)}`, standard ? `# ${name}=${standard}` : `${name}=`];
        }),
      ].join('\n'),
    ),
  ]);
