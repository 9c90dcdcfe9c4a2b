/** Processor time of the Worker's processes, as counted by the kernel. */
import { readdirSync, readFileSync } from 'node:fs';

interface Process {
  readonly pid: number;
  readonly parent: number;
  readonly command: string;
}

function processes(): Process[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => {
      try {
        const status = readFileSync(`/proc/${name}/status`, 'utf8');
        const parent = Number(/^PPid:\s+(\d+)/m.exec(status)?.[1] ?? 0);
        return [{ pid: Number(name), parent, command: readFileSync(`/proc/${name}/cmdline`, 'utf8') }];
      } catch {
        // The process has ended since it was listed.
        return [];
      }
    });
}

/** Every `workerd` that descends from this process. */
function workers(): Process[] {
  const all = processes();
  const descends = (one: Process | undefined): boolean =>
    one !== undefined && (one.parent === process.pid || descends(all.find(({ pid }) => pid === one.parent)));
  return all.filter((one) => /bin\/workerd\0/.test(one.command) && descends(one));
}

const NANOSECONDS = 1_000_000;

/**
 * Milliseconds of processor time that those processes have used. Unlike elapsed time, this excludes the time of other
 * processes.
 */
export const workerCpuMs = (): number =>
  workers()
    .flatMap(({ pid }) =>
      readdirSync(`/proc/${pid}/task`).map((task) => `/proc/${pid}/task/${task}/schedstat`),
    )
    .reduce((sum, file) => {
      try {
        return sum + Number(readFileSync(file, 'utf8').split(' ')[0]) / NANOSECONDS;
      } catch {
        // The thread has ended since it was listed.
        return sum;
      }
    }, 0);
