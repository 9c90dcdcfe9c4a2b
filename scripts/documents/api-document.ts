/**
 * The API document (OpenAPI 3.0.3) of the mounted routes. It has their schemas, the possible responses of the middleware,
 * the meaning of every error code, and recorded requests as examples.
 * @module
 */

import { ERROR_ACTIONS, type ErrorTable } from '../../src/core/errors.ts';
import { API_VERSION } from '../../src/features/openapi/routes.ts';
import { ERROR_RESPONSE, problemSchema } from '../../src/http/responses.ts';
import type { Examples } from './examples.ts';
import {
  type ApiDocument,
  codesOf,
  type Describe,
  METHODS,
  type Method,
  type Operation,
  sharedPart,
  withSharedParts,
} from './shared-parts.ts';

type Responses = Operation['responses'];
type Schemas = NonNullable<NonNullable<ApiDocument['components']>['schemas']>;
type ResponseEntry = Exclude<Responses[string], { $ref: string }>;

const DESCRIPTION = `Reports and proves a Bitcoin reserve, swaps reserve SOL for BTC, mints ABSR for its sats, pays ASRY claims, sells SPL tokens
and their listing, and reads pools and Nostr feeds. No request needs credentials.

- **Units.** Each amount also comes as a string in its smallest unit (\`...Lamports\`, \`...Satoshis\`), which is exact. Amounts in requests are parsed from their digits. Decimal places beyond the smallest unit are dropped, never rounded up.
- **Sizes.** A body has at most 16 KiB and a query at most 8,192 characters. A longer query is a 400 \`INVALID_INPUT\` on every path.
- **Bodies** are JSON, sent as \`application/json\`, \`text/plain\`, a form type or without a type, and never compressed. An optional
  member may be null, which means absent. Unknown members are ignored, except by \`POST /api/swap/create\`. A swap, a claim and an exchange
  refuse a query string and a member that asks for a dry run: \`GET /api/swap/estimate\` and \`skipReward\` only check.
- **Lists** take \`limit\` (1 to 100) and \`cursor\`, the \`next_cursor\` of the previous page; it is null on the last page. Both histories are
  CSV with \`Accept: text/csv\`, where the header \`Link\` names the next page.
- **Times** named \`blockTime\`, \`created_at\` of a Nostr post and \`until\` are Unix seconds; every other time is ISO 8601 in UTC.
- **Errors** have one body. \`error_code\` is stable, \`action\` names the next step, and \`retryable\` shows whether the same request can succeed later, after the seconds of \`retry_after_s\` and \`Retry-After\`. A failed upstream causes an error or a value marked \`stale\`, never an empty list.
- **Waiting.** The state of a swap and of an invoice can be waited for with \`Prefer: wait=N\`: the response comes when the state
  changes.
- **Limits.** \`details.limit\` of a refusal names the limit, and \`Retry-After\` has the seconds until the next call can succeed.
- **Age.** \`as_of\` is the time when figures were read. Figures of the reserve include every operation that ended two seconds ago or earlier, and every other transaction within a minute.
- **Support.** Every response has \`X-Request-Id\`: the one that was sent, or a new one.
- **Money moves once.** Send an \`Idempotency-Key\` wherever one is described: a repeat returns the first response.
- **Versions.** Members, codes, routes and optional parameters may be added at any time. Nothing is removed or changes its meaning before it was \`deprecated\` in this document, and its responses had \`Deprecation\` (RFC 9745) and \`Sunset\` (RFC 8594), for 6 months.
- Every GET also supports HEAD. The 200 of a GET that lists a 304 has an \`ETag\` for \`If-None-Match\`; any other is \`Cache-Control: no-store\`.
  Every path supports OPTIONS; any other method is a 405 \`METHOD_NOT_ALLOWED\` with \`Allow\`; any other path is a 404 \`ROUTE_NOT_FOUND\`. CORS is open to all origins.`;

