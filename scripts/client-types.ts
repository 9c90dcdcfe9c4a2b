/**
 * Generates the part of the TypeScript client that follows from the API document: one type per schema, one
 * entry per operation.
 * @module
 */
import {
  type ApiDocument,
  codesOf,
  meaningOf,
  type Operation,
  operationsOf,
} from './documents/api-document.ts';

type Schema = {
  readonly $ref?: string;
  readonly type?: string;
  readonly enum?: readonly unknown[];
  readonly nullable?: boolean;
  readonly description?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean | Schema;
  readonly items?: Schema;
  readonly allOf?: readonly Schema[];
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
};

/** An amount in a request may be decimal text as well, which keeps every digit. */
type Direction = 'request' | 'response';

const INDENT = '  ';
const PRIMITIVES: Readonly<Record<string, string>> = {
  string: 'string',
  boolean: 'boolean',
  integer: 'number',
};

/** @throws Error for an unsupported schema */
function typeOf(schema: Schema, direction: Direction, depth: number): string {
  const type = bareType(schema, direction, depth);
  return schema.nullable && type !== 'unknown' ? `${type} | null` : type;
}

function bareType(schema: Schema, direction: Direction, depth: number): string {
  const { $ref: ref, type, items } = schema;
  if (ref !== undefined) return ref.split('/').at(-1) ?? '';
  if (schema.enum) return schema.enum.map((value) => JSON.stringify(value)).join(' | ');
  if (schema.allOf) return joined(schema.allOf, ' & ', direction, depth);
  const either = schema.anyOf ?? schema.oneOf;
  if (either) return joined(either, ' | ', direction, depth);
  if (items) return `Array<${typeOf(items, direction, depth)}>`;
  if (type === 'number') return direction === 'request' ? 'number | string' : 'number';
  if (type === 'object') return objectType(schema, direction, depth);
  if (type === undefined) return 'unknown';
  const known = PRIMITIVES[type];
  if (known === undefined) throw new Error(`no TypeScript type for ${JSON.stringify(schema)}`);
  return known;
}

/** A part without content, such as a description next to a reference, adds no type. */
const joined = (parts: readonly Schema[], by: string, direction: Direction, depth: number): string =>
  parts
    .map((part) => typeOf(part, direction, depth))
    .filter((type) => type !== 'unknown')
    .map((type) => (type.includes(' | ') ? `(${type})` : type))
    .join(by) || 'unknown';

function objectType(schema: Schema, direction: Direction, depth: number): string {
  const { properties = {}, required = [], additionalProperties: rest } = schema;
  const open = typeof rest === 'object' || rest === true;
  const values = typeof rest === 'object' ? typeOf(rest, direction, depth) : 'unknown';
  const names = Object.keys(properties);
  if (names.length === 0) return `Record<string, ${open ? values : 'never'}>`;
  const lines = Object.entries(properties).map(([name, member]) =>
    memberLine(name, member, required.includes(name), direction, depth + 1),
  );
  const own = `{\n${lines.join('')}${INDENT.repeat(depth)}}`;
  return open ? `${own} & Record<string, ${values}>` : own;
}

function memberLine(
  name: string,
  schema: Schema,
  required: boolean,
  direction: Direction,
  depth: number,
): string {
  const indent = INDENT.repeat(depth);
  const key = /^[A-Za-z_$][\w$]*$/.test(name) ? name : JSON.stringify(name);
  const comment = schema.description ? `${indent}${docComment(schema.description)}` : '';
  return `${comment}${indent}${key}${required ? '' : '?'}: ${typeOf(schema, direction, depth)};\n`;
}

/** Without lists, which do not fit on one line. */
const docComment = (text: string): string =>
  `/** ${text
    .replace(/\n+- .*/s, '')
    .replaceAll('*/', '* /')
    .replaceAll(/\s+/g, ' ')
    .trim()} */\n`;

type Described = {
  readonly id: string;
  readonly summary: string;
  readonly input: Schema;
  readonly answer: string;
  readonly codes: readonly string[];
  readonly entry: string;
};

