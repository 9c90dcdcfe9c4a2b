import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { EXAMPLES } from '../../scripts/documents/examples.ts';
import { TOOLS } from '../../src/mcp/tools/all-tools.ts';
import { openLegacy, type StdioProcess, startApi, startStdio, strayOutput } from './stdio-process.ts';

const ENTRY = join(import.meta.dirname, '../../src/mcp/stdio.ts');
const NAMES = TOOLS.map(({ name }) => name);
/** A model reads the whole list before its first call. */
const MAX_LIST_BYTES = 18 * 1024;
/** The members of every request of the 2026 protocol. */
const ENVELOPE = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
  'io.modelcontextprotocol/clientCapabilities': {},
};

let api: Awaited<ReturnType<typeof startApi>>;
let server: StdioProcess;
/** A path or slash after the origin is ignored. */
const start = (env: Readonly<Record<string, string>> = { API_BASE_URL: `${api.url}/api/` }) => {
  server = startStdio(process.execPath, [ENTRY], env);
  return server;
};

beforeAll(async () => {
  const ok = (id: string) => ({ body: EXAMPLES[id]?.responses.ok });
  api = await startApi({
    '/api/reserves': ok('getReserves'),
    '/api/swap/min': { status: 503, body: { error_code: 'SWAPS_PAUSED', error: 'x', action: 'retry_later' } },
    '/api/swap/estimate': { body: '<html>' },
  });
});
afterEach(() => server.kill('SIGKILL'));
afterAll(() => api.stop());

const toolNames = (answer: Readonly<Record<string, unknown>>) =>
  ((answer.result as { tools: { name: string }[] }).tools ?? []).map(({ name }) => name);

it('serves a client that initializes with a protocol of 2025', async () => {
  start();
  const opened = await openLegacy(server);
  const instructions = expect.stringContaining('swap_estimate');
  expect(opened.result).toMatchObject({ serverInfo: { name: 'sluice' }, instructions });
  const listed = await server.request('tools/list');
  expect(toolNames(listed)).toEqual(NAMES);
  expect(JSON.stringify(listed.result).length).toBeLessThanOrEqual(MAX_LIST_BYTES);
  const called = await server.request('tools/call', { name: 'get_reserves', arguments: {} });
  const result = called.result as { structuredContent: unknown; content: { text: string }[] };
  expect(JSON.parse(result.content[0]?.text ?? '')).toEqual(result.structuredContent);
  expect(strayOutput(server.stdout())).toEqual([]);
});

it('a client of protocol 2026-07-28 discovers the server, lists the tools and calls one without a handshake', async () => {
  start();
  const discovered = await server.request('server/discover', { _meta: ENVELOPE });
  const protocol = { supportedVersions: expect.arrayContaining(['2026-07-28']), capabilities: { tools: {} } };
  expect(discovered.result).toMatchObject(protocol);
  const listed = await server.request('tools/list', { _meta: ENVELOPE });
  expect(toolNames(listed)).toEqual(NAMES);
  expect(JSON.stringify(listed.result).length).toBeLessThanOrEqual(MAX_LIST_BYTES);
  // Some hosts refuse a tool with more than one type for an argument.
  const { tools } = listed.result as { tools: { inputSchema: object }[] };
  expect(JSON.stringify(tools.map(({ inputSchema }) => inputSchema))).not.toContain('"type":[');
  expect(toolNames(await server.request('tools/list', { _meta: ENVELOPE }))).toEqual(NAMES);
  const call = { name: 'get_reserves', arguments: {}, _meta: ENVELOPE };
  const called = await server.request('tools/call', call);
  expect(called.result).toMatchObject({ structuredContent: { stale: expect.any(Boolean) } });
  expect(strayOutput(server.stdout())).toEqual([]);
});

describe('stdout contains protocol only', () => {
  it('stdout contains only protocol messages while every request fails', async () => {
    start();
    await openLegacy(server);
    server.write('not json\n{"jsonrpc":"2.0"\n\n{}\n[]\nnull\n{"jsonrpc":"2.0","method":7}\n');
    for (const [name, given] of [
      ['swap_min', {}],
      ['swap_estimate', { amountSol: 1 }],
      ['swap_status', { id: 'x' }],
      ['swap_create', { amountSol: 'x' }],
    ] as const) {
      const { result } = await server.request('tools/call', { name, arguments: given });
      expect(result).toMatchObject({ isError: true, content: [{ type: 'text' }] });
    }
    expect(await server.request('tools/call', { name: 'no_such_tool' })).toHaveProperty('error');
    expect(await server.request('no/such/method')).toHaveProperty('error');
    expect(toolNames(await server.request('tools/list'))).toEqual(NAMES);
    expect(strayOutput(server.stdout())).toEqual([]);
  });

  it.each(['SIGTERM', 'SIGINT'] as const)(
    'stdout contains only protocol messages on %s, and the server exits with code 0',
    async (signal) => {
      start();
      await openLegacy(server);
      server.kill(signal);
      expect(await server.exited).toBe(0);
      expect(strayOutput(server.stdout())).toEqual([]);
    },
  );

  it('stdout contains only protocol messages if the host closes the pipe, even during a call', async () => {
    start();
    await openLegacy(server);
    server.notify('tools/call', { name: 'get_reserves', arguments: {} });
    server.closeInput();
    expect(await server.exited).toBe(0);
    expect(strayOutput(server.stdout())).toEqual([]);
  });

  it('stdout contains only protocol messages when a library logs to the console', async () => {
    const chatter = `data:text/javascript,setTimeout(()=>console.log('chatter'),300)`;
    server = startStdio(process.execPath, ['--import', chatter, ENTRY], { API_BASE_URL: api.url });
    await openLegacy(server);
    while (!server.stderr().includes('chatter')) await server.request('ping');
    expect(strayOutput(server.stdout())).toEqual([]);
  });

  it('stdout contains only protocol messages when started with `npm run -s mcp`', async () => {
    const folder = join(import.meta.dirname, '../..');
    server = startStdio('npm', ['run', '-s', 'mcp'], { API_BASE_URL: api.url }, folder);
    await openLegacy(server);
    expect(toolNames(await server.request('tools/list'))).toEqual(NAMES);
    server.closeInput();
    expect(await server.exited).toBe(0);
    expect(strayOutput(server.stdout())).toEqual([]);
  });

  it('stdout is empty when the server cannot start, and stderr explains why', async () => {
    start({ API_BASE_URL: 'sluice.example' });
    expect(await server.exited).toBe(1);
    expect(server.stdout()).toBe('');
    expect(server.stderr()).toContain('API_BASE_URL must be an http or https URL');
  });
});

it('a tool call returns an error that explains that API_BASE_URL is unreachable', async () => {
  start({ API_BASE_URL: 'http://127.0.0.1:9' });
  await openLegacy(server);
  const { result } = await server.request('tools/call', { name: 'get_reserves', arguments: {} });
  expect(result).toMatchObject({ isError: true });
  expect(JSON.stringify(result)).toContain('API_UNREACHABLE');
  expect(JSON.stringify(result)).toContain('http://127.0.0.1:9');
});
