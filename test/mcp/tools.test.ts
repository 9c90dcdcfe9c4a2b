import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { createApp, type Deps, ERRORS } from '../../src/app.ts';
import { API_VERSION, apiDocument, operationsOf } from '../../src/features/openapi/api-document.ts';
import { EXAMPLES } from '../../src/features/openapi/examples.ts';
import { createApi } from '../../src/mcp/api-client.ts';
import { nextStep } from '../../src/mcp/failure.ts';
import { callTool, VERSION } from '../../src/mcp/server.ts';
import { TOOLS } from '../../src/mcp/tools.ts';

type Sent = {
  readonly url: string;
  readonly method: string;
  readonly headers: Headers;
  readonly body: unknown;
};
type Answer = { readonly status?: number; readonly body?: unknown; readonly replayed?: boolean };

const exampleOf = (operationId: string, name = 'ok') =>
  EXAMPLES[operationId]?.responses.find((response) => response.name === name)?.body;
const CREATED = exampleOf('createSwap');
const OPERATIONS: Readonly<Record<string, string>> = {
  get_reserves: 'getReserves',
  swap_min: 'getSwapMinimum',
  swap_estimate: 'getSwapEstimate',
  swap_create: 'createSwap',
  swap_status: 'getSwapStatus',
};

/** A service that gives these answers in turn; an Error is a connection that broke. */
function service(...answers: (Answer | Error)[]) {
  const sent: Sent[] = [];
  const api = createApi({
    origin: 'http://sluice.test',
    fetch: async (input, init) => {
      const text = typeof init?.body === 'string' ? init.body : 'null';
      sent.push({
        url: String(input),
        method: init?.method ?? 'GET',
        headers: new Headers(init?.headers),
        body: JSON.parse(text),
      });
      const answer = answers.shift();
      if (answer === undefined) throw new Error(`no answer for ${String(input)}`);
      if (answer instanceof Error) throw answer;
      const { status = 200, body = {}, replayed } = answer;
      return new Response(typeof body === 'string' ? body : JSON.stringify(body), {
        status,
        headers: replayed ? { 'idempotency-replayed': 'true' } : {},
      });
    },
  });
  return { api, sent };
}

function toolNamed(name: string) {
  const found = TOOLS.find((tool) => tool.name === name);
  if (!found) throw new Error(`no tool ${name}`);
  return found;
}

async function call(name: string, given: unknown, ...answers: (Answer | Error)[]) {
  const { api, sent } = service(...answers);
  const result = await callTool(toolNamed(name), given, { api });
  const [content] = result.content;
  const text = content?.type === 'text' ? content.text : '';
  return { result, sent, body: JSON.parse(text) as Record<string, unknown> };
}

const PROBLEM = { error: 'Why.', request_id: 'r-9', retryable: false };

