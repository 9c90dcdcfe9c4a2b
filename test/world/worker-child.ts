import { createHash } from 'node:crypto';
import { readFileSync, statSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import { basename, dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { convertV4MiniflareOptions, Log, LogLevel, Miniflare } from 'miniflare';
import type { FromWorkerProcess, ToWorkerProcess, WorkerFiles, WorkerSetup } from './worker-messages.ts';
import type { WorkerOptions } from './worker-options.ts';

// A separate process for the Worker, so that the world can kill it with all its memory.

const tell = (message: FromWorkerProcess): void => {
  if (process.connected) process.send?.(message);
};

function lines(stream: Readable): void {
  createInterface(stream).on('line', (line) => tell({ type: 'log', line }));
}

/** The site of this world: the same pages, with headers that name this world's explorers. */
const withSite = (fromConfig: object, directory: string | undefined) =>
  directory !== undefined && 'assets' in fromConfig && typeof fromConfig.assets === 'object'
    ? { assets: { ...fromConfig.assets, directory } }
    : {};

const INSIDE = join(import.meta.dirname, 'worker-inside.js');

/** Modules in front of the deployed bundle, the entry first: a clock that cron events move, and platform limits. */
const AROUND_BUNDLE = [
  'worker-entry.js',
  'worker-clock.js',
  ...['platform.ts', 'connections.ts', 'invocation.ts', 'kv.ts', 'd1.ts'].map(
    (name) => `../kit/platform/${name}`,
  ),
];

/** A file that the entry imports, as JavaScript next to the bundle. */
function moduleIn(folder: string, name: string) {
  const text = readFileSync(join(import.meta.dirname, name), 'utf8');
  const contents = name.endsWith('.ts') ? stripTypeScriptTypes(text) : text;
  return { type: 'ESModule' as const, path: join(folder, basename(name)), contents };
}

/** Loading wrangler takes 1.6 s of CPU, so a test run reads its options once, into a file. */
async function optionsOf(
  { optionsPath, configPath }: WorkerFiles,
  schemaPath?: string,
): Promise<WorkerOptions> {
  if (optionsPath !== undefined) return JSON.parse(readFileSync(optionsPath, 'utf8')) as WorkerOptions;
  const { readWorkerOptions } = await import('./worker-options.ts');
  return readWorkerOptions(configPath, schemaPath);
}

/** Name of the Worker that runs the custodian's object if the object has another release. */
const OBJECT = 'sluice-object';
const WITNESS = 'sluice-witness';
const custodianOf = ({ objectBundlePath }: WorkerSetup) => ({
  className: 'Custodian',
  scriptName: objectBundlePath === undefined ? 'sluice' : OBJECT,
  useSQLite: true,
});

/** The objects, for a Worker that does not run them itself. */
const objectsOf = (setup: WorkerSetup) => ({
  PAGE_VIEWS: { className: 'PageViews', scriptName: 'sluice', useSQLite: true },
  CUSTODIAN: custodianOf(setup),
});

/** Listens on a port of its own. */
const DIRECT = { unsafeDirectSockets: [{ host: '127.0.0.1', port: 0 }] };

/** The helper Worker, which listens on its own port. */
const inside = (setup: WorkerSetup, { compatibilityDate, databases }: WorkerOptions) => ({
  name: 'inside',
  ...(compatibilityDate === undefined ? {} : { compatibilityDate }),
  // Without this flag, a binding's `scheduled` is an ordinary method and not the handler.
  compatibilityFlags: ['service_binding_extra_handlers'],
  modulesRoot: import.meta.dirname,
  modules: [{ type: 'ESModule' as const, path: INSIDE, contents: readFileSync(INSIDE, 'utf8') }],
  d1Databases: Object.fromEntries(databases.map(({ binding, id }) => [binding, id])),
  serviceBindings: { SLUICE: 'sluice' },
  durableObjects: objectsOf(setup),
  ...DIRECT,
});

/** Paths that a deployment routes to the MCP server's Worker. */
const MCP_ROUTES = ['*/mcp', '*/mcp/*'];

async function mcpWorker({ bundlePath, bindings, ...files }: NonNullable<WorkerSetup['mcp']>) {
  const { worker, vars } = await optionsOf({ bundlePath, ...files });
  return {
    ...worker,
    name: 'sluice-mcp',
    routes: MCP_ROUTES,
    modulesRoot: dirname(bundlePath),
    modules: [{ type: 'ESModule' as const, path: bundlePath, contents: readFileSync(bundlePath, 'utf8') }],
    bindings: { ...vars, ...bindings },
  };
}

/** The witness, on a port of its own: the service calls it over the network. */
async function witnessWorker({ bundlePath, bindings, ...files }: NonNullable<WorkerSetup['witness']>) {
  const { worker } = await optionsOf({ bundlePath, ...files });
  return {
    ...worker,
    name: WITNESS,
    modulesRoot: dirname(bundlePath),
    modules: [{ type: 'ESModule' as const, path: bundlePath, contents: readFileSync(bundlePath, 'utf8') }],
    bindings,
    ...DIRECT,
  };
}

/** As on the platform, each isolate of a deployed bundle has the same version. */
const versionOf = (bundlePath: string) => ({
  id: createHash('sha256').update(readFileSync(bundlePath)).digest('hex').slice(0, 32),
  tag: '',
  timestamp: new Date(statSync(bundlePath).mtimeMs).toISOString(),
});

/** The service's Worker. */
const serviceWorker = (setup: WorkerSetup, options: WorkerOptions, name: string, bundlePath: string) => ({
  ...options.worker,
  name,
  // workerd refuses a module whose path leads out of this folder.
  modulesRoot: dirname(bundlePath),
  modules: [
    ...AROUND_BUNDLE.map((file) => moduleIn(dirname(bundlePath), file)),
    { type: 'ESModule' as const, path: bundlePath, contents: readFileSync(bundlePath, 'utf8') },
  ],
  // Only the file's own variables: a developer's .dev.vars contains real secrets, which must not be used here.
  bindings: { ...options.vars, ...setup.bindings, VERSION: versionOf(bundlePath) },
  versionMetadata: undefined,
});

async function start(setup: WorkerSetup): Promise<Miniflare> {
  const options = await optionsOf(setup, setup.schemaPath);
  const { objectBundlePath } = setup;
  const miniflare = new Miniflare(
    convertV4MiniflareOptions({
      host: '127.0.0.1',
      port: 0,
      cf: false,
      log: new Log(LogLevel.NONE),
      resourcePersistencePath: setup.storagePath,
      handleRuntimeStdio: (stdout: Readable, stderr: Readable) => {
        lines(stdout);
        lines(stderr);
      },
      workers: [
        {
          ...serviceWorker(setup, options, 'sluice', setup.bundlePath),
          ...withSite(options.worker, setup.sitePath),
          ...(objectBundlePath === undefined
            ? {}
            : {
                durableObjects: {
                  ...(Reflect.get(options.worker, 'durableObjects') as Record<string, unknown>),
                  CUSTODIAN: custodianOf(setup),
                },
              }),
        },
        ...(objectBundlePath === undefined
          ? []
          : [{ ...serviceWorker(setup, options, OBJECT, objectBundlePath), assets: undefined }]),
        inside(setup, options),
        ...(setup.witness === undefined ? [] : [await witnessWorker(setup.witness)]),
        ...(setup.mcp === undefined ? [] : [await mcpWorker(setup.mcp)]),
      ],
    }),
  );
  const url = await miniflare.ready;
  const schema = setup.schema ?? options.schema;
  for (const { binding } of schema.length === 0 ? [] : options.databases) {
    const db = await miniflare.getD1Database(binding);
    await db.batch(schema.map((statement) => db.prepare(statement)));
  }
  const insideUrl = await miniflare.unsafeGetDirectURL('inside');
  const direct = async (name: string) => (await miniflare.unsafeGetDirectURL(name)).origin;
  const witnessUrl = setup.witness ? await direct(WITNESS) : null;
  const { crons } = options;
  tell({ type: 'ready', url: url.origin, insideUrl: insideUrl.origin, witnessUrl, crons });
  return miniflare;
}

let running: Promise<Miniflare> | undefined;

process.on('message', ({ setup }: ToWorkerProcess) => {
  running = start(setup);
  running.catch((error: unknown) => {
    tell({ type: 'failed', reason: error instanceof Error ? error.message : String(error) });
  });
});

// The world closes the channel to stop this process, and it closes automatically when the world ends.
process.on('disconnect', () => {
  const stopped =
    running?.then((miniflare) => miniflare.dispose()).catch(() => undefined) ?? Promise.resolve();
  void stopped.then(() => process.exit(0));
});
