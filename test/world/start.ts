import { isUpstream } from './bindings.ts';
import { surfpoolMissing } from './surfpool.ts';
import { startWorld, type World } from './world.ts';

function number(name: string, standard: number): number {
  const text = process.env[name];
  if (text === undefined || text === '') return standard;
  const value = Number(text);
  if (Number.isInteger(value) && value >= 0) return value;
  console.error(`${name} must be a whole number`);
  process.exit(1);
}

const missing = surfpoolMissing();
if (missing !== null) {
  console.error(missing);
  process.exit(1);
}

let stopping = false;

// Also while it still starts: a world half up is brought down in good order. A terminal's Ctrl-C arrives here twice.
async function stop(): Promise<void> {
  if (stopping) return;
  stopping = true;
  const world = await starting.catch(() => undefined);
  await world?.stop();
  process.exit(0);
}
process.on('SIGINT', stop);
process.on('SIGTERM', stop);

function start(): Promise<World> {
  return startWorld({
    port: number('PORT', 8787),
    slotMs: number('WORLD_SLOT_MS', 100),
    blockMs: number('WORLD_BLOCK_MS', 3000),
    settleDelayMs: number('WORLD_SETTLE_MS', 2000),
    mcp: true,
    // Claims with rewardUsd need a price.
    vars: { ASRY_PRICE_USD: '0.25' },
    onLog: process.env.WORLD_LOG === '1' ? (line) => console.error(line) : () => undefined,
  });
}

const starting = start();
try {
  const world = await starting;
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
  const { url, controlUrl } = world;
  if (!stopping)
    console.log(`Sluice is ready on its offline world: ${url}
  curl ${url}/api/reserves
  curl -X POST ${url}/api/swap/create -H 'content-type: application/json' -d '{"amountSol":0.5}'
  curl ${url}/api/swap/status/<id>
MCP server for agents: ${url}/mcp
World control: ${controlUrl}/info`);
} catch (error) {
  if (!stopping) console.error(error instanceof Error ? error.message : error);
  await starting.then((world) => world.stop()).catch(() => undefined);
  process.exit(1);
}
