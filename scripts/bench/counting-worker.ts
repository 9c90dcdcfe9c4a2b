/**
 * The deployed service with counted backends. The header `X-Calls` of a response lists the calls made for it. Calls
 * made one after another are different steps. A new call waits until no call runs and none was added for a moment.
 * All calls that wait at that time are one step. A request with `X-New-Isolate` begins with empty memory. One with
 * `X-Clock: hold` stops the clock until a request without it, so that values stay fresh on a slow machine.
 * @module
 */
import { AsyncLocalStorage } from 'node:async_hooks';

type Service = {
  fetch(request: Request, env: Env, context: ExecutionContext): Promise<Response>;
  scheduled(event: ScheduledController, env: Env, context: ExecutionContext): Promise<void>;
};
type Verbs = Record<string, (...args: unknown[]) => Promise<unknown>>;

const platformNow = Date.now;
/** Unix ms at which the clock was stopped. */
let heldAt: number | undefined;
// The service captures `Date.now` when it is loaded, so this assignment comes first.
Date.now = () => heldAt ?? platformNow();

/** The bundle of the service, in the same folder as this one. */
const SERVICE: string = './worker.js';
const {
  default: service,
  Custodian: ServiceCustodian,
  PageViews,
} = (await import(SERVICE)) as {
  readonly default: Service;
  readonly Custodian: new (context: DurableObjectState, env: Env) => object;
  readonly PageViews: unknown;
};

export { PageViews };

export type Backend = 'd1' | 'kv' | 'custodian' | 'pageViews' | 'limiter' | 'assets' | 'upstream';
/** `what`: the JSON-RPC method, the method and URL, the verb of an object, or the backend. */
export type Call = { readonly step: number; readonly backend: Backend; readonly what: string };
export type Calls = {
  readonly calls: readonly Call[];
  /** Rows that D1 bills. */
  readonly read: number;
  readonly written: number;
};

export type VerbCalls = { readonly verb: string; readonly calls: readonly Call[] };

const QUIET_MS = 12;

class Meter {
  readonly calls: Call[] = [];
  read = 0;
  written = 0;
  #step = 0;
  #running = 0;
  #waiting: (() => void)[] = [];
  #added = 0;

