/** Sends several wrong values for every field of every request in the API document. */
import { expect, it } from 'vitest';
import { apiDocument, operationsOf } from '../../scripts/documents/api-document.ts';
import type { ApiDocument } from '../../scripts/documents/shared-parts.ts';
import { createApp, type Deps } from '../../src/app.ts';
import { ERRORS } from '../../src/core/errors.ts';
import { routeRequests } from '../e2e/route-requests.ts';
import { OPEN_GATE } from '../kit/flood-gate.ts';

const TREASURY = '7Np41oeYqPefeNQEHSv1UDhYrehxin3NStELsSKCT4K2';
const deps = {
  log: () => undefined,
  tokens: { requirePayments: () => TREASURY, publicBaseUrl: 'https://sluice.example' },
} as unknown as Deps;
const app = createApp(() => deps);
const document: ApiDocument = apiDocument(app, ERRORS, {}, '');
const valid = new Map(
  routeRequests(app).map((request) => [
    `${request.method} ${request.route.replaceAll(/:(\w+)(\{[^}]*\})?/g, '{$1}')}`,
    request,
  ]),
);

const LONG = 'x'.repeat(3_000);
const TEXTS = ['', ' ', 'nope!', '\u0007\u0007', '-1', '0', '1e9', LONG];
const VALUES: readonly unknown[] = [
  null,
  {},
  [],
  true,
  0,
  -1,
  2.5,
  1e300,
  'nope!',
  '',
  '\u0007'.repeat(50),
  LONG,
];
/** Terms of the library, and codes instead of sentences. */
const JARGON =
  /Invalid input|Invalid (?:string|option|key)|expected|received|\btoo_|Too (?:big|small)|undefined|NaN|\[object|unrecognized/i;
/** The description of a value in a message: its beginning, kind or length, or its absence. */
const GIVEN =
  / was given$|^\S+ is required$|^\S+ must not be empty$| is [\d,]+ (?:bytes|characters) long; at most [\d,]+$|^Unknown member: | are required\.$|^Give either /;
/** Fields that take any text: an id of no known form is not found, not wrong. */
const TAKES_ANY_TEXT = [
  'GET /api/swap/status/{id} id',
  'GET /api/invoices/{id} id',
  'GET /api/tokens/{mint_address}/metadata.json mint_address',
  'GET /api/tokens/{id} id',
  'GET /api/asry/claims/{signature} signature',
];

type Field = { where: 'query' | 'path' | 'body'; name: string };
type Case = { operation: string; field: Field; values: readonly unknown[] };

const propertiesOf = (schema: unknown): string[] => {
  const found = schema as { $ref?: string; properties?: object; allOf?: unknown[]; anyOf?: unknown[] };
  if (found.$ref)
    return propertiesOf(document.components?.schemas?.[found.$ref.split('/').at(-1) ?? ''] ?? {});
  return [
    ...Object.keys(found.properties ?? {}),
    ...[...(found.allOf ?? []), ...(found.anyOf ?? [])].flatMap(propertiesOf),
  ];
};

const cases: Case[] = operationsOf(document).flatMap(({ method, path, operation }) => {
  const name = `${method.toUpperCase()} ${path}`;
  const body =
    operation.requestBody && 'content' in operation.requestBody
      ? operation.requestBody.content['application/json']?.schema
      : undefined;
  return [
    ...(operation.parameters ?? []).flatMap((one) =>
      'in' in one && (one.in === 'query' || one.in === 'path')
        ? [{ operation: name, field: { where: one.in, name: one.name }, values: TEXTS } as const]
        : [],
    ),
    ...propertiesOf(body ?? {}).map((field) => ({
      operation: name,
      field: { where: 'body' as const, name: field },
      values: VALUES,
    })),
  ];
});

async function send({ operation, field }: Case, value: unknown): Promise<{ status: number; text: string }> {
  const request = valid.get(operation);
  if (!request) throw new Error(`no request for ${operation}`);
  const url = new URL(request.path, 'http://sluice.test');
  const { body } = request.init;
  const init: RequestInit = { ...request.init };
  if (field.where === 'query') url.searchParams.set(field.name, String(value));
  if (field.where === 'path')
    url.pathname = operation
      .slice(operation.indexOf('/'))
      .replace(`{${field.name}}`, encodeURIComponent(String(value)));
  if (field.where === 'body')
    init.body = JSON.stringify({ ...JSON.parse(body ?? '{}'), [field.name]: value });
  const response = await app.request(url, init, OPEN_GATE);
  const answer =
    response.status === 400 ? ((await response.json()) as { error: string; error_code: string }) : null;
  return {
    status: response.status,
    text: answer && ['INVALID_INPUT', 'INVALID_TOKEN_TEXT'].includes(answer.error_code) ? answer.error : '',
  };
}

it.each(cases.map((one) => [`${one.operation} ${one.field.name}`, one] as const))(
  'the message about a wrong %s names the field, the rule and the given value',
  async (name, one) => {
    const texts: string[] = [];
    for (const value of one.values) {
      const { text } = await send(one, value);
      if (text === '') continue;
      texts.push(text);
      expect(text).not.toMatch(JARGON);
      expect(text).toMatch(GIVEN);
      expect(text.length).toBeLessThan(260);
      expect(text).not.toContain('x'.repeat(61));
    }
    if (!TAKES_ANY_TEXT.includes(name))
      expect(texts.filter((text) => text.startsWith(`${one.field.name} `))).not.toEqual([]);
  },
);