function describe(
  document: ApiDocument,
  { method, path, operation }: ReturnType<typeof operationsOf>[number],
): Described {
  const id = operation.operationId ?? '';
  const parameters = (operation.parameters ?? []) as {
    name: string;
    in: string;
    required?: boolean;
    schema: Schema;
  }[];
  const body = contentOf(operation.requestBody);
  const inUrl = parameters.filter((parameter) => parameter.in !== 'header');
  const sends = (header: string): boolean =>
    parameters.some((parameter) => parameter.in === 'header' && parameter.name.toLowerCase() === header);
  const schema = answerSchema(document, operation);
  const entry = [
    `path: '${path}'`,
    ...(method === 'post' ? ['post: true'] : []),
    ...(sends('idempotency-key') ? [`once: '${outcomeOf(resolved(document, schema))}'`] : []),
    ...(sends('prefer') ? ['waits: true'] : []),
    ...(isText(operation) ? ['text: true'] : []),
  ];
  return {
    id,
    summary: meaningOf(operation),
    input: body ?? {
      type: 'object',
      properties: Object.fromEntries(inUrl.map((parameter) => [parameter.name, parameter.schema])),
      required: inUrl.filter(({ required }) => required).map(({ name }) => name),
    },
    answer: isText(operation) ? 'string' : schema ? typeOf(schema, 'response', 1) : 'null',
    codes: [...new Set(Object.values(operation.responses).flatMap((found) => codesOf(contentOf(found))))],
    entry: `{ ${entry.join(', ')} }`,
  };
}

const contentTypes = (part: unknown): Readonly<Record<string, { schema?: Schema }>> =>
  (part as { content?: Record<string, { schema?: Schema }> } | undefined)?.content ?? {};
const contentOf = (part: unknown): Schema | undefined => contentTypes(part)['application/json']?.schema;

const isText = ({ responses }: Operation): boolean =>
  Object.keys(contentTypes(responses[200])).some((type) => type.startsWith('text/')) &&
  contentOf(responses[200]) === undefined;

/** The schema of a success; that of the target if the operation redirects. */
function answerSchema(document: ApiDocument, { responses }: Operation): Schema | undefined {
  if (responses[200]) return contentOf(responses[200]);
  const redirect = responses[307] as { description?: string } | undefined;
  const target = operationsOf(document).find(({ path }) => redirect?.description?.includes(path));
  return target && contentOf(target.operation.responses[200]);
}

/** The member of a creation's response that shows its outcome: its id, otherwise the last member. */
const outcomeOf = ({ required = [] }: Schema): string =>
  required.includes('id') ? 'id' : (required.at(-1) ?? '');

function resolved(document: ApiDocument, schema: Schema | undefined): Schema {
  const name = schema?.$ref?.split('/').at(-1);
  return name === undefined ? (schema ?? {}) : ((document.components?.schemas?.[name] ?? {}) as Schema);
}

/**
 * Pages, pictures and files that browsers and crawlers open directly. Each entry would add bytes to the
 * site's pages.
 */
const isFetchedByAddress = ({ operationId = '', responses }: Operation): boolean =>
  operationId === 'getSecurityText' ||
  Object.keys(contentTypes(responses[200])).some((type) =>
    /^(text\/html|image\/|application\/xml)/.test(type),
  );

/** The text of packages/client/src/operations.ts. */
export function clientTypes(document: ApiDocument): string {
  const schemas = Object.entries(document.components?.schemas ?? {}) as [string, Schema][];
  const described = operationsOf(document)
    .filter(({ operation }) => !isFetchedByAddress(operation))
    .map((operation) => describe(document, operation));
  // A schema used only by a request body is an input.
  const bodies = new Set(
    described.flatMap(({ input }) => (input.$ref ? [input.$ref.split('/').at(-1)] : [])),
  );
  const types = schemas.map(
    ([name, schema]) =>
      `${schema.description ? docComment(schema.description) : ''}export type ${name} = ${typeOf(schema, bodies.has(name) ? 'request' : 'response', 0)};\n`,
  );
  const signatures = described.map(
    ({ id, summary, input, answer, codes }) =>
      `${INDENT}${docComment(summary)}${INDENT}${id}: {\n` +
      `${INDENT.repeat(2)}input: ${typeOf(input, 'request', 2)};\n` +
      `${INDENT.repeat(2)}answer: ${answer};\n` +
      `${INDENT.repeat(2)}code: ${codes.map((code) => `'${code}'`).join(' | ') || 'never'};\n${INDENT}};\n`,
  );
  const entries = described.map(({ id, entry }) => `${INDENT}${id}: ${entry},\n`);
  return [
    '/**\n * Schemas and operations of the API. `npm run docs` writes this file from the API document.\n * @module\n */\n',
    ...types,
    `/** Input, result and error codes of each operation. */\nexport type Operations = {\n${signatures.join('')}};\n`,
    `/**\n * The properties of each operation that the client uses. \`once\`: it takes an Idempotency-Key, and its response has this member.\n * \`post\`: a POST. \`waits\`: it takes \`Prefer: wait\`. \`text\`: it returns text instead of JSON.\n */\nexport const OPERATIONS = {\n${entries.join('')}} as const;\n`,
  ].join('\n');
}
