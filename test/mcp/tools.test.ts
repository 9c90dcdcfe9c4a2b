import { describe, expect, it } from 'vitest';
import { memoryKeys } from '../../packages/client/src/index.ts';
import { operationsOf } from '../../scripts/documents/api-document.ts';
import type { ApiDocument } from '../../scripts/documents/shared-parts.ts';
import { documentOf } from '../../scripts/documents/write-documents.ts';
import { ERRORS } from '../../src/core/errors.ts';
import { createApi, keysOf, nextStep } from '../../src/mcp/api-client.ts';
import { createRecentResults, type RecentResults, resultsOf } from '../../src/mcp/recent-results.ts';
import { callTool, jsonSchemaOf } from '../../src/mcp/server.ts';
import { TOOLS } from '../../src/mcp/tools/all-tools.ts';
import { exampleOf } from '../kit/example.ts';
import { eachScene, msOf, playSteps } from '../kit/scenes.ts';

type Sent = {
  readonly url: string;
  readonly method: string;
  readonly headers: Headers;
  readonly body: unknown;
};
type Answer = { readonly status?: number; readonly body?: unknown; readonly replayed?: boolean };

const CREATED = exampleOf('createSwap');
const CONTRACT_TOOLS = ['get_reserves', 'swap_min', 'swap_estimate', 'swap_create', 'swap_status'];
const SIGNATURE = '5fFK6dZeVLSmuXCgLUbXRWsKPZBj7jUaicdZfyVMdY7NJeZTtUfbCwkgZwGh35zr6t7bs4GaMCCdhrqgNfz8obY1';
const ADDRESS = '7Np41oeYqPefeNQEHSv1UDhYrehxin3NStELsSKCT4K2';
/** Members that a token invoice and a claim need. */
const ORDER = `"name":"A","symbol":"B","creator_address":"${ADDRESS}"`;
const CLAIM = `"asset":"USDC","depositTxSignature":"${SIGNATURE}"`;
/** Each tool that passes on one response of the API: its operation and accepted arguments. */
const PASSED_ON: readonly (readonly [tool: string, operationId: string, given: Record<string, unknown>])[] = [
  ['get_reserves', 'getReserves', {}],
  ['swap_min', 'getSwapMinimum', {}],
  ['swap_estimate', 'getSwapEstimate', { amountSol: 0.5 }],
  ['swap_create', 'createSwap', { amountSol: 0.5 }],
  ['swap_status', 'getSwapStatus', { id: 'x' }],
  ['token_search', 'searchTokens', { query: 'cat' }],
  ['token_get', 'getToken', { id: 1 }],
  ['token_invoice_create', 'createInvoice', { name: 'A', symbol: 'B', creator_address: ADDRESS }],
  ['token_invoice_status', 'getInvoice', { invoice_id: 'x' }],
  ['asry_claim', 'claimFromDeposit', { asset: 'USDC', depositTxSignature: SIGNATURE, amount: 1 }],
  ['asry_claim_status', 'getAsryClaim', { depositTxSignature: SIGNATURE }],
  ['asry_epoch', 'getAsryEpoch', {}],
  ['exchange_min', 'getExchangeMinimum', { from: 'sol', to: 'btc' }],
  ['exchange_estimate', 'getExchangeEstimate', { from: 'sol', to: 'btc', amount: 0.5 }],
  ['exchange_create', 'createExchange', { from: 'sol', to: 'btc', amount: 0.5, payoutAddress: 'bc1qxy' }],
  ['exchange_status', 'getExchangeStatus', { id: 'x' }],
  ['pool_get', 'getPool', { address: ADDRESS }],
  ['service_status', 'getStatus', {}],
];
/** Members that the tools add to the response of the API. */
const OWN_MEMBERS = 'idempotencyKey replayed claimed created would_pay message source as_of stale'.split(' ');
const PLAIN_KEYWORDS = 'type description enum pattern minLength maxLength minimum maximum'.split(' ');

/** The dependencies of a tool. Without `recent`, no call is recognized as a repeat. */
const contextOf = (
  api: ReturnType<typeof createApi>,
  recent: RecentResults = { find: () => undefined, keep: () => undefined },
) => ({ api, verifyProof: async () => ({}), recent });

