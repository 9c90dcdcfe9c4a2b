import { createApp, type Deps } from '../../src/app.ts';

type App = ReturnType<typeof createApp>;

/** One route of the app and a request that passes its validation, made of the API document's own examples. */
export interface RouteRequest {
  readonly method: string;
  /** As the router has it, with `:name` for parameters. */
  readonly route: string;
  /** Method and path as the API document has them, with `{name}` for parameters. */
  readonly operation: string;
  readonly path: string;
  readonly init: {
    readonly method: string;
    readonly headers?: Record<string, string>;
    readonly body?: string;
  };
}

/** The parts of a schema of the API document that tests read. */
export interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly format?: string;
  readonly nullable?: boolean;
  readonly example?: unknown;
  readonly enum?: readonly unknown[];
  readonly default?: unknown;
  readonly pattern?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly allOf?: readonly Schema[];
}
interface Parameter {
  readonly name: string;
  readonly in: string;
  readonly required?: boolean;
  readonly schema?: Schema;
}
interface Operation {
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: { readonly content?: Readonly<Record<string, { readonly schema?: Schema }>> };
}

const noDeps = (): Deps => {
  throw new Error('routes are listed, not called');
};

function sample(schema: Schema, schemas: Readonly<Record<string, Schema>>): unknown {
  const found = schema.$ref === undefined ? schema : schemas[schema.$ref.split('/').at(-1) ?? ''];
  if (found === undefined) throw new Error(`the document lacks ${schema.$ref}`);
  const known = found.example ?? found.enum?.[0] ?? found.default;
  if (known !== undefined) return known;
  if (found.properties !== undefined) {
    const { properties } = found;
    return Object.fromEntries(
      (found.required ?? []).map((name) => [name, sample(properties[name] ?? {}, schemas)]),
    );
  }
  switch (found.type) {
    case 'number':
    case 'integer':
      return found.minimum ?? 1;
    case 'boolean':
      return true;
    case 'array':
      return [];
    default:
      return 'example';
  }
}

/** Every route that the app serves, once each; middleware is left out. */
export function routeRequests(app: App = createApp(noDeps)): RouteRequest[] {
  const document = app.getOpenAPI31Document({ openapi: '3.1.0', info: { title: 'routes', version: '0' } });
  const schemas = (document.components?.schemas ?? {}) as Record<string, Schema>;
  const documented = (document.paths ?? {}) as Record<string, Record<string, Operation>>;

  function request(method: string, route: string): RouteRequest {
    const name = route.replaceAll(/:(\w+)(?:\{[^}]*\})?/g, '{$1}');
    const { parameters, requestBody } = documented[name]?.[method.toLowerCase()] ?? {};
    const url = new URL(route, 'http://sluice.test');
    let path = route;
    for (const parameter of parameters ?? []) {
      if (parameter.required !== true) continue;
      const value = String(sample(parameter.schema ?? {}, schemas));
      if (parameter.in === 'query') url.searchParams.set(parameter.name, value);
      if (parameter.in === 'path') path = path.replace(new RegExp(`:${parameter.name}(\\{[^}]*\\})?`), value);
    }
    path = path.replaceAll(/:\w+(?:\{[^}]*\})?/g, 'example') + url.search;
    const body = requestBody?.content?.['application/json']?.schema;
    const common = { method, route, operation: `${method} ${name}`, path };
    if (body === undefined) return { ...common, init: { method } };
    const headers = { 'content-type': 'application/json' };
    return { ...common, init: { method, headers, body: JSON.stringify(sample(body, schemas)) } };
  }

  const found = new Map<string, RouteRequest>();
  for (const { method, path } of app.routes)
    if (method !== 'ALL' && !path.includes('*')) found.set(`${method} ${path}`, request(method, path));
  return [...found.values()];
}
