/**
 * Runs the operator's commands from a terminal; without a command it lists them. The first line names the target. The
 * exit code is 1 when the service refuses, 2 for an unknown command or target. Only a text that is to be used unchanged
 * goes to stdout; everything else goes to stderr.
 */
import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { addressOfSecret } from '../src/custody/kernel/signer.ts';
import type { OpsReport } from '../src/features/ops/routes.ts';
import { argumentsOrUsage, createFile, oneLine } from './command-line.ts';
import { settingsFrom } from './doctor/read-settings.ts';
import { readCommandLine, USAGE } from './ops/command-line.ts';
import { evacuate } from './ops/evacuate.ts';
import { freshKeys, freshWitnessKey, YOURS } from './ops/keygen.ts';
import { handOverMintAuthority } from './ops/mint-authority.ts';
import { chooseTarget, type Target, targetLine } from './target.ts';

type Row = Readonly<Record<string, unknown>>;
type Answer = Partial<OpsReport> & { readonly error?: string };

function fail(text: string, code = 1): never {
  console.error(text);
  process.exit(code);
}

async function keygen(out: string | undefined): Promise<void> {
  const { solanaAddress, bitcoinAddress, settings } = freshKeys(randomBytes);
  if (out === undefined) return void process.stdout.write(settings);
  if (existsSync(out)) fail(`${out} exists already. Nothing was written, so that no key is lost.`);
  await createFile(out, (append) => append(settings)).catch((error) => fail(oneLine(error)));
  console.log(
    `Solana  ${solanaAddress}\nBitcoin ${bitcoinAddress}\n${out} holds the keys. Fill in the rest there:`,
  );
  for (const [name, what] of YOURS) console.log(`  ${name.padEnd(24)} ${what}`);
}

function printAddress(file: string | undefined): void {
  const { SOLANA_PRIVATE_KEY: key } = settingsFrom(file);
  if (!key) fail(`SOLANA_PRIVATE_KEY is not in ${file ?? 'the environment or .dev.vars'}.`);
  console.log(addressOfSecret(key) ?? fail('SOLANA_PRIVATE_KEY is not a Solana secret key.'));
}

async function ask({ origin, secret }: Target, body: Row): Promise<{ answer: Answer; ok: boolean }> {
  if (secret === undefined) fail('Set OPS_SECRET to the secret that the service was deployed with.', 2);
  const response = await fetch(`${origin}/api/ops`, {
    method: 'POST',
    headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  }).catch(() => fail(`${origin} does not respond.`));
  if (response.status === 401) fail(`${origin} refused this OPS_SECRET.`);
  if (response.status === 404)
    fail(`${origin} has no operator's route: it runs without OPS_SECRET, or it is not Sluice.`);
  const answer = (await response.json().catch(() => ({}))) as Answer;
  const said = answer.message ?? answer.error ?? `status ${response.status}`;
  return { answer: { ...answer, message: said }, ok: response.ok && answer.ok === true };
}

function printRows(rows: readonly Row[]): void {
  if (rows.length > 0) console.table(rows);
  else console.log('none');
}

function print({ message = '', rows, tables = [], text }: Answer): void {
  if (text !== undefined) {
    console.error(message);
    process.stdout.write(text);
    return;
  }
  console.log(message);
  if (rows) printRows(rows);
  for (const table of tables) {
    console.log(`\n${table.title}`);
    printRows(table.rows);
  }
}

const command = readCommandLine(process.argv.slice(2));
if (command.type === 'usage') fail(USAGE, 2);
if (command.type === 'keygen') await keygen(command.out);
else if (command.type === 'witness-key') process.stdout.write(freshWitnessKey(randomBytes));
else if (command.type === 'address') printAddress(command.settings);
else if (command.type === 'mint-authority') {
  const { settings: file, witness, send } = command;
  await handOverMintAuthority({ settings: settingsFrom(file), witness, send }, (line) =>
    console.log(line),
  ).catch((error) => fail(oneLine(error)));
} else if (command.type === 'evacuate') {
  const { settings: file, witness, send } = command;
  const given = {
    settings: settingsFrom(file ?? '.dev.vars'),
    witness: witness ? settingsFrom(witness) : undefined,
    send,
  };
  await evacuate(given, (line) => console.log(line)).catch((error) => fail(oneLine(error)));
} else {
  const { body, world, changes, prints } = command;
  const target = argumentsOrUsage(USAGE, () =>
    chooseTarget({ named: ['API_BASE_URL', process.env.API_BASE_URL], world, changes }),
  );
  const line = await targetLine(target);
  if (prints === 'text') console.error(line);
  else console.log(line);
  const { answer, ok } = await ask(target, body);
  print(answer);
  process.exitCode = ok ? 0 : 1;
}
