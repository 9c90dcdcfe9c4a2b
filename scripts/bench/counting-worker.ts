/**
 * The deployed service with counted backends: `/counts` returns the calls since it was last read. A batch of
 * D1 statements is one call.
 * @module
 */
/** The bundle of the service, in the same folder as this one. */
const SERVICE: string = './worker.js';
const {
  default: service,
  Custodian,
  PageViews,
} = (await import(SERVICE)) as {
  readonly default: { fetch(request: Request, env: Env, context: ExecutionContext): Promise<Response> };
  readonly Custodian: unknown;
  readonly PageViews: unknown;
};

export { Custodian, PageViews };

export type Counts = Partial<Record<'d1' | 'kv' | 'do' | 'limiter' | 'assets' | 'upstream', number>>;

let counts: Counts = {};

function count(backend: keyof Counts): void {
  counts[backend] = (counts[backend] ?? 0) + 1;
}

/** An object whose named methods, or all, count each call. */
function counted<T extends object>(target: T, backend: keyof Counts, names?: readonly string[]): T {
  return new Proxy(target, {
    get(_, name) {
      const member: unknown = Reflect.get(target, name);
      if (typeof member !== 'function') return member;
      return (...args: unknown[]) => {
        if (names === undefined || names.includes(String(name))) count(backend);
        return Reflect.apply(member, target, args);
      };
    },
  });
}

const originals = new WeakMap<object, D1PreparedStatement>();
const EXECUTE = ['all', 'first', 'raw', 'run'];

function countedStatement(statement: D1PreparedStatement): D1PreparedStatement {
  const wrapped = new Proxy(statement, {
    get(_, name) {
      if (name === 'bind') return (...values: unknown[]) => countedStatement(statement.bind(...values));
      const member: unknown = Reflect.get(statement, name);
      if (typeof member !== 'function') return member;
      return (...args: unknown[]) => {
        if (EXECUTE.includes(String(name))) count('d1');
        return Reflect.apply(member, statement, args);
      };
    },
  });
  originals.set(wrapped, statement);
  return wrapped;
}

function countedDatabase<T extends D1Database | D1DatabaseSession>(database: T): T {
  return new Proxy(database, {
    get(_, name) {
      if (name === 'prepare') return (query: string) => countedStatement(database.prepare(query));
      if (name === 'batch')
        return (statements: D1PreparedStatement[]) => {
          count('d1');
          return database.batch(statements.map((statement) => originals.get(statement) ?? statement));
        };
      if (name === 'withSession' && 'withSession' in database)
        return (from?: string) => countedDatabase(database.withSession(from));
      const member: unknown = Reflect.get(database, name);
      return typeof member === 'function' ? member.bind(database) : member;
    },
  });
}

const countedObjects = <T extends Rpc.DurableObjectBranded>(
  namespace: DurableObjectNamespace<T>,
): DurableObjectNamespace<T> =>
  new Proxy(namespace, {
    get: (_, name) =>
      name === 'getByName'
        ? (key: string) => counted(namespace.getByName(key), 'do')
        : Reflect.get(namespace, name),
  });

const environments = new WeakMap<Env, Env>();

/** The same object for the same bindings, because the service keeps its memory by it. */
function countedBindings(env: Env): Env {
  const known = environments.get(env) ?? {
    ...env,
    DB: countedDatabase(env.DB),
    KV: counted(env.KV, 'kv'),
    LIMITER: counted(env.LIMITER, 'limiter'),
    ASSETS: counted(env.ASSETS, 'assets', ['fetch']),
    CUSTODIAN: countedObjects(env.CUSTODIAN),
    PAGE_VIEWS: countedObjects(env.PAGE_VIEWS),
  };
  environments.set(env, known);
  return known;
}

const platformFetch = globalThis.fetch;
globalThis.fetch = (...args: Parameters<typeof fetch>) => {
  count('upstream');
  return platformFetch(...args);
};

export default {
  fetch(request, env, context) {
    if (new URL(request.url).pathname !== '/counts')
      return service.fetch(request, countedBindings(env), context);
    const answer = Response.json(counts);
    counts = {};
    return answer;
  },
} satisfies ExportedHandler<Env>;
