import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { ed25519 } from '@noble/curves/ed25519.js';
import { base58 } from '@scure/base';
import { Signer, Verifier } from 'bip322-js';
import { describe, expect, it } from 'vitest';
import { KNOWN, parseSettings } from '../../scripts/doctor/read-settings.ts';
import { REMOTE, readCommandLine } from '../../scripts/ops/command-line.ts';
import { freshKeys, YOURS } from '../../scripts/ops/keygen.ts';
import { readConfig } from '../../src/config.ts';
import { addressOfSecret } from '../../src/custody/kernel/signer.ts';
import { useFolder } from '../kit/use-folder.ts';

const run = promisify(execFile);
const folder = useFolder('sluice-keygen-');

/** Any attempt to use a network ends the process. */
const CUT = `data:text/javascript,${encodeURIComponent(`
import net from 'node:net'; import dgram from 'node:dgram'; import dns from 'node:dns';
const end = () => { process.stderr.write('network'); process.exit(99); };
net.Socket.prototype.connect = end; dgram.Socket.prototype.send = end; dns.lookup = end; globalThis.fetch = end;
`)}`;
const offline = (args: readonly string[], env: Readonly<Record<string, string>> = {}) =>
  run(process.execPath, ['--import', CUT, 'scripts/ops.ts', ...args], { env: { PATH: '', ...env } });
const keygen = (...args: string[]) => offline(['keygen', ...args]);

/** Checks the key's signature with an independent library against the address in the settings. */
function expectOneOwner(settings: string): void {
  const {
    SOLANA_PRIVATE_KEY = '',
    RESERVE_SOLANA_ADDRESS,
    RESERVE_BTC_ADDRESS = '',
  } = parseSettings(settings);
  const wif = /^# BTC_PRIVATE_KEY_WIF=(\w+)$/m.exec(settings)?.[1] ?? '';
  const seed = base58.decode(SOLANA_PRIVATE_KEY).slice(0, 32);
  expect(base58.encode(ed25519.getPublicKey(seed))).toBe(RESERVE_SOLANA_ADDRESS);
  expect(addressOfSecret(SOLANA_PRIVATE_KEY)).toBe(RESERVE_SOLANA_ADDRESS);
  const signature = String(Signer.sign(wif, RESERVE_BTC_ADDRESS, 'mine'));
  expect(Verifier.verifySignature(RESERVE_BTC_ADDRESS, 'mine', signature)).toBe(true);
}

describe('keygen', () => {
  it('keygen prints valid settings with keys that control the addresses, without using a network', async () => {
    const { stdout, stderr } = await keygen();
    expect(stderr).toBe('');
    expectOneOwner(stdout);
    const settings = parseSettings(stdout);
    expect(Object.keys(settings).sort()).toEqual([
      'MINT_KEY_SEED',
      'OPS_SECRET',
      'RESERVE_BTC_ADDRESS',
      'RESERVE_SOLANA_ADDRESS',
      'SOLANA_PRIVATE_KEY',
    ]);
    expect(readConfig(settings).invalid).toEqual([]);
  });

  it('the guard of these tests stops a command that uses a network', async () => {
    const env = { PATH: '', OPS_SECRET: 'x', API_BASE_URL: 'http://127.0.0.1:9' };
    const asking = run(process.execPath, ['--import', CUT, 'scripts/ops.ts', 'pause'], { env });
    await expect(asking).rejects.toMatchObject({ code: 99, stderr: 'network' });
  });

  it('keygen creates different keys each time', () => {
    const [one, two] = [1, 2].map(() => parseSettings(freshKeys(randomBytes).settings));
    for (const name of Object.keys(one ?? {})) expect(one?.[name]).not.toBe(two?.[name]);
  });

  it('keygen writes a file that only its owner can read, prints only addresses, and overwrites no file', async () => {
    const file = join(folder, 'reserve.vars');
    const { stdout } = await keygen('--out', file);
    const written = readFileSync(file, 'utf8');
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expectOneOwner(written);
    const { RESERVE_SOLANA_ADDRESS, RESERVE_BTC_ADDRESS, ...secrets } = parseSettings(written);
    for (const address of [RESERVE_SOLANA_ADDRESS, RESERVE_BTC_ADDRESS]) expect(stdout).toContain(address);
    for (const [name] of YOURS) {
      expect(stdout).toContain(name);
      expect(KNOWN).toContain(name);
      expect(written).toMatch(new RegExp(`^# ${name}=   \\S`, 'm'));
    }
    for (const secret of Object.values(secrets)) expect(stdout).not.toContain(secret);
    await expect(keygen('--out', file)).rejects.toMatchObject({ code: 1, stdout: '' });
    expect(readFileSync(file, 'utf8')).toBe(written);
  });

  it('keygen does not leave a file when the disk is full, and names the file in one line', async () => {
    const file = join(folder, 'full.vars');
    const limited = `ulimit -f 0; exec "$0" scripts/ops.ts keygen --out ${file}`;
    await expect(run('sh', ['-c', limited, process.execPath])).rejects.toMatchObject({
      code: 1,
      stdout: '',
      stderr: expect.stringMatching(new RegExp(`^${file} cannot be written: .+\\n$`)),
    });
    expect(existsSync(file)).toBe(false);
  });
});

