/** Requests at each bound that the API document states, and just outside it. */
import { describe, expect, it } from 'vitest';
import { apiDocument, operationsOf } from '../../scripts/documents/api-document.ts';
import { createApp } from '../../src/app.ts';
import { ERRORS } from '../../src/core/errors.ts';
import { apiDeps } from '../../src/wiring/api.ts';
import { routeRequests, type Schema } from '../e2e/route-requests.ts';
import { closedEnv, custodianWith, pausedAnswer } from './closed-env.ts';

type Samples = { readonly inside: readonly unknown[]; readonly outside: readonly unknown[] };
type Field = {
  readonly place: 'query' | 'path' | 'header' | 'body';
  readonly name: string;
  readonly required: boolean;
  readonly schema: Schema;
};

const [SHORT_ADDRESS, LONG_ADDRESS] = ['1'.repeat(32), '7Np41oeYqPefeNQEHSv1UDhYrehxin3NStELsSKCT4K2'];
const [SHORT_SIGNATURE, LONG_SIGNATURE] = [
  '1'.repeat(64),
  '67rpwLCuS5DGA8KGZXKsVQ7dnPb9goRLoKfgGbLfQg9WoLUgNY77E2jT11fem3coV9nAkguBACzrU1iyZM4B8roQ',
];
const visible = (shortest: number, longest: number): Samples => ({
  inside: ['!'.repeat(shortest), '~'.repeat(longest)],
  outside: ['!'.repeat(shortest - 1), '~'.repeat(longest + 1), ' '.repeat(longest), 'é'.repeat(longest)],
});
const address: Samples = {
  inside: [SHORT_ADDRESS, LONG_ADDRESS],
  outside: [SHORT_ADDRESS.slice(1), `${LONG_ADDRESS}1`, `0${LONG_ADDRESS.slice(1)}`],
};
const labels = (count: number, length: number) =>
  Array.from({ length: count }, (_, at) => String(at).padStart(length, 'x')).join(',');

/** Texts at the ends of each pattern. */
const PATTERNS: Readonly<Record<string, Samples>> = {
  '^[1-9A-HJ-NP-Za-km-z]{32,44}$': address,
  '^[1-9A-HJ-NP-Za-km-z]{64,88}$': {
    inside: [SHORT_SIGNATURE, LONG_SIGNATURE],
    outside: [SHORT_SIGNATURE.slice(1), `${LONG_SIGNATURE}1`, `0${LONG_SIGNATURE.slice(1)}`],
  },
  '^([1-9]\\d{0,14}|[1-9A-HJ-NP-Za-km-z]{32,44})$': {
    inside: ['1', '9'.repeat(15), ...address.inside],
    outside: ['0', '9'.repeat(16), '-1', ...address.outside],
  },
  '^[\\x21-\\x7e]{16,128}$': visible(16, 128),
  '^[\\x21-\\x7e]{2,200}$': visible(2, 200),
  '^[\\x21-\\x7e]{1,200}$': visible(1, 200),
  '^[A-Za-z0-9._-]{2,32}$': { inside: ['..', 'x'.repeat(32)], outside: ['x', 'x'.repeat(33), 'b+c'] },
  '^[\\w-]{1,64}$': { inside: ['_', '-'.repeat(64)], outside: ['x'.repeat(65), 'a.b'] },
  '^[A-Za-z0-9_-]+$': { inside: [], outside: ['a+b', '='] },
  '^\\d{1,12}\\.[0-9a-f]{64}$': {
    inside: [`1.${'0'.repeat(64)}`, `${'9'.repeat(12)}.${'f'.repeat(64)}`],
    outside: [`.${'0'.repeat(64)}`, `${'9'.repeat(13)}.${'f'.repeat(64)}`, `1.${'f'.repeat(63)}`],
  },
  '^[\\s,]*([^\\s,]{1,64}([\\s,]+[^\\s,]{1,64}){0,19})?[\\s,]*$': {
    inside: ['a', labels(20, 64), ' ,'],
    outside: [labels(21, 2), 'x'.repeat(65)],
  },
  '^\\d{1,20}$': { inside: ['0', '18446744073709551615'], outside: ['1'.repeat(21), '-1', '1.5', '0x1'] },
  '^\\d{1,64}$': { inside: ['1', '9'.repeat(64)], outside: ['9'.repeat(65), '-1', '1.5'] },
  '^\\d{1,57}(\\.\\d{1,6})?$': {
    inside: ['0.000001', `${'9'.repeat(57)}.123456`],
    outside: ['0.0000001', `${'9'.repeat(58)}.1234567`, '-1'],
  },
  '^https://[\\x21-\\x7e]+$': {
    inside: ['https://a', `https://${'a'.repeat(60)}/${'b'.repeat(131)}`],
    outside: ['http://a', 'https://', 'https://a b'],
  },
  '^/': { inside: ['/', '//host', `/${'x'.repeat(1_023)}`], outside: ['x', ' /', `/${'x'.repeat(1_024)}`] },
};
const FORMATS: Readonly<Record<string, Samples>> = {
  uuid: { inside: ['7c9e6679-7425-40de-944b-e07fc1f90ae7'], outside: ['7c9e6679'] },
  date: { inside: ['2024-02-29'], outside: ['2026-02-29', '2026-1-1'] },
  'date-time': { inside: ['2026-11-20T00:00:00.000Z'], outside: ['2026-11-20', '2026-11-20T24:00:00Z'] },
};

