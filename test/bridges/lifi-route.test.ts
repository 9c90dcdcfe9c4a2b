import { describe, expect, it } from 'vitest';
import { createLifiRoute } from '../../src/bridges/lifi.ts';
import { lamports } from '../../src/core/amount.ts';
import { upstreamFailed } from '../../src/core/errors.ts';
import type { LifiQuote, LifiStatus } from '../../src/providers/lifi.ts';
import type { OneClickStatus } from '../../src/providers/near-intents.ts';
import { BITCOIN_ADDRESS, draftSwap, finish, RESERVE } from '../custody/policy/draft.ts';

const input = finish(draftSwap('near', 4));
const DEPOSIT = input.nearStatus?.quoteResponse.quote.depositAddress ?? '';
const AMOUNT = lamports(BigInt(input.quote.action.fromAmount));
const SENT = { signature: 'sig', depositAddress: DEPOSIT, tool: 'near' };
const VAULT_SWAP = { signature: 'sig', depositAddress: null, tool: 'chainflip' };
const TXID = 'ab'.repeat(32);

function setUp(answers: {
  quote?: () => Promise<LifiQuote>;
  status?: LifiStatus;
  near?: Partial<OneClickStatus> | 'down';
}) {
  const asked: string[] = [];
  const route = createLifiRoute({
    provider: {
      quote: () => answers.quote?.() ?? Promise.resolve(input.quote),
      async status(signature, tool) {
        asked.push(`lifi ${signature} ${tool}`);
        return answers.status ?? { status: 'NOT_FOUND' };
      },
    },
    near: {
      async status(deposit) {
        asked.push(`near ${deposit}`);
        if (answers.near === 'down' || !input.nearStatus) throw upstreamFailed('near-intents', 'timeout');
        return { ...input.nearStatus, ...answers.near };
      },
    },
    reserveAddress: RESERVE,
    bitcoinAddress: BITCOIN_ADDRESS,
    now: () => 1_000,
  });
  return { route, asked };
}

describe('a quote of LI.FI', () => {
  it.each([true, false])(
    'is returned with its bytes unchecked and without an address to pay (dry: %s)',
    async (dry) => {
      const { estimate } = input.quote;
      expect(await setUp({}).route.quote({ amount: AMOUNT, dry })).toEqual({
        ok: true,
        quote: {
          route: 'lifi',
          amount: AMOUNT,
          expectedSats: BigInt(estimate.toAmount),
          minimumSats: BigInt(estimate.toAmountMin),
          fixedFeeSats: null,
          expiresAt: null,
          etaSeconds: null,
          depositAddress: null,
          thirdParty: { quote: input.quote, slippageBps: 50, askedAt: 1_000 },
        },
      });
    },
  );

  it.each<[string, Partial<LifiQuote>, string]>([
    ['of another tool', { tool: 'relaydepository' }, 'quote_tool'],
    ['for another recipient', { action: { ...input.quote.action, toAddress: 'bc1q' } }, 'quote_to_address'],
    ['without an output', { estimate: { ...input.quote.estimate, toAmountMin: '0' } }, 'quote_minimum'],
  ])('%s does not answer our request', async (_name, change, reason) => {
    const { route } = setUp({ quote: async () => ({ ...input.quote, ...change }) });
    expect(await route.quote({ amount: AMOUNT, dry: false })).toEqual({ ok: false, reason });
  });

  it.each(['amount_too_low', 'no_route'])('is a refusal when LI.FI has none: %s', async (reason) => {
    const { route } = setUp({ quote: () => Promise.reject(upstreamFailed('lifi', reason)) });
    expect(await route.quote({ amount: AMOUNT, dry: false })).toEqual({ ok: false, reason });
  });

  it('is a failure when LI.FI fails to return one', async () => {
    const { route } = setUp({ quote: () => Promise.reject(upstreamFailed('lifi', 'status_500')) });
    await expect(route.quote({ amount: AMOUNT, dry: false })).rejects.toMatchObject({
      code: 'UPSTREAM_FAILED',
    });
  });
});

describe('the state of a swap', () => {
  const refunded: LifiStatus = { status: 'DONE', substatus: 'REFUNDED', tool: 'near' };

  it("of a deposit comes from 1Click, regardless of LI.FI's answer", async () => {
    const swapDetails = { destinationChainTxHashes: [{ hash: TXID }] };
    const { route, asked } = setUp({ near: { status: 'SUCCESS', swapDetails }, status: refunded });
    expect(await route.report(SENT)).toEqual({ state: 'delivered', txids: [TXID] });
    expect(asked).toEqual([`near ${DEPOSIT}`]);
  });

  it('comes from LI.FI while 1Click does not answer', async () => {
    const { route, asked } = setUp({ near: 'down', status: refunded });
    expect(await route.report(SENT)).toEqual({ state: 'refunded', amount: null });
    expect(asked).toEqual([`near ${DEPOSIT}`, 'lifi sig near']);
  });

  it.each<[LifiStatus, object]>([
    [
      {
        status: 'DONE',
        substatus: 'COMPLETED',
        tool: 'chainflip',
        receiving: { chainId: 20_000_000_000_001, txHash: TXID },
      },
      { state: 'delivered', txids: [TXID] },
    ],
    [
      { status: 'DONE', substatus: 'PARTIAL', tool: 'chainflip', receiving: { txHash: TXID } },
      { state: 'partial', txids: [TXID] },
    ],
    [
      { status: 'FAILED', substatus: 'EXPIRED' },
      { state: 'failed', reason: 'bridge_failed' },
    ],
    [
      { status: 'DONE', substatus: 'COMPLETED', tool: 'near' },
      { state: 'pending', detail: 'unknown' },
    ],
  ])('of a vault swap comes from LI.FI: %j', async (status, report) => {
    const { route, asked } = setUp({ status });
    expect(await route.report(VAULT_SWAP)).toEqual(report);
    expect(asked).toEqual(['lifi sig chainflip']);
  });
});
