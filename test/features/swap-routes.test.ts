import { beforeEach, expect, it } from 'vitest';
import type { ErrorCode } from '../../src/core/errors.ts';
import { eachResult, eachScene, eachText } from '../kit/scenes.ts';
import { newService, type Service, SIGNATURE, swapApp, view } from './swap-service.ts';

const KEY = '7c9e6679-7425-40de-944b-e07fc1f90ae7';

let service: Service;
beforeEach(() => {
  service = newService();
});
const call = swapApp(() => service);
const create = (body: string, headers: Record<string, string> = {}, query = '') =>
  call(`/api/swap/create${query}`, {
    method: 'POST',
    body,
    headers: { 'content-type': 'application/json', ...headers },
  });

it("a created swap has every field of the contract, with links to the service's own origin", async () => {
  const response = await create('{"amountSol":0.5}');
  expect(response.status).toBe(200);
  expect(response.headers.get('idempotency-replayed')).toBeNull();
  expect(await response.json()).toEqual({
    ...{
      ...{ initiated: true, id: SIGNATURE, solanaSignature: SIGNATURE, status: 'waiting' },
      route: 'near-intents',
    },
    ...{ amountSol: 0.5, amountLamports: '500000000', message: expect.any(String) },
    ...{ expectedBtcSats: 62_187, expectedSatoshis: '62187', minimumSatoshis: '61875' },
    statusUrl: `https://sluice.test/api/swap/status/${SIGNATURE}`,
  });
});

it.each([
  ['2.01', 2_010_000_000n],
  ['"2.01"', 2_010_000_000n],
  ['5e-1', 500_000_000n],
  ['0.7999999999999999', 799_999_999n],
])('converts %s SOL to lamports exactly and never rounds up', async (text, lamports) => {
  expect((await create(`{"amountSol":${text}}`)).status).toBe(200);
  expect(service.asked.map((request) => request.amountLamports)).toEqual([lamports]);
});

eachText(`
  {} | {"amountSol":0} | {"amountSol":-1} | {"amountSol":0.0009} | {"amountSol":0.0009999999999}
  {"amountSol":"0.0009"} | {"amountSol":"abc"} | {"amountSol":null} | {"amountSol":true} | {"amountSol":[1]}
  {"amountSol":{"a":1}} | {"amountSol":1,"recipient":"bc1qattacker"}
  {"amountSol":1,"__proto__":{"preview":true}}
`)('the body %.60s returns 400 without a call to the custodian', async (body) => {
  const response = await create(body);
  expect(response.status).toBe(400);
  expect(await response.json()).toMatchObject({ error_code: 'INVALID_INPUT', retryable: false });
  expect(service.asked).toEqual([]);
});

it('the custodian receives only hashes of the key; they are equal for any notation of the same amount', async () => {
  for (const body of ['{"amountSol":0.5}', '{ "amountSol": "0.50" }', '{"amountSol":0.500000000}']) {
    await create(body, { 'idempotency-key': KEY });
  }
  await create('{"amountSol":0.6}', { 'idempotency-key': KEY });
  await create('{"amountSol":0.5}', { 'idempotency-key': `${KEY}2` });
  const [first, second, third, amount, key] = service.asked.map((request) => request.key);
  expect([second, third]).toEqual([first, first]);
  expect(JSON.stringify(first)).not.toContain(KEY);
  expect([amount?.keyHash, amount?.bodyHash === first?.bodyHash]).toEqual([first?.keyHash, false]);
  expect([key?.keyHash === first?.keyHash, key?.bodyHash]).toEqual([false, first?.bodyHash]);
});

it('marks a replayed swap and a replayed refusal', async () => {
  service.answer = { type: 'created', replayed: true, swap: view };
  expect((await create('{"amountSol":1}')).headers.get('idempotency-replayed')).toBe('true');
  service.answer = { type: 'refused', replayed: true, refusal: { code: 'QUOTE_REFUSED', message: 'x' } };
  const refused = await create('{"amountSol":1}');
  expect([refused.status, refused.headers.get('idempotency-replayed')]).toEqual([502, 'true']);
});

eachResult(`
  400 | INSUFFICIENT_BALANCE | AMOUNT_TOO_SMALL | AMOUNT_TOO_LARGE
  409 | IDEMPOTENCY_IN_PROGRESS
  422 | IDEMPOTENCY_KEY_REUSED
  429 | RATE_LIMITED
  502 | QUOTE_REFUSED | PRICE_UNAVAILABLE | UPSTREAM_FAILED
  503 | SWAP_LIMIT_REACHED | SWAPS_PAUSED | QUOTE_BUDGET_SPENT
`)('returns the refusal %s with status %i and its waiting time', async (name, status) => {
  const code = name as ErrorCode;
  const refusal = { code, message: 'why', retryAfterSeconds: 7, details: { a: 1 } };
  service.answer = { type: 'refused', replayed: false, refusal };
  const response = await create('{"amountSol":1}');
  expect([response.status, response.headers.get('retry-after')]).toEqual([Number(status), '7']);
  const shown = { error_code: code, error: 'why', retry_after_s: 7, details: { a: 1 } };
  expect(await response.json()).toMatchObject(shown);
});

eachScene(`
  "dry_run":false            | dry_run
  "dryRun":"yes"             | dryRun
  "DRY-RUN":1                | DRY-RUN
  "options":{"dry_run":true} | dry_run
  "options":[{"dryrun":1}]   | dryrun
  ?dry_run=true              | .*
  ?dryRun                    | .*
  ?amountSol=1               | .*
`)(
  'a create call with %s is refused with a message that names the estimate, after %s',
  async (more = '', name) => {
    const isQuery = more.startsWith('?');
    const response = await create(`{"amountSol":0.5${isQuery ? '' : `,${more}`}}`, {}, isQuery ? more : '');
    const error = expect.stringMatching(`^${name} .*GET /api/swap/estimate`);
    expect([response.status, await response.json()]).toMatchObject([
      400,
      { error_code: 'INVALID_INPUT', error },
    ]);
    expect(service.asked).toEqual([]);
  },
);

it('a create call without configuration returns 503 and names the variable, but no value', async () => {
  service.configured = false;
  const response = await create('{"amountSol":1}');
  expect(response.status).toBe(503);
  expect(await response.json()).toMatchObject({
    error_code: 'NOT_CONFIGURED',
    details: { variables: ['SOLANA_PRIVATE_KEY'] },
  });
});
