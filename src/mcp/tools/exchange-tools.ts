import * as z from 'zod';
import { newKey } from '../../../packages/client/src/index.ts';
import { coinAmount, currency, dryRun, idempotencyKey, recordId } from '../arguments.ts';
import { CREATES, dryRunMark, freshness, READS, read, tool } from './tool.ts';

const pair = {
  from: currency.describe('Pay-in currency, such as sol, btc or usdterc20'),
  to: currency.describe('Payout currency'),
};
const INACTIVE = 'null when the provider does not exchange the pair right now';

const exchangeMin = tool({
  name: 'exchange_min',
  title: 'Bounds of an exchange',
  description:
    'Smallest and largest amount of a currency pair at the exchange provider, in whole coins of `from`.',
  annotations: READS,
  input: z.strictObject(pair),
  example: { from: 'sol', to: 'btc' },
  output: z.looseObject({
    from: z.string(),
    to: z.string(),
    minAmount: z.number().nullable().describe(INACTIVE),
    minAmountExact: z.string().nullable(),
    maxAmount: z.number().nullable().describe('null when there is no upper bound'),
    maxAmountExact: z.string().nullable(),
    ...freshness,
  }),
  run: (query, context) => read('getExchangeMinimum', query, context),
});

const exchangeEstimate = tool({
  name: 'exchange_estimate',
  title: 'Estimate an exchange',
  description:
    'Expected output of one currency for an amount of another, after fees. The rate is not locked; nothing is created.',
  annotations: READS,
  input: z.strictObject({ ...pair, amount: coinAmount }),
  example: { from: 'sol', to: 'btc', amount: 0.5 },
  output: z.looseObject({
    from: z.string(),
    to: z.string(),
    amount: z.number(),
    amountExact: z.string(),
    estimatedAmount: z.number().nullable().describe(INACTIVE),
    estimatedAmountExact: z.string().nullable(),
    minutes: z.string().nullable().describe('Expected duration'),
    ...freshness,
  }),
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
    'Opens an exchange at the provider and returns its pay-in address. The call itself moves no money. The provider pays out ' +
    'to payoutAddress after a payment, so check that address with the user. Call it with dry_run: true first, which only estimates and ' +
    'returns an idempotencyKey for the real call. Poll exchange_status after the payment.',
  annotations: CREATES,
  input: z.strictObject({
    ...pair,
    amount: coinAmount,
    payoutAddress: address.describe('Address that receives `to`'),
    payoutExtraId: memo.describe('Memo or tag of payoutAddress, on chains that use one'),
    refundAddress: address.optional().describe('Address of `from` for a refund'),
    refundExtraId: memo.describe('Memo or tag of refundAddress'),
    dry_run: dryRun,
    idempotencyKey,
  }),
  example: { from: 'sol', to: 'btc', amount: 0.5, payoutAddress: 'bc1q...', dry_run: true },
  output: z.looseObject({
    created: z.boolean().describe('true when an exchange exists; false on a dry run'),
    dry_run: dryRunMark,
    id: z.string().optional().describe('For exchange_status; absent on a dry run'),
    payinAddress: z.string().optional().describe('Pay-in address; absent on a dry run'),
    payinExtraId: z.string().nullable().optional().describe('Memo that the payment must carry'),
    payinAmountExact: z.string().optional().describe('Whole coins of `from` to pay'),
    payoutAddress: z.string(),
    expectedAmount: z.number().nullable().describe('Whole coins of `to`; the rate is not locked'),
    expectedAmountExact: z.string().nullable(),
    status: z.literal('waiting').optional().describe('Absent on a dry run'),
    message: z.string(),
    idempotencyKey: z
      .string()
      .describe('Keep it until the outcome is known. After a dry run, send it with the real call'),
    replayed: z.boolean().optional(),
  }),
  run: async ({ dry_run: rehearse, idempotencyKey: key, ...order }, { api, signal }) => {
    if (!rehearse)
      return {
        ...(await api.create('createExchange', order, { idempotencyKey: key, signal })),
        created: true,
      };
    const { from, to, amount, payoutAddress } = order;
    const { value } = await api.call('getExchangeEstimate', { from, to, amount }, { signal });
    return {
      created: false,
      dry_run: true,
      from,
      to,
      amount,
      payoutAddress,
      expectedAmount: value.estimatedAmount,
      expectedAmountExact: value.estimatedAmountExact,
      message:
        'Dry run: pair and amount are possible now. No exchange exists; the provider checks payoutAddress on creation.',
      idempotencyKey: key ?? newKey(),
    };
  },
});

const exchangeStatus = tool({
  name: 'exchange_status',
  title: 'State of an exchange',
  description: 'The state of an exchange at the provider. Poll it once a minute after the payment.',
  annotations: READS,
  input: z.strictObject({ id: recordId.describe('The id from exchange_create') }),
  example: { id: 'the id from exchange_create' },
  output: z.looseObject({ id: z.string(), status: z.string() }),
  run: ({ id }, context) => read('getExchangeStatus', { id }, context),
});

export const EXCHANGE_TOOLS = [exchangeMin, exchangeEstimate, exchangeCreate, exchangeStatus];
