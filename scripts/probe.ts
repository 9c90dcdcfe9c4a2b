/**
 * `npm run probe`: a read-only check of the real upstreams. It requests one dry quote, whose signature the pinned key of
 * 1Click must verify, and reads prices, Bitcoin indexes, Solana nodes and relays. Each problem is a RED line with the name
 * that the doctor gives it, and the exit code is then 1. It signs and opens nothing, and stores every response as a
 * fixture. The shape of each response is compared with the recorded ones, and calls that were never recorded are named.
 *
 * Options: --settings FILE (default .dev.vars, if it exists), --out FOLDER (default test/fixtures/probe), --world (the
 * upstreams of the offline world of this machine). The first line names them. Settings without a reserve get a new address.
 */
import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { readConfig } from '../src/config.ts';
import { argumentsOrUsage, readArguments, UsageError } from './command-line.ts';
import { currentCommit } from './current-commit.ts';
import { hideSecrets } from './doctor/finding.ts';
import { settingsFrom } from './doctor/read-settings.ts';
import { freshKeys } from './ops/keygen.ts';
import { probeUpstreams, RELAY_REQUEST } from './probe/probe-upstreams.ts';
import { type Exchange, readOnlyFetch } from './probe/read-only-fetch.ts';
import { shapeDrift } from './probe/shape-drift.ts';
import { chooseTarget, releaseText } from './target.ts';

const DEFAULT_SETTINGS = '.dev.vars';
const USAGE = 'npm run probe -- [--settings FILE] [--out FOLDER] [--world]';

const { values, world } = argumentsOrUsage(USAGE, (args) => {
  const { values } = readArguments(args, {
    settings: { type: 'string' },
    out: { type: 'string', default: 'test/fixtures/probe' },
    world: { type: 'boolean', default: false },
  });
  if (values.settings !== undefined && !existsSync(values.settings))
    throw new UsageError(`--settings: there is no file '${values.settings}'`);
  if (values.world && values.settings !== undefined)
    throw new UsageError('--world has settings of its own: give it without --settings');
  const choose = () => chooseTarget({ named: ['API_BASE_URL', process.env.API_BASE_URL], world: true });
  return { values, world: values.world ? choose().world : undefined };
});
const file = values.settings ?? DEFAULT_SETTINGS;
const settings = world?.bindings ?? settingsFrom(values.settings);
const config = readConfig(settings);
if (config.invalid.length > 0) {
  console.error(`Invalid settings: ${config.invalid.join(', ')}. Run npm run doctor.`);
  process.exit(1);
}
const { solanaAddress, bitcoinAddress } = freshKeys(randomBytes);
const { RESERVE_SOLANA_ADDRESS: ownReserve } = config;
const reserve = {
  solanaAddress: ownReserve ?? solanaAddress,
  bitcoinAddress: config.RESERVE_BTC_ADDRESS ?? bitcoinAddress,
};

const source = world ? `the offline world at ${world.url}` : existsSync(file) ? file : 'the defaults';
const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string };
console.log(
  `Target: upstreams of ${source}, release ${releaseText(version, currentCommit())}, reserve ${ownReserve ?? 'not set, so a new address is used'}`,
);

/** Recorded exchanges by host. */
const recorded = new Map<string, unknown[]>();
const record = (url: string, exchange: unknown): void => {
  const { host } = new URL(url);
  recorded.set(host, [...(recorded.get(host) ?? []), exchange]);
};
// Every client of this process uses the guarded fetch, regardless of the code that creates it.
globalThis.fetch = readOnlyFetch(globalThis.fetch, (exchange) =>
  record(exchange.request.url, exchange),
) as typeof fetch;

const findings = await probeUpstreams(config, reserve, (relay, event) =>
  record(relay, { request: RELAY_REQUEST, event }),
);
const problems = findings.filter(({ level }) => level === 'problem');
for (const { level, name, what } of findings)
  console.log(hideSecrets(`${level === 'problem' ? 'RED' : '?  '}  ${name.padEnd(22)}  ${what}`, settings));
if (problems.length === 0) console.log('ok   No problem found.');

// Prints the changes since production was recorded. They are not RED: the lines above show whether our checks pass.
const exchanges = [...recorded.values()].flat().filter((each): each is Exchange => 'text' in Object(each));
for (const line of shapeDrift(exchanges)) console.log(line);

mkdirSync(values.out, { recursive: true });
const recordedAt = new Date().toISOString();
for (const [host, exchanges] of recorded) {
  const name = `${host.replaceAll(':', '-')}.json`;
  const text = `${JSON.stringify({ recordedAt, host, exchanges }, null, 1)}\n`;
  writeFileSync(join(values.out, name), hideSecrets(text, settings));
}
console.log(`${recorded.size} files in ${values.out}`);
process.exitCode = problems.length === 0 ? 0 : 1;
