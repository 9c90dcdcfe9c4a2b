/**
 * The five tools: what each takes, answers and promises. Nothing here holds a key; all goes over the public API.
 * @module
 */
import type { ToolAnnotations } from '@modelcontextprotocol/server';
import * as z from 'zod';
import type { Api } from './api-client.ts';
import { amountSol } from './arguments.ts';
import { createSwap } from './create-swap.ts';

export type ToolContext = { readonly api: Api; readonly signal?: AbortSignal };

export type Tool = {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly annotations: Required<Omit<ToolAnnotations, 'title'>>;
  readonly input: z.ZodObject;
  readonly output: z.ZodObject;
  run(input: unknown, context: ToolContext): Promise<Readonly<Record<string, unknown>>>;
};

/** Ties the input's type to what `run` gets; everything of another shape is refused before. */
function tool<I extends z.ZodObject>(
  definition: Omit<Tool, 'input' | 'run'> & {
    readonly input: I;
    run(input: z.output<I>, context: ToolContext): Promise<Readonly<Record<string, unknown>>>;
  },
): Tool {
  const { input, run } = definition;
  return { ...definition, run: (given, context) => run(input.parse(given), context) };
}

const READS = { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: true };

const atoms = (unit: string) => z.string().describe(`The same in ${unit}, exact`);
const freshness = {
  as_of: z.string().describe('When the figures were read from their sources, ISO 8601'),
  stale: z.boolean().describe('true when a source is down and an older value is shown'),
};

const getReserves = tool({
  name: 'get_reserves',
  title: 'Reserve balances',
  description:
    'Addresses and balances of the reserve: confirmed BTC and finalized SOL. Use it to see what is held; null means that a source ' +
    'could not be read, never zero. Takes no arguments.',
  annotations: READS,
  input: z.strictObject({}),
  output: z.looseObject({
    bitcoin: z.looseObject({
      address: z.string().nullable(),
      balanceBtc: z.number().nullable().describe('Confirmed BTC'),
      balanceSat: z.number().nullable().describe('Confirmed sats'),
      balanceSatoshis: atoms('sats').nullable(),
    }),
    solana: z.looseObject({
      address: z.string().nullable(),
      balanceSol: z.number().nullable().describe('Finalized SOL'),
      balanceLamports: atoms('lamports').nullable(),
    }),
    as_of: freshness.as_of.nullable(),
    stale: freshness.stale,
  }),
  run: async (_input, { api, signal }) =>
    (await api.call({ method: 'GET', path: '/api/reserves', ...(signal && { signal }) })).body,
});

const swapMin = tool({
  name: 'swap_min',
  title: 'Bounds of a swap',
  description:
    'The smallest and largest SOL amount that one swap may have now, whether a swap can start at all, and if not why and when. ' +
    'Call it before swap_estimate. Takes no arguments.',
  annotations: READS,
  input: z.strictObject({}),
  output: z.looseObject({
    minAmountSol: z.number().describe('Smallest SOL of a swap'),
    minAmountLamports: atoms('lamports'),
    maxAmountSol: z.number().describe('Largest SOL that the caps allow now; 0 when none'),
    maxAmountLamports: atoms('lamports'),
    balanceSol: z.number().nullable().describe('SOL of the reserve'),
    available: z.boolean().describe('Whether a swap can start now'),
    reason: z.string().nullable().describe('Code of why not'),
    nextAvailableAt: z.string().nullable().describe('When to try again, ISO 8601'),
    ...freshness,
  }),
  run: async (_input, { api, signal }) =>
    (await api.call({ method: 'GET', path: '/api/swap/min', ...(signal && { signal }) })).body,
});

