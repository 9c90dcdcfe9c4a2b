import { readFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createApp } from '../src/app.ts';
import { AREAS, areaOf } from '../src/areas.ts';
import { type Deps, mountedApp } from '../src/mounted-app.ts';

const noDeps = (): Deps => {
  throw new Error('routes are listed, not called');
};
const routesOf = (app: ReturnType<typeof createApp>): string[] =>
  app.routes.map(({ method, path }) => `${method} ${path}`);

describe('the areas', () => {
  const shared = routesOf(mountedApp(noDeps, []));

  it('have the routes of the API, each in the area of its path', async () => {
    const found: string[] = [];
    for (const area of AREAS) {
      const own = mountedApp(noDeps, [await area.load()]).routes.slice(shared.length);
      for (const { path } of own) expect([path, areaOf(path)]).toEqual([path, area]);
      found.push(...own.map(({ method, path }) => `${method} ${path}`));
    }
    expect(found).toEqual(
      expect.arrayContaining(['GET /api/swap/min', 'GET /api/tokens/quote', 'GET /llms.txt']),
    );
    expect(found).toEqual(routesOf(createApp(noDeps)).slice(shared.length));
  });

  it.each([
    '/',
    '/api',
    '/api/',
    '/api/unknown',
    '/apix/swap/min',
    '//api/swap/min',
    '/unknown',
    '/api/openapi.json',
  ])('leave %s to the documents', (path) => {
    expect(areaOf(path)).toBe(areaOf('/llms.txt'));
  });
});

/** Modules that are evaluated when `entry` is imported: its imports and theirs, without types and `import()`. */
function evaluatedBy(entry: string): Set<string> {
  const src = join(import.meta.dirname, '../src');
  const found = new Set<string>();
  const visit = (file: string): void => {
    if (found.has(file)) return;
    found.add(file);
    if (!file.endsWith('.ts')) return;
    const text = readFileSync(join(src, file), 'utf8');
    for (const [, spec = ''] of text.matchAll(/^(?:import|export) (?!type\b)(?:[^;']*from )?'([^']+)';/gm))
      visit(spec.startsWith('.') ? posix.join(posix.dirname(file), spec) : spec);
  };
  visit(entry);
  return found;
}

describe('the first request of an isolate', () => {
  const evaluated = [...evaluatedBy('wiring/api.ts')];

  it('reads the configuration', () => {
    expect(evaluated).toEqual(expect.arrayContaining(['config.ts', 'wiring/custodian-client.ts']));
  });

  it('evaluates no provider, no bridge, no store and no library of transactions', () => {
    const started = evaluatedBy('worker.ts');
    const late = evaluated.filter(
      (name) => /^(features|providers|bridges)\/(?!route\.ts)|^@solana/.test(name) && !started.has(name),
    );
    expect(late).toEqual([]);
  });
});

describe('the start of an isolate', () => {
  const evaluated = [...evaluatedBy('worker.ts')];

  it('evaluates what every request needs', () => {
    expect(evaluated).toEqual(expect.arrayContaining(['mounted-app.ts', 'http/edge.ts', 'areas.ts']));
  });

  it('evaluates no route, no provider and no module of the custodian', () => {
    const late = evaluated.filter((file) =>
      /^(features\/.+|providers|wiring|chain|bridges|custody)\//.test(file),
    );
    expect(late).toEqual([
      'custody/durable-object.ts',
      'features/analytics/page-views-object.ts',
      'features/analytics/page-views-store.ts',
      'features/analytics/count-pageview.ts',
    ]);
  });

  it('evaluates no library of keys or transactions', () => {
    const libraries = evaluated.filter((file) => !file.endsWith('.ts'));
    expect(libraries).toContain('hono/utils/url');
    expect(libraries.filter((name) => /^@solana|noble\/curves|btc-signer/.test(name))).toEqual([]);
  });
});