describe('the table', () => {
  it('has exactly the five tools of the contract', () => {
    expect(TOOLS.map(({ name }) => name)).toEqual(Object.keys(OPERATIONS));
  });

  it('speaks the version of the API', () => {
    expect(VERSION).toBe(API_VERSION);
  });

  it.each(TOOLS.map((tool) => [tool.name, tool] as const))(
    '%s says what it may do, all four ways',
    (name, tool) => {
      const spends = name === 'swap_create';
      expect(tool.annotations).toEqual({
        readOnlyHint: !spends,
        destructiveHint: spends,
        idempotentHint: !spends,
        openWorldHint: true,
      });
      expect(tool.title).not.toBe('');
      expect(tool.description.length).toBeGreaterThan(60);
    },
  );

  it.each(TOOLS.map((tool) => [tool.name, tool] as const))(
    '%s publishes one closed object as input, which every host accepts',
    (_name, tool) => {
      const schema = z.toJSONSchema(tool.input, { io: 'input' });
      expect(schema).toMatchObject({ type: 'object', additionalProperties: false });
      for (const keyword of ['anyOf', 'oneOf', 'allOf']) expect(schema).not.toHaveProperty(keyword);
      for (const property of Object.values(schema.properties ?? {}))
        expect(property).toHaveProperty('description');
    },
  );

  const document = apiDocument(
    createApp((): Deps => {
      throw new Error('routes are listed, not called');
    }),
    ERRORS,
    {},
    '',
  );
  const own = ['idempotencyKey', 'replayed'];

  it.each(Object.entries(OPERATIONS))(
    '%s answers members that %s of the API document has',
    (name, operationId) => {
      const found = operationsOf(document).find(({ operation }) => operation.operationId === operationId);
      const schema = found?.operation.responses[200]?.content?.['application/json']?.schema ?? {};
      const ref = '$ref' in schema ? (schema.$ref.split('/').at(-1) ?? '') : '';
      const component = document.components?.schemas?.[ref];
      const documented =
        component && 'properties' in component ? Object.keys(component.properties ?? {}) : [];
      const told = Object.keys(toolNamed(name).output.shape).filter((member) => !own.includes(member));
      expect(documented).toEqual(expect.arrayContaining(told));
    },
  );

  it.each(Object.entries(OPERATIONS))('%s passes on what %s really answers', async (name, operationId) => {
    const given = {
      swap_estimate: { amountSol: 0.5 },
      swap_create: { amountSol: 0.5 },
      swap_status: { id: 'x' },
    }[name];
    const { result, body } = await call(name, given ?? {}, { body: exampleOf(operationId) });
    expect(result.isError).toBeUndefined();
    expect(body).toMatchObject(exampleOf(operationId) as object);
    expect(result.structuredContent).toEqual(body);
  });
});

describe('arguments', () => {
  it.each([
    [{ amountSol: 0.5 }, '0.5'],
    [{ amountSol: '0.5' }, '0.5'],
    [{ amount_sol: 0.5 }, '0.5'],
    [{ amount_sol: '0.500000001' }, '0.500000001'],
    [{ amountSol: 1e-3 }, '0.001'],
    [{ amountSol: 1e-7 }, '0.0000001'],
    [{ amountSol: 1.5e-7 }, '0.00000015'],
    [{ amountSol: ' 2 ' }, '2'],
    [{ amountSol: '0.50' }, '0.5'],
    [{ amountSol: '00.5' }, '0.5'],
  ])('%j asks for %s SOL', async (given, text) => {
    const { sent } = await call('swap_estimate', given, { body: exampleOf('getSwapEstimate') });
    expect(sent[0]?.url).toBe(`http://sluice.test/api/swap/estimate?amountSol=${text}`);
  });

  it.each([
    ['swap_estimate', {}, 'amountSol'],
    ['swap_estimate', undefined, 'amountSol'],
    ['swap_estimate', { amountSol: 'half' }, 'amountSol'],
    ['swap_estimate', { amountSol: -1 }, 'amountSol'],
    ['swap_estimate', { amountSol: Number.NaN }, 'amountSol'],
    ['swap_estimate', { amountSol: '0.0000000001' }, 'digits'],
    ['swap_estimate', { amountSol: 1, amount_sol: 2 }, 'amount_sol'],
    ['swap_estimate', { amountSol: null }, 'amountSol'],
    ['swap_estimate', { sol: 1 }, 'sol'],
    ['swap_create', { amountSol: 1, dry_run: 'yes' }, 'dry_run'],
    ['swap_create', { amountSol: 1, idempotencyKey: 'short' }, '16 to 128'],
    ['swap_status', {}, 'id'],
    ['swap_status', { id: '' }, 'id'],
    ['swap_status', { id: 7 }, 'id'],
    ['get_reserves', { verbose: true }, 'verbose'],
    ['get_reserves', { constructor: true }, '"constructor"'],
    ['swap_min', [], 'object'],
  ])('%s with %j is refused before any call, with the repair', async (name, given, hint) => {
    const { result, sent, body } = await call(name, given);
    expect(sent).toEqual([]);
    expect(result).toMatchObject({ isError: true });
    expect(result.structuredContent).toBeUndefined();
    expect(body).toMatchObject({ error_code: 'INVALID_ARGUMENTS', action: 'fix_request', retryable: false });
    expect(String(body.error)).toContain(hint);
    expect(body.next_step).toContain(`Call ${name} again: it takes`);
  });

  it('an id is one part of the path, whatever is in it', async () => {
    const { sent } = await call('swap_status', { id: '../ops?x=1' }, { body: exampleOf('getSwapStatus') });
    expect(sent[0]?.url).toBe('http://sluice.test/api/swap/status/..%2Fops%3Fx%3D1');
  });
});

