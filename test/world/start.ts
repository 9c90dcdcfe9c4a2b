/**
 * `npm start`: the whole service on the offline world, until it is stopped. `--watch` rebuilds and restarts the Worker
 * when a source file changes.
 * @module
 */
import { watch } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { argumentsOrUsage, readArguments } from '../../scripts/command-line.ts';
import { isUpstream } from './bindings.ts';
import { nodeNote } from './node-note.ts';
import { onParentEnd, outlivesTerminal } from './parent-watch.ts';
import { livePastDays } from './past-days.ts';
import { announceWorld, removeKilledWorlds } from './running-world.ts';
import { surfpoolMissing } from './surfpool.ts';
import { startWorld, type World } from './world.ts';

const USAGE = `npm start [-- --watch]
  --watch   rebuilds and restarts the Worker when a file under src/ or site/ changes
Variables: PORT (8787), WORLD_SLOT_MS (100), WORLD_BLOCK_MS (3000), WORLD_SETTLE_MS (2000), WORLD_DAYS (7),
WORLD_LOG=1, WORLD_FAULTS=upstream:kind[:detail],... as docs/build/world.md describes`;
/** One save of an editor changes several files. */
const SETTLED_MS = 300;

function fail(text: string): never {
  console.error(text);
  process.exit(1);
}

function number(name: string, standard: number): number {
  const text = process.env[name];
  if (text === undefined || text === '') return standard;
  return /^\d{1,9}$/.test(text) ? Number(text) : fail(`${name} must be a whole number`);
}

const options = argumentsOrUsage(
  USAGE,
  (args) => readArguments(args, { watch: { type: 'boolean', default: false } }).values,
);
const settings = {
  port: number('PORT', 8787),
  slotMs: number('WORLD_SLOT_MS', 100),
  blockMs: number('WORLD_BLOCK_MS', 3000),
  settleDelayMs: number('WORLD_SETTLE_MS', 2000),
  pastDays: number('WORLD_DAYS', 7),
  mcp: true,
  nodeRate: 50,
  witness: true,
  // Claims with rewardUsd need a price.
  vars: { ASRY_PRICE_USD: '0.25' },
  onLog: process.env.WORLD_LOG === '1' ? (line: string) => console.error(line) : () => undefined,
};

const note = nodeNote(process.env.npm_config_user_agent, process.version);
if (note !== null) console.log(note);

const missing = surfpoolMissing();
if (missing !== null) fail(missing);

removeKilledWorlds();

let stopping = false;
let forget = (): void => undefined;

/** Also ends a world that is still starting. A terminal's Ctrl-C arrives twice: from the terminal and from npm. */
async function stop(): Promise<void> {
  if (stopping) return;
  stopping = true;
  const world = await starting.catch(() => undefined);
  await world?.stop();
  forget();
  process.exit(0);
}
process.on('SIGINT', stop);
process.on('SIGTERM', stop);
// After nohup the world must outlive its terminal and its parent.
if (!outlivesTerminal()) {
  process.on('SIGHUP', stop);
  onParentEnd(stop);
}

function setFaults(world: World): void {
  for (const part of (process.env.WORLD_FAULTS ?? '').split(',').filter(Boolean)) {
    const [upstream = '', kind = '', detail = ''] = part.split(':');
    if (!isUpstream(world.endpoints, upstream)) throw new Error(`WORLD_FAULTS: no upstream ${upstream}`);
    const amount = Number(detail);
    world.faults.set(
      upstream,
      detail === ''
        ? { kind }
        : Number.isFinite(amount)
          ? { kind, ms: amount, by: amount }
          : { kind, mode: detail },
    );
  }
}

/**
 * Reloads after the files have been quiet for a moment; a change during a reload causes one more. A change while the world
 * starts is built once it is ready.
 */
function reloadOnChange(ready: Promise<World>): void {
  const root = join(import.meta.dirname, '../..');
  let timer: NodeJS.Timeout | undefined;
  let busy = false;
  let again = false;
  async function reload(): Promise<void> {
    again = busy;
    if (busy) return;
    busy = true;
    try {
      await (await ready).worker.reload();
      console.log(`reloaded at ${new Date().toISOString()}`);
    } catch (error) {
      if (!stopping) console.error(`not reloaded: ${error instanceof Error ? error.message : error}`);
    }
    busy = false;
    if (again) await reload();
  }
  for (const folder of ['src', 'site'])
    watch(join(root, folder), { recursive: true }, (_event, file) => {
      if (stopping || (folder === 'site' && String(file).startsWith('dist'))) return;
      clearTimeout(timer);
      timer = setTimeout(() => void reload(), SETTLED_MS);
    });
}

/** One line that names what to change. */
function startFailure(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  if (text.includes('EADDRINUSE'))
    return `Port ${settings.port} is taken: stop what listens there, or set PORT to another port.`;
  if (text.includes('ENOSPC') || text.includes('no space left'))
    return `No space is left in ${tmpdir()}: free some, or set TMPDIR to another folder.`;
  return text;
}

const ready = Promise.withResolvers<World>();
if (options.watch) reloadOnChange(ready.promise);
const starting = startWorld(settings);
try {
  const world = await starting;
  if (settings.pastDays > 0) {
    console.log(`First the service simulates the past ${settings.pastDays} days (WORLD_DAYS=0 skips them).`);
    await livePastDays({ world, days: settings.pastDays });
  }
  setFaults(world);
  // The first run of the minute cron, so that status and doctor are green at once.
  await world.control.cron().catch(() => undefined);
  if (!stopping) {
    forget = announceWorld(world);
    const { url, controlUrl } = world;
    console.log(`Sluice is ready on its offline world: ${url}
  curl ${url}/api/reserves
  curl -X POST ${url}/api/swap/create -H 'content-type: application/json' -d '{"amountSol":0.5}'
  curl ${url}/api/swap/status/<id>
MCP server for agents: ${url}/mcp
World control: ${controlUrl}/info`);
    ready.resolve(world);
  }
} catch (error) {
  if (!stopping) console.error(startFailure(error));
  await starting.then((world) => world.stop()).catch(() => undefined);
  process.exit(1);
}
