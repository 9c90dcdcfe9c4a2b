/** How each command of a page is tested. A command that matches no row, or two, fails the test. */

/** `run` on the offline world; `resolved` against the scripts and their options; `account`: against wrangler's own help. */
export type Kind = 'run' | 'resolved' | 'account' | 'elsewhere';

const ROWS: readonly (readonly [pattern: RegExp, kind: Kind, why: string])[] = [
  [/^curl /, 'run', 'the world answers'],
  [/^(export )?[A-Z_]+=/, 'run', 'what later commands use'],
  [
    /^npm run ops -- (balances|operations|held|pause|resume|reconcile|mint --dry-run)$/,
    'run',
    'the operator’s route',
  ],
  [
    /^npm run ops -- restore-storage /,
    'resolved',
    'run by test/workers/custodian.test.ts, as far as it can be',
  ],
  [/^npm run -s ops -- proof message > /, 'run', 'the text as a file'],
  [/^npm run doctor -- (?!--settings \.staging)/, 'run', 'the doctor on settings of the world'],
  [/^npm run doctor -- --settings \.staging/, 'resolved', 'run by test/scripts/environments.test.ts'],
  [/^npm run -s ops -- keygen --out /, 'resolved', 'run by test/scripts/ops.test.ts'],
  [/^npm run deploy -- /, 'resolved', 'run by test/scripts/deploy.test.ts, as far as no account is needed'],
  [/^npm run ops -- proof submit /, 'resolved', 'run by test/e2e/ops.test.ts, which has a key'],
  [
    /^npm run (probe|backup|verify) -- /,
    'resolved',
    'run by tests of their own on the world; these ask real sources',
  ],
  [
    /^npm (ci|start|test)$|^npm run (check|build|build:site)$/,
    'resolved',
    'CI and test/world/start.test.ts run them',
  ],
  [/^npx wrangler /, 'account', 'acts on an account'],
  [
    /^vault /,
    'elsewhere',
    'a program of another project; test/custody/kernel/signer-remote.test.ts speaks its API',
  ],
  [/^npm run -s release:notes > /, 'resolved', 'run by test/scripts/release.test.ts'],
  [/^npm version /, 'elsewhere', 'run by test/scripts/release.test.ts on a copy'],
  [
    /^git (pull|push --follow-tags|rev-parse HEAD|status --short)$/,
    'elsewhere',
    'needs the repository’s remote or history',
  ],
  [/^(claude|codex) mcp add /, 'elsewhere', 'a program of another project; test/mcp/client-config.test.ts'],
  [/^npx sluice-mcp setup$/, 'elsewhere', 'the published package; run by test/mcp/setup.test.ts'],
  [/^npm run -s mcp:pack -- /, 'resolved', 'run by test/mcp/pack.test.ts'],
];

export function kindOf(command: string): Kind {
  const found = ROWS.filter(([pattern]) => pattern.test(command));
  const [row] = found;
  if (!row || found.length > 1) throw new Error(`${found.length} kinds for “${command}”`);
  return row[1];
}
