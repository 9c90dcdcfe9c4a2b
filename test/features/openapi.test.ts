import { describe, expect, it } from 'vitest';
import { apiDocument, operationsOf } from '../../scripts/documents/api-document.ts';
import { EXAMPLES } from '../../scripts/documents/examples.ts';
import { type ApiDocument, codesOf } from '../../scripts/documents/shared-parts.ts';
import { createApp, type Deps } from '../../src/app.ts';
import { ERROR_ACTIONS, ERRORS } from '../../src/core/errors.ts';
import { createDocumentChecker } from '../e2e/document-checker.ts';
import { documentsFor } from './stored-documents.ts';

const ORIGIN = 'https://sluice.example';
const appWith = (documents: Deps['openapi']['documents']) =>
  createApp(() => {
    const openapi = {
      ...{ publicBaseUrl: ORIGIN, operatorName: undefined, securityContact: undefined, documents },
      ...{ listedMints: async () => [], now: Date.now },
    };
    return { openapi, log: () => undefined } as Partial<Deps> as Deps;
  });
const app = appWith(documentsFor(ORIGIN));
const served = await app.request('/api/openapi.json');
const document = (await served.clone().json()) as ApiDocument;
const operations = operationsOf(document);
const named = operations.map((found) => [`${found.method.toUpperCase()} ${found.path}`, found] as const);

/** Codes of unknown paths and methods, of the operator's route, and of one part of a report or feed. */
const OUTSIDE = ['ROUTE_NOT_FOUND', 'METHOD_NOT_ALLOWED', 'UNAUTHORIZED', 'PRICE_DIVERGENT', 'RELAYS_FAILED'];

describe('the document', () => {
  it('the document uses OpenAPI 3.0.3, has API version 1.1.0, and names the server and its operator', () => {
    const info = { version: '1.1.0', contact: { name: 'Operator of this service', url: ORIGIN } };
    const servers = [{ url: ORIGIN, description: 'This service' }];
    expect(document).toMatchObject({ openapi: '3.0.3', info, servers });
    expect(served.headers.get('content-type')).toBe('application/json');
  });

  it('the OpenAPI document has at most 130 KB', async () => {
    expect((await served.clone().arrayBuffer()).byteLength).toBeLessThanOrEqual(130_000);
  });

  it('serves the same bytes of the document each time, and 304 for a known ETag', async () => {
    const again = await app.request('/api/openapi.json');
    const etag = again.headers.get('etag') ?? '';
    expect(await again.text()).toBe(await served.clone().text());
    const unchanged = await app.request('/api/openapi.json', { headers: { 'if-none-match': etag } });
    expect([unchanged.status, await unchanged.text()]).toEqual([304, '']);
  });

  it('the document lists every mounted route except the operator’s and the pages, and no other route', () => {
    const unlisted = ['/api/ops', '/', '/reserves', '/trust', '/status', '/tokens', '/asry', '/read'];
    const mounted = app.routes
      .filter(({ method, path }) => method !== 'ALL' && !path.includes('*') && !unlisted.includes(path))
      .map(({ method, path }) => `${method} ${path.replaceAll(/:(\w+)(\{[^}]*\})?/g, '{$1}')}`);
    expect(named.map(([name]) => name).sort()).toEqual([...new Set(mounted)].sort());
  });

  it('the document has relative links and no contact URL when no origin is configured', async () => {
    const without = appWith(documentsFor(''));
    const text = await (await without.request('/api/openapi.json')).text();
    expect(JSON.parse(text)).toEqual(JSON.parse(JSON.stringify(apiDocument(app, ERRORS, EXAMPLES, ''))));
  });

  it('returns an error when the site lacks the document, and reads it again at the next request', async () => {
    let failures = 1;
    let now = 0;
    const fetch = async () =>
      failures-- > 0 ? new Response(null, { status: 404 }) : new Response('{"openapi":"3.0.3"}');
    const late = appWith(documentsFor(ORIGIN, fetch, () => now));
    const first = await late.request('/api/openapi.json');
    expect([first.status, await first.json()]).toMatchObject([500, { error_code: 'INTERNAL' }]);
    now += 60_000;
    expect((await late.request('/api/openapi.json')).status).toBe(200);
  });

  it('the OpenAPI document uses exactly the error codes of the table', () => {
    const answers = operations.flatMap(({ operation }) => Object.values(operation.responses));
    const used = answers.flatMap((answer) => codesOf(answer?.content?.['application/json']?.schema));
    const table = Object.keys(ERRORS).filter((code) => !OUTSIDE.includes(code));
    expect([...new Set(used)].sort()).toEqual(table.sort());
  });
});

