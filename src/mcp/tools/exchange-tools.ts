import * as z from 'zod';
import { coinAmount, currency, recordId } from '../arguments.ts';
import { CREATES, READS, read, tool } from './tool.ts';

const pair = {
  from: currency.describe('Such as sol, btc or usdterc20'),
  to: currency,
};

const exchangeMin = tool({
  name: 'exchange_min',
  title: 'Minimum and maximum of an exchange',
  description:
    'Smallest and largest amount of a currency pair, in whole coins of `from`; null while the provider does not exchange it.',
  annotations: READS,
  input: z.strictObject(pair),
  example: { from: 'sol', to: 'btc' },
  run: (query, context) => read('getExchangeMinimum', query, context),
});

const exchangeEstimate = tool({
  name: 'exchange_estimate',
  title: 'Estimate an exchange',
  description:
    'Expected output of one currency for an amount of another, after fees. The rate is not locked; nothing is created.',
  annotations: READS,
  input: z.strictObject({ ...pair, amount: coinAmount }),
  example: { from: 'sol', to: 'btc', amount: '0.5' },
  run: (query, context) => read('getExchangeEstimate', query, context),
});

const address = z
  .string()
  .trim()
  .regex(/^[\x21-\x7e]{2,200}$/, 'must be an address: 2 to 200 visible ASCII characters');
const memo = z
  .string()
  .regex(/^[\x21-\x7e]{1,200}$/, 'must be 1 to 200 visible ASCII characters')
  .optional();

const exchangeCreate = tool({
  name: 'exchange_create',
  title: 'Open an exchange',
  description:
    'Opens an exchange at the provider and returns its pay-in address. Moves no money. The provider pays out to payoutAddress after a ' +
    'payment, with payinExtraId if it is not null; check that address with the user. Call exchange_estimate first. ' +
    'If the response is lost, call again: an unused exchange expires.',
  annotations: CREATES,
  input: z.strictObject({
    ...pair,
    amount: coinAmount,
    payoutAddress: address.describe('Address that receives `to`'),
    payoutExtraId: memo.describe('Its memo or tag, on chains that use one'),
    refundAddress: address.optional(),
    refundExtraId: memo,
  }),
  example: { from: 'sol', to: 'btc', amount: '0.5', payoutAddress: 'bc1q...' },
  run: async (order, { api, signal }) => ({
    ...(await api.call('createExchange', order, { signal })).value,
    created: true,
  }),
});

const exchangeStatus = tool({
  name: 'exchange_status',
  title: 'State of an exchange',
  description: 'The state of an exchange at the provider. Poll it once a minute after the payment.',
  annotations: READS,
  input: z.strictObject({ id: recordId.describe('From exchange_create') }),
  example: { id: 'the id from exchange_create' },
  run: ({ id }, context) => read('getExchangeStatus', { id }, context),
});

export const EXCHANGE_TOOLS = [exchangeMin, exchangeEstimate, exchangeCreate, exchangeStatus];