describe('a failure of the service', () => {
  const actions = [...new Set(Object.values(ERRORS).map(({ action }) => action))];
  it.each(actions)('with action %s has a next step in words', (action) => {
    expect(nextStep(action)).toMatch(/^[A-Z].*\.$/);
    expect(nextStep(action)).not.toMatch(/advises/);
  });

  it('reaches the model whole: code, words, wait, request id, details', async () => {
    const problem = {
      ...PROBLEM,
      error_code: 'SWAP_LIMIT_REACHED',
      action: 'retry_later',
      retryable: true,
      retry_after_s: 60,
      details: { limit: 'hour' },
    };
    const { result, body } = await call('swap_min', {}, { status: 503, body: problem });
    expect(result.isError).toBe(true);
    expect(body).toEqual({ ...problem, next_step: nextStep('retry_later') });
  });

  it('without a body of this API says what to check', async () => {
    for (const answer of [
      { status: 502, body: '<html>Bad gateway</html>' },
      { status: 200, body: '[]' },
      { status: 500, body: { message: 'no' } },
      new TypeError('fetch failed'),
    ]) {
      const { result, body } = await call('swap_min', {}, answer);
      expect(result.isError).toBe(true);
      expect(body).toMatchObject({ error_code: 'API_UNREACHABLE', retryable: true });
      expect(body.next_step).toContain('API_BASE_URL');
    }
  });

  it('that succeeds in an unknown shape is not passed on as an answer', async () => {
    const { result, body } = await call(
      'swap_status',
      { id: 'x' },
      { body: { id: 'x', status: 'sideways' } },
    );
    expect(result.isError).toBe(true);
    expect(body.error_code).toBe('UNEXPECTED');
  });
});