const swapEstimate = tool({
  name: 'swap_estimate',
  title: 'Estimate a swap',
  description:
    'How many sats an amount of SOL would bring, fees of the bridge included. Moves nothing and reserves nothing.',
  annotations: READS,
  input: z.strictObject({ amountSol }),
  output: z.looseObject({
    amountSol: z.number(),
    amountLamports: atoms('lamports'),
    estimatedBtcSats: z.number().describe('Sats expected'),
    estimatedSatoshis: atoms('sats'),
    minimumSatoshis: z.string().describe('Sats that the bridge guarantees'),
    etaSeconds: z.number().nullable().describe('Seconds until the BTC is there'),
    ...freshness,
  }),
  run: async (input, { api, signal }) => {
    const query = new URLSearchParams({ amountSol: input.amountSol });
    return (await api.call({ method: 'GET', path: `/api/swap/estimate?${query}`, ...(signal && { signal }) }))
      .body;
  },
});

const swapCreate = tool({
  name: 'swap_create',
  title: 'Swap SOL of the reserve into BTC',
  description:
    'SPENDS MONEY: sends SOL of the reserve through a bridge; the BTC arrives at the address of the reserve in minutes to hours. ' +
    'Call it with dry_run: true first: that checks everything and moves nothing. An idempotencyKey is made when none is given and ' +
    'always answered; when the outcome is not known, repeat the call with that key: it moves at most once. Afterwards poll ' +
    'swap_status with the id.',
  // Without the same key a repeat spends again, so it must not be taken for idempotent.
  annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: true },
  input: z.strictObject({
    amountSol,
    dry_run: z.boolean().optional().describe('true: check everything, move nothing, take no key'),
    idempotencyKey: z
      .string()
      .regex(/^[\x21-\x7e]{16,128}$/, 'must be 16 to 128 visible ASCII characters')
      .optional()
      .describe(
        'Of an earlier call of this tool with the same amount, to get its outcome instead of a second swap',
      ),
  }),
  output: z.looseObject({
    initiated: z.boolean().describe('false on a dry run'),
    id: z.string().nullable().describe('For swap_status; null on a dry run'),
    status: z.literal('waiting'),
    amountSol: z.number(),
    amountLamports: atoms('lamports'),
    expectedBtcSats: z.number().describe('Sats expected'),
    expectedSatoshis: atoms('sats'),
    minimumSatoshis: z.string().describe('Sats that the bridge guarantees'),
    solanaSignature: z.string().nullable(),
    statusUrl: z.string().nullable(),
    message: z.string(),
    idempotencyKey: z.string().nullable().describe('Keep it until the outcome is known; null on a dry run'),
    replayed: z.boolean().describe('true when this is the outcome of an earlier call with the same key'),
  }),
  run: createSwap,
});

const swapStatus = tool({
  name: 'swap_status',
  title: 'State of a swap',
  description:
    'Whether a swap is waiting, finished or failed. Only finished means that the BTC is at the address of the reserve; `detail` tells ' +
    'more (settling, refunded, partial, held ...). Repeat after nextPollSeconds while it is waiting.',
  annotations: READS,
  input: z.strictObject({
    id: z.string().trim().min(1).max(200).describe('The id that swap_create answered: a Solana signature'),
  }),
  output: z.looseObject({
    id: z.string(),
    status: z.enum(['waiting', 'finished', 'failed']),
    detail: z.string(),
    reason: z.string().nullable(),
    amountSol: z.number().nullable(),
    amountLamports: atoms('lamports'),
    btcSats: z.number().nullable().describe('Sats that arrived; null while they have not'),
    btcSatoshis: atoms('sats').nullable(),
    txId: z.string().nullable().describe('Bitcoin transaction that paid'),
    nextPollSeconds: z
      .number()
      .nullable()
      .describe('Seconds to wait before the next call; null when it is over'),
  }),
  run: async ({ id }, { api, signal }) =>
    (
      await api.call({
        method: 'GET',
        path: `/api/swap/status/${encodeURIComponent(id)}`,
        ...(signal && { signal }),
      })
    ).body,
});

export const TOOLS: readonly Tool[] = [getReserves, swapMin, swapEstimate, swapCreate, swapStatus];