/** Fields whose rule is narrower than a pattern can say: a wallet is an address on the curve. */
const BY_NAME: Readonly<Record<string, Samples>> = {
  creator_address: {
    inside: ['FqK9brQBGGP4h7vapn2vJoWAnpi12mMMqZQPyMn4qGV1'],
    outside: ['1'.repeat(32), '1'.repeat(31), 'x'.repeat(45)],
  },
};

/** Values at the bounds of a schema, and next to them on the other side. */
function samplesOf({ schema, place }: Field): Samples {
  const { type, enum: values, minimum, maximum, minLength, maxLength, pattern, format } = schema;
  if (values) return { inside: values, outside: [`${values[0]}x`] };
  if (type === 'boolean') return { inside: [true, false], outside: ['x', 2] };
  if (type === 'integer' || type === 'number') {
    const step = type === 'integer' ? 1 : (minimum ?? 0) / 10;
    return {
      inside: [minimum, maximum].filter((bound) => bound !== undefined),
      outside: [
        ...(type === 'integer' && place !== 'body'
          ? ['0x1', '0b1', '1e1', '1.0', ' 1', '1 ', '+1', '1_0', '١']
          : []),
        'x',
        ...(minimum === undefined ? [] : [minimum - (step || 1)]),
        ...(maximum === undefined ? [] : [maximum + 1]),
        ...(type === 'integer' ? [(minimum ?? 0) + 0.5] : []),
      ],
    };
  }
  const known = pattern === undefined ? FORMATS[format ?? ''] : PATTERNS[pattern];
  if (known) return known;
  if (pattern !== undefined || format !== undefined) throw new Error(`no samples of ${pattern ?? format}`);
  return {
    inside: [minLength, maxLength].flatMap((length) => (length === undefined ? [] : ['x'.repeat(length)])),
    outside: [
      ...(minLength === undefined ? [] : ['x'.repeat(minLength - 1)]),
      ...(maxLength === undefined ? [] : ['x'.repeat(maxLength + 1)]),
    ],
  };
}

const bindings = {
  ...closedEnv(),
  CUSTODIAN: custodianWith(pausedAnswer),
  ASRY_MINT_ADDRESS: LONG_ADDRESS,
  ABSR_MINT_ADDRESS: LONG_ADDRESS,
  SOLANA_PRIVATE_KEY: 'set',
  MINT_KEY_SEED: 'set',
};
const app = createApp(async () => ({ ...(await apiDeps(bindings)), log: () => undefined }));
const document = apiDocument(app, ERRORS, {}, '');
const resolved = (schema: Schema | undefined): Schema =>
  schema?.$ref === undefined
    ? (schema ?? {})
    : ((document.components?.schemas?.[schema.$ref.split('/').at(-1) ?? ''] ?? {}) as Schema);