it('prints the address of a key from the named file or otherwise from the environment, without using a network', async () => {
  const { solanaAddress, settings } = freshKeys((length) => new Uint8Array(length).fill(3));
  const file = join(folder, 'address.vars');
  writeFileSync(file, settings);
  expect(await offline(['address', '--settings', file])).toEqual({
    stdout: `${solanaAddress}\n`,
    stderr: '',
  });
  const other = freshKeys((length) => new Uint8Array(length).fill(4));
  const { SOLANA_PRIVATE_KEY = '' } = parseSettings(other.settings);
  const shell = { SOLANA_PRIVATE_KEY };
  expect((await offline(['address'], shell)).stdout).toBe(`${other.solanaAddress}\n`);
  // A named file is complete: a key that the shell exports does not replace its key.
  expect((await offline(['address', '--settings', file], shell)).stdout).toBe(`${solanaAddress}\n`);
});

it.each([
  ['missing', {}],
  ['malformed', { SOLANA_PRIVATE_KEY: 'not-a-key-but-secret' }],
])('refuses a key that is %s and does not print its text', async (_what, env) => {
  const failed = offline(['address', '--settings', join(folder, 'none.vars')], env);
  await expect(failed).rejects.toMatchObject({ code: 1, stdout: '' });
  await expect(failed).rejects.not.toMatchObject({ stderr: expect.stringContaining('not-a-key') });
});

it.each([
  ['pause', { name: 'pause' }],
  ['retry swap:1', { name: 'retry', id: 'swap:1' }],
  ['write-off swap:1', { name: 'write-off', id: 'swap:1' }],
  ['mint --dry-run', { name: 'mint-preview' }],
  ['proof message', { name: 'proof-message' }],
  ['proof submit smpAbc', { name: 'proof-submit', signature: 'smpAbc' }],
  ['refund-due', { name: 'refund-due' }],
  ['refund-due --page 2', { name: 'refund-due', page: 2 }],
])('reads the command line: %s', (line, body) => {
  expect(readCommandLine(line.split(' '))).toMatchObject({ type: 'remote', body, world: false });
  expect(readCommandLine([...line.split(' '), '--world'])).toMatchObject({ body, world: true });
});

it('only read-only commands may use an offline world without --world or an origin', () => {
  const reading = Object.entries(REMOTE).flatMap(([name, { reads }]) => (reads ? [name] : []));
  const named = 'state operations unmatched evidence begin-anew probe fingerprint refund-due'.split(' ');
  expect(reading).toEqual([...named, 'refund-due --page', 'mint --dry-run']);
  expect(readCommandLine(['state'])).toMatchObject({ changes: false });
  expect(readCommandLine(['pause'])).toMatchObject({ changes: true });
});

it.each([
  ...[
    '',
    'mint',
    'proof',
    'proof submit',
    'retry',
    'pause now',
    'retry a b',
    'send',
    'address --settings',
    'address of',
  ],
  ...[
    'keygen --out',
    'keygen now',
    'keygen --world',
    'evacuate now',
    'evacuate --settings',
    'evacuate --world',
  ],
  'evacuate --to Vote111111111111111111111111111111111111111',
])('refuses “%s” as a command', (line) => {
  expect(readCommandLine(line.split(' ').filter(Boolean))).toEqual({ type: 'usage' });
});
