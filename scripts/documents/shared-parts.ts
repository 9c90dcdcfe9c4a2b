/**
 * Parameters and responses that several operations have in common, as components of the API document.
 * @module
 */
import type { OpenAPIHono } from '@hono/zod-openapi';

/** @throws Error when two routes have conflicting definitions */
export type Describe = OpenAPIHono['getOpenAPIDocument'];
export type ApiDocument = ReturnType<Describe>;
type PathItem = NonNullable<ApiDocument['paths'][string]>;
export type Operation = NonNullable<PathItem['get']>;

export const METHODS = ['get', 'post', 'put', 'patch', 'delete'] as const;
export type Method = (typeof METHODS)[number];

type Kind = 'parameters' | 'responses';

/** The part itself, or the component to which it refers. @throws Error if there is none */
export function sharedPart<P extends object>(document: ApiDocument, kind: Kind, part: P): P {
  if (!('$ref' in part)) return part;
  const found = document.components?.[kind]?.[String(part.$ref).split('/').at(-1) ?? ''];
  if (found === undefined) throw new Error(`the document has no ${String(part.$ref)}`);
  return found as P;
}

/** Replaces each part that occurs more than once with a reference to one component. */
export function withSharedParts(document: ApiDocument): ApiDocument {
  const counts = new Map<string, number>();
  const names = new Map<string, string>();
  const components: Record<Kind, Record<string, unknown>> = { parameters: {}, responses: {} };
  const operations = Object.values(document.paths).flatMap((item) =>
    METHODS.flatMap((method): Operation[] => (item?.[method] ? [item[method]] : [])),
  );
  const eachPart = (replace: (kind: Kind, part: object, status: string) => unknown): void => {
    for (const operation of operations) {
      if (operation.parameters)
        operation.parameters = operation.parameters.map((part) => replace('parameters', part, '')) as never;
      for (const [status, part] of Object.entries(operation.responses))
        operation.responses[status] = replace('responses', part, status);
    }
  };
  eachPart((kind, part, status) => {
    if (kind === 'parameters') dropRepeats(part);
    const key = status + JSON.stringify(part);
    counts.set(key, (counts.get(key) ?? 0) + 1);
    return part;
  });
  eachPart((kind, part, status) => {
    const key = status + JSON.stringify(part);
    if (counts.get(key) === 1) return part;
    const name = names.get(key) ?? freeName(components[kind], nameOf(kind, part, status));
    names.set(key, name);
    components[kind][name] = part;
    return { $ref: `#/components/${kind}/${name}` };
  });
  return { ...document, components: { ...document.components, ...components } as never };
}

const pascal = (text: string): string =>
  text
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .map((word) => word.slice(0, 1).toUpperCase() + word.slice(1))
    .join('');

function nameOf(kind: Kind, part: object, status: string): string {
  if (kind === 'parameters') return pascal(String(Reflect.get(part, 'name')));
  const { content }: { content?: Record<string, { schema?: unknown }> } = part;
  const [code] = codesOf(content?.['application/json']?.schema);
  return code === undefined ? `Status${status}` : pascal(code);
}

function freeName(taken: object, name: string): string {
  for (let count = 1; ; count += 1) {
    const free = count === 1 ? name : `${name}${count}`;
    if (!(free in taken)) return free;
  }
}

/** Drops a description that repeats the parameter's own, and `required: false`, which is the default. */
function dropRepeats(parameter: { required?: boolean; schema?: { description?: string } }): void {
  if (parameter.required === false) delete parameter.required;
  delete parameter.schema?.description;
}

type Coded = {
  readonly allOf?: readonly unknown[];
  readonly anyOf?: readonly unknown[];
  readonly properties?: { readonly error_code?: { readonly enum?: readonly string[] } };
};

/** The codes of an error response; none for any other schema. */
export function codesOf(schema: unknown): readonly string[] {
  const { allOf = [], anyOf = [], properties }: Coded = Object(schema);
  const parts = [...allOf, ...anyOf];
  return parts.length > 0 ? parts.flatMap(codesOf) : (properties?.error_code?.enum ?? []);
}
