import { describe, expect, it } from 'vitest';
import { createNearIntentsRoute } from '../../src/bridges/near-intents.ts';
import { lamports } from '../../src/core/amount.ts';
import { createNearIntents, type OneClickRequest } from '../../src/providers/near-intents.ts';
import { eachResult, eachRow } from '../kit/scenes.ts';
import { type Recorded, replay } from '../providers/replay.ts';
import { answerTo, type Change, DEPOSIT, FIRM, isSigned, NOW, RESERVE } from './signed-quote.ts';

const BASE = 'https://1click.test';

/** The route over a bridge that returns what a test sets. */
function setUp(answers: Parameters<typeof replay>[0], log?: (line: object) => void) {
  const { fetch, requests } = replay(answers);
  const route = createNearIntentsRoute({
    provider: createNearIntents({ baseUrl: BASE, jwt: 'token', fetch }),
    isSigned,
    reserveAddress: RESERVE,
    bitcoinAddress: FIRM.recipient,
    now: () => NOW,
    ...(log && { log }),
  });
  return { route, requests };
}

const asked: OneClickRequest = { ...FIRM, destinationAsset: 'nep141:btc.omft.near' };

describe('a quote', () => {
  const quoteWith = (answer: Recorded | Error, log?: (line: object) => void) =>
    setUp({ [`POST ${BASE}/v0/quote`]: answer }, log);

  it('a quote is requested with our own addresses and a deadline in an hour, and its response is checked', async () => {
    const { route, requests } = quoteWith({ body: answerTo(asked, DEPOSIT) });
    const verdict = await route.quote({ amount: lamports(asked.amount), dry: false });
    const signed = JSON.parse((verdict.ok && verdict.quote.signed) || '') as { signature: string };
    expect(answerTo(asked, DEPOSIT)).toMatchObject(signed);
    expect(signed.signature).toMatch(/^ed25519:/);
    expect(verdict).toMatchObject({ ok: true, quote: { depositAddress: DEPOSIT, minimumSats: 123_753n } });
    expect(requests[0]?.body).toEqual({
      ...{ dry: false, swapType: 'EXACT_INPUT', depositMode: 'SIMPLE', slippageTolerance: 50 },
      ...{ originAsset: 'nep141:sol.omft.near', depositType: 'ORIGIN_CHAIN', amount: '1000000000' },
      ...{ destinationAsset: '1cs_v1:btc:native:coin', refundTo: RESERVE, refundType: 'ORIGIN_CHAIN' },
      ...{ recipient: FIRM.recipient, recipientType: 'DESTINATION_CHAIN', quoteWaitingTimeMs: 0 },
      deadline: '2026-11-20T11:00:02.000Z',
    });
  });

  it('a quote for a different amount than the request is refused', async () => {
    const { route } = quoteWith({ body: answerTo(asked, DEPOSIT) });
    expect(await route.quote({ amount: lamports(999_999_999n), dry: false })).toEqual({
      ok: false,
      reason: 'quote_amount',
    });
  });

  it('a quote whose fees exceed the cap raises an alarm, and no other refused quote does', async () => {
    const alarms: unknown[] = [];
    const alarmed = async (change: Change) => {
      const { route } = quoteWith({ body: answerTo(asked, DEPOSIT, change) }, (line) => alarms.push(line));
      return route.quote({ amount: lamports(asked.amount), dry: false });
    };
    const appFees = (fee: number) => ({ quoteRequest: { appFees: [{ recipient: 'a', fee }] } });
    expect(await alarmed(appFees(25))).toMatchObject({ ok: true });
    expect(await alarmed({ quoteRequest: { recipient: 'bc1qother' } })).toMatchObject({ ok: false });
    expect(alarms).toEqual([]);
    expect(await alarmed(appFees(26))).toEqual({ ok: false, reason: 'quote_app_fees' });
    expect(alarms).toEqual([
      { level: 'alarm', event: 'bridge_fees_over_cap', feesBps: [26], maximumBps: 25 },
    ]);
  });

  eachRow<[string, Recorded | 'dropped', string, number]>(`
    a 400 of a proxy         | { "status": 400, "body": "<p>No liquidity available</p>" }         | status_400       | 1
    a 400 without a text     | { "status": 400, "body": {} }                                      | status_400       | 1
    a 403 of a proxy         | { "status": 403, "body": "<h1>Forbidden</h1>" }                    | status_403       | 1
    a used-up rate limit     | { "status": 429, "body": { "message": "Too many requests" } }      | rate_limited     | 1
    a 500 without liquidity  | { "status": 500, "body": { "message": "No liquidity available" } } | status_500       | 2
    a lasting internal error | { "status": 400, "body": { "message": "Internal server error" } }  | status_400       | 2
    a connection that broke  | dropped                                                            | unreachable      | 1
    another shape            | { "body": { "quote": {} } }                                        | unexpected_shape | 1
  `)('treats %s as a failed upstream, not as a refusal', async (_name, answer, reason, calls) => {
    const { route, requests } = quoteWith(answer === 'dropped' ? new TypeError('fetch failed') : answer);
    await expect(route.quote({ amount: lamports(1n), dry: false })).rejects.toMatchObject({
      code: 'UPSTREAM_FAILED',
      details: { reason },
    });
    expect(requests).toHaveLength(calls);
  });

  it.each([
    { status: 400, body: { message: 'Internal server error' } },
    { status: 500, body: { statusCode: 500, message: 'Internal server error' } },
    { status: 502, body: 'Bad gateway' },
  ])('repeats the request once after a temporary failure: %j', async (failure) => {
    const { route, requests } = setUp({
      [`POST ${BASE}/v0/quote`]: [failure, { status: 400, body: { message: 'No liquidity available' } }],
    });
    expect(await route.quote({ amount: lamports(1n), dry: true })).toEqual({ ok: false, reason: 'no_route' });
    expect(requests).toHaveLength(2);
  });

  it('a rejected request raises an alarm with its message, and an unknown message is logged', async () => {
    const lines: unknown[] = [];
    const refusedWith = (message: string) =>
      quoteWith({ status: 400, body: { message } }, (line) => lines.push(line)).route.quote({
        amount: lamports(1n),
        dry: true,
      });
    await refusedWith('recipient is not valid');
    await refusedWith('The moon is in the wrong phase');
    await refusedWith('No liquidity available');
    expect(lines).toEqual([
      { level: 'warn', event: 'bridge_rejects_request', text: 'recipient is not valid' },
      { level: 'warn', event: 'bridge_refused_quote', text: 'The moon is in the wrong phase' },
    ]);
  });
});

