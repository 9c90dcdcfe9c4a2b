/** Requests at each bound that the API document states, just outside it, and with values of wrong kinds. */
import { describe, expect, it } from 'vitest';
import { apiDocument, operationsOf } from '../../scripts/documents/api-document.ts';
import { createApp } from '../../src/app.ts';
import { ERRORS } from '../../src/core/errors.ts';
import { apiDeps } from '../../src/wiring/api.ts';
import { type Field, fieldsOf, requestWith, samplesOf } from '../e2e/request-fields.ts';
import { routeRequests } from '../e2e/route-requests.ts';
import { pausedEnv } from './closed-env.ts';

const bindings = pausedEnv();
const app = createApp(async () => ({ ...(await apiDeps(bindings)), log: () => undefined }));
const document = apiDocument(app, ERRORS, {}, '');
const operations = operationsOf(document).map(
  (listed) =>
    [`${listed.method.toUpperCase()} ${listed.path}`, listed, fieldsOf(document, listed.operation)] as const,
);
const valid = new Map(routeRequests().map((request) => [request.operation, request]));

type Problem = {
  readonly error_code: string;
  readonly error: string;
  readonly details?: { readonly issues?: readonly { path: string }[]; readonly field?: string };
};

let callers = 0;
/** Sends the valid request of an operation with another value of one field; undefined leaves it out. @param more members */
async function send(operation: string, field: Field, value: unknown, more: object = {}) {
  const request = valid.get(operation);
  if (!request) throw new Error(`no request for ${operation}`);
  const others = Object.entries(more).map(([name, one]) => [{ place: 'body', name }, one] as const);
  const { path, method, headers, body } = requestWith(request, [[field, value], ...others]);
  callers += 1;
  headers['cf-connecting-ip'] = `10.1.${callers >> 8}.${callers & 255}`;
  const response = await app.request(
    path,
    { method, headers, ...(body === undefined ? {} : { body }) },
    bindings,
  );
  const text = await response.text();
  const problem = response.status >= 400 ? (JSON.parse(text) as Problem) : undefined;
  return { status: response.status, problem };
}

/** Whether a response refuses the value of a field. */
const blames = ({ problem }: Awaited<ReturnType<typeof send>>, { name, place }: Field): boolean =>
  problem?.details?.issues?.some(({ path }) => path === name) === true ||
  problem?.details?.field === name ||
  (place === 'header' && problem?.error_code === 'INVALID_IDEMPOTENCY_KEY');

const LONG = 'x'.repeat(3_000);
const TEXTS = ['', ' ', 'nope!', '\u0007\u0007', '-1', '0', '1e9', LONG];
const VALUES = [null, {}, [], true, 0, -1, 2.5, 1e300, 'nope!', '', '\u0007'.repeat(50), LONG];
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

describe.each(operations)('%s', (operation, listed, fields) => {
  it.each(fields.map((field) => [`${field.name} in ${field.place}`, field] as const))(
    'accepts values within the documented bounds of %s and refuses others',
    async (_name, field) => {
      const { inside, outside } = samplesOf(field);
      const answers = async (values: readonly unknown[]) =>
        Promise.all(values.map(async (value) => [value, await send(operation, field, value)] as const));
      for (const [value, answer] of await answers(inside))
        expect([value, blames(answer, field), answer.status < 500 ? '' : answer.problem?.error_code]).toEqual(
          [value, false, expect.stringMatching(/^(?!INTERNAL)/)],
        );
      for (const [value, { status, problem }] of await answers(outside))
        expect([value, status, problem?.error_code]).toEqual([
          value,
          expect.toBeOneOf([400, 404]),
          expect.any(String),
        ]);
    },
    60_000,
  );

  it.each(fields.filter(({ place }) => place !== 'header').map((field) => [field.name, field] as const))(
    'the message about a wrong %s names the field, the rule and the given value',
    async (name, field) => {
      const values = field.place === 'body' ? VALUES : TEXTS;
      const answers = await Promise.all(values.map((value) => send(operation, field, value)));
      const texts = answers.flatMap(({ status, problem }) =>
        status === 400 && /^INVALID_(INPUT|TOKEN_TEXT)$/.test(problem?.error_code ?? '')
          ? String(problem?.error)
          : [],
      );
      for (const text of texts) {
        expect(text).not.toMatch(JARGON);
        expect(text).toMatch(GIVEN);
        expect(text.length).toBeLessThan(260);
        expect(text).not.toContain('x'.repeat(61));
      }
      if (!TAKES_ANY_TEXT.includes(`${operation} ${name}`))
        expect(texts.filter((text) => text.startsWith(`${name} `))).not.toEqual([]);
    },
  );

  const members = fields.filter(({ place }) => place !== 'path' && place !== 'header');
  it.runIf(members.length > 0)(
    'a request needs exactly the members that the document marks as required',
    async () => {
      for (const field of members) {
        const answer = await send(operation, field, undefined);
        expect([field.name, blames(answer, field)]).toEqual([field.name, field.required]);
      }
    },
  );

  const snake = fields.filter(
    ({ place, name, required }) => place === 'body' && required && name.includes('_'),
  );
  it.runIf(snake.length > 0)(
    'a member may be in camel case if and only if the description says so',
    async () => {
      const sent = JSON.parse(valid.get(operation)?.init.body ?? '{}') as Record<string, unknown>;
      for (const field of snake) {
        const camel = field.name.replace(/_(.)/g, (_, letter: string) => letter.toUpperCase());
        const answer = await send(operation, field, undefined, { [camel]: sent[field.name] });
        const isSaid = listed.operation.description?.includes('camel case') === true;
        expect([field.name, blames(answer, field)]).toEqual([field.name, !isSaid]);
      }
    },
  );

  const optional = fields.filter(({ place, required }) => place === 'query' && !required);
  it.runIf(optional.length > 0)('treats an empty optional query parameter as absent', async () => {
    for (const field of optional) {
      const [empty, absent] = [await send(operation, field, ''), await send(operation, field, undefined)];
      expect([field.name, empty.status, empty.problem?.error_code]).toEqual([
        field.name,
        absent.status,
        absent.problem?.error_code,
      ]);
    }
  });
});

it('every string in a request has a length limit or a described set of values', () => {
  const unbounded = operations.flatMap(([operation, , fields]) =>
    fields
      .filter(
        ({ schema: { type, enum: values, pattern, format, maxLength } }) =>
          type === 'string' && values === undefined && (pattern ?? format ?? maxLength) === undefined,
      )
      .map(({ name }) => `${operation} ${name}`),
  );
  expect([...new Set(unbounded.map((text) => text.split(' ').at(-1)))]).toEqual(['prefer']);
});
