/**
 * The fields of every request of the API document, with values at the bounds that it states and just outside them. Walks of
 * bounds, messages and responses use them.
 */
import type { ApiDocument, Operation } from '../../scripts/documents/shared-parts.ts';
import type { RouteRequest, Schema } from './route-requests.ts';

type Samples = { readonly inside: readonly unknown[]; readonly outside: readonly unknown[] };
export type Field = {
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

/** Its rule is narrower than a pattern can say: a wallet is an address on the curve. */
const WALLET: Samples = {
  inside: ['FqK9brQBGGP4h7vapn2vJoWAnpi12mMMqZQPyMn4qGV1'],
  outside: ['1'.repeat(32), '1'.repeat(31), 'x'.repeat(45)],
};

/** Values at the bounds of a field, and next to them on the other side. */
export function samplesOf({ name, schema, place }: Field): Samples {
  if (name === 'creator_address') return WALLET;
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

export function fieldsOf(document: ApiDocument, { parameters = [], requestBody }: Operation): Field[] {
  const resolved = (schema: unknown): Schema => {
    const found = (schema ?? {}) as Schema;
    const name = found.$ref?.split('/').at(-1);
    return name === undefined ? found : ((document.components?.schemas?.[name] ?? {}) as Schema);
  };
  const content = requestBody && 'content' in requestBody ? requestBody.content : {};
  const body = resolved(content['application/json']?.schema);
  const isRequired = (name: string) => body.required?.includes(name) === true;
  return [
    ...parameters.flatMap((one): Field[] => {
      if (!('in' in one) || one.in === 'cookie') return [];
      const { in: place, name, required, schema } = one;
      return [{ place, name, required: required === true, schema: resolved(schema) }];
    }),
    ...Object.entries(body.properties ?? {}).map(
      ([name, schema]): Field => ({
        ...{ place: 'body', name, required: isRequired(name), schema: resolved(schema) },
      }),
    ),
  ];
}

export type SentRequest = {
  readonly method: string;
  readonly path: string;
  readonly headers: Record<string, string>;
  readonly body?: string;
};

/** A request with other values of some fields; undefined leaves a field out. */
export function requestWith(
  { method, operation, path, init }: Pick<RouteRequest, 'method' | 'operation' | 'path' | 'init'>,
  changes: readonly (readonly [field: Pick<Field, 'place' | 'name'>, value: unknown])[],
): SentRequest {
  const url = new URL(path, 'https://sluice.test');
  const parts = operation.slice(method.length + 1).split('/');
  const filled = url.pathname.split('/');
  const headers: Record<string, string> = { ...init.headers };
  const members = new Map<string, unknown>(Object.entries(JSON.parse(init.body ?? '{}')));
  for (const [{ place, name }, value] of changes) {
    if (place === 'query' && value === undefined) url.searchParams.delete(name);
    else if (place === 'query') url.searchParams.set(name, String(value));
    // Lone surrogates have no UTF-8.
    if (place === 'path')
      filled[parts.indexOf(`{${name}}`)] = encodeURIComponent(String(value).toWellFormed());
    if (place === 'header' && value !== undefined) headers[name] = String(value);
    if (place === 'body') members.set(name, value);
  }
  return {
    ...{ method, path: `${filled.join('/')}${url.search}`, headers },
    ...(init.body === undefined ? {} : { body: JSON.stringify(Object.fromEntries(members)) }),
  };
}
