/** Resident memory of what runs the Worker, as the kernel counts it. */
import { readdirSync, readFileSync } from 'node:fs';

interface Process {
  readonly pid: number;
  readonly parent: number;
  readonly command: string;
  readonly megabytes: number;
}

const MEGABYTE_KIB = 1_024;

function processes(): Process[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => {
      try {
        const status = readFileSync(`/proc/${name}/status`, 'utf8');
        const field = (key: string): number =>
          Number(new RegExp(`^${key}:\\s+(\\d+)`, 'm').exec(status)?.[1] ?? 0);
        const command = readFileSync(`/proc/${name}/cmdline`, 'utf8');
        return [
          { pid: Number(name), parent: field('PPid'), command, megabytes: field('VmRSS') / MEGABYTE_KIB },
        ];
      } catch {
        // Gone since it was listed.
        return [];
      }
    });
}

/** Megabytes of every `workerd` that descends from this process. */
export function workerMegabytes(): number {
  const all = processes();
  const descends = (one: Process | undefined): boolean =>
    one !== undefined && (one.parent === process.pid || descends(all.find(({ pid }) => pid === one.parent)));
  return all
    .filter((one) => /bin\/workerd\0/.test(one.command) && descends(one))
    .reduce((sum, { megabytes }) => sum + megabytes, 0);
}
