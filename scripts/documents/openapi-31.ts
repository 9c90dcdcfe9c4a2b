/**
 * The same document in OpenAPI 3.1, whose schemas are JSON Schema 2020-12.
 * @see https://spec.openapis.org/oas/v3.1.1.html#schema-object
 * @module
 */
import type { ApiDocument } from './api-document.ts';

type Json = Readonly<Record<string, unknown>>;

const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const mapped = (value: unknown, convert: (member: unknown) => unknown): unknown =>
  isObject(value)
    ? Object.fromEntries(Object.entries(value).map(([name, member]) => [name, convert(member)]))
    : value;

/** Members of a document that contain one schema; `properties` and `schemas` contain a map of them. */
const SCHEMAS = ['schema', 'items', 'additionalProperties', 'not'];
const MAPS = ['properties', 'schemas'];
const LISTS = ['allOf', 'anyOf', 'oneOf'];
/** Values from callers, which may have members of any name. */
const VALUES = ['example', 'examples', 'default', 'enum'];

/** @param document OpenAPI 3.0 */
export const asOpenApi31 = (document: ApiDocument): Json => ({
  ...(outsideSchemas(document) as Json),
  openapi: '3.1.1',
});

function outsideSchemas(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(outsideSchemas);
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [name, convertMember(name, member, outsideSchemas)]),
  );
}

function convertMember(name: string, member: unknown, other: (value: unknown) => unknown): unknown {
  if (VALUES.includes(name)) return member;
  if (SCHEMAS.includes(name)) return schema(member);
  if (MAPS.includes(name)) return mapped(member, schema);
  if (LISTS.includes(name) && Array.isArray(member)) return member.map(schema);
  return other(member);
}

/** `nullable`, boolean bounds and `example` do not exist in 3.1. */
function schema(value: unknown): unknown {
  if (!isObject(value)) return value;
  const { nullable, example, minimum, maximum, exclusiveMinimum, exclusiveMaximum, ...rest } = value;
  const bounds = {
    ...(minimum === undefined
      ? {}
      : { [exclusiveMinimum === true ? 'exclusiveMinimum' : 'minimum']: minimum }),
    ...(maximum === undefined
      ? {}
      : { [exclusiveMaximum === true ? 'exclusiveMaximum' : 'maximum']: maximum }),
  };
  const converted = {
    ...Object.fromEntries(
      Object.entries(rest).map(([name, member]) => [name, convertMember(name, member, (same) => same)]),
    ),
    ...bounds,
    ...(example === undefined ? {} : { examples: [example] }),
  };
  return nullable === true ? orNull(converted) : converted;
}

function orNull(converted: Json): Json {
  const { type, enum: values, ...rest } = converted;
  if (type === undefined) return { anyOf: [converted, { type: 'null' }] };
  return {
    ...rest,
    type: [type, 'null'],
    ...(Array.isArray(values) ? { enum: [...new Set([...values, null])] } : {}),
  };
}
