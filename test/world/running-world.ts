/**
 * Which offline worlds run on this machine, for the operator's commands: one file per `npm start` in `.world/`, named
 * by its process and readable by its owner only, since it holds the world's throw-away secrets.
 * @module
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
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

/** The world that was started last and still runs. */
export function findWorld(folder = FOLDER): RunningWorld | undefined {
  if (!existsSync(folder)) return undefined;
  const files = readdirSync(folder, { encoding: 'utf8' })
    .filter((name) => /^\d+\.json$/.test(name) && isAlive(Number.parseInt(name, 10)))
    .map((name) => join(folder, name))
    .sort((one, other) => statSync(other).mtimeMs - statSync(one).mtimeMs);
  return files[0] === undefined ? undefined : (JSON.parse(readFileSync(files[0], 'utf8')) as RunningWorld);
}
