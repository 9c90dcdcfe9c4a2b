/**
 * Generates the part of the TypeScript client that follows from the API document: one type per schema, one
 * entry per operation.
 * @module
 */
import { meaningOf, operationsOf } from './documents/api-document.ts';
import { type ApiDocument, codesOf, type Operation } from './documents/shared-parts.ts';

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
};

/** An amount in a request may be decimal text as well, which keeps every digit. */
type Direction = 'request' | 'response';

const INDENT = '  ';
const LINE_WIDTH = 140;
const NO_INPUT = 'Record<string, never>';
const PRIMITIVES: Readonly<Record<string, string>> = {
  string: 'string',
  boolean: 'boolean',
  integer: 'number',
};

/** @throws Error for an unsupported schema */
function typeOf(schema: Schema, direction: Direction, depth: number): string {
  const type = bareType(schema, direction, depth);
  return schema.nullable && type !== 'unknown' && !/ \| null$/.test(type) ? `${type} | null` : type;
}

function bareType(schema: Schema, direction: Direction, depth: number): string {
  const { $ref: ref, type, items } = schema;
  if (ref !== undefined) return nameOf(ref);
  if (schema.enum) return union(schema.enum, depth);
  if (schema.allOf) return joined(schema.allOf, direction, depth);
  if (items) return `Array<${typeOf(items, direction, depth)}>`;
  if (type === 'number') return direction === 'request' ? 'number | string' : 'number';
  if (type === 'object') return objectType(schema, direction, depth);
  if (Object.keys(schema).every((name) => ['description', 'nullable'].includes(name))) return 'unknown';
  const known = PRIMITIVES[type ?? ''];
  if (known === undefined) throw new Error(`no TypeScript type for ${JSON.stringify(schema)}`);
  return known;
}

const nameOf = (ref: string): string => ref.split('/').at(-1) ?? '';

/** A union of literals, wrapped if it is wider than a line. */
function union(values: readonly unknown[], depth: number): string {
  const indent = INDENT.repeat(depth + 1);
  const lines: string[] = [];
  for (const value of values) {
    const literal = typeof value === 'string' ? `'${value}'` : JSON.stringify(value);
    const last = lines.at(-1);
    const longer = last === undefined ? literal : `${last} | ${literal}`;
    if (last !== undefined && indent.length + longer.length > LINE_WIDTH - 3) lines.push(literal);
    else lines.splice(-1, 1, longer);
  }
  return lines.length <= 1 ? lines.join('') : lines.map((line) => `\n${indent}| ${line}`).join('');
}

/** A part without content, such as a description next to a reference, adds no type. */
const joined = (parts: readonly Schema[], direction: Direction, depth: number): string =>
  parts
    .map((part) => typeOf(part, direction, depth))
    .filter((type) => type !== 'unknown')
    .map((type) => (type.includes(' | ') ? `(${type})` : type))
    .join(' & ');

function objectType(schema: Schema, direction: Direction, depth: number): string {
  const { properties = {}, required = [], additionalProperties: rest } = schema;
  const open = typeof rest === 'object' || rest === true;
  const values = typeof rest === 'object' ? typeOf(rest, direction, depth) : 'unknown';
  const members = Object.entries(properties).map(([name, member]) => {
    const comment = member.description ? `${docComment(member.description)} ` : '';
    const type = typeOf(member, direction, depth + 1);
    return { comment, text: `${name}${required.includes(name) ? '' : '?'}: ${type}` };
  });
  if (members.length === 0) return open ? `Record<string, ${values}>` : NO_INPUT;
  const own = braced(members, depth);
  return open ? `${own} & Record<string, ${values}>` : own;
}

type Member = { readonly comment: string; readonly text: string };

/** Writes the members on one line if they fit and none has a comment. */
function braced(members: readonly Member[], depth: number): string {
  const inline = `{ ${members.map(({ text }) => text).join('; ')} }`;
  const isShort = inline.length + INDENT.length * depth < LINE_WIDTH / 2 && !inline.includes('\n');
  if (isShort && members.every(({ comment }) => comment === '')) return inline;
  const indent = INDENT.repeat(depth + 1);
  const lines = members.map(({ comment, text }) => {
    const [first = ''] = text.split('\n');
    const isWide = indent.length + comment.length + first.length > LINE_WIDTH;
    return `${indent}${isWide ? comment.replace(/ $/, `\n${indent}`) : comment}${text};\n`;
  });
  return `{\n${lines.join('')}${INDENT.repeat(depth)}}`;
}

/** Leaves out the lists of a description, which do not fit on one line. */
const docComment = (text: string): string =>
  `/** ${text
    .replace(/\n+- .*/s, '')
    .replaceAll('*/', '* /')
    .replaceAll(/\s+/g, ' ')
    .trim()} */`;

type Parameter = {
  readonly name: string;
  readonly in: string;
  readonly required?: boolean;
  readonly schema: Schema;
};

