import { fields, orNull } from './shape.ts';
import { contractTable, errorBody } from './stage.ts';

const order = {
  from: 'sol',
  to: 'btc',
  amount: 0.8,
  payoutAddress: 'bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq',
};
let id = '';

contractTable([
  {
    row: 'POST /api/exchange/create: the exchange transaction',
    request: 'POST /api/exchange/create',
    body: order,
    status: 200,
    shape: fields({
      id: 'string',
      payinAddress: 'string',
      payinAmount: 'number',
      payinCurrency: 'string',
      status: 'string',
      statusUrl: 'string',
    }),
    also: ({ body }) => {
      id = String(body.id);
    },
  },
  {
    row: 'exchange-transaction status',
    request: () => `GET /api/exchange/status/${id}`,
    status: 200,
    shape: fields({
      id: 'string',
      status: 'string',
      amountSol: orNull('number'),
      btcSats: orNull('integer'),
      payinAddress: orNull('string'),
    }),
  },
  {
    row: 'minimum amount of a currency pair',
    request: 'GET /api/exchange/min?from=sol&to=btc',
    status: 200,
    shape: fields({ from: { oneOf: ['sol'] }, to: { oneOf: ['btc'] }, minAmount: orNull('number') }),
  },
  {
    row: 'estimated output for an input',
    request: 'GET /api/exchange/estimate?from=sol&to=btc&amount=0.8',
    status: 200,
    shape: fields({
      from: { oneOf: ['sol'] },
      to: { oneOf: ['btc'] },
      amount: { oneOf: [0.8] },
      estimatedAmount: orNull('number'),
    }),
  },
  ...(['from', 'to', 'amount', 'payoutAddress'] as const).map((name) => ({
    row: `400: ${name} is required`,
    request: 'POST /api/exchange/create',
    body: { ...order, [name]: undefined },
    status: 400,
    shape: fields({ error: 'string' }),
  })),
  {
    row: '400: amount is positive',
    request: 'POST /api/exchange/create',
    body: { ...order, amount: 0 },
    status: 400,
    shape: errorBody(),
  },
  {
    row: '404: an unknown exchange',
    request: 'GET /api/exchange/status/unknown12345',
    status: 404,
    shape: fields({ error: 'string' }),
  },
]);
