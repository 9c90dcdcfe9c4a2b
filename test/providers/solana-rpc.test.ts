import { describe, expect, it } from 'vitest';
import { failureReason } from '../../src/core/errors.ts';
import { createSolanaRpc, isAlreadyProcessed, RpcRefusal } from '../../src/providers/solana-rpc.ts';
import { eachRow } from '../kit/scenes.ts';
import { epochBody, RPC_ERRORS, type RpcError, statusBody } from '../world/solana-shapes.ts';
import { type Recorded, refusal, replay, result, resultAt } from './replay.ts';

const ONE = 'https://one.test';
const TWO = 'https://two.test/key';
const SIGNATURE = '5'.repeat(88);
const ALREADY: RpcError = RPC_ERRORS.preflight('AlreadyProcessed');

/** One node that supports one method. */
function node(method: string, answer: Recorded | Error | (Recorded | Error)[]) {
  const { fetch, requests } = replay({ [`POST ${ONE} ${method}`]: answer });
  const [only] = createSolanaRpc({ urls: [ONE], fetch }).nodes;
  if (!only) throw new Error('no node');
  return { node: only, requests };
}
const params = (request: { body: unknown } | undefined): unknown =>
  Reflect.get(Object(request?.body), 'params');

describe('balance', () => {
  it('a balance is returned in lamports with its slot, and its request always names the commitment', async () => {
    const { node: rpc, requests } = node('getBalance', resultAt(5_000_000_000));
    expect(await rpc.balance('addr', 'finalized', 77n)).toEqual({ lamports: 5_000_000_000n, slot: 100n });
    expect(params(requests[0])).toEqual(['addr', { commitment: 'finalized', minContextSlot: 77 }]);
  });

  it('a balance above 2^53 keeps every digit', async () => {
    const text = '{"jsonrpc":"2.0","id":1,"result":{"context":{"slot":1},"value":18446744073709551615}}';
    const { node: rpc } = node('getBalance', { body: text });
    expect((await rpc.balance('addr', 'finalized')).lamports).toBe(18_446_744_073_709_551_615n);
  });

  it.each([
    ['a negative balance', resultAt(-1)],
    ['a fraction', resultAt(1.5)],
    ['null', resultAt(null)],
    ['no slot', result({ value: 1 })],
    ['no result', { body: { jsonrpc: '2.0', id: 1 } }],
    ['a bare number', result(5)],
  ])('%s is not a balance', async (_name, answer) => {
    const { node: rpc } = node('getBalance', answer);
    await expect(rpc.balance('addr', 'finalized')).rejects.toMatchObject({ code: 'UPSTREAM_FAILED' });
  });

  it('a node that is behind the requested slot refuses with -32016', async () => {
    const { node: rpc } = node('getBalance', refusal(RPC_ERRORS.behind(8)));
    const refused = { name: 'RpcRefusal', code: RPC_ERRORS.behind(8).code };
    await expect(rpc.balance('addr', 'finalized', 9n)).rejects.toMatchObject(refused);
  });
});

describe('signatureStatuses', () => {
  const status = (row: unknown) => node('getSignatureStatuses', resultAt([row]));
  const row = statusBody({ slot: 90, err: null }, 'finalized', 100);
  const withoutErr = { slot: 90, confirmations: null, confirmationStatus: 'finalized' };

  it('a status request searches the whole history, because the cache covers only recent slots', async () => {
    const { node: rpc, requests } = status(row);
    await rpc.signatureStatuses([SIGNATURE]);
    expect(params(requests[0])).toEqual([[SIGNATURE], { searchTransactionHistory: true }]);
  });

  eachRow<[string, object | null, string | null]>(`
    a finalized success                                        | { "confirmations": null, "err": null, "confirmationStatus": "finalized" }                                         | finalized
    a finalized failure                                        | { "confirmations": null, "err": { "InstructionError": [2, { "Custom": 1 }] }, "confirmationStatus": "finalized" } | finalized
    a processed one                                            | { "confirmations": 3, "err": null, "confirmationStatus": "processed" }                                            | processed
    an old node without confirmationStatus, rooted             | { "confirmations": null, "err": null, "confirmationStatus": null }                                                | finalized
    an old node, not rooted                                    | { "confirmations": 31, "err": null }                                                                              | processed
    a finalized one without confirmations, as Alpenglow allows | { "err": null, "confirmationStatus": "finalized" }                                                                | finalized
    one with neither confirmations nor confirmationStatus      | { "err": null }                                                                                                   | processed
    an unknown signature                                       | null                                                                                                              | null
  `)('reads the status of a signature: %s', async (_name, given, commitment) => {
    const err: unknown = given && Reflect.get(given, 'err');
    expect(await status(given && { slot: 90, ...given }).node.signatureStatuses([SIGNATURE])).toEqual({
      slot: 100n,
      statuses: [commitment && { slot: 90n, err, commitment }],
    });
  });

  it.each([
    ['an empty list', resultAt([])],
    ['two rows', resultAt([null, row])],
    ['null for the list', resultAt(null)],
    ['a row without err, which would read as success', resultAt([withoutErr])],
    ['an unknown commitment', resultAt([{ ...row, confirmationStatus: 'rooted' }])],
    ['no context', result({ value: [null] })],
  ])('a status response with %s proves nothing and is an error', async (_name, answer) => {
    const { node: rpc } = node('getSignatureStatuses', answer);
    await expect(rpc.signatureStatuses([SIGNATURE])).rejects.toMatchObject({ code: 'UPSTREAM_FAILED' });
  });
});