/** A service that gives these answers in turn; an Error is a broken connection. */
const service = (...answers: (Answer | Error)[]) =>
  serviceFor({ client: 'test', keys: memoryKeys() }, ...answers);

function serviceFor(
  { client, keys }: { readonly client: string; readonly keys: Parameters<typeof keysOf>[1] },
  ...answers: (Answer | Error)[]
) {
  const sent: Sent[] = [];
  const api = createApi({
    keys: keysOf(client, keys),
    origin: 'http://sluice.test',
    unreachableRepair: 'Check API_BASE_URL, then make the same call.',
    fetch: async (input, init) => {
      const text = typeof init?.body === 'string' ? init.body : 'null';
      const { method = 'GET' } = init ?? {};
      sent.push({ url: String(input), method, headers: new Headers(init?.headers), body: JSON.parse(text) });
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
  const result = await callTool(toolNamed(name), given, contextOf(api));
  const [content] = result.content;
  const text = content?.type === 'text' ? content.text : '';
  return { result, sent, body: JSON.parse(text) as Record<string, unknown> };
}

describe('the table', () => {
  it('the tool list starts with the five tools of the contract', () => {
    expect(TOOLS.slice(0, 5).map(({ name }) => name)).toEqual(CONTRACT_TOOLS);
  });

  it('each tool is listed once, and each but verify_reserve_proof is tested with a recorded API response', () => {
    const names = TOOLS.map(({ name }) => name);
    expect(new Set(names).size).toBe(names.length);
    const passing = names.filter((name) => name !== 'verify_reserve_proof');
    expect(PASSED_ON.map(([name]) => name).sort()).toEqual(passing.sort());
  });

  const ALL = TOOLS.map((tool) => [tool.name, tool] as const);
  it.each(ALL)(
    '%s sets the hints that apply to it, and begins with a warning if it spends money',
    (name, tool) => {
      const spends = ['swap_create', 'asry_claim'].includes(name);
      const creates = spends || ['token_invoice_create', 'exchange_create'].includes(name);
      const idempotentHint = name === 'asry_claim';
      const hints = { readOnlyHint: false, destructiveHint: spends, idempotentHint, openWorldHint: true };
      expect(tool.annotations).toEqual(creates ? hints : { readOnlyHint: true });
      expect(tool.title).not.toBe('');
      expect(tool.description.length).toBeGreaterThan(60);
      expect(tool.description.startsWith('SPENDS MONEY')).toBe(spends);
    },
  );

  it.each(ALL)('the input of %s is one closed object schema, which every host accepts', (_name, tool) => {
    const { properties, required, ...schema } = jsonSchemaOf(tool.input, 'input');
    expect(schema).toEqual({ type: 'object', additionalProperties: false });
    expect(Object.keys(properties ?? {})).toEqual(Object.keys(tool.input.shape));
    // Hosts refuse every tool of a server if one argument has a choice of types or a nested schema.
    for (const member of Object.values(properties ?? {}) as object[]) {
      expect(member).toMatchObject({ type: expect.stringMatching(/^(string|integer|boolean)$/) });
      expect(Object.keys(member).filter((keyword) => !PLAIN_KEYWORDS.includes(keyword))).toEqual([]);
    }
    expect(tool.example !== undefined || required === undefined).toBe(true);
  });

  const document = documentOf('');

  it('the five tools of the contract, and no others, declare an output schema', () => {
    expect(TOOLS.filter(({ output }) => output).map(({ name }) => name)).toEqual(CONTRACT_TOOLS);
  });

  it.each(PASSED_ON)(
    '%s passes on a recorded response of %s, whose members its output schema names',
    async (...row) => {
      const [name, operationId, given] = row;
      const { operation } =
        operationsOf(document).find((found) => found.operation.operationId === operationId) ?? {};
      const schema = operation?.responses[200]?.content?.['application/json']?.schema ?? {};
      const named = Object.keys(toolNamed(name).output?.shape ?? {}).filter(
        (member) => !OWN_MEMBERS.includes(member),
      );
      expect(membersOf(schema, document)).toEqual(expect.arrayContaining(named));
      const { result, body } = await call(name, given, { body: exampleOf(operationId) });
      expect(result.isError, JSON.stringify(body)).toBeUndefined();
      expect(body).toMatchObject(exampleOf(operationId));
      expect(result.structuredContent).toEqual(body);
    },
  );
});

type Schema = { $ref?: string; properties?: object; allOf?: Schema[] };

/** Names of the members of an object schema, through references. */
function membersOf(schema: object, document: ApiDocument): string[] {
  const { $ref, properties = {}, allOf = [] } = schema as Schema;
  const target = $ref && document.components?.schemas?.[$ref.split('/').at(-1) ?? ''];
  return [
    ...Object.keys(properties),
    ...allOf.flatMap((part) => membersOf(part, document)),
    ...(target ? membersOf(target, document) : []),
  ];
}

describe('arguments', () => {
  eachScene(`
    swap_estimate        | {"amountSol":0.5}                          | GET /api/swap/estimate?amountSol=0.5
    swap_estimate        | {"amountSol":"0.5"}                        | GET /api/swap/estimate?amountSol=0.5
    swap_estimate        | {"amount_sol":0.5}                         | GET /api/swap/estimate?amountSol=0.5
    swap_estimate        | {"amount_sol":"0.500000001"}               | GET /api/swap/estimate?amountSol=0.500000001
    swap_estimate        | {"amountSol":1e-3}                         | GET /api/swap/estimate?amountSol=0.001
    swap_estimate        | {"amountSol":1e-7}                         | GET /api/swap/estimate?amountSol=0.0000001
    swap_estimate        | {"amountSol":" 2 "}                        | GET /api/swap/estimate?amountSol=2
    token_get            | {"id":1}                                   | GET /api/tokens/1
    token_get            | {"id":"1"}                                 | GET /api/tokens/1
    token_get            | {"id":"${ADDRESS}"}                        | GET /api/tokens/${ADDRESS}
    token_invoice_create | {${ORDER}}                                 | POST /api/invoices {${ORDER}}
    token_invoice_create | {${ORDER},"supply":"5000000"}              | POST /api/invoices {${ORDER},"supply":"5000000"}
    token_invoice_create | {${ORDER},"supply":5000000}                | POST /api/invoices {${ORDER},"supply":"5000000"}
    token_invoice_create | {${ORDER},"supply":"18446744073709551615"} | POST /api/invoices {${ORDER},"supply":"18446744073709551615"}
    asry_claim           | {${CLAIM}}                                 | POST /api/asry/claim-from-deposit {${CLAIM},"skipReward":false}
    swap_create          | {"amountSol":"0.31"}                       | POST /api/swap/create {"amountSol":"0.31"}
  `)('%s with the arguments %s requests %s', async (name = '', given = '', request) => {
    const [, operationId = ''] = PASSED_ON.find(([tool]) => tool === name) ?? [];
    const { sent, result } = await call(name, JSON.parse(given), { body: exampleOf(operationId) });
    expect(result.isError).toBeUndefined();
    const asked = sent.map(({ method, url, body }) => [method, url.replace('http://sluice.test', ''), body]);
    const [method, path, ...body] = (request ?? '').split(' ');
    expect(asked).toEqual([[method, path, JSON.parse(body.join(' ') || 'null')]]);
  });

  const UNWRITABLE = { undefined, NaN: { amountSol: Number.NaN } };
  eachScene(`
    swap_estimate        | {}                                                  | amountSol is missing
    swap_estimate        | undefined                                           | amountSol is missing
    swap_create          | {}                                                  | amountSol is missing
    asry_claim           | {"asset":"USDC"}                                    | depositTxSignature is missing
    asry_claim           | {"asset":"SOL","depositTxSignature":"${SIGNATURE}"} | one of USDC, USDT
    exchange_create      | {"from":"sol","to":"btc","payoutAddress":"bc1qxy"}  | amount is missing
    token_invoice_create | {"name":"A","symbol":"B"}                           | creator_address is missing
    token_invoice_create | {${ORDER},"supply":${2 ** 53}}                      | supply must be text
    token_invoice_create | {${ORDER},"supply":1.5}                             | supply must be digits only
    token_invoice_create | {${ORDER},"supply":-1}                              | supply must be digits only
    token_invoice_create | {${ORDER},"supply":"1e6"}                           | supply must be digits only
    token_get            | {"id":true}                                         | id must be text
    swap_status          | {"id":"x","wait_seconds":51}                        | wait_seconds must be at most 50
    token_search         | {"query":""}                                        | query must not be empty
    token_search         | {"query":"a","limit":0}                             | limit must be at least 1
    pool_get             | {"address":"nowhere"}                               | address must be a Solana address
    swap_estimate        | {"amountSol":"half"}                                | amountSol must be a plain decimal
    swap_estimate        | {"amountSol":-1}                                    | amountSol
    swap_estimate        | {"amountSol":"0.0000000001"}                        | digits
    swap_estimate        | {"amountSol":1,"amount_sol":2}                      | amount_sol
    swap_estimate        | {"amountSol":null}                                  | amountSol
    swap_estimate        | {"sol":1}                                           | sol
    swap_create          | {"amountSol":1,"idempotencyKey":"short"}            | 16 to 128
    swap_status          | {}                                                  | id
    swap_status          | {"id":""}                                           | id
    swap_status          | {"id":7}                                            | id
    get_reserves         | {"verbose":true}                                    | verbose
    get_reserves         | {"constructor":true}                                | "constructor"
    swap_min             | []                                                  | object
    swap_estimate        | NaN                                                 | amountSol
  `)('refuses %s with %s before any call and says why', async (name = '', text = '', hint = '') => {
    const given = text in UNWRITABLE ? UNWRITABLE[text as keyof typeof UNWRITABLE] : JSON.parse(text);
    const { result, sent, body } = await call(name, given);
    expect(sent).toEqual([]);
    expect(result).toMatchObject({ isError: true });
    expect(result.structuredContent).toBeUndefined();
    expect(body).toMatchObject({
      error_code: 'INVALID_ARGUMENTS',
      action: 'fix_request',
      retryable: false,
    });
    expect(String(body.error)).toContain(hint);
    expect(body.next_step).toContain(`Call ${name} again: it takes`);
  });
});

describe('a failure of the service', () => {
  const actions = [...new Set(Object.values(ERRORS).map(({ action }) => action))];
  it.each(actions)('a failure with action %s has a next step in words', (action) => {
    expect(nextStep(action)).toMatch(/^[A-Z].*\.$/);
    expect(nextStep(action)).not.toMatch(/advises/);
  });

  it('the model receives code, message, wait, request id and details of a failure', async () => {
    const limited = { error_code: 'SWAP_LIMIT_REACHED', action: 'retry_later', details: { limit: 'hour' } };
    const problem = { error: 'Why.', request_id: 'r-9', retryable: true, retry_after_s: 60, ...limited };
    const { result, body } = await call('swap_min', {}, { status: 503, body: problem });
    expect(result.isError).toBe(true);
    expect(body).toEqual({ ...problem, next_step: nextStep('retry_later') });
  });

  it('a failure without a body of this API tells the model to check API_BASE_URL', async () => {
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

  it('a success in an unknown shape is not passed on as a result', async () => {
    const body = { id: 'x', status: 'sideways' };
    const { result, body: shown } = await call('swap_status', { id: 'x' }, { body });
    expect(result.isError).toBe(true);
    expect(shown.error_code).toBe('UNEXPECTED');
  });
});

it.each(['swap_create', 'asry_claim', 'exchange_create'])(
  '%s refuses a dry run, and names the calls that only check',
  async (name) => {
    for (const argument of ['dry_run', 'dryRun'])
      for (const value of [true, false, null]) {
        const { sent, body } = await call(name, { [argument]: value }, { body: {} });
        expect(sent).toEqual([]);
        expect(JSON.stringify(body)).toMatch(/swap_estimate.*skipReward/);
      }
  },
);

describe('a call that creates something', () => {
  const OWN = 'my-own-key-0123456789';
  const order = { name: 'Moon', symbol: 'M', creator_address: ADDRESS };
  /** Calls by the words of the scenes. */
  const CALLS: Readonly<Record<string, readonly [tool: string, given: object]>> = {
    swap: ['swap_create', { amountSol: 0.5 }],
    'swap-as-text': ['swap_create', { amount_sol: '0.50' }],
    'swap-own-key': ['swap_create', { amountSol: 0.5, idempotencyKey: OWN }],
    'swap-own_key': ['swap_create', { amountSol: 0.5, idempotency_key: OWN }],
    claim: ['asry_claim', { asset: 'USDC', depositTxSignature: SIGNATURE }],
    exchange: ['exchange_create', { from: 'sol', to: 'btc', amount: 0.5, payoutAddress: 'bc1qxy' }],
    order: ['token_invoice_create', { ...order, decimals: 6 }],
    'order-reversed': ['token_invoice_create', { decimals: 6, ...order }],
    'order-other': ['token_invoice_create', { ...order, symbol: 'N', decimals: 6 }],
    'order-own-key': ['token_invoice_create', { ...order, decimals: 6, idempotencyKey: OWN }],
  };
  const ANSWERS: Readonly<Record<string, Answer | Error>> = {
    created: { body: CREATED },
    replayed: { body: CREATED, replayed: true },
    claimed: { body: exampleOf('claimFromDeposit') },
    exchanged: { body: exampleOf('createExchange') },
    ordered: { body: exampleOf('createInvoice') },
    page: { status: 503, body: '<h1>' },
    lost: new TypeError('fetch failed'),
  };

  eachScene(`
    sends a key that the API accepts, and returns it                   | created             | swap = key a
    sends the given key                                                | created             | swap-own-key = key own
    sends the given key under its other name                           | created             | swap-own_key = key own
    returns that the API replayed its key                              | replayed            | swap = key a, replayed
    repeats its key after a broken connection, until an outcome is known
      | lost, lost, replayed, created | swap = failed, key a; swap = failed, key a; swap = key a, replayed; wait 10m; swap = key b
    never uses the key of another client's call with unknown outcome   | lost, created       | swap = failed, key a; swap other = key b
    sends no key for an exchange, because each call opens another one  | exchanged           | exchange = created, no key
    returns the first result for an equal call a second later          | ordered             | order = no key; order-reversed = the result of 1 s ago; sent = 1
    recognizes an equal call in a different notation                   | created             | swap = key a; swap-as-text = the result of 1 s ago; sent = 1
    advises no key for a repeated claim, because a claim has none      | claimed             | claim = claimed, unshown key a; claim = the result of 1 s ago without a key; sent = 1
    is no repeat with other arguments                                  | ordered, ordered    | order = no key; order-other = no key; sent = 2
    is no repeat with a new key                                        | ordered, ordered    | order = no key; order-own-key = no key; sent = 2
    is no repeat of a call that failed                                 | page, ordered       | order = failed, no key; order = no key; sent = 2
    is no repeat of another client's call                              | created, created    | swap = key a; swap other = key b; sent = 2
    is a repeat for less than ten minutes                              | created, created
      | swap = key a; wait 9m58s; swap = the result of 599 s ago; swap = key b; sent = 2
  `)('a call that creates something %s', async (_title, answers = '', steps = '') => {
    const shared = answers.split(', ').map((name) => ANSWERS[name] ?? {});
    const keys = memoryKeys();
    const names = new Map([[OWN, 'own']]);
    const first = new Map<string, object>();
    const sent: Sent[] = [];
    let time = 0;
    const recent = createRecentResults(() => time);
    /** Each call takes a second. */
    async function ask(word: string, client = 'one') {
      const [tool, given] = CALLS[word] ?? ['', {}];
      const own = serviceFor({ client, keys }, ...shared);
      const context = contextOf(own.api, resultsOf(client, recent));
      const { content, isError } = await callTool(toolNamed(tool), given, context);
      shared.splice(0, own.sent.length);
      sent.push(...own.sent);
      time += 1_000;
      const [part] = content;
      const { message, replayed, ...result } = JSON.parse(part?.type === 'text' ? part.text : '{}');
      const age = /^The same call (.*?) ago returned this result\. This call created nothing\./.exec(message);
      if (own.sent.length === 0) {
        expect([replayed, result]).toEqual([true, first.get(tool)]);
        const advice = message.includes('For another one, pass a new idempotencyKey.');
        return `the result of ${age?.[1]} ago${advice ? '' : ' without a key'}`;
      }
      first.set(tool, result);
      const key = own.sent[0]?.headers.get('idempotency-key') ?? '';
      if (key) names.set(key, names.get(key) ?? (names.size === 1 ? 'a' : 'b'));
      if (key) expect(key).toMatch(/^[\x21-\x7e]{16,128}$/);
      if (isError && key) expect(result.next_step).toContain(key);
      expect(JSON.stringify(own.sent)).not.toContain('idempotencyKey');
      const shown = [
        ...[isError && 'failed', result.created && 'created', result.claimed && 'claimed'],
        key ? `${result.idempotencyKey === key ? '' : 'unshown '}key ${names.get(key)}` : 'no key',
        replayed && 'replayed',
      ];
      return shown.filter(Boolean).join(', ');
    }
    const calls = Object.keys(CALLS).map((word) => [word, (client?: string) => ask(word, client)]);
    const verbs = {
      ...Object.fromEntries(calls),
      wait: (length: string) => {
        time += msOf(length);
      },
      sent: () => sent.length,
    };
    await playSteps(steps, verbs);
  });

  it('forgets the oldest calls when more than 500 are remembered', () => {
    const recent = createRecentResults(() => 0);
    for (let call = 0; call <= 500; call++) recent.keep(String(call), {});
    expect([recent.find('0'), recent.find('1')]).toEqual([undefined, { result: {}, ageSeconds: 0 }]);
  });
});

describe('a state that a tool waits for', () => {
  const waiting = { ...exampleOf('getSwapStatus'), status: 'waiting', detail: 'sent' };
  const invoice = { ...exampleOf('getInvoice'), status: 'pending', detail: 'paid' };

  it.each([
    ['swap_status', { id: 'x' }, waiting, { status: 'finished', detail: 'done' }],
    ['token_invoice_status', { invoice_id: 'x' }, invoice, { status: 'completed', detail: 'completed' }],
  ])('%s waits for a final state and reports earlier states', async (name, given, open, over) => {
    const { api, sent } = service({ body: open }, { body: { ...open, ...over } });
    const seen: string[] = [];
    const progress = (message: string) => void seen.push(message);
    const result = await callTool(toolNamed(name), given, { ...contextOf(api), progress });
    expect(result.structuredContent).toMatchObject(over);
    expect(seen).toEqual([`${open.status}: ${open.detail}`]);
    expect(sent.map(({ headers }) => headers.get('prefer'))).toEqual([null, 'wait=25']);
  });

  it('a waiting tool returns the current state when its time is over', async () => {
    const given = { id: 'x', wait_seconds: 1 };
    const { result, body } = await call('swap_status', given, { body: waiting }, { body: waiting });
    expect([result.isError, body.status]).toEqual([undefined, 'waiting']);
  });

  it('a tool returns the state at once if wait_seconds is 0', async () => {
    const { body, sent } = await call('swap_status', { id: 'x', wait_seconds: 0 }, { body: waiting });
    expect([body.status, sent.length]).toEqual(['waiting', 1]);
  });
});

it('asry_claim with skipReward requests only a validation and returns no payout', async () => {
  const given = { asset: 'USDC', depositTxSignature: SIGNATURE, amount: '100.5', skipReward: true };
  const { sent, body } = await call('asry_claim', given, { body: exampleOf('claimFromDeposit') });
  expect(sent[0]?.body).toEqual(given);
  expect(body).toMatchObject({ claimed: false, would_pay: { recipient: expect.any(String) } });
  expect(body).not.toHaveProperty('reward');
});

it("pool_get passes on the pool API's error with its reason", async () => {
  const refused = { status: 404, body: { error: 'no such pool' } };
  const { body } = await call('pool_get', { address: ADDRESS }, refused);
  expect(body).toMatchObject({ error_code: 'UPSTREAM_REFUSED', action: 'check_id', retryable: false });
  expect(body.error).toContain('no such pool');
});
