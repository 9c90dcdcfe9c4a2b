/** @module-tag deep */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { operationsOf } from '../../scripts/documents/api-document.ts';
import type { ApiDocument } from '../../scripts/documents/shared-parts.ts';
import { documentOf } from '../../scripts/documents/write-documents.ts';
import { isUpstream } from '../world/bindings.ts';
import { useWorld } from '../world/use-world.ts';
import type { World } from '../world/world.ts';
import { createDocumentChecker, type DocumentChecker } from './document-checker.ts';
import { type ApiRequest, requestArbitraries } from './request-arbitraries.ts';
import { knownTexts, tourService, type Visit } from './service-tour.ts';
import { until } from './swap-caller.ts';

/** Number of requests in total on a healthy world, and per operation while upstreams fail. */
const REQUESTS = Number(process.env.OPENAPI_REQUESTS ?? 6_000);
const PER_FAULT = 5;
/** Ends a request that hangs. A route waits at most 25 s for work that runs elsewhere; the rest is for a busy machine. */
const ANSWER_MS = 150_000;
/** The same requests each time; a different number generates others. */
const SEED = Number(process.env.OPENAPI_SEED ?? 20_261_120);

const operations = operationsOf(documentOf('')).map(({ operation }) => operation.operationId ?? '');
/** Number of requests of one operation that are sent together: the custodian refuses more than 32 reads of one kind at once. */
const BATCH = 24;
const BATCHES = Math.ceil(REQUESTS / operations.length / BATCH);

let document: ApiDocument;
let checker: DocumentChecker;
let visits: Visit[];
let generators: ReturnType<typeof requestArbitraries>;
/** Answers by operation and status. */
const answered = new Map<string, Map<number, number>>();
/** Responses of a healthy world with status 500 or above, by operation, code and reason. */
const failed = new Map<string, number>();

// Swaps use at most half of the reserve's 10 SOL. Until a swap's landing is seen, its SOL is missing from the balance
// and still reserved, so swaps of all 10 SOL would refuse the sale of tokens for a moment.
const vars = { SWAP_MAX_SOL_HOUR: '5', SWAP_MAX_SOL_DAY: '5', BRIDGE_QUOTES_2H: '24000' };
const world = useWorld({ slotMs: 50, settleDelayMs: 200, vars }, prepare);

async function prepare(world: World): Promise<void> {
  document = (await (await world.fetch('/api/openapi.json')).json()) as ApiDocument;
  checker = createDocumentChecker(document);
  // A proof needs both Bitcoin indexes at one tip, which a block moves between two reads on a busy machine.
  await until('the first proof', async () => ((await world.fetch('/api/proof')).ok ? true : undefined));
  visits = await tourService(world, document);
  // KV remembers for a minute that no cron run was stored.
  await until('a service that is ready', async () => (await world.fetch('/api/ready')).ok || undefined);
  const successes = visits.filter(({ status }) => status < 400);
  generators = requestArbitraries(document, knownTexts(visits), successes);
}

/** Sends a request and returns the undeclared parts of the response. */
async function violations(request: ApiRequest): Promise<string[]> {
  const { operationId, method, path, headers, body } = request;
  const response = await fetch(new URL(path, world.url), {
    method,
    headers,
    redirect: 'manual',
    signal: AbortSignal.timeout(ANSWER_MS),
    ...(body === undefined ? {} : { body }),
  });
  const text = await response.text();
  const counts = answered.get(operationId) ?? new Map<number, number>();
  answered.set(operationId, counts.set(response.status, (counts.get(response.status) ?? 0) + 1));
  // A response to HEAD has no body that names the failure; the same GET is tried too.
  if (response.status >= 500 && method !== 'HEAD') {
    const [, code = ''] = /"error_code":"(\w+)"/.exec(text) ?? [];
    const [, reason = ''] = /"reason":"(\w+)"/.exec(text) ?? [];
    const failure = [operationId, code, reason].join(' ');
    failed.set(failure, (failed.get(failure) ?? 0) + 1);
  }
  return checker.violations({
    operationId,
    method,
    status: response.status,
    headers: response.headers,
    text,
  });
}

it('the served OpenAPI document equals the one that the routes define', () => {
  expect(operationsOf(document).map(({ operation }) => operation.operationId)).toEqual(operations);
});

it('every response of every route matches the OpenAPI document', () => {
  const wrong = visits
    .filter(({ body }) => typeof body === 'object')
    .flatMap(({ operationId, path, status, body }) =>
      checker
        .bodyViolations(operationId, status, body)
        .map((why) => `${operationId} ${path} ${status}: ${why}`),
    );
  expect(wrong).toEqual([]);
  expect(visits.filter(({ operationId }) => operationId === '')).toEqual([]);
});

it.concurrent.each(operations)(
  '%s returns only responses that the OpenAPI document declares',
  {
    timeout: BATCHES * ANSWER_MS,
  },
  async (operationId) => {
    const generator = generators.find((found) => found.operationId === operationId);
    if (!generator) throw new Error(`${operationId} is not in the served document`);
    // Many at a time, because some answers wait for the chain.
    const batch = fc.array(generator.requests, { minLength: BATCH, maxLength: BATCH, size: 'max' });
    await fc.assert(
      fc.asyncProperty(batch, async (requests) => {
        const found = await Promise.all(requests.map(violations));
        expect(found.flatMap((why, at) => (why.length > 0 ? [[requests[at], why]] : []))).toEqual([]);
      }),
      { seed: SEED, numRuns: BATCHES, endOnFailure: true },
    );
  },
);

it('the run sends at least 5,000 requests, and every operation succeeds at least once', () => {
  const counts = [...answered.values()].flatMap((statuses) => [...statuses.values()]);
  const total = counts.reduce((sum, count) => sum + count, 0);
  console.log(`${total} requests over ${operations.length} operations`);
  expect(total).toBeGreaterThanOrEqual(5_000);
  const served = operations.filter((id) =>
    [
      ...(answered.get(id)?.keys() ?? []),
      ...visits.filter((v) => v.operationId === id).map((v) => v.status),
    ].some((status) => status < 400),
  );
  expect(served).toEqual(operations);
});

it('a healthy service returns no status of 500 or above, except for the swap limit and the quote budget', () => {
  const reached = /^(createSwap|\w*[Ee]stimate\w*) (SWAP_LIMIT_REACHED|QUOTE_BUDGET_SPENT) /;
  expect(Object.fromEntries([...failed].filter(([failure]) => !reached.test(failure)))).toEqual({});
});

it.each(['500', 'html', 'truncate', 'drop', '429'])(
  'responses match the OpenAPI document during the upstream fault %s',
  {
    timeout: 2 * ANSWER_MS,
  },
  async (kind) => {
    for (const name of Object.keys(world.endpoints))
      if (isUpstream(world.endpoints, name) && !name.startsWith('relay')) world.faults.set(name, { kind });
    const requests = generators.flatMap(({ requests: arbitrary }) =>
      fc.sample(arbitrary, { seed: SEED, numRuns: PER_FAULT }),
    );
    const found = await Promise.all(
      requests.map(async (request) =>
        (await violations(request)).map((why) => `${request.method} ${request.path}: ${why}`),
      ),
    );
    world.faults.clear();
    expect(found.flat()).toEqual([]);
  },
);
