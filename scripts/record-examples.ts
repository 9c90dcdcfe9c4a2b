/**
 * `npm run examples`: uses the whole service on an offline world. It stores one success of each operation as an example of
 * the API document. With names of operations it changes only the form of their examples, and keeps the stored values.
 */
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { tourService } from '../test/e2e/service-tour.ts';
import { startWorld } from '../test/world/world.ts';
import { argumentsOrUsage, readArguments } from './command-line.ts';
import { keptValues } from './documents/kept-values.ts';
import type { ApiDocument } from './documents/shared-parts.ts';

const USAGE = 'npm run examples [-- <operation> ...]';
const chosen: readonly string[] = argumentsOrUsage(USAGE, (args) => readArguments(args, {}, 100).positionals);
const FILE = 'scripts/documents/examples.json';
/** The origin of the service in the examples. */
const ORIGIN = 'https://sluice.example';
/** Longest list in an example; further members are dropped. */
const LIST = 2;
/** Longer responses are left out, because a shorter one shows the same members. */
const MAX_CHARS = 6_000;

type Recorded = { request: { path: string; body?: unknown }; responses: { ok?: unknown } };

const recorded = new Map<string, Recorded>();

/** Shortens lists and replaces the loopback names of relays with public ones. Everything else is unchanged. */
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
  vars: { PUBLIC_BASE_URL: ORIGIN, BRIDGE_QUOTES_2H: '24000' },
});
try {
  const document = (await (await world.fetch('/api/openapi.json')).json()) as ApiDocument;
  const visits = await tourService(world, document);
  for (const { operationId, path, requestBody, status, body } of visits) {
    if (status >= 400) continue;
    const responses = recorded.get(operationId)?.responses ?? {};
    const shown = shortened(body);
    if (typeof shown === 'object' && JSON.stringify(shown).length <= MAX_CHARS) responses.ok ??= shown;
    // If an operation succeeded several times, its last request is shown: the earlier ones came before their time.
    const request = { path, ...(requestBody === undefined ? {} : { body: requestBody }) };
    recorded.set(operationId, { request, responses });
  }
} finally {
  await world.stop();
}

const kept = Object.entries<Recorded>(JSON.parse(readFileSync(FILE, 'utf8')));
const needed = kept.filter(([, { responses }]) => responses.ok !== undefined).map(([name]) => name);
const missing = (chosen.length > 0 ? chosen : needed).filter(
  (name) => recorded.get(name)?.responses.ok === undefined,
);
if (missing.length > 0) {
  console.error(`No success of ${missing.join(', ')} was recorded. ${FILE} is unchanged.`);
  process.exit(1);
}
const stored = new Map<string, unknown>(kept);
const fresh = [...recorded].filter(([name]) => chosen.length === 0 || chosen.includes(name));
for (const [name, example] of fresh) stored.set(name, keptValues(example, stored.get(name)));
const sorted = [...stored].sort(([a], [b]) => (a < b ? -1 : 1));
writeFileSync(FILE, `${JSON.stringify(Object.fromEntries(sorted), null, 2)}\n`);
execFileSync('node_modules/.bin/biome', ['format', '--write', FILE]);
console.log(`${sorted.length} operations in ${FILE}`);
process.exit(0);