function describe(
  document: ApiDocument,
  { method, path, operation }: ReturnType<typeof operationsOf>[number],
) {
  const parameters = (operation.parameters ?? []) as Parameter[];
  const body = contentOf(operation.requestBody);
  const inUrl = parameters.filter((parameter) => parameter.in !== 'header');
  const sends = (header: string): boolean =>
    parameters.some((parameter) => parameter.in === 'header' && parameter.name.toLowerCase() === header);
  const schema = responseSchema(document, operation);
  const flags = [
    ...(sends('idempotency-key') ? onceFlags(resolved(document, schema), resolved(document, body)) : []),
    ...(sends('prefer') ? ['waits: true'] : []),
    ...(operation.operationId?.startsWith('confirm') ? ['confirms: true'] : []),
    ...(isText(operation) ? ['text: true'] : []),
  ];
  const input = typeOf(body ?? inputOf(inUrl), 'request', 1);
  const value = isText(operation) ? 'string' : schema ? typeOf(schema, 'response', 1) : 'null';
  const codes = union(
    [...new Set(Object.values(operation.responses).flatMap((found) => codesOf(contentOf(found))))],
    1,
  );
  const types = `<${input}, ${value},${codes.startsWith('\n') ? '' : ' '}${codes}>`;
  const given = [`'${path}'`, ...(flags.length > 0 ? [`{ ${flags.join(', ')} }`] : [])].join(', ');
  const verb = method === 'post' ? 'post' : 'get';
  return {
    /** The request's own schema, if it has a name. */
    body: body?.$ref && nameOf(body.$ref),
    entry: `${INDENT}${docComment(meaningOf(operation))}\n${INDENT}${operation.operationId}: ${verb}${types}(${given}),\n`,
  };
}

const inputOf = (parameters: readonly Parameter[]): Schema => ({
  type: 'object',
  properties: Object.fromEntries(parameters.map(({ name, schema }) => [name, schema])),
  required: parameters.filter(({ required }) => required).map(({ name }) => name),
});

/** The member that shows the outcome of a creation, and the amounts that identify its request. */
function onceFlags({ required = [] }: Schema, { properties = {} }: Schema): string[] {
  const outcome = required.includes('id') ? 'id' : (required.at(-1) ?? '');
  const amounts = Object.keys(properties).filter((name) => properties[name]?.type === 'number');
  return [`once: '${outcome}'`, `amounts: [${amounts.map((name) => `'${name}'`).join(', ')}]`];
}

const contentTypes = (part: unknown): Readonly<Record<string, { schema?: Schema }>> =>
  (part as { content?: Record<string, { schema?: Schema }> } | undefined)?.content ?? {};
const contentOf = (part: unknown): Schema | undefined => contentTypes(part)['application/json']?.schema;

const isText = ({ responses }: Operation): boolean =>
  Object.keys(contentTypes(responses[200])).some((type) => type.startsWith('text/')) &&
  contentOf(responses[200]) === undefined;

/** The schema of a successful response. If the operation redirects, the schema of the target's response. */
function responseSchema(document: ApiDocument, { responses }: Operation): Schema | undefined {
  if (responses[200]) return contentOf(responses[200]);
  const redirect = responses[307] as { description?: string } | undefined;
  const target = operationsOf(document).find(({ path }) => redirect?.description?.includes(path));
  return target && contentOf(target.operation.responses[200]);
}

const schemasOf = (document: ApiDocument) =>
  (document.components?.schemas ?? {}) as Readonly<Record<string, Schema>>;

const resolved = (document: ApiDocument, schema: Schema | undefined): Schema =>
  schema?.$ref === undefined ? (schema ?? {}) : (schemasOf(document)[nameOf(schema.$ref)] ?? {});

/**
 * Pages, pictures and files that browsers and crawlers open directly. Each entry would add bytes to the
 * site's pages.
 */
const isFetchedByAddress = ({ operationId = '', responses }: Operation): boolean =>
  operationId === 'getSecurityText' ||
  Object.keys(contentTypes(responses[200])).some((type) =>
    /^(text\/html|image\/|application\/xml)/.test(type),
  );

/** Names of the schemas that a type mentions, directly or through other schemas. */
function mentioned(text: string, types: ReadonlyMap<string, string>, found = new Set<string>()): Set<string> {
  for (const [name] of text.matchAll(/\b[A-Z]\w+\b/g)) {
    const type = types.get(name);
    if (type === undefined || found.has(name)) continue;
    found.add(name);
    mentioned(type, types, found);
  }
  return found;
}

/** The text of packages/client/src/operations.ts. */
export function clientTypes(document: ApiDocument): string {
  const described = operationsOf(document)
    .filter(({ operation }) => !isFetchedByAddress(operation))
    .map((operation) => describe(document, operation));
  // A schema used only by a request body is an input.
  const bodies = new Set(described.map(({ body }) => body));
  const types = new Map(
    Object.entries(schemasOf(document)).map(([name, schema]) => [
      name,
      `${schema.description ? `${docComment(schema.description)}\n` : ''}export type ${name} = ${typeOf(schema, bodies.has(name) ? 'request' : 'response', 0)};\n`,
    ]),
  );
  const entries = described.map(({ entry }) => entry).join('');
  const used = mentioned(`${entries} Problem`, types);
  return [
    "/**\n * Schemas and operations of the API. `npm run docs` writes this file from the API document.\n * @module\n */\nimport { get, post } from './operation.ts';\n",
    ...[...types].filter(([name]) => used.has(name)).map(([, type]) => type),
    `/** Input, result and error codes of each operation. */\nexport const OPERATIONS = {\n${entries}};\n`,
  ].join('\n');
}
