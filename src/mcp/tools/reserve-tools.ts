import * as z from 'zod';
import { solanaAddress } from '../arguments.ts';
import { freshness, READS, read, tool } from './tool.ts';

export const getReserves = tool({
  name: 'get_reserves',
  title: 'Reserve balances',
  description:
    'Addresses and balances of the reserve: confirmed BTC and finalized SOL. null means that a source could not be read, never zero.',
  annotations: READS,
  input: z.strictObject({}),
  output: z.looseObject({
    bitcoin: z.looseObject({
      address: z.string().nullable(),
      balanceBtc: z.number().nullable().describe('Confirmed BTC'),
      balanceSat: z.number().nullable().describe('Confirmed sats'),
      balanceSatoshis: z.string().nullable(),
    }),
    solana: z.looseObject({
      address: z.string().nullable(),
      balanceSol: z.number().nullable().describe('Finalized SOL'),
      balanceLamports: z.string().nullable(),
    }),
    as_of: freshness.as_of.nullable(),
    stale: freshness.stale,
  }),
  run: (_input, context) => read('getReserves', {}, context),
});

export const verifyReserveProof = tool({
  name: 'verify_reserve_proof',
  title: 'Verify the proof of the reserve',
  description:
    'Verifies the newest signed proof independently of the service: both signatures are checked here, balance and block are compared with ' +
    'two public Bitcoin explorers, and the ABSR supply with a public Solana node. `verified` is true when all six `checks` pass, false when one is contradicted, ' +
    'and null when none is contradicted, but not all could be checked: the proof is then neither proven nor refuted.',
  annotations: READS,
  input: z.strictObject({}),
  run: (_input, { api, verifyProof, signal }) => verifyProof(api, signal),
});

const NAMED_POOLS = {
  default: 'getDefaultPool',
  'saeth-sausd': 'getSaethSausdPool',
  'sausd-usdc': 'getSausdUsdcPool',
} as const;

const poolGet = tool({
  name: 'pool_get',
  title: 'Read a liquidity pool',
  description: 'A Whirlpool: price, balances, fee rate, with its source and as_of.',
  annotations: READS,
  input: z.strictObject({
    address: solanaAddress.optional().describe('Takes precedence over `pool`'),
    pool: z
      .enum(['default', 'saeth-sausd', 'sausd-usdc'])
      .optional()
      .describe('A pool that the operator has chosen'),
  }),
  example: { pool: 'default' },
  run: async ({ address, pool = 'default' }, { api, signal }) => {
    const { value, headers } = await (address === undefined
      ? api.call(NAMED_POOLS[pool], {}, { signal })
      : api.call('getPool', { address }, { signal }));
    return {
      ...value,
      source: headers.get('x-data-source'),
      as_of: headers.get('x-data-as-of'),
      stale: headers.get('x-data-stale') === 'true',
    };
  },
});

const serviceStatus = tool({
  name: 'service_status',
  title: 'State of the service',
  description:
    'Whether the service works: upstreams, used and remaining caps, pauses, backing of ABSR, newest operations. Call it when another tool ' +
    'fails for an unclear reason.',
  annotations: READS,
  input: z.strictObject({}),
  run: (_input, context) => read('getStatus', {}, context),
});

export const SERVICE_TOOLS = [poolGet, serviceStatus];
