import { describe, expect, it } from 'vitest';
import { failureReason } from '../../src/core/errors.ts';
import { createSolanaRpc, isAlreadyProcessed, RpcRefusal } from '../../src/providers/solana-rpc.ts';
import { eachScene } from '../kit/scenes.ts';
import { RPC_ERRORS, type RpcError } from '../world/solana-shapes.ts';
import { type Recorded, refusal, replay, result } from './replay.ts';

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

const [STATUS, AT] = ['"slot":90,"confirmations":100', '"context":{"slot":100}'];

type Node = ReturnType<typeof node>['node'];
const READS: Readonly<Record<string, (rpc: Node) => Promise<unknown>>> = {
  getBalance: (rpc) => rpc.balance('addr', 'finalized', 77n),
  getSignatureStatuses: (rpc) => rpc.signatureStatuses([SIGNATURE]),
  getEpochInfo: (rpc) => rpc.epochInfo('finalized'),
  getLatestBlockhash: (rpc) => rpc.latestBlockhash('confirmed'),
  getFirstAvailableBlock: (rpc) => rpc.firstAvailableBlock(),
  getMultipleAccounts: (rpc) => rpc.accounts(['a', 'b'], 'finalized'),
  getSignaturesForAddress: (rpc) => rpc.signaturesFor('addr', { limit: 1, commitment: 'finalized' }),
  getTokenSupply: (rpc) => rpc.tokenSupply('mint', 'finalized', 5n),
};

