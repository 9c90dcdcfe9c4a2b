import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { convertV4MiniflareOptions, Miniflare, Response as WorkerdResponse } from 'miniflare';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { onRequest } from '../../site/functions/api/[[path]].ts';
import { onRequest as onMcpRequest } from '../../site/functions/mcp/[[path]].ts';

const run = promisify(execFile);

describe('the site’s functions, built as for the platform', () => {
  let folder: string;
  let pages: Miniflare;
  let routes: { include: string[] };
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'sluice-pages-'));
    const routesFile = join(folder, 'routes.json');
    const args = ['wrangler', 'pages', 'functions', 'build', 'functions', '--outdir', join(folder, 'out')];
    await run('npx', [...args, '--output-routes-path', routesFile], {
      cwd: 'site',
      env: { ...process.env, WRANGLER_SEND_METRICS: 'false', WRANGLER_LOG_PATH: folder },
    });
    routes = JSON.parse(readFileSync(routesFile, 'utf8')) as { include: string[] };
    pages = new Miniflare(
      convertV4MiniflareOptions({
        modules: [
          {
            type: 'ESModule',
            path: 'index.js',
            contents: readFileSync(join(folder, 'out/index.js'), 'utf8'),
          },
        ],
        compatibilityDate: '2026-10-01',
        serviceBindings: {
          API: async (request) =>
            WorkerdResponse.json(
              {
                asked: `${request.method} ${new URL(request.url).pathname}${new URL(request.url).search}`,
                caller: request.headers.get('cf-connecting-ip'),
                key: request.headers.get('idempotency-key'),
                body: await request.text(),
              },
              { status: 418, headers: { 'x-request-id': 'r-1' } },
            ),
          MCP: async (request) =>
            WorkerdResponse.json({ mcp: `${request.method} ${new URL(request.url).pathname}` }),
          ASSETS: () => new WorkerdResponse('a page'),
        },
      }),
    );
    await pages.ready;
  }, 60_000);
  afterAll(async () => {
    await pages?.dispose();
    rmSync(folder, { recursive: true, force: true });
  });

  it("the site's functions run for exactly the paths of the two Workers; all other paths are files", () => {
    const worker = /run_worker_first = (\[.*\])/.exec(readFileSync('wrangler.toml', 'utf8'))?.[1] ?? '[]';
    // At Pages the pages with first figures are files, so that they do not depend on the Worker.
    const files = ['/', '/reserves', '/trust', '/status', '/tokens', '/asry'];
    const forwarded = (JSON.parse(worker) as string[]).filter((path) => !files.includes(path));
    expect([...routes.include].sort()).toEqual([...forwarded, '/mcp/*'].sort());
  });

  it.each([
    ['POST', '/mcp'],
    ['OPTIONS', '/mcp'],
  ])("the site's functions pass %s %s on to the MCP server", async (method, path) => {
    const response = await pages.dispatchFetch(`https://site.test${path}`, { method });
    expect(await response.json()).toEqual({ mcp: `${method} ${path}` });
  });

  it.each(['/api/reserves?x=1', '/api/swap/status/abc', '/llms.txt'])(
    "the site's functions pass %s on and return the response unchanged",
    async (path) => {
      const response = await pages.dispatchFetch(`https://site.test${path}`);
      expect([response.status, response.headers.get('x-request-id')]).toEqual([418, 'r-1']);
      expect(await response.json()).toMatchObject({ asked: `GET ${path}` });
    },
  );

  it('the site’s functions keep method, body, key and the caller’s address', async () => {
    const response = await pages.dispatchFetch('https://site.test/api/swap/create', {
      method: 'POST',
      headers: { 'idempotency-key': 'key-0123456789abcdef', 'cf-connecting-ip': '203.0.113.7' },
      body: '{"amountSol":0.5}',
    });
    expect(await response.json()).toEqual({
      asked: 'POST /api/swap/create',
      caller: '203.0.113.7',
      key: 'key-0123456789abcdef',
      body: '{"amountSol":0.5}',
    });
  });
});

it('returns the usual error body when a Worker cannot be reached', async () => {
  const API = { fetch: () => Promise.reject(new Error('internal error; reference = secret')) };
  const response = await onRequest({ request: new Request('https://site.test/api/reserves'), env: { API } });
  const text = await response.text();
  expect([response.status, response.headers.get('retry-after')]).toEqual([502, '5']);
  expect(JSON.parse(text)).toMatchObject({
    error_code: 'UPSTREAM_FAILED',
    action: 'retry_later',
    retryable: true,
    retry_after_s: 5,
    request_id: response.headers.get('x-request-id'),
  });
  expect(text).not.toContain('secret');
});

it('returns a JSON-RPC error when the MCP server cannot be reached', async () => {
  const MCP = { fetch: () => Promise.reject(new Error('internal error; reference = secret')) };
  const response = await onMcpRequest({ request: new Request('https://site.test/mcp'), env: { MCP } });
  const text = await response.text();
  expect([response.status, response.headers.get('retry-after')]).toEqual([502, '5']);
  expect(JSON.parse(text)).toMatchObject({ jsonrpc: '2.0', error: { code: -32_000 } });
  expect(text).not.toContain('secret');
});