describe('what generators read', () => {
  const { schemas = {} } = document.components ?? {};

  it.each([
    ['ErrorCode', Object.fromEntries(Object.entries(ERRORS).map(([code, { meaning }]) => [code, meaning]))],
    ['ErrorAction', ERROR_ACTIONS],
  ])('the schema %s lists every value with its description', (name, texts) => {
    const found = schemas[name];
    if (!found || '$ref' in found) throw new Error(`no schema ${name}`);
    const values: string[] = found.enum ?? [];
    expect([...values].sort()).toEqual(Object.keys(texts).sort());
    for (const [value, text] of Object.entries(texts))
      expect(found.description).toContain(`\`${value}\`: ${text}`);
  });

  it('error_code and action of every error refer to the lists of codes and actions', () => {
    const listed = (name: string) => ({ $ref: `#/components/schemas/${name}` });
    const properties = { error_code: listed('ErrorCode'), action: listed('ErrorAction') };
    expect(schemas.Problem).toMatchObject({ properties });
  });

  it('the document describes each tag, and every tag has an operation', () => {
    const used = new Set(operations.flatMap(({ operation }) => operation.tags ?? []));
    const described = document.tags?.filter(({ description }) => description?.endsWith('.')) ?? [];
    expect(described.map(({ name }) => name).sort()).toEqual([...used].sort());
  });

  it('the document declares exact status codes, and the target of each redirect', () => {
    for (const { operation, path } of operations) {
      const statuses = Object.keys(operation.responses);
      expect([path, statuses.filter((status) => !/^(\d{3}|default)$/.test(status))]).toEqual([path, []]);
      if (statuses.includes('307')) expect(operation.responses[307].headers).toHaveProperty('Location');
    }
  });
});

describe.each(named)('%s', (_name, { method, operation }) => {
  it('each operation has a summary, a description, one tag and its failure statuses', () => {
    expect(operation.summary).toMatch(/^[A-Za-z]\S*( \S+){1,4}$/);
    expect(operation.description).toMatch(/\S{3}.*\.$/s);
    expect(operation.tags).toHaveLength(1);
    const statuses = Object.keys(operation.responses);
    expect(statuses).toContain('500');
    const fresh = ['getAnalyticsStats', 'getSwapEstimate'];
    const isStored = statuses.includes('200') && !fresh.includes(operation.operationId ?? '');
    expect(statuses.includes('304')).toBe(method === 'get' && isStored);
    if (operation.requestBody) expect(statuses).toEqual(expect.arrayContaining(['400', '413']));
  });
});

describe('examples', () => {
  const checker = createDocumentChecker(document);
  const recorded = Object.entries(EXAMPLES).flatMap(([id, { responses }]) =>
    Object.entries(responses).map(([name, body]) => [id, name, body] as const),
  );

  it.each(recorded)('the recorded example %s %s matches its response schema', (id, _name, body) => {
    expect(checker.bodyViolations(id, 200, body)).toEqual([]);
  });

  const withBody = named.filter(
    ([, { operation }]) =>
      operation.responses[200]?.content?.['application/json'] &&
      operation.operationId !== 'getOpenApiDocument',
  );
  it.each(withBody)(
    '%s has a recorded example of a success; `npm run examples` records it',
    (_name, { operation }) => {
      expect(EXAMPLES[operation.operationId ?? '']?.responses.ok).toBeDefined();
    },
  );

  it('the examples contain no address of the machine that recorded them', () => {
    expect(JSON.stringify(EXAMPLES)).not.toMatch(/127\.0\.0\.1|localhost|\/tmp\//);
  });
});

it('/llms.txt names every route with a link, its parameters and its error codes', async () => {
  const answer = await app.request('/llms.txt');
  expect(answer.headers.get('content-type')).toMatch(/^text\/plain/);
  const text = await answer.text();
  expect(text).toMatch(/^# Sluice\n\n> /);
  for (const { method, path, operation } of operations) {
    const at = text.indexOf(`- [${method.toUpperCase()} ${path}](${ORIGIN}`);
    expect(at, path).toBeGreaterThan(0);
    const block = text.slice(at, text.indexOf('\n- ', at + 1));
    for (const parameter of operation.parameters ?? [])
      if ('name' in parameter) expect(block).toContain(`\`${parameter.name}\` in ${parameter.in}`);
  }
});
