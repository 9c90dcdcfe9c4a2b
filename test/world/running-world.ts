/**
 * Lists the offline worlds that run on this machine, for the operator's commands. Each `npm start` writes one file in
 * `.world/`, named by its process. Only its owner can read it, because it contains the world's throw-away secrets.
 * @module
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = join(dirname(fileURLToPath(import.meta.url)), '../..');
const FOLDER = join(ROOT, '.world');

export type RunningWorld = {
  readonly url: string;
  readonly controlUrl: string;
  /** The Worker's configuration in this world. */
  readonly bindings: Readonly<Record<string, string>>;
};

/** @returns a function that removes the file */
export function announceWorld({ url, controlUrl, bindings }: RunningWorld, folder = FOLDER): () => void {
  mkdirSync(folder, { recursive: true });
  const file = join(folder, `${process.pid}.json`);
  writeFileSync(file, `${JSON.stringify({ url, controlUrl, bindings })}\n`, { mode: 0o600 });
  return () => rmSync(file, { force: true });
}

const isAlive = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
};

/** The prefix of a world's temporary folder; the process that made it follows. */
export const TEMPORARY = `sluice-world-${process.pid}-`;

/** Files and folders of a folder whose names contain the process that made them. */
const madeByProcess = (folder: string, name: RegExp): { file: string; pid: number }[] =>
  (existsSync(folder) ? readdirSync(folder, { encoding: 'utf8' }) : []).flatMap((file) => {
    const pid = name.exec(file)?.[1];
    return pid === undefined ? [] : [{ file: join(folder, file), pid: Number(pid) }];
  });

const announcements = (folder: string) => madeByProcess(folder, /^(\d+)\.json$/);

/** Removes what worlds that were killed have left behind. */
export function removeKilledWorlds(folder = FOLDER, temporary = tmpdir()): void {
  for (const { file, pid } of [...announcements(folder), ...madeByProcess(temporary, /^sluice-world-(\d+)-/)])
    if (!isAlive(pid)) rmSync(file, { recursive: true, force: true });
}

/** The worlds that run, the newest first. */
export function findWorlds(folder = FOLDER): RunningWorld[] {
  return announcements(folder)
    .filter(({ pid }) => isAlive(pid))
    .sort((one, other) => statSync(other.file).mtimeMs - statSync(one.file).mtimeMs)
    .map(({ file }) => JSON.parse(readFileSync(file, 'utf8')) as RunningWorld);
}
