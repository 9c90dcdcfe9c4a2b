import fc from 'fast-check';
import { operationsOf } from '../../scripts/documents/api-document.ts';
import type { ApiDocument, Method, Operation } from '../../scripts/documents/shared-parts.ts';
import type { Parameter, Schema } from './route-requests.ts';

/** One request of an operation, ready to be sent. */
export interface ApiRequest {
  readonly operationId: string;
  readonly method: string;
  /** With its query. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
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
const CONTENT_TYPES = [
  'application/json',
  'application/json; charset=utf-8',
  'application/x-www-form-urlencoded',
];
const WRONG_TYPES = ['text/plain', 'multipart/form-data; boundary=x', 'application/xml', 'nonsense'];

/** A request that succeeded in this world. */
export interface Success {
  readonly operationId: string;
  /** With its query. */
  readonly path: string;
  readonly requestBody?: unknown;
}

type Fields = Readonly<Record<string, unknown>>;
const fieldsOf = (value: unknown): Fields =>
  typeof value === 'object' && value !== null ? (value as Fields) : {};

/** The parameters of a path that was really requested. */
function parametersOf(template: string, path: string): Fields {
  const [bare = '', query = ''] = path.split('?');
  const parts = bare.split('/');
  const named = template.split('/').flatMap((part, at) => {
    const name = /^\{(.+)\}$/.exec(part)?.[1];
    return name ? [[name, decodeURIComponent(parts[at] ?? '')]] : [];
  });
  return Object.fromEntries([...named, ...new URLSearchParams(query)]);
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
  const components = (document.components?.schemas ?? {}) as Readonly<Record<string, Schema>>;
  const resolve = (schema: Schema): Schema =>
    schema.$ref === undefined ? schema : (components[schema.$ref.split('/').at(-1) ?? ''] ?? {});
  const oddText = fc.oneof(
    fc.constantFrom(...ODD_TEXT),
    fc.string({ minLength: 1, maxLength: 40 }),
    fc.string({ unit: 'binary', minLength: 1, maxLength: 12 }),
    fc.integer().map(String),
  );
  const knownText = known.length > 0 ? fc.constantFrom(...known) : oddText;

  /** A value that the schema allows, as far as the schema restricts it. */
  function fitting(given: Schema, depth = 0): fc.Arbitrary<unknown> {
    const schema = resolve(given);
    const options: fc.Arbitrary<unknown>[] = [];
    if (schema.enum) options.push(fc.constantFrom(...schema.enum));
    if (schema.example !== undefined) options.push(fc.constant(schema.example));
    for (const part of [...(schema.anyOf ?? []), ...(schema.oneOf ?? []), ...(schema.allOf ?? [])])
      if (depth < 4) options.push(fitting(part, depth + 1));
    if (options.length > 0) return fc.oneof(...options);
    const { minimum = 0, maximum = 1_000_000 } = schema;
    switch (schema.type) {
      case 'integer':
        return fc.integer({ min: Math.ceil(minimum), max: Math.floor(maximum) });
      case 'number':
        return fc.oneof(
          fc.integer({ min: 1, max: 3_000_000 }).map((thousandths) => thousandths / 1_000_000),
          fc.double({ min: minimum, max: maximum, noNaN: true }),
        );
      case 'boolean':
        return fc.boolean();
      case 'array':
        return fc.array(fitting(schema.items ?? {}, depth + 1), { maxLength: 3 });
      case 'object':
        return members(schema, depth);
      default:
        return fc.oneof(
          knownText,
          fc.string({ minLength: 1, maxLength: Math.min(schema.maxLength ?? 30, 30) }),
        );
    }
  }

  function members(schema: Schema, depth: number): fc.Arbitrary<Record<string, unknown>> {
    const required = new Set(schema.required ?? []);
    const entries = Object.entries(schema.properties ?? {});
    return fc
      .tuple(
        ...entries.map(([name, member]) =>
          fc.tuple(fc.constant(name), fitting(member, depth + 1), fc.boolean()),
        ),
      )
      .map((all) =>
        Object.fromEntries(
          all.filter(([name, , given]) => required.has(name) || given).map(([name, value]) => [name, value]),
        ),
      );
  }

  /** A body that succeeded, without some optional members. */
  const repeated = (schema: Schema, bodies: readonly Fields[]): fc.Arbitrary<Fields> => {
    const required = new Set(resolve(schema).required ?? []);
    return fc
      .tuple(fc.constantFrom(...bodies), fc.array(fc.boolean(), { minLength: 20 }))
      .map(([body, drops]) => {
        const kept = Object.entries(body).filter(
          ([name], at) => required.has(name) || !(drops[at] && drops[at + 1]),
        );
        return Object.fromEntries(kept);
      });
  };

  /** A body near the schema with one or two things wrong. */
  const spoiled = (schema: Schema, base: fc.Arbitrary<Fields>): fc.Arbitrary<unknown> =>
    fc
      .tuple(
        base,
        fc.array(
          fc.tuple(
            fc.constantFrom(...Object.keys(resolve(schema).properties ?? {}), 'extra', '__proto__'),
            fc.oneof(fc.constantFrom(...ODD_JSON), oddText, fc.jsonValue({ maxDepth: 2 })),
            fc.boolean(),
          ),
          { minLength: 1, maxLength: 2 },
        ),
      )
      .map(([body, changes]) => {
        const entries = new Map(Object.entries(body));
        for (const [name, value, drop] of changes) drop ? entries.delete(name) : entries.set(name, value);
        return Object.fromEntries(entries);
      });

  type SentBody = { readonly body: string; readonly type: string };
  function bodies(schema: Schema, real: readonly Fields[]): fc.Arbitrary<SentBody> {
    const shaped = members(resolve(schema), 0);
    const base = real.length > 0 ? fc.oneof(shaped, repeated(schema, real)) : shaped;
    const json = (value: fc.Arbitrary<unknown>) =>
      fc.record({ body: value.map((body) => JSON.stringify(body)), type: fc.constantFrom(...CONTENT_TYPES) });
    return fc.oneof(
      { weight: 5, arbitrary: json(fc.oneof(base, fitting(schema))) },
      { weight: 5, arbitrary: json(spoiled(schema, base)) },
      { weight: 1, arbitrary: json(fc.jsonValue()) },
      {
        weight: 1,
        arbitrary: fc.record({
          body: fc.constantFrom(...BROKEN_BODIES),
          type: fc.constantFrom(...CONTENT_TYPES),
        }),
      },
      { weight: 1, arbitrary: fc.record({ body: fc.constant('{}'), type: fc.constantFrom(...WRONG_TYPES) }) },
      {
        weight: 1,
        arbitrary: fc.record({
          body: fc.constant(`{"pad":"${'x'.repeat(17_000)}"}`),
          type: fc.constant('application/json'),
        }),
      },
    );
  }

  const headerText = fc.oneof(
    fc.uuid(),
    fc.constantFrom('0123456789abcdef', 'short', 'with space 0123456789', 'x'.repeat(200)),
    fc.string({
      unit: fc.integer({ min: 0x21, max: 0x7e }).map((c) => String.fromCharCode(c)),
      minLength: 1,
      maxLength: 40,
    }),
  );

  function parameterText(parameter: Parameter, real: readonly unknown[]): fc.Arbitrary<string | undefined> {
    if (parameter.in === 'header') return fc.option(headerText, { nil: undefined });
    const value = fc.oneof(
      { weight: 4, arbitrary: fitting(parameter.schema ?? {}).map(String) },
      { weight: 2, arbitrary: knownText },
      ...(real.length > 0 ? [{ weight: 4, arbitrary: fc.constantFrom(...real).map(String) }] : []),
      { weight: 3, arbitrary: oddText },
    );
    // A path of nothing or dots is another path.
    if (parameter.in === 'path') return value.filter((text) => text !== '' && !/^\.+$/.test(text));
    return fc.option(value, { nil: undefined, freq: parameter.required ? 12 : 2 });
  }

  /** Requests of one operation, about half of them wrong in some way. */
  function requests({ method, path, operation }: { method: Method; path: string; operation: Operation }) {
    const parameters = (operation.parameters ?? []) as readonly Parameter[];
    const content =
      operation.requestBody && 'content' in operation.requestBody ? operation.requestBody.content : {};
    const schema = content['application/json']?.schema as Schema | undefined;
    const real = successes.filter(({ operationId }) => operationId === operation.operationId);
    const asked = real.map((success) => parametersOf(path, success.path));
    const given = real.map(({ requestBody }) => fieldsOf(requestBody));
    const body: fc.Arbitrary<SentBody | undefined> = schema ? bodies(schema, given) : fc.constant(undefined);
    const texts = parameters.map((parameter) =>
      parameterText(
        parameter,
        asked.flatMap((fields) => (parameter.name in fields ? [fields[parameter.name]] : [])),
      ),
    );
    return fc
      .tuple(fc.tuple(...texts), body, fc.nat(), fc.nat({ max: 9 }))
      .map(([values, sent, caller, dice]): ApiRequest => {
        const url = new URLSearchParams();
        const headers: Record<string, string> = {
          'x-world-client-ip': `10.${(caller >>> 16) & 255}.${(caller >>> 8) & 255}.${caller & 255}`,
          ...(sent ? { 'content-type': sent.type } : {}),
        };
        let filled = path;
        parameters.forEach((parameter, at) => {
          const value = values[at];
          if (value === undefined) return;
          if (parameter.in === 'path') filled = filled.replace(`{${parameter.name}}`, () => segment(value));
          else if (parameter.in === 'query') url.append(parameter.name, value);
          else headers[parameter.name] = value;
        });
        const query = url.size > 0 ? `?${url}` : '';
        return {
          operationId: operation.operationId ?? '',
          // HEAD is GET without its body.
          method: method === 'get' && dice === 0 ? 'HEAD' : method.toUpperCase(),
          path: `${filled}${query}`,
          headers,
          ...(sent ? { body: sent.body } : {}),
        };
      });
  }

  return operationsOf(document).map((found) => ({
    operationId: found.operation.operationId ?? '',
    requests: requests(found),
  }));
}

/** As a client writes it into a path; lone surrogates have no UTF-8. */
const segment = (text: string): string => encodeURIComponent(text.toWellFormed());