it('announces a deposit with its transaction id, and treats a refusal as an error', async () => {
  const path = `POST ${BASE}/v0/deposit/submit`;
  const answers = [201, 400].map((status) => ({ status, body: {} }));
  const { route, requests } = setUp({ [path]: answers });
  await route.announce?.(DEPOSIT, 'signature');
  expect(requests[0]?.body).toEqual({ txHash: 'signature', depositAddress: DEPOSIT });
  await expect(route.announce?.(DEPOSIT, 'signature')).rejects.toMatchObject({
    details: { reason: 'status_400' },
  });
});

describe("the bridge's status report of a swap", () => {
  const TXID = 'AB'.repeat(32);
  const shownWith = (status: string, swapDetails: object = {}, depositAddress = DEPOSIT) =>
    setUp({
      [`GET ${BASE}/v0/status?depositAddress=${DEPOSIT}`]: {
        body: { status, updatedAt: 'x', quoteResponse: answerTo(asked, depositAddress), swapDetails },
      },
    }).route.report(DEPOSIT);
  async function statusWith(...given: Parameters<typeof shownWith>) {
    const { shown: _shown, ...report } = await shownWith(...given);
    return report;
  }
  const pending = (detail: string) => ({ state: 'pending', detail });

  eachResult(`
    landed   | PENDING_DEPOSIT | INCOMPLETE_DEPOSIT
    settling | KNOWN_DEPOSIT_TX | PROCESSING | A_STATE_OF_TOMORROW | success |
  `)('a report of %j leaves the swap pending with the detail %s', async (status, detail) => {
    expect(await statusWith(status)).toEqual(pending(detail));
  });

  eachRow<[details: object, txids: string[]]>(`
    { "destinationChainTxHashes": [{ "hash": "${TXID}", "explorerUrl": "x" }] } | ["${TXID.toLowerCase()}"]
    { "destinationChainTxHashes": [] }                                          | []
    { "destinationChainTxHashes": null }                                        | []
    {}                                                                          | []
  `)('a report of SUCCESS with %j returns its txids in lower case', async (details, txids) => {
    expect(await statusWith('SUCCESS', details)).toEqual({ state: 'delivered', txids });
  });

  eachRow<[amount: bigint | null, all: object[]]>(`
    990000000n | [{ "refundedAmount": "990000000" }, { "refundedAmount": 990000000 }]
    0n         | [{ "refundedAmount": "0" }, { "refundedAmount": 0 }]
    null       | [{ "refundedAmount": null }, { "refundedAmount": "" }, { "refundedAmount": "0.0" }, {}]
    null       | [{ "refundedAmount": "0e0" }, { "refundedAmount": "-5" }, { "refundedAmount": "1.5" }]
    null       | [{ "refundedAmount": {} }, { "refundFee": null, "originChainTxHashes": null }]
    null       | [{ "refundFee": "1.5", "originChainTxHashes": ["x"] }]
    null       | [{ "originChainTxHashes": [{ "hash": "${'ab'.repeat(32)}", "explorerUrl": "" }] }]
  `)('a report of REFUNDED returns the refunded amount %s of %j', async (amount, all) => {
    const expected = { state: 'refunded', amount };
    for (const details of all)
      expect(await statusWith('REFUNDED', details), JSON.stringify(details)).toEqual(expected);
  });

  it('a report of REFUNDED returns the fee and the Solana transactions that it names', async () => {
    const signature = '2'.repeat(88);
    const details = { refundFee: '86690', originChainTxHashes: [{ hash: signature, explorerUrl: '' }] };
    const refund = { state: 'refunded', amount: null, fee: 86_690n, signatures: [signature] };
    expect(await statusWith('REFUNDED', details)).toEqual(refund);
  });

  it("keeps at most 500 characters of the bridge's report", async () => {
    const refund = await shownWith('REFUNDED', { refundedAmount: '5', other: 'x' });
    expect(refund.shown).toBe('{"status":"REFUNDED","refundedAmount":"5"}');
    expect((await shownWith('x'.repeat(9_000))).shown).toHaveLength(500);
  });

  it('a report of FAILED is a failure of the bridge', async () => {
    expect(await statusWith('FAILED')).toEqual({ state: 'failed', reason: 'bridge_failed' });
  });

  it.each(['SUCCESS', 'FAILED', 'REFUNDED'])(
    'a report of %s for another deposit is ignored',
    async (status) => {
      expect(await statusWith(status, {}, RESERVE)).toEqual(pending('settling'));
    },
  );

  eachRow<[string, Recorded, string]>(`
    an unknown address | { "status": 404, "body": { "message": "Deposit address not found" } } | deposit_unknown
    another shape      | { "body": { "status": "SUCCESS" } }                                   | unexpected_shape
  `)('a status response is a failed upstream: %s', async (_name, answer, reason) => {
    const { route } = setUp({ [`GET ${BASE}/v0/status?depositAddress=${DEPOSIT}`]: answer });
    await expect(route.report(DEPOSIT)).rejects.toMatchObject({ details: { reason } });
  });
});
