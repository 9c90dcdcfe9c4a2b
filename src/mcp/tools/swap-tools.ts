import * as z from 'zod';
import { amountSol, idempotencyKey, recordId } from '../arguments.ts';
import { freshness, READS, read, tool, waiting, waitSeconds } from './tool.ts';

const swapMin = tool({
  name: 'swap_min',
  title: 'Bounds of a swap',
  description:
    'The smallest and largest SOL amount of a swap now, and whether one can start; if not, the reason and the next time.',
  annotations: READS,
  input: z.strictObject({}),
  output: z.looseObject({
    minAmountSol: z.number(),
    minAmountLamports: z.string(),
    maxAmountSol: z.number().describe('0 while no swap can start'),
    maxAmountLamports: z.string(),
    balanceSol: z.number().nullable().describe('SOL of the reserve'),
    available: z.boolean().describe('Whether a swap can start now'),
    reason: z.string().nullable().describe('Code of the reason'),
    nextAvailableAt: z.string().nullable().describe('When to try again, ISO 8601'),
    ...freshness,
  }),
  run: (_input, context) => read('getSwapMinimum', {}, context),
});

const swapEstimate = tool({
  name: 'swap_estimate',
  title: 'Estimate a swap',
  description:
    "Expected sats for an amount of SOL, after the bridge's fees, and whether swap_create would be accepted now; if not, its error. " +
    'Neither moves nor reserves SOL.',
  annotations: READS,
  input: z.strictObject({ amountSol }),
  example: { amountSol: '0.5' },
  output: z.looseObject({
    amountSol: z.number(),
    amountLamports: z.string(),
    estimatedBtcSats: z.number(),
    estimatedSatoshis: z.string(),
    minimumSatoshis: z.string().describe('Sats guaranteed by the bridge'),
    etaSeconds: z.number().nullable().describe('Seconds until the BTC arrives'),
    creatable: z.boolean(),
    error_code: z
      .string()
      .optional()
      .describe('The code that swap_create would return, if it is not creatable'),
    ...freshness,
  }),
  run: (input, context) => read('getSwapEstimate', input, context),
});

const swapCreate = tool({
  name: 'swap_create',
  title: "Swap the reserve's SOL for BTC",
  description:
    "SPENDS MONEY: sends the reserve's SOL through a bridge; the BTC arrives at the reserve's address in minutes to hours. " +
    'Call swap_estimate first. While the outcome is unknown, repeat with the same key: it swaps at most once. Then call swap_status.',
  // A repeat with another key spends again.
  annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: true },
  input: z.strictObject({ amountSol, idempotencyKey }),
  example: { amountSol: '0.5' },
  output: z.looseObject({
    initiated: z.literal(true),
    id: z.string().describe('For swap_status'),
    status: z.literal('waiting'),
    amountSol: z.number(),
    amountLamports: z.string(),
    expectedBtcSats: z.number(),
    expectedSatoshis: z.string(),
    minimumSatoshis: z.string().describe('Sats guaranteed by the bridge'),
    solanaSignature: z.string(),
    statusUrl: z.string(),
    message: z.string(),
    idempotencyKey: z.string().describe('Keep it until the outcome is known'),
    replayed: z.boolean().optional().describe('true for the outcome of an earlier call'),
  }),
  run: ({ amountSol: amount, idempotencyKey: key }, { api, signal }) =>
    api.create('createSwap', { amountSol: amount }, { idempotencyKey: key, signal }),
});

const swapStatus = tool({
  name: 'swap_status',
  title: 'State of a swap',
  description:
    'Waits until a swap is finished or failed, at most wait_seconds; call it again while status is waiting. Only finished means that the ' +
    "BTC is at the reserve's address. `detail` is more precise (settling, refunded, partial, held ...).",
  annotations: READS,
  input: z.strictObject({ id: recordId.describe('From swap_create'), wait_seconds: waitSeconds }),
  example: { id: 'the id from swap_create' },
  output: z.looseObject({
    id: z.string(),
    status: z.enum(['waiting', 'finished', 'failed']),
    detail: z.string(),
    reason: z.string().nullable(),
    amountSol: z.number().nullable(),
    amountLamports: z.string(),
    btcSats: z.number().nullable().describe('Sats received; null until then'),
    btcSatoshis: z.string().nullable(),
    txId: z.string().nullable().describe('Bitcoin transaction of the payout'),
    nextPollSeconds: z.number().nullable().describe('null when the state is final'),
  }),
  run: ({ id, wait_seconds: seconds }, context) =>
    seconds === 0
      ? read('getSwapStatus', { id }, context)
      : context.api.waitForSwap(id, waiting(context, seconds)),
});

export const SWAP_TOOLS = [swapMin, swapEstimate, swapCreate, swapStatus];
