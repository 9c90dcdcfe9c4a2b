import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { WAIT_MS } from '../patience.ts';
import type { FromWorkerProcess, InsideCalls, ToWorkerProcess, WorkerSetup } from './worker-messages.ts';

const CHILD = join(dirname(fileURLToPath(import.meta.url)), 'worker-child.ts');
const KEPT_LOG_LINES = 5000;
/** Longest time for a stop; then the process is killed. */
const STOP_MS = 15_000;

/** The parts that a deployment replaces. Without new bindings it has those of the world. */
export type Release = Pick<WorkerSetup, 'bundlePath' | 'objectBundlePath' | 'schema'> &
  Partial<Pick<WorkerSetup, 'bindings'>> & {
    /** Settings of the witness that differ from those of the world. */
    readonly witnessBindings?: Readonly<Record<string, string>>;
  };

export interface WorkerProcess {
  /** Where the running Worker listens; null while it is down. */
  url(): string | null;
  /** Where the witness listens; null while it is down or absent. */
  witnessUrl(): string | null;
  /** Starts this release; without one, the release that was started last. */
  start(release?: Release): Promise<void>;
  /** SIGKILL to the process and everything that it started; storage stays. */
  kill(): Promise<void>;
  /** Stops it gracefully. */
  stop(): Promise<void>;
  /** Cron expressions of the configuration. */
  crons(): readonly string[];
  /** Calls the scheduled handler once, as if at that time (milliseconds since 1970). */
  scheduled(cron: string, time: number): Promise<unknown>;
  /** Rows of the Worker's D1 database. */
  query(sql: string, params: readonly unknown[]): Promise<unknown>;
  /** Rows of the object of the page views. */
  pageViews(sql: string): Promise<unknown>;
  /** The custodian loses its memory; its storage stays. */
  evict(): Promise<unknown>;
  /** The Worker's console output, newest last. */
  logs(): readonly string[];
}

type Running = Extract<FromWorkerProcess, { readonly type: 'ready' }>;

/** Runs the Worker in a process group of its own. `onLog` gets each line as it comes. */
export function createWorkerProcess(setup: WorkerSetup, onLog: (line: string) => void): WorkerProcess {
  const logs: string[] = [];
  let deployed = setup;
  let child: ChildProcess | null = null;
  let running: Running | undefined;
  let crons: readonly string[] = [];

  function log(line: string): void {
    logs.push(line);
    if (logs.length > KEPT_LOG_LINES) logs.shift();
    onLog(line);
  }

  async function start(release?: Release): Promise<void> {
    if (child !== null) throw new Error('the Worker is running');
    if (release !== undefined) {
      const { witnessBindings, ...parts } = release;
      const { witness } = setup;
      deployed = {
        ...setup,
        ...parts,
        ...(witness && { witness: { ...witness, bindings: { ...witness.bindings, ...witnessBindings } } }),
      };
    }
    const started = fork(CHILD, {
      detached: true,
      execArgv: ['--disable-warning=ExperimentalWarning'],
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
      env: {
        ...process.env,
        TMPDIR: setup.tempPath,
        WRANGLER_SEND_METRICS: 'false',
        CLOUDFLARE_CF_FETCH_ENABLED: 'false',
      },
    });
    child = started;
    for (const stream of [started.stdout, started.stderr])
      stream?.on('data', (data: Buffer) => log(data.toString('utf8').trimEnd()));
    started.on('message', (message: FromWorkerProcess) => {
      if (message.type === 'log') log(message.line);
    });
    started.on('exit', () => {
      if (child === started) child = null;
      running = undefined;
    });
    send(started, { type: 'start', setup: deployed });
    running = await new Promise<Running>((resolve, reject) => {
      started.on('message', (message: FromWorkerProcess) => {
        if (message.type === 'ready') resolve(message);
        if (message.type === 'failed') reject(new Error(message.reason));
      });
      const failed = () => reject(new Error(`the Worker did not start: ${logs.slice(-20).join('\n')}`));
      started.once('exit', failed);
      setTimeout(failed, WAIT_MS).unref();
    });
    crons = running.crons;
  }

  const send = (to: ChildProcess, message: ToWorkerProcess): boolean => to.send(message);

  async function call<Name extends keyof InsideCalls>(name: Name, body: InsideCalls[Name]): Promise<unknown> {
    if (!running) throw new Error('the Worker is down');
    const answer = await fetch(`${running.insideUrl}/${name}`, {
      method: 'POST',
      body: JSON.stringify(body),
    });
    const { value, reason } = (await answer.json()) as { value?: unknown; reason?: string };
    if (reason !== undefined) throw new Error(reason);
    return value;
  }

  async function end(how: (ending: ChildProcess) => void): Promise<void> {
    const ending = child;
    if (ending === null) return;
    const gone = once(ending, 'exit');
    how(ending);
    const late = setTimeout(() => killGroup(ending), STOP_MS);
    await gone;
    clearTimeout(late);
    killGroup(ending);
  }

  return {
    url: () => running?.url ?? null,
    witnessUrl: () => running?.witnessUrl ?? null,
    start,
    kill: () => end(killGroup),
    stop: () => end((ending) => ending.disconnect()),
    crons: () => crons,
    scheduled: (cron, time) => call('scheduled', { cron, time }),
    query: (sql, params) => call('query', { sql, params }),
    pageViews: (sql) => call('pageViews', { sql }),
    evict: () => call('evict', {}),
    logs: () => logs,
  };
}

// Kills the whole group, because workerd is a grandchild. A group that has already ended is not an error.
function killGroup(child: ChildProcess): void {
  if (child.pid === undefined) return;
  try {
    process.kill(-child.pid, 'SIGKILL');
  } catch {}
}
