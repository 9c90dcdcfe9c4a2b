/**
 * The operator's commands from a terminal; without one it lists them. Exit code 1 when the service refuses, 2 for an
 * unknown command. A text to be used unchanged goes to stdout alone, its message to stderr. Without API_BASE_URL and
 * OPS_SECRET the commands go to the offline world that runs on this machine.
 */
import { randomBytes } from 'node:crypto';
import { existsSync, writeFileSync } from 'node:fs';
import { addressOfSecret } from '../src/custody/kernel/signer.ts';
import { findWorld } from '../test/world/running-world.ts';
import { readSettings } from './doctor/read-settings.ts';
import { readCommandLine, USAGE } from './ops/command-line.ts';
import { freshKeys } from './ops/keygen.ts';

type Row = Readonly<Record<string, unknown>>;
type Answer = {
  readonly ok?: boolean;
  readonly message?: string;
  readonly error?: string;
  readonly rows?: readonly Row[];
  readonly tables?: readonly { readonly title: string; readonly rows: readonly Row[] }[];
  readonly text?: string;
};

function fail(text: string, code = 1): never {
  console.error(text);
  process.exit(code);
}

function keygen(out: string | undefined): void {
  const { solanaAddress, bitcoinAddress, settings } = freshKeys(randomBytes);
  if (out === undefined) return void process.stdout.write(settings);
  try {
    writeFileSync(out, settings, { flag: 'wx', mode: 0o600 });
  } catch (error) {
    fail(error instanceof Error ? error.message : String(error));
  }
  console.log(`Solana  ${solanaAddress}\nBitcoin ${bitcoinAddress}\n${out} holds the keys.`);
}

function printAddress(file = '.dev.vars'): void {
  const settings = existsSync(file) ? readSettings(file) : {};
  const key = process.env.SOLANA_PRIVATE_KEY || settings.SOLANA_PRIVATE_KEY;
  if (!key) fail(`SOLANA_PRIVATE_KEY is neither in the environment nor in ${file}.`);
  console.log(addressOfSecret(key) ?? fail('SOLANA_PRIVATE_KEY is not a Solana secret key.'));
}

async function ask(body: Row): Promise<{ answer: Answer; ok: boolean }> {
  const { API_BASE_URL, OPS_SECRET } = process.env;
  const world = API_BASE_URL || OPS_SECRET ? undefined : findWorld();
  const apiOrigin = world?.url ?? (API_BASE_URL || 'http://127.0.0.1:8787');
  const secret = world?.bindings.OPS_SECRET ?? OPS_SECRET;
  if (!secret)
    fail(
      'Set API_BASE_URL to the service and OPS_SECRET to the secret that it was deployed with, or start the offline world.',
    );
  const url = `${apiOrigin.replace(/\/+$/, '')}/api/ops`;
  const response = await fetch(url, {
    method: 'POST',
    headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  }).catch(() => fail(`${apiOrigin} does not answer.`));
  const answer = (await response.json().catch(() => ({}))) as Answer;
  const said = answer.message ?? answer.error ?? `status ${response.status}`;
  return { answer: { ...answer, message: said }, ok: response.ok && answer.ok === true };
}

function print({ message = '', rows, tables = [], text }: Answer): void {
  if (text !== undefined) {
    console.error(message);
    process.stdout.write(text);
    return;
  }
  console.log(message);
  if (rows && rows.length > 0) console.table(rows);
  for (const table of tables) {
    console.log(`\n${table.title}`);
    if (table.rows.length > 0) console.table(table.rows);
    else console.log('none');
  }
}

const command = readCommandLine(process.argv.slice(2));
if (command.type === 'usage') fail(USAGE, 2);
if (command.type === 'keygen') keygen(command.out);
else if (command.type === 'address') printAddress(command.settings);
else {
  const { answer, ok } = await ask(command.body);
  print(answer);
  process.exitCode = ok ? 0 : 1;
}