describe('sending', () => {
  it('sends a transaction as base64, without preflight, at the commitment at which the blockhash was read', async () => {
    const { node: rpc, requests } = node('sendTransaction', result(SIGNATURE));
    expect(await rpc.send('AQID')).toBe(SIGNATURE);
    const options = {
      encoding: 'base64',
      skipPreflight: true,
      preflightCommitment: 'confirmed',
      maxRetries: 0,
    };
    expect(params(requests[0])).toEqual(['AQID', options]);
  });

  it.each<[string, RpcError, boolean]>([
    ['the error of the simulation', ALREADY, true],
    ['its text alone', { ...ALREADY, data: undefined }, true],
    ['null for data', { ...ALREADY, data: null }, true],
    ['an unknown blockhash', RPC_ERRORS.preflight('BlockhashNotFound'), false],
    ['a node that is behind', RPC_ERRORS.unhealthy, false],
  ])('recognizes by a send error whether a transaction has landed: %s', async (_name, error, landed) => {
    // Under any HTTP status: some nodes return JSON-RPC errors under 400 or 500.
    for (const status of [200, 400, 500, 503]) {
      const { node: rpc } = node('sendTransaction', { ...refusal(error), status });
      const failure: unknown = await rpc.send('AQID').catch((e: unknown) => e);
      expect(failure).toBeInstanceOf(RpcRefusal);
      expect(failureReason(failure)).toBe(`rpc_${error.code}`);
      expect(isAlreadyProcessed(failure)).toBe(landed);
    }
  });

  it.each([
    ['a result under HTTP 500', { ...result(SIGNATURE), status: 500 }, 'status_500'],
    ['an error that is not a JSON-RPC error', { body: { error: 'Bad Request' }, status: 400 }, 'status_400'],
    ['a 429 with a JSON-RPC error', { ...refusal(RPC_ERRORS.rateLimited), status: 429 }, 'rate_limited'],
  ])('a send error keeps the HTTP status as its reason: %s', async (_name, answer, reason) => {
    const { node: rpc } = node('sendTransaction', answer);
    await expect(rpc.send('AQID')).rejects.toMatchObject({ details: { reason } });
  });

  it('any other send error never means that the transaction has landed', () => {
    expect(isAlreadyProcessed(new Error('already been processed'))).toBe(false);
    expect(isAlreadyProcessed('AlreadyProcessed')).toBe(false);
    expect(isAlreadyProcessed(undefined)).toBe(false);
  });
});

describe('heights', () => {
  it('slot and block height are read from one response', async () => {
    const { node: rpc, requests } = node('getEpochInfo', result(epochBody(500, 450)));
    expect(await rpc.epochInfo('finalized')).toEqual({ slot: 500n, blockHeight: 450n });
    expect(params(requests[0])).toEqual([{ commitment: 'finalized' }]);
  });

  it('a response without a block height is an error, not a height of zero', async () => {
    const { node: rpc } = node('getEpochInfo', result({ absoluteSlot: 500 }));
    await expect(rpc.epochInfo('finalized')).rejects.toMatchObject({ code: 'UPSTREAM_FAILED' });
  });

  it('a blockhash is returned with its slot, and its stated lifetime is ignored', async () => {
    const { node: rpc } = node(
      'getLatestBlockhash',
      resultAt({ blockhash: 'abc', lastValidBlockHeight: 600 }),
    );
    expect(await rpc.latestBlockhash('confirmed')).toEqual({ blockhash: 'abc', slot: 100n });
  });

  it.each([
    [123, 123n],
    [0, 0n],
  ])('reads %s as the first available block', async (given, expected) => {
    const { node: rpc } = node('getFirstAvailableBlock', result(given));
    expect(await rpc.firstAvailableBlock()).toBe(expected);
  });

  it.each([null, -1, '', {}])('%j is not a first available block', async (given) => {
    const { node: rpc } = node('getFirstAvailableBlock', result(given));
    await expect(rpc.firstAvailableBlock()).rejects.toMatchObject({ code: 'UPSTREAM_FAILED' });
  });
});

describe('choice of the node', () => {
  const two = (first: Recorded | Error, second: Recorded | Error) => {
    const { fetch, requests } = replay({ [`POST ${ONE}`]: first, [`POST ${TWO}`]: second });
    return { rpc: createSolanaRpc({ urls: [ONE, TWO], fetch }), requests };
  };

  it("the first node's failure is returned, without the URL, when no node responds", async () => {
    const { rpc } = two(refusal(RPC_ERRORS.behind(8)), new TypeError(TWO));
    const failure: unknown = await rpc.first((n) => n.balance('a', 'finalized')).catch((e: unknown) => e);
    expect(failure).toMatchObject({ code: 'UPSTREAM_FAILED', details: { reason: 'rpc_-32016' } });
    expect(String(failure)).not.toContain('two.test');
  });

  it('an empty list of nodes is a failed upstream', async () => {
    const rpc = createSolanaRpc({ urls: [], fetch: replay({}).fetch });
    await expect(rpc.first((n) => n.balance('a', 'finalized'))).rejects.toMatchObject({
      details: { reason: 'no_node' },
    });
  });
});

it.each([
  [new RpcRefusal(ALREADY.code, 'no', null), 'rpc_-32002'],
  [new Error('with a secret'), 'unexpected'],
  ['text', 'unexpected'],
])('the reason of a failed call is short and contains no secret: %s', (failure, reason) => {
  expect(failureReason(failure)).toBe(reason);
});