describe('swap_create', () => {
  const keyOf = (sent: readonly Sent[], at = 0) => sent[at]?.headers.get('idempotency-key');

  it('makes a key that the API takes, sends it and answers it', async () => {
    const { sent, body } = await call('swap_create', { amountSol: '0.31' }, { body: CREATED });
    expect(sent[0]).toMatchObject({
      url: 'http://sluice.test/api/swap/create',
      method: 'POST',
      body: { amountSol: '0.31' },
    });
    expect(keyOf(sent)).toMatch(/^[\x21-\x7e]{16,128}$/);
    expect(body).toMatchObject({ idempotencyKey: keyOf(sent), replayed: false, initiated: true });
  });

  it('makes another key for the next swap of the same amount', async () => {
    const first = await call('swap_create', { amountSol: '0.32' }, { body: CREATED });
    const second = await call('swap_create', { amountSol: '0.32' }, { body: CREATED });
    expect(keyOf(first.sent)).not.toBe(keyOf(second.sent));
  });

  it('sends the key that it is given and says when the answer is an old one', async () => {
    for (const name of ['idempotencyKey', 'idempotency_key']) {
      const given = { amountSol: 0.5, [name]: 'my-own-key-0123456789' };
      const { sent, body } = await call('swap_create', given, { body: CREATED, replayed: true });
      expect(keyOf(sent)).toBe('my-own-key-0123456789');
      expect(body).toMatchObject({ idempotencyKey: 'my-own-key-0123456789', replayed: true });
    }
  });

  it('takes no key for a dry run', async () => {
    for (const name of ['dry_run', 'dryRun']) {
      const dry = exampleOf('createSwap', 'dry_run');
      const { sent, body } = await call('swap_create', { amountSol: 0.5, [name]: true }, { body: dry });
      expect([keyOf(sent), sent[0]?.body]).toEqual([null, { amountSol: '0.5', dry_run: true }]);
      expect(body).toMatchObject({ initiated: false, id: null, idempotencyKey: null, dry_run: true });
    }
  });

  it.each([
    ['the connection broke', new TypeError('fetch failed')],
    [
      'the custodian did not answer',
      {
        status: 503,
        body: { ...PROBLEM, error_code: 'CUSTODIAN_UNAVAILABLE', action: 'retry_later', retryable: true },
      },
    ],
    [
      'the first call still runs',
      {
        status: 409,
        body: { ...PROBLEM, error_code: 'IDEMPOTENCY_IN_PROGRESS', action: 'retry_later', retryable: true },
      },
    ],
    [
      'something unexpected happened after the key was used',
      { status: 500, body: { ...PROBLEM, error_code: 'INTERNAL', action: 'report_request_id' } },
    ],
    ['the answer does not name the swap', { body: { initiated: true, status: 'waiting' } }],
  ])('when %s answers the key, and calls again with it even when the model does not', async (_what, lost) => {
    const amountSol = `0.4${_what.length}`;
    const { api, sent } = service(lost, lost, { body: CREATED, replayed: true }, { body: CREATED });
    const ask = async () => {
      const { content, isError } = await callTool(toolNamed('swap_create'), { amountSol }, { api });
      const [part] = content;
      return {
        isError,
        ...(JSON.parse(part?.type === 'text' ? part.text : '{}') as Record<string, unknown>),
      };
    };
    const first = await ask();
    expect(first).toMatchObject({ isError: true, idempotencyKey: keyOf(sent) });
    expect(String(Reflect.get(first, 'next_step'))).toContain(String(keyOf(sent)));
    await ask();
    expect(await ask()).toMatchObject({ idempotencyKey: keyOf(sent), replayed: true });
    await ask();
    expect(new Set([0, 1, 2].map((at) => keyOf(sent, at))).size).toBe(1);
    expect(keyOf(sent, 3)).not.toBe(keyOf(sent, 2));
  });

  it('knows an amount again in another spelling', async () => {
    const { api, sent } = service(new TypeError('fetch failed'), { body: CREATED, replayed: true });
    await callTool(toolNamed('swap_create'), { amountSol: 0.9 }, { api });
    await callTool(toolNamed('swap_create'), { amountSol: '0.90' }, { api });
    expect(sent.map(({ body }) => body)).toEqual([{ amountSol: '0.9' }, { amountSol: '0.9' }]);
    expect(keyOf(sent, 1)).toBe(keyOf(sent, 0));
  });

  it('lets go of a key that the service has refused for good', async () => {
    const refused = {
      status: 400,
      body: { ...PROBLEM, error_code: 'AMOUNT_TOO_SMALL', action: 'fix_request' },
    };
    const quote = {
      status: 502,
      body: { ...PROBLEM, error_code: 'QUOTE_REFUSED', action: 'retry_with_new_key', retryable: true },
    };
    const { api, sent } = service(refused, quote, { body: CREATED });
    for (let at = 0; at < 3; at++) await callTool(toolNamed('swap_create'), { amountSol: '0.77' }, { api });
    expect(new Set(sent.map((_, at) => keyOf(sent, at))).size).toBe(3);
  });

  it('keeps the key of a call that the host has given up, whatever it brought', async () => {
    const given = new AbortController();
    const { api, sent } = service({ body: CREATED }, { body: CREATED, replayed: true });
    given.abort();
    await callTool(toolNamed('swap_create'), { amountSol: '0.88' }, { api, signal: given.signal });
    await callTool(toolNamed('swap_create'), { amountSol: '0.88' }, { api });
    expect(keyOf(sent, 1)).toBe(keyOf(sent, 0));
  });
});