  /** A call of the rate limiter is not a step, because the limiter is a counter in the same location. */
  async run<T>(backend: Backend, what: string, call: () => T | Promise<T>): Promise<T> {
    if (backend !== 'limiter') await this.#turn();
    this.calls.push({ step: backend === 'limiter' ? 0 : this.#step, backend, what });
    this.#running += 1;
    try {
      return await call();
    } finally {
      this.#running -= 1;
    }
  }

  #turn(): Promise<void> {
    this.#added += 1;
    const turn = new Promise<void>((resolve) => this.#waiting.push(resolve));
    if (this.#waiting.length === 1) void this.#whenQuiet();
    return turn;
  }

  /** Counts a socket, which opens at once, together with the calls of the next step. */
  open(what: string): void {
    this.calls.push({ step: this.#step + 1, backend: 'upstream', what });
  }

  /** Resolves when no call runs and none was added for a moment. */
  async quiet(): Promise<void> {
    for (let seen = -1; seen !== this.#added || this.#running > 0; ) {
      seen = this.#added;
      await new Promise((resolve) => setTimeout(resolve, QUIET_MS));
    }
  }

  async #whenQuiet(): Promise<void> {
    await this.quiet();
    this.#step += 1;
    for (const go of this.#waiting.splice(0)) go();
  }
}

const meters = new AsyncLocalStorage<Meter>();
const metered = <T>(backend: Backend, what: string, call: () => T | Promise<T>): Promise<T> => {
  const meter = meters.getStore();
  return meter ? meter.run(backend, what, call) : Promise.resolve(call());
};

/** An object whose named methods, or all, are counted. */
function counted<T extends object>(target: T, backend: Backend, names?: readonly string[]): T {
  return new Proxy(target, {
    get(_, name) {
      const member: unknown = Reflect.get(target, name);
      if (typeof member !== 'function') return member;
      if (names && !names.includes(String(name))) return member.bind(target);
      return (...args: unknown[]) =>
        metered(backend, String(name), () => Reflect.apply(member, target, args) as unknown);
    },
  });
}

const originals = new WeakMap<object, D1PreparedStatement>();

function bill({ meta }: D1Result): void {
  const meter = meters.getStore();
  if (!meter) return;
  meter.read += meta.rows_read;
  meter.written += meta.rows_written;
}

/** `first()` returns no `meta`, so it calls `all()` here. */
function countedStatement(statement: D1PreparedStatement): D1PreparedStatement {
  const all = async <T>(): Promise<D1Result<T>> => {
    const result = await metered('d1', 'statement', () => statement.all<T>());
    bill(result);
    return result;
  };
  const wrapped = {
    bind: (...values: unknown[]) => countedStatement(statement.bind(...values)),
    all,
    run: all,
    first: async (column?: string) => {
      const [row] = (await all<Record<string, unknown>>()).results;
      return row === undefined ? null : column === undefined ? row : row[column];
    },
  } as Partial<D1PreparedStatement> as D1PreparedStatement;
  originals.set(wrapped, statement);
  return wrapped;
}

function countedDatabase<T extends D1Database | D1DatabaseSession>(database: T): T {
  return new Proxy(database, {
    get(_, name) {
      if (name === 'prepare') return (query: string) => countedStatement(database.prepare(query));
      if (name === 'batch')
        return async (statements: D1PreparedStatement[]) => {
          const plain = statements.map((statement) => originals.get(statement) ?? statement);
          const results = await metered('d1', 'batch', () => database.batch(plain));
          for (const result of results) bill(result);
          return results;
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
  backend: Backend,
): DurableObjectNamespace<T> =>
  new Proxy(namespace, {
    get: (_, name) =>
      name === 'getByName'
        ? (key: string) => counted(namespace.getByName(key), backend)
        : Reflect.get(namespace, name),
  });

const countedBindings = (env: Env): Env => ({
  ...env,
  DB: countedDatabase(env.DB),
  KV: counted(env.KV, 'kv'),
  LIMITER: counted(env.LIMITER, 'limiter'),
  NETWORK_LIMITER: counted(env.NETWORK_LIMITER, 'limiter'),
  PROVIDER_LIMITER: counted(env.PROVIDER_LIMITER, 'limiter'),
  ASSETS: counted(env.ASSETS, 'assets', ['fetch']),
  CUSTODIAN: countedObjects(env.CUSTODIAN, 'custodian'),
  PAGE_VIEWS: countedObjects(env.PAGE_VIEWS, 'pageViews'),
});

const platformFetch = globalThis.fetch;
globalThis.fetch = (input, init) => {
  const body: unknown = typeof init?.body === 'string' ? JSON.parse(init.body) : undefined;
  const rpc: unknown = Reflect.get(Object(body), 'method');
  const what = typeof rpc === 'string' ? rpc : `${init?.method ?? 'GET'} ${String(input)}`;
  return metered('upstream', what, () => platformFetch(input, init));
};
const PlatformSocket = globalThis.WebSocket;
globalThis.WebSocket = class extends PlatformSocket {
  constructor(url: string) {
    super(url);
    meters.getStore()?.open(`WebSocket ${url}`);
  }
};

/** The calls of each verb of the custodian since they were last read, in the order of the verbs. */
let verbs: { readonly verb: string; readonly meter: Meter }[] = [];

export class Custodian extends ServiceCustodian {
  constructor(context: DurableObjectState, env: Env) {
    super(context, { ...env, DB: countedDatabase(env.DB), KV: counted(env.KV, 'kv') });
  }
}
for (const name of Object.getOwnPropertyNames(ServiceCustodian.prototype)) {
  const verb = (ServiceCustodian.prototype as Verbs)[name];
  if (name === 'constructor' || name === 'alarm' || !verb) continue;
  (Custodian.prototype as object as Verbs)[name] = function (this: object, ...args) {
    const meter = new Meter();
    verbs.push({ verb: name, meter });
    return meters.run(meter, () => Reflect.apply(verb, this, args) as Promise<unknown>);
  };
}

let bindings: Env | undefined;

export default {
  async fetch(request, env, context) {
    const { pathname } = new URL(request.url);
    if (pathname === '/verbs') {
      const read = verbs.map(({ verb, meter: { calls } }) => ({ verb, calls }));
      verbs = [];
      return Response.json(read satisfies VerbCalls[]);
    }
    if (!bindings || request.headers.has('x-new-isolate')) bindings = countedBindings(env);
    heldAt = request.headers.get('x-clock') === 'hold' ? Date.now() : undefined;
    const own = bindings;
    const meter = new Meter();
    const response = await meters.run(meter, async () => {
      if (pathname !== '/cron') return service.fetch(request, own, context);
      await service.scheduled({ cron: '* * * * *' } as ScheduledController, own, context);
      return new Response(null, { status: 204 });
    });
    const { calls, read, written } = meter;
    const made = new Response(response.body, response);
    made.headers.set('x-calls', JSON.stringify({ calls, read, written } satisfies Calls));
    // Work after the response is not counted, and ends before the next request.
    for (let before = -1; before !== calls.length; ) {
      before = calls.length;
      await meter.quiet();
    }
    return made;
  },
} satisfies ExportedHandler<Env>;
