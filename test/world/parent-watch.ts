/**
 * Notices the end of the process that started this one, so that this one ends too: a killed npm sends no signal.
 * @module
 */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

const POLL_MS = 500;
const SIGHUP_BIT = 0n;

/** Whether the process was started by `nohup`. Only Linux can tell; elsewhere false. */
export function outlivesTerminal(): boolean {
  try {
    const mask = /^SigIgn:\s*([0-9a-f]+)/m.exec(readFileSync('/proc/self/status', 'utf8'))?.[1] ?? '0';
    return ((BigInt(`0x${mask}`) >> SIGHUP_BIT) & 1n) === 1n;
  } catch {
    return false;
  }
}

/** The parent, and npm behind the shell that it runs a script in. */
function ancestors(): number[] {
  const parent = process.ppid;
  if (process.env.npm_lifecycle_event === undefined) return [parent];
  try {
    const text = execFileSync('ps', ['-o', 'ppid=', '-p', String(parent)], { encoding: 'utf8' });
    return [parent, Number.parseInt(text, 10)].filter((pid) => pid > 1);
  } catch {
    return [parent];
  }
}

const isAlive = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
};

/** Calls back once when the parent, or the npm that runs this script, has ended. */
export function onParentEnd(callback: () => void): void {
  const parent = process.ppid;
  const watched = ancestors();
  const timer = setInterval(() => {
    // A parent that has ended is replaced by init, but its process id may still exist as a zombie.
    if (process.ppid === parent && watched.every(isAlive)) return;
    clearInterval(timer);
    callback();
  }, POLL_MS);
  timer.unref();
}
