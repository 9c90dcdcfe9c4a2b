/** How each command of a page is tested. A command that matches no pattern, or two, fails the test. */
import { blocksOf, commandsOf, PAGES } from './markdown.ts';

/** `run` on the offline world; `resolved` against the scripts and their options; `account`: against wrangler's own help. */
export type Kind = 'run' | 'resolved' | 'account' | 'elsewhere';

const PATTERNS: Readonly<Record<Kind, readonly RegExp[]>> = {
  run: [
    /^curl /,
    /^(export )?[A-Z_]+=/,
    /^npm run ops -- (state|operations|pause|resume|republish|mint --dry-run)$/,
    /^npm run -s ops -- proof message > /,
    /^npm run doctor -- (?!--settings \.staging)/,
  ],
  // Their own tests run them as far as no account, key or real source is needed.
  resolved: [
    /^npm run ops -- (restore-storage |mint-authority |begin-anew|evacuate )/,
    /^npm run doctor -- --settings \.staging/,
    /^npm run -s ops -- keygen --out /,
    /^npm run deploy -- /,
    /^npm run ops -- proof submit /,
    /^npm run (probe|backup|verify) -- /,
    /^npm (ci|start|test)$|^npm run (check|build|build:site)$/,
    /^npm run -s release:notes > /,
    /^npm run -s mcp:pack -- /,
  ],
  account: [/^npx wrangler /],
  // These need another project's program, the published package, the remote, or a copy of the repository.
  elsewhere: [
    /^(vault|spl-token) /,
    /^npm (version|pack) /,
    /^git (pull|push --follow-tags|rev-parse HEAD|status --short)$/,
    /^(claude|codex|gemini) mcp add /,
    /^code --add-mcp /,
  ],
};

export function kindOf(command: string): Kind {
  const found = (Object.keys(PATTERNS) as Kind[]).flatMap((kind) =>
    PATTERNS[kind].flatMap((pattern) => (pattern.test(command) ? [kind] : [])),
  );
  const [kind] = found;
  if (!kind || found.length > 1) throw new Error(`${found.length} kinds for “${command}”`);
  return kind;
}

const shown = PAGES.flatMap((file) => blocksOf(file)).flatMap(({ language, text }) => {
  if (language === 'sh') return commandsOf(text);
  return language === 'console' ? [...text.matchAll(/^\$ (.+)$/gm)].flatMap(([, line]) => line ?? []) : [];
});

/** The commands of this kind in all pages, each once. */
export const commandsOfKind = (kind: Kind): string[] => [
  ...new Set(shown.filter((command) => kindOf(command) === kind)),
];
