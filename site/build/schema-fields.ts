/**
 * The members of an API schema as a flat list, for people to read.
 * @module
 */
import type { ApiDocument } from '../../scripts/documents/shared-parts.ts';

type Schemas = NonNullable<NonNullable<ApiDocument['components']>['schemas']>;
type SchemaOrRef = Schemas[string];
type Schema = Exclude<SchemaOrRef, { $ref: string }>;

export type SchemaField = {
  /** `bitcoin.sources[].name` */
  readonly name: string;
  readonly type: string;
  readonly required: boolean;
  readonly about: string;
};

/** Members that are nested deeper are left to the example. */
const MAX_DEPTH = 2;
/** A longer list of values is left to its description. */
const MAX_VALUES = 8;

export function resolved(schema: SchemaOrRef | undefined, schemas: Schemas): Schema {
  if (schema === undefined) return {};
  if (!('$ref' in schema)) return schema;
  return resolved(schemas[schema.$ref.replace('#/components/schemas/', '')], schemas);
}

/** The parts of a schema that is a union or an intersection; itself otherwise. */
function partsOf(schema: SchemaOrRef | undefined, schemas: Schemas): Schema[] {
  const own = resolved(schema, schemas);
  const parts = [...(own.allOf ?? []), ...(own.anyOf ?? []), ...(own.oneOf ?? [])];
  return parts.length === 0 ? [own] : parts.flatMap((part) => partsOf(part, schemas));
}

export function typeText(schema: SchemaOrRef | undefined, schemas: Schemas): string {
  const own = resolved(schema, schemas);
  const types = partsOf(own, schemas).map(({ type, enum: values, items }) => {
    if (values !== undefined && values.length <= MAX_VALUES)
      return values.filter((value) => value !== null).join(' | ');
    if (type === 'array') return `list of ${typeText(items, schemas)}`;
    return typeof type === 'string' ? type : 'any';
  });
  return [...new Set(types), ...(own.nullable ? ['null'] : [])].join(' | ');
}

function* membersOf(
  schema: SchemaOrRef | undefined,
  schemas: Schemas,
  prefix: string,
  depth: number,
): Generator<SchemaField> {
  for (const part of partsOf(schema, schemas)) {
    if (part.type === 'array') yield* membersOf(part.items, schemas, `${prefix}[]`, depth);
    for (const [name, member] of Object.entries(part.properties ?? {})) {
      const path = prefix === '' ? name : `${prefix}.${name}`;
      const { description = '' } = resolved(member, schemas);
      yield {
        name: path,
        type: typeText(member, schemas),
        required: part.required?.includes(name) ?? false,
        about: description,
      };
      if (depth < MAX_DEPTH) yield* membersOf(member, schemas, path, depth + 1);
    }
  }
}

/** Each member once, in the order of the schema, with the members of its members. */
export function fieldsOf(schema: SchemaOrRef | undefined, schemas: Schemas): SchemaField[] {
  const found = new Map<string, SchemaField>();
  for (const field of membersOf(schema, schemas, '', 1))
    if (!found.has(field.name)) found.set(field.name, field);
  return [...found.values()];
}