type Operation = ReturnType<typeof operationsOf>[number];
function fieldsOf({ operation }: Operation): Field[] {
  const body =
    operation.requestBody && 'content' in operation.requestBody
      ? resolved(operation.requestBody.content['application/json']?.schema as Schema)
      : {};
  return [
    ...(operation.parameters ?? []).flatMap((one): Field[] =>
      'in' in one && one.in !== 'cookie'
        ? [
            {
              place: one.in,
              name: one.name,
              required: one.required === true,
              schema: resolved(one.schema as Schema),
            },
          ]
        : [],
    ),
    ...Object.entries(body.properties ?? {}).map(
      ([name, schema]): Field => ({
        place: 'body',
        name,
        required: body.required?.includes(name) === true,
        schema: resolved(schema),
      }),
    ),
  ];
}

const operations = operationsOf(document).map(
  (listed) => [`${listed.method.toUpperCase()} ${listed.path}`, listed, fieldsOf(listed)] as const,
);
const valid = new Map(
  routeRequests().map((request) => [
    `${request.method} ${request.route.replaceAll(/:(\w+)(\{[^}]*\})?/g, '{$1}')}`,
    request,
  ]),
);

let callers = 0;
/** Sends the valid request of an operation with another value of one field; undefined leaves it out. @param more members */
async function send(operation: string, { place, name }: Field, value: unknown, more: object = {}) {
  const request = valid.get(operation);
  if (!request) throw new Error(`no request for ${operation}`);
  const url = new URL(request.path, 'https://sluice.test');
  const headers: Record<string, string> = { ...request.init.headers };
  let { body } = request.init;
  if (place === 'query' && value === undefined) url.searchParams.delete(name);
  else if (place === 'query') url.searchParams.set(name, String(value));
  if (place === 'path')
    url.pathname = operation
      .slice(operation.indexOf('/'))
      .replace(`{${name}}`, () => encodeURIComponent(String(value)));
  // A header is Latin-1.
  if (place === 'header' && value !== undefined) headers[name] = String(value);
  if (place === 'body') body = JSON.stringify({ ...JSON.parse(body ?? '{}'), [name]: value, ...more });
  callers += 1;
  headers['cf-connecting-ip'] = `10.1.${callers >> 8}.${callers & 255}`;
  const response = await app.request(
    `${url.pathname}${url.search}`,
    { method: request.method, headers, ...(body === undefined ? {} : { body }) },
    bindings,
  );
  const text = await response.text();
  const problem = response.status >= 400 ? (JSON.parse(text) as Problem) : undefined;
  return { status: response.status, problem };
}
type Problem = {
  readonly error_code: string;
  readonly error: string;
  readonly details?: { readonly issues?: readonly { path: string }[]; readonly field?: string };
};

/** Whether a response refuses the value of a field. */
const blames = ({ problem }: Awaited<ReturnType<typeof send>>, { name, place }: Field): boolean =>
  problem?.details?.issues?.some(({ path }) => path === name) === true ||
  problem?.details?.field === name ||
  (place === 'header' && problem?.error_code === 'INVALID_IDEMPOTENCY_KEY');

describe.each(operations)('%s', (operation, listed, fields) => {
  it.each(fields.map((field) => [`${field.name} in ${field.place}`, field] as const))(
    'accepts values within the documented bounds of %s and refuses others',
    async (_name, field) => {
      const { inside, outside } = BY_NAME[field.name] ?? samplesOf(field);
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
  it.runIf(snake.length > 0)('a member may be in camel case exactly if the description says so', async () => {
    const sent = JSON.parse(valid.get(operation)?.init.body ?? '{}') as Record<string, unknown>;
    for (const field of snake) {
      const camel = field.name.replace(/_(.)/g, (_, letter: string) => letter.toUpperCase());
      const answer = await send(operation, field, undefined, { [camel]: sent[field.name] });
      const isSaid = listed.operation.description?.includes('camel case') === true;
      expect([field.name, blames(answer, field)]).toEqual([field.name, !isSaid]);
    }
  });

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

it('every text of a request has a length limit or a described set of values', () => {
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
