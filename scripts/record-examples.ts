/**
 * `npm run examples`: uses the whole service on an offline world and stores its responses as the examples of the API
 * document, one success of each operation. With names of operations it changes only their examples.
 */
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { tourService } from '../test/e2e/service-tour.ts';
import { startWorld } from '../test/world/world.ts';
import { argumentsOrUsage, readArguments } from './command-line.ts';
import type { ApiDocument } from './documents/api-document.ts';

const USAGE = 'npm run examples [-- <operation> ...]';
const chosen: readonly string[] = argumentsOrUsage(USAGE, (args) => readArguments(args, {}, 100).positionals);
const FILE = 'scripts/documents/examples.json';
/** The origin of the service in the examples. */
const ORIGIN = 'https://sluice.example';
/** Longest list in an example; further members are dropped. */
const LIST = 2;
/** Longer responses are left out, because a shorter one shows the same members. */
const MAX_CHARS = 6_000;

type Recorded = {
  request?: { path: string; body?: unknown };
  responses: { status: number; name: string; body: unknown }[];
};

const recorded = new Map<string, Recorded>();

function keep(operationId: string, status: number, body: unknown): Recorded | undefined {
  if (typeof body !== 'object' || body === null || operationId === 'getOpenApiDocument') return undefined;
  if (JSON.stringify(shortened(body)).length > MAX_CHARS) return undefined;
  const entry = recorded.get(operationId) ?? { responses: [] };
  recorded.set(operationId, entry);
  const code: unknown = Reflect.get(body, 'error_code');
  const dry = Reflect.get(body, 'dry_run') === true;
  const name = typeof code === 'string' ? code : dry ? 'dry_run' : status < 400 ? 'ok' : 'passed_on';
  if (entry.responses.some((known) => known.status === status && known.name === name)) return undefined;
  entry.responses.push({ status, name, body: shortened(body) });
  return entry;
}

/** Shortens lists and replaces the loopback names of relays by public ones. Everything else is unchanged. */
function shortened(value: unknown): unknown {
  if (typeof value === 'string')
    return value.replace(/^ws:\/\/127\.0\.0\.1:\d*(\d)$/, 'wss://relay-$1.example');
  if (Array.isArray(value)) return value.slice(0, LIST).map(shortened);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, shortened(member)]));
}

const world = await startWorld({
  blockMs: 1_000,
  settleDelayMs: 200,
  vars: { PUBLIC_BASE_URL: ORIGIN, SWAP_MAX_CREATES_IP_HOUR: '1000' },
});
try {
  const document = (await (await world.fetch('/api/openapi.json')).json()) as ApiDocument;
  const visits = await tourService(world, document);
  for (const { operationId, path, requestBody, status, body } of visits) {
    const entry = keep(operationId, status, body);
    const request = { path, ...(requestBody === undefined ? {} : { body: requestBody }) };
    if (status >= 400) continue;
    const known = entry ?? recorded.get(operationId) ?? { responses: [] };
    // Of several successes the last request is shown: earlier ones were dry runs or came too early.
    recorded.set(operationId, { ...known, request });
  }
} finally {
  await world.stop();
}

const missing = chosen.filter((name) => !recorded.has(name));
if (missing.length > 0) {
  console.error(`No response of ${missing.join(', ')} was recorded. ${FILE} is unchanged.`);
  process.exit(1);
}
const stored = chosen.length > 0 ? Object.entries<Recorded>(JSON.parse(readFileSync(FILE, 'utf8'))) : [];
const fresh = chosen.length > 0 ? [...recorded].filter(([name]) => chosen.includes(name)) : recorded;
const sorted = [...new Map([...stored, ...fresh])].sort(([a], [b]) => (a < b ? -1 : 1));
writeFileSync(FILE, `${JSON.stringify(Object.fromEntries(sorted), null, 2)}\n`);
execFileSync('node_modules/.bin/biome', ['format', '--write', FILE]);
const count = sorted.reduce((sum, [, { responses }]) => sum + responses.length, 0);
console.log(`${count} responses of ${sorted.length} operations in ${FILE}`);
process.exit(0);