/** The result of a method as the node sends it, and what is read from it: integers as text, or a failure. */
eachScene(`
  a balance is returned in lamports with its slot        | getBalance | {${AT},"value":5000000000} | {"lamports":"5000000000","slot":"100"}
  a balance above 2^53 keeps every digit                 | getBalance | {"context":{"slot":1},"value":18446744073709551615} | {"lamports":"18446744073709551615","slot":"1"}
  a negative balance is a failure                        | getBalance | {${AT},"value":-1} | UPSTREAM_FAILED
  a balance with a fraction is a failure                 | getBalance | {${AT},"value":1.5} | UPSTREAM_FAILED
  null for a balance is a failure                        | getBalance | {${AT},"value":null} | UPSTREAM_FAILED
  a balance without a slot is a failure                  | getBalance | {"value":1} | UPSTREAM_FAILED
  a response without a result is a failure               | getBalance | undefined | UPSTREAM_FAILED
  a bare number is not a balance                         | getBalance | 5 | UPSTREAM_FAILED
  the status of a finalized success                      | getSignatureStatuses | {${AT},"value":[{"slot":90,"confirmations":null,"err":null,"confirmationStatus":"finalized"}]} | {"slot":"100","statuses":[{"slot":"90","err":null,"commitment":"finalized"}]}
  the status of a finalized failure has its error        | getSignatureStatuses | {${AT},"value":[{"slot":90,"confirmations":null,"err":{"InstructionError":[2,{"Custom":1}]},"confirmationStatus":"finalized"}]} | {"slot":"100","statuses":[{"slot":"90","err":{"InstructionError":[2,{"Custom":1}]},"commitment":"finalized"}]}
  the status of a processed transaction                  | getSignatureStatuses | {${AT},"value":[{"slot":90,"confirmations":3,"err":null,"confirmationStatus":"processed"}]} | {"slot":"100","statuses":[{"slot":"90","err":null,"commitment":"processed"}]}
  an old node without confirmationStatus shows a rooted transaction as finalized   | getSignatureStatuses | {${AT},"value":[{"slot":90,"confirmations":null,"err":null,"confirmationStatus":null}]} | {"slot":"100","statuses":[{"slot":"90","err":null,"commitment":"finalized"}]}
  from an old node, a transaction that is not rooted has the commitment processed  | getSignatureStatuses | {${AT},"value":[{"slot":90,"confirmations":31,"err":null}]} | {"slot":"100","statuses":[{"slot":"90","err":null,"commitment":"processed"}]}
  a finalized status has no confirmations, as Alpenglow allows                     | getSignatureStatuses | {${AT},"value":[{"slot":90,"err":null,"confirmationStatus":"finalized"}]} | {"slot":"100","statuses":[{"slot":"90","err":null,"commitment":"finalized"}]}
  a status with neither confirmations nor confirmationStatus is that of a processed transaction | getSignatureStatuses | {${AT},"value":[{"slot":90,"err":null}]} | {"slot":"100","statuses":[{"slot":"90","err":null,"commitment":"processed"}]}
  an unknown signature has no status                     | getSignatureStatuses | {${AT},"value":[null]} | {"slot":"100","statuses":[null]}
  an empty list of statuses is a failure                 | getSignatureStatuses | {${AT},"value":[]} | UPSTREAM_FAILED
  two statuses for one signature are a failure           | getSignatureStatuses | {${AT},"value":[null,{${STATUS},"err":null,"confirmationStatus":"finalized"}]} | UPSTREAM_FAILED
  null for the list of statuses is a failure             | getSignatureStatuses | {${AT},"value":null} | UPSTREAM_FAILED
  a status without err, which would read as success, is a failure | getSignatureStatuses | {${AT},"value":[{${STATUS},"confirmationStatus":"finalized"}]} | UPSTREAM_FAILED
  a status with an unknown commitment is a failure       | getSignatureStatuses | {${AT},"value":[{${STATUS},"err":null,"confirmationStatus":"rooted"}]} | UPSTREAM_FAILED
  a status without the slot of the response is a failure | getSignatureStatuses | {"value":[null]} | UPSTREAM_FAILED
  slot and block height are read from one response       | getEpochInfo | {"absoluteSlot":500,"blockHeight":450} | {"slot":"500","blockHeight":"450"}
  a response without a block height is a failure, not a height of zero | getEpochInfo | {"absoluteSlot":500} | UPSTREAM_FAILED
  a blockhash is returned with its slot, and its stated lifetime is ignored | getLatestBlockhash | {${AT},"value":{"blockhash":"abc","lastValidBlockHeight":600}} | {"blockhash":"abc","slot":"100"}
  the first available block is read as a slot            | getFirstAvailableBlock | 123 | "123"
  the first available block may be 0                     | getFirstAvailableBlock | 0 | "0"
  null is not a first available block                    | getFirstAvailableBlock | null | UPSTREAM_FAILED
  -1 is not a first available block                      | getFirstAvailableBlock | -1 | UPSTREAM_FAILED
  an empty text is not a first available block           | getFirstAvailableBlock | "" | UPSTREAM_FAILED
  an object is not a first available block               | getFirstAvailableBlock | {} | UPSTREAM_FAILED
  accounts are read in the given order, null if absent   | getMultipleAccounts | {${AT},"value":[{"owner":"s","lamports":7,"executable":false,"data":["AQID","base64"]},null]} | {"slot":"100","accounts":[{"owner":"s","lamports":"7","data":{"0":1,"1":2,"2":3}},null]}
  an account whose lamports and rentEpoch are the maximum of u64 is read | getMultipleAccounts | {${AT},"value":[null,{"owner":"s","lamports":18446744073709551615,"data":["","base64"],"rentEpoch":18446744073709551615}]} | {"slot":"100","accounts":[null,{"owner":"s","lamports":"18446744073709551615","data":{}}]}
  fewer accounts than requested are a failure            | getMultipleAccounts | {${AT},"value":[null]} | UPSTREAM_FAILED
  an account in another encoding is a failure            | getMultipleAccounts | {${AT},"value":[null,{"owner":"s","lamports":7,"executable":false,"data":["x","base58"]}]} | UPSTREAM_FAILED
  an account whose data is not base64 is a failure       | getMultipleAccounts | {${AT},"value":[null,{"owner":"s","lamports":7,"executable":false,"data":["***","base64"]}]} | UPSTREAM_FAILED
  a listed signature of one letter is a failure          | getSignaturesForAddress | [{"signature":"x","slot":5,"err":null,"memo":null,"blockTime":9}] | UPSTREAM_FAILED
  a listed signature of 63 zero bytes is a failure       | getSignaturesForAddress | [{"signature":"${'1'.repeat(63)}","slot":5,"err":null,"memo":null,"blockTime":9}] | UPSTREAM_FAILED
  a listed signature above 64 bytes is a failure         | getSignaturesForAddress | [{"signature":"${'z'.repeat(88)}","slot":5,"err":null,"memo":null,"blockTime":9}] | UPSTREAM_FAILED
  a listed signature without err, which would read as success, is a failure | getSignaturesForAddress | [{"signature":"${SIGNATURE}","slot":5,"memo":null,"blockTime":9}] | UPSTREAM_FAILED
  a listed signature of a failed transaction has its error, and may lack its time | getSignaturesForAddress | [{"signature":"${SIGNATURE}","slot":5,"err":"x","memo":null,"blockTime":null}] | [{"signature":"${SIGNATURE}","slot":"5","err":"x","blockTime":null,"memo":null}]
  a supply of 64 bits is read from a text, with its decimals    | getTokenSupply | {${AT},"value":{"amount":"18446744073709551615","decimals":8}} | {"atoms":"18446744073709551615","decimals":8,"slot":"100"}
  a supply of 2^64, which no mint can have, is a failure        | getTokenSupply | {${AT},"value":{"amount":"18446744073709551616","decimals":8}} | UPSTREAM_FAILED
  a negative supply, which no mint can have, is a failure       | getTokenSupply | {${AT},"value":{"amount":"-1","decimals":8}} | UPSTREAM_FAILED
  256 decimals, which no mint can have, are a failure           | getTokenSupply | {${AT},"value":{"amount":"5","decimals":256}} | UPSTREAM_FAILED
  -1 decimals, which no mint can have, are a failure            | getTokenSupply | {${AT},"value":{"amount":"5","decimals":-1}} | UPSTREAM_FAILED
`)('%s', async (_title, method = '', body, expected) => {
  const sent = body === 'undefined' ? '' : `,"result":${body}`;
  const { node: rpc } = node(method, { body: `{"jsonrpc":"2.0","id":1${sent}}` });
  const texts = (_name: string, value: unknown) => (typeof value === 'bigint' ? String(value) : value);
  const shown = await READS[method]?.(rpc).then(
    (value) => JSON.stringify(value, texts),
    ({ code }) => code,
  );
  expect(shown).toBe(expected);
});

