import { expect, it } from 'vitest';
import type { SimulatedExchange } from '../world/changenow.ts';
import { useWorld } from '../world/use-world.ts';

const world = useWorld({ cron: false, blockMs: 0 });

const PAYOUT = 'bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq';
const REFUND = '7Np41oeYqPefeNQEHSv1UDhYrehxin3NStELsSKCT4K2';
const order = { from: 'sol', to: 'btc', amount: 0.8, payoutAddress: PAYOUT };

/** The body is sent unchanged, so that a number keeps its digits. */
async function create(body: unknown) {
  const response = await world.fetch('/api/exchange/create', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
}

async function get(path: string) {
  const response = await world.fetch(path);
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
}

async function existing(): Promise<SimulatedExchange[]> {
  const response = await fetch(`${world.endpoints.changenow}/world/exchanges`);
  return (await response.json()) as SimulatedExchange[];
}

/** The exchanges that this create opened, without those of earlier tests. */
async function newExchanges(work: () => Promise<unknown>): Promise<SimulatedExchange[]> {
  const before = (await existing()).length;
  await work();
  return (await existing()).slice(before);
}

it('create returns every contract field, and the provider has the exchange as ordered', async () => {
  let answer: Awaited<ReturnType<typeof create>> | undefined;
  const [made, ...others] = await newExchanges(async () => {
    answer = await create({ ...order, refundAddress: REFUND });
  });
  expect(others).toEqual([]);
  expect(made?.order).toMatchObject({
    fromCurrency: 'sol',
    fromNetwork: 'sol',
    toCurrency: 'btc',
    toNetwork: 'btc',
    fromAmount: '0.8',
    address: PAYOUT,
    refundAddress: REFUND,
  });
  expect(answer?.status).toBe(200);
  expect(answer?.body).toMatchObject({
    id: made?.id,
    payinAddress: made?.payinAddress,
    payinAmount: 0.8,
    payinCurrency: 'sol',
    status: 'waiting',
    statusUrl: `https://changenow.io/exchange/txs/${made?.id}`,
    expectedAmount: 0.000995,
    refundAddress: REFUND,
  });
  expect(answer?.body.message).toMatch(/may hold a payment/);
});

it.each(['0.1', '0.00000001', '123456789.12345678', '100000000', '0.123456789012345678'])(
  'an amount of %s reaches the provider unchanged, as a number and as text',
  async (amount) => {
    // A coin so expensive that the smallest amount is within the range.
    if (amount === '0.00000001') world.prices.set({ SOL: '1000000000' });
    try {
      for (const written of [amount, `"${amount}"`]) {
        const body = `{"from":"sol","to":"btc","payoutAddress":"${PAYOUT}","amount":${written}}`;
        let answer: Awaited<ReturnType<typeof create>> | undefined;
        const [made] = await newExchanges(async () => {
          answer = await create(body);
        });
        expect(answer?.body.error).toBeUndefined();
        expect(made?.order.fromAmount).toBe(amount);
        expect(answer?.body).toMatchObject({ payinAmount: Number(amount), payinAmountExact: amount });
      }
    } finally {
      world.prices.set({ SOL: '100' });
    }
  },
);

it("checks the amount against the provider's range before it creates an exchange", async () => {
  world.resetStats();
  const { status, body } = await create({ ...order, amount: 0.04 });
  expect([status, body.error_code]).toEqual([400, 'EXCHANGE_AMOUNT_OUT_OF_RANGE']);
  expect(body.details).toEqual({ minAmount: '0.05', maxAmount: '200000000' });
  expect(world.stats().changenow?.byLabel['POST /v2/exchange']).toBeUndefined();
});

it('a legacy ticker selects coin and network; an ambiguous ticker is refused with the choices', async () => {
  const [made] = await newExchanges(() => create({ ...order, from: 'USDTERC20', amount: 50 }));
  expect(made?.order).toMatchObject({ fromCurrency: 'usdt', fromNetwork: 'eth' });
  const { status, body } = await create({ ...order, from: 'usdt', amount: 50 });
  expect([status, body.error_code]).toEqual([400, 'EXCHANGE_CURRENCY_UNKNOWN']);
  expect(body.details).toEqual({ currency: 'usdt', candidates: ['usdterc20', 'usdttrc20', 'usdtsol'] });
});

it('returns and explains the payment tag of a coin that needs one', async () => {
  const { body } = await create({ ...order, from: 'xrp', amount: 50 });
  expect(body.payinExtraId).toMatch(/^\d+$/);
  expect(body.message).toContain(`with the memo ${body.payinExtraId}`);
});

it('minimum and estimate return figures for an active pair, and null for an inactive one', async () => {
  const minimum = await get('/api/exchange/min?from=sol&to=btc');
  expect(minimum.body).toMatchObject({ from: 'sol', to: 'btc', minAmount: 0.05, minAmountExact: '0.05' });
  const estimate = await get('/api/exchange/estimate?from=sol&to=btc&amount=0.8');
  expect(estimate.body).toMatchObject({ from: 'sol', to: 'btc', amount: 0.8, estimatedAmount: 0.000995 });
  for (const path of ['min?from=luna&to=btc', 'estimate?from=luna&to=btc&amount=1']) {
    const { status, body } = await get(`/api/exchange/${path}`);
    expect(status).toBe(200);
    expect([body.minAmount ?? null, body.estimatedAmount ?? null]).toEqual([null, null]);
  }
  const { status, body } = await create({ ...order, from: 'luna', amount: 5 });
  expect([status, body.error_code]).toEqual([400, 'EXCHANGE_PAIR_INACTIVE']);
});
