import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import { operationsOf } from '../../scripts/documents/api-document.ts';
import type { ApiDocument, Operation } from '../../scripts/documents/shared-parts.ts';

/** A request as it was sent, and its response. */
export interface Exchange {
  readonly operationId: string;
  readonly method: string;
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

export interface DocumentChecker {
  /** Undeclared parts of a response; empty if everything is declared. */
  violations(exchange: Exchange): string[];
  /** Problems of a recorded example body of an operation. */
  bodyViolations(operationId: string, status: number, body: unknown): string[];
}

type Json = Readonly<Record<string, unknown>>;
const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const NUMERIC_FORMATS = ['int32', 'int64', 'float', 'double'];
const LISTS = ['allOf', 'anyOf', 'oneOf'];

/**
 * A schema of OpenAPI 3.0 as JSON Schema 2020-12, closed: an undeclared member is refused unless the schema
 * allows further members.
 */
export function closedSchema(schema: unknown, closed = true): unknown {
  if (!isObject(schema)) return schema;
  const { nullable, example, examples, exclusiveMinimum, exclusiveMaximum, ...rest } = schema;
  const out: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(rest)) {
    if (name === '$ref') out.$ref = String(value);
    else if (name === 'properties' && isObject(value))
      out.properties = Object.fromEntries(
        Object.entries(value).map(([key, member]) => [key, closedSchema(member)]),
      );
    else if (LISTS.includes(name) && Array.isArray(value))
      out[name] = value.map((member) => closedSchema(member, false));
    else if (name === 'items' || name === 'additionalProperties') out[name] = closedSchema(value);
    else if (name !== 'format' || !NUMERIC_FORMATS.includes(String(value))) out[name] = value;
  }
  if (exclusiveMinimum === true) {
    out.exclusiveMinimum = out.minimum;
    delete out.minimum;
  }
  if (exclusiveMaximum === true) {
    out.exclusiveMaximum = out.maximum;
    delete out.maximum;
  }
  const shaped = 'properties' in out || '$ref' in out || LISTS.some((name) => name in out);
  if (closed && shaped && !('additionalProperties' in out)) out.unevaluatedProperties = false;
  if (nullable !== true) return out;
  if (Array.isArray(out.enum)) out.enum = [...out.enum, null];
  return { anyOf: [out, { type: 'null' }] };
}

export function createDocumentChecker(document: ApiDocument): DocumentChecker {
  const ajv = new Ajv2020({ strict: false, allErrors: true });
  formats.default(ajv);
  const schemas = Object.fromEntries(
    Object.entries(document.components?.schemas ?? {}).map(([name, schema]) => [
      name,
      closedSchema(schema, false),
    ]),
  );
  ajv.addSchema({ $id: 'document', components: { schemas } });
  const operations = new Map<string, Operation>(
    operationsOf(document).map(({ operation }) => [operation.operationId ?? '', operation]),
  );
  const compiled = new Map<string, ValidateFunction>();

  const absolute = (schema: unknown): unknown =>
    JSON.parse(JSON.stringify(schema).replaceAll('"$ref":"#/', '"$ref":"document#/'));

  /** An exact status wins over `default`. */
  function responseAt(operationId: string, status: number): Operation['responses'][string] | undefined {
    const responses = operations.get(operationId)?.responses;
    return responses?.[status] ?? responses?.default;
  }

  function validator(operationId: string, status: number): ValidateFunction | undefined {
    const key = `${operationId} ${status}`;
    const known = compiled.get(key);
    if (known) return known;
    const schema = responseAt(operationId, status)?.content?.['application/json']?.schema;
    if (schema === undefined) return undefined;
    const made = ajv.compile(absolute(closedSchema(schema)) as object);
    compiled.set(key, made);
    return made;
  }

  function bodyViolations(operationId: string, status: number, body: unknown): string[] {
    const validate = validator(operationId, status);
    if (!validate) return [`no JSON body is declared for ${status}`];
    if (validate(body)) return [];
    return (validate.errors ?? []).map(
      ({ instancePath, message, params }) => `body${instancePath} ${message} ${JSON.stringify(params)}`,
    );
  }

  function violations({ operationId, method, status, headers, text }: Exchange): string[] {
    const response = responseAt(operationId, status);
    if (!response) return [`status ${status} is not declared: ${text.slice(0, 300)}`];
    const found: string[] = [];
    if (!headers.get('x-request-id')) found.push('no X-Request-Id');
    const types = Object.keys(response.content ?? {});
    const type = headers.get('content-type')?.split(';')[0] ?? '';
    if (types.length === 0) return text === '' ? found : [...found, `a body where none is declared: ${text}`];
    if (!types.includes(type)) return [...found, `content type ${type} is not ${types.join(' or ')}`];
    if (method === 'HEAD') return text === '' ? found : [...found, 'HEAD with a body'];
    if (type !== 'application/json') return found;
    const body: unknown = parse(text);
    if (body === undefined) return [...found, `no JSON: ${text.slice(0, 200)}`];
    found.push(...bodyViolations(operationId, status, body));
    // The pool API's own refusal has a code and no request id.
    if (status >= 400 && isObject(body) && 'request_id' in body) {
      const wait = headers.get('retry-after');
      const said = body.retry_after_s ?? null;
      if (said !== (wait === null ? null : Number(wait))) found.push(`Retry-After ${wait}, body ${said}`);
      if (body.request_id !== headers.get('x-request-id')) found.push('request_id differs from X-Request-Id');
    }
    return found;
  }

  return { violations, bodyViolations };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