/** The areas of the API in the order of the document. */
const TAGS: Readonly<Record<string, string>> = {
  status: 'What works, what is paused, which limits are used up.',
  reserves: 'Balances, transactions and the signed ownership proof of the reserve.',
  absr: 'ABSR, the token that counts the sats of the reserve: prices, supply and mints.',
  swap: 'Swaps of reserve SOL for BTC. The service signs; the caller only names an amount.',
  tokens: 'Token creations and listings, each paid in SOL, and the tokens.',
  exchange: 'Exchanges between currencies by a provider.',
  asry: 'ASRY, a reward token, for payments of USDC or USDT.',
  pools: 'Pools of a decentralized exchange.',
  nostr: 'Posts of kind 1111 from Nostr relays.',
  analytics: 'Page views of the site and their public counts.',
  documents: 'This description in its formats, and texts about the service.',
};

/** The description of an enum and of its values. */
const enumOf = (about: string, values: readonly (readonly [value: string, meaning: string])[]) => ({
  type: 'string' as const,
  enum: values.map(([value]) => value),
  description: `${about}\n\n${values.map(([value, meaning]) => `- \`${value}\`: ${meaning}`).join('\n')}`,
});

const HEADERS = {
  'Retry-After': { description: 'Seconds to wait', schema: { type: 'integer' as const, minimum: 0 } },
  Location: {
    description: 'Path of the pool',
    schema: { type: 'string' as const, format: 'uri-reference' },
  },
  ETag: { description: 'For If-None-Match', schema: { type: 'string' as const } },
  'Idempotency-Replayed': {
    description: '`true` when this is the stored response to an earlier request with the same key',
    schema: { type: 'string' as const, enum: ['true'] },
  },
  'Preference-Applied': {
    description: 'The granted wait; absent when the service has too many waiting requests',
    schema: { type: 'string' as const, pattern: '^wait=\\d+$' },
  },
};

const headers = (...names: (keyof typeof HEADERS)[]) =>
  Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));

/**
 * @param app      the router with every route mounted
 * @param errors   the merged table of error codes
 * @param examples recorded requests by operationId
 * @param baseUrl  origin of the service; empty if not configured
 */
export function apiDocument(
  app: { getOpenAPIDocument: Describe },
  errors: ErrorTable,
  examples: Examples,
  baseUrl: string,
): ApiDocument {
  const document = app.getOpenAPIDocument({
    openapi: '3.0.3',
    info: {
      title: 'Sluice',
      version: API_VERSION,
      description: DESCRIPTION,
      license: { name: 'MIT', url: 'https://opensource.org/license/mit' },
      contact: { name: 'Operator of this service', ...(baseUrl ? { url: baseUrl } : {}) },
    },
    servers: [{ url: baseUrl || '/', description: 'This service' }],
    tags: Object.entries(TAGS).map(([name, description]) => ({ name, description })),
    security: [],
  });
  document.components = {
    ...document.components,
    headers: HEADERS,
    schemas: withErrorEnums(document.components?.schemas ?? {}, errors),
  };
  for (const { method, operation } of referringOperations(document)) {
    if (method === 'get' && hasEtag(operation))
      operation.responses[304] = { description: 'The content of the sent ETag is still current' };
    addInternal(operation.responses);
    for (const [status, response] of Object.entries(operation.responses))
      if (isInline(response)) addHeaders(response, status, operation);
    addExample(operation, examples[operation.operationId ?? '']);
  }
  return withSharedParts(corrected(document) as ApiDocument);
}

/**
 * Lists the values of `error_code` and `action` in every error, which are known only after all features are
 * merged.
 */
function withErrorEnums(schemas: Schemas, errors: ErrorTable): Schemas {
  const { Problem: problem } = schemas;
  if (!problem || '$ref' in problem) throw new Error('the schemas have no Problem');
  const codes = Object.entries(errors).map(([code, { meaning }]) => [code, meaning] as const);
  return {
    ...schemas,
    ErrorCode: enumOf(
      'Stable code of an error. Codes are never renamed; later versions may add some.',
      codes.sort(([a], [b]) => (a < b ? -1 : 1)),
    ),
    ErrorAction: enumOf('What to do next.', Object.entries(ERROR_ACTIONS)),
    Problem: {
      ...problem,
      properties: {
        ...problem.properties,
        error_code: { $ref: '#/components/schemas/ErrorCode' },
        action: { $ref: '#/components/schemas/ErrorAction' },
      },
    },
  };
}

type Listed = { method: Method; path: string; operation: Operation };

/** Every operation of a document, in order, with its shared parameters and responses in place. */
export const operationsOf = (document: ApiDocument): Listed[] =>
  referringOperations(document).map(({ operation, ...listed }) => ({
    ...listed,
    operation: {
      ...operation,
      ...(operation.parameters && {
        parameters: operation.parameters.map((part) => sharedPart(document, 'parameters', part)),
      }),
      responses: Object.fromEntries(
        Object.entries(operation.responses).map(([status, part]) => [
          status,
          sharedPart(document, 'responses', part),
        ]),
      ),
    },
  }));

/** Every operation of a document as written, with references. */
function referringOperations(document: ApiDocument): Listed[] {
  return Object.entries(document.paths).flatMap(([path, item]) =>
    METHODS.flatMap((method) => {
      const operation: Operation | undefined = item?.[method];
      return operation ? [{ method, path, operation }] : [];
    }),
  );
}

/** An operation's effect in one sentence: the first of its description. */
export const meaningOf = ({ summary = '', description = summary }: Operation): string =>
  /^[\s\S]+?\.(?=\s|$)/.exec(description)?.[0] ?? description;

const isInline = (response: Responses[string]): response is ResponseEntry => !('$ref' in response);

/** Whether a successful read may be stored. A route that forbids it declares its `Cache-Control`. */
function hasEtag({ responses }: Operation): boolean {
  const success: Responses[string] | undefined = responses[200];
  return success !== undefined && isInline(success) && !success.headers?.['Cache-Control'];
}

/** Any route can fail unexpectedly. */
function addInternal(responses: Responses): void {
  const found: ResponseEntry | undefined = responses[500];
  const schema = found?.content?.['application/json']?.schema;
  const codes = codesOf(schema);
  if (codes.includes('INTERNAL')) return;
  const all = [...codes, 'INTERNAL'];
  const coded = problemSchema(all);
  const own = schema && codes.length === 0 ? { anyOf: [schema, coded] } : coded;
  responses[500] = {
    description: ERROR_RESPONSE,
    ...(codes.length === 0 ? found : {}),
    content: { 'application/json': { schema: own } },
  };
}

/** Headers that depend on the response; the document's description states the others. */
function addHeaders(response: ResponseEntry, status: string, operation: Operation): void {
  const takes = (header: string) =>
    operation.parameters?.some((parameter) => 'name' in parameter && parameter.name === header) ?? false;
  const isSuccess = /^20/.test(status);
  const all = {
    ...response.headers,
    ...(status === '307' ? headers('Location') : {}),
    ...(status === '429' ? headers('Retry-After') : {}),
    ...(status === '304' ? headers('ETag') : {}),
    ...(isSuccess && takes('idempotency-key') ? headers('Idempotency-Replayed') : {}),
    ...(isSuccess && takes('prefer') ? headers('Preference-Applied') : {}),
  };
  if (Object.keys(all).length > 0) response.headers = all;
}

function addExample({ requestBody: body }: Operation, recorded: Examples[string] | undefined): void {
  const content = body && 'content' in body ? body.content['application/json'] : undefined;
  if (content && recorded?.request?.body !== undefined) content.example = recorded.request.body;
}

/**
 * Removes `nullable` where `type` is missing: it has no effect there, and validators reject it. A part of `allOf`
 * that is then empty is removed as well.
 */
function corrected(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(corrected);
  if (typeof value !== 'object' || value === null) return value;
  const untyped = !['type', '$ref', 'allOf', 'anyOf', 'oneOf'].some((name) => name in value);
  const entries = Object.entries(value)
    .filter(([name, member]) => !(name === 'nullable' && member === true && untyped))
    .map(([name, member]) => [name, corrected(member)] as const);
  if (!('allOf' in value)) return Object.fromEntries(entries);
  const parts = [corrected(value.allOf)].flat().filter((part) => Object.keys(Object(part)).length > 0);
  return { ...Object.fromEntries(entries), allOf: parts };
}