/** Statuses are searched in the whole history, because the cache of a node covers only recent slots. */
eachScene(`
  getBalance           | ["addr",{"commitment":"finalized","minContextSlot":77}]
  getSignatureStatuses | [["${SIGNATURE}"],{"searchTransactionHistory":true}]
  getEpochInfo         | [{"commitment":"finalized"}]
  getTokenSupply       | ["mint",{"commitment":"finalized","minContextSlot":5}]
`)('a request of %s has the parameters %s', async (method, expected = '') => {
  const { node: rpc, requests } = node(method ?? '', result(null));
  await READS[method ?? '']?.(rpc).catch(() => undefined);
  expect(params(requests[0])).toEqual(JSON.parse(expected));
});

it('a node that is behind the requested slot refuses with -32016', async () => {
  const { node: rpc } = node('getBalance', refusal(RPC_ERRORS.behind(8)));
  const refused = { name: 'RpcRefusal', code: RPC_ERRORS.behind(8).code };
  await expect(rpc.balance('addr', 'finalized', 9n)).rejects.toMatchObject(refused);
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

  it('an error that is not a JSON-RPC refusal never means that the transaction has landed', () => {
    expect(isAlreadyProcessed(new Error('already been processed'))).toBe(false);
    expect(isAlreadyProcessed('AlreadyProcessed')).toBe(false);
    expect(isAlreadyProcessed(undefined)).toBe(false);
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
