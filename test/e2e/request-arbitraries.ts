import fc from 'fast-check';
import { operationsOf } from '../../scripts/documents/api-document.ts';
import type { ApiDocument, Operation } from '../../scripts/documents/shared-parts.ts';
import { type Field, fieldsOf, requestWith, type SentRequest, samplesOf } from './request-fields.ts';
import { type RouteRequest, routeRequests } from './route-requests.ts';

/** One request of an operation, ready to be sent. */
export interface ApiRequest extends SentRequest {
  readonly operationId: string;
}
/** Text that tests parsing, comparing, counting and forwarding. */
const ODD_TEXT = [
  ...'0 -1 1e5 0.0000000001 0x10 99999999999999999999999999 18446744073709551616 null undefined NaN true'.split(
    ' ',
  ),
  ...'[] {} %00 % /etc/passwd a/b <script> ＡＢＣ ‮text 💧 2026-13-45'.split(' '),
  ...["' OR 1=1 --", ' ', '1'.repeat(46), 'x'.repeat(3_000)],
];
const ODD_JSON: readonly unknown[] = [
  ...JSON.parse('[null, true, false, 0, -1, 0.1, 1e21, "", "0", [], {}, [[]], { "a": { "b": {} } }]'),
  'x'.repeat(3_000),
];
const BROKEN_BODIES = ['', '{', '{"a":', '[', 'null', '"text"', '1', '[]', '{"a":1,}', '\u0000', 'a=b&c=d'];
const TYPES = ['application/json', 'application/json; charset=utf-8', 'application/x-www-form-urlencoded'];
const WRONG_TYPES = ['text/plain', 'multipart/form-data; boundary=x', 'application/xml', 'nonsense'];

/** A request that succeeded in this world. */
export interface Success {
  readonly operationId: string;
  /** With its query. */
  readonly path: string;
  readonly requestBody?: unknown;
}

/**
 * @param known real ids, signatures and addresses of this world, used for every text parameter
 * @param successes real requests, which are repeated, varied and spoiled
 */
export function requestArbitraries(
  document: ApiDocument,
  known: readonly string[],
  successes: readonly Success[],
) {
  const oddText = fc.oneof(
    fc.constantFrom(...ODD_TEXT),
    fc.string({ minLength: 1, maxLength: 40 }),
    fc.string({ unit: 'binary', minLength: 1, maxLength: 12 }),
    fc.integer().map(String),
  );
  const knownText = known.length > 0 ? fc.constantFrom(...known) : oddText;
  const headerText = fc.oneof(
    fc.uuid(),
    fc.constantFrom('0123456789abcdef', 'short', 'with space 0123456789', 'x'.repeat(200)),
    fc.string({
      unit: fc.integer({ min: 0x21, max: 0x7e }).map((c) => String.fromCharCode(c)),
      minLength: 1,
    }),
  );

  /** A value of a field, at or near a bound, from the world, or odd. */
  function textOrValue(field: Field): fc.Arbitrary<unknown> {
    const { place, schema } = field;
    if (place === 'header') return headerText;
    const { inside, outside } = samplesOf(field);
    const samples = [...inside, ...outside, ...(schema.example === undefined ? [] : [schema.example])];
    const { minimum = 0, maximum = 1_000_000 } = schema;
    const text = fc.oneof(knownText, oddText);
    const value = fc.oneof(
      ...(samples.length > 0 ? [fc.constantFrom(...samples)] : []),
      ...(schema.type === 'number' ? [fc.integer({ min: 1, max: 3_000_000 }).map((sum) => sum / 1e6)] : []),
      ...(schema.type === 'integer' ? [fc.integer({ min: minimum, max: Math.min(maximum, 2 ** 31) })] : []),
      place === 'body' ? fc.oneof(text, fc.constantFrom(...ODD_JSON), fc.jsonValue({ maxDepth: 2 })) : text,
    );
    // A path of nothing or dots is another path.
    if (place === 'path') return value.filter((one) => !/^\.*$/.test(String(one)));
    return fc.option(value, { nil: undefined, freq: field.required ? 12 : 2 });
  }

  type SentBody = { readonly body: string; readonly type: string };
  const brokenBody: fc.Arbitrary<SentBody> = fc.oneof(
    fc.record({ body: fc.jsonValue().map((body) => JSON.stringify(body)), type: fc.constantFrom(...TYPES) }),
    fc.record({ body: fc.constantFrom(...BROKEN_BODIES), type: fc.constantFrom(...TYPES) }),
    fc.record({ body: fc.constant('{}'), type: fc.constantFrom(...WRONG_TYPES) }),
    fc.constant({ body: `{"pad":"${'x'.repeat(17_000)}"}`, type: 'application/json' }),
  );
  const examples = routeRequests();

  /** Requests of one operation, about half of them wrong in some way. */
  function requests(name: string, operation: Operation): fc.Arbitrary<ApiRequest> {
    const example = examples.find((one) => one.operation === name);
    if (!example) throw new Error(`no request for ${name}`);
    const operationId = operation.operationId ?? '';
    const real = successes
      .filter((success) => success.operationId === operationId)
      .map(({ path, requestBody }): RouteRequest => {
        const body = requestBody === undefined ? {} : { body: JSON.stringify(requestBody) };
        return { ...example, path, init: { ...example.init, ...body } };
      });
    const fields = [
      ...fieldsOf(document, operation),
      ...(example.init.body === undefined
        ? []
        : ['extra', '__proto__'].map(
            (member): Field => ({ place: 'body', name: member, required: false, schema: {} }),
          )),
    ];
    const changes = fc
      .subarray(fields, { maxLength: Math.min(fields.length, 3) })
      .chain((some) => fc.tuple(...some.map((field) => fc.tuple(fc.constant(field), textOrValue(field)))));
    const broken = fc.oneof(
      { weight: 10, arbitrary: fc.constant(undefined) },
      { weight: example.init.body === undefined ? 0 : 4, arbitrary: brokenBody },
    );
    return fc
      .tuple(fc.constantFrom(example, ...real), changes, broken, fc.nat(), fc.nat({ max: 9 }))
      .map(([base, changed, other, caller, dice]): ApiRequest => {
        const sent = requestWith(base, changed);
        const ip = `10.${(caller >>> 16) & 255}.${(caller >>> 8) & 255}.${caller & 255}`;
        return {
          ...sent,
          operationId,
          // HEAD is GET without its body.
          method: sent.method === 'GET' && dice === 0 ? 'HEAD' : sent.method,
          headers: { ...sent.headers, ...(other && { 'content-type': other.type }), 'x-world-client-ip': ip },
          ...(other && { body: other.body }),
        };
      });
  }

  return operationsOf(document).map(({ method, path, operation }) => ({
    operationId: operation.operationId ?? '',
    requests: requests(`${method.toUpperCase()} ${path}`, operation),
  }));
}
