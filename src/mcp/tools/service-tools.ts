import * as z from 'zod';
import { solanaAddress } from '../arguments.ts';
import { freshness, READS, read, tool } from './tool.ts';

const NAMED_POOLS = {
  default: 'getDefaultPool',
  'saeth-sausd': 'getSaethSausdPool',
  'sausd-usdc': 'getSausdUsdcPool',
} as const;

const poolGet = tool({
  name: 'pool_get',
  title: 'Read a liquidity pool',
  description:
    "A Whirlpool: price, balances, fee rate. Give `address`, or `pool` for one of this service's pools. source tells whether the " +
    'pool API or the chain was read, and as_of when.',
  annotations: READS,
  input: z.strictObject({
    address: solanaAddress.optional().describe('Address of a pool; takes precedence over `pool`'),
    pool: z
      .enum(['default', 'saeth-sausd', 'sausd-usdc'])
      .optional()
      .describe('A pool of this service; default when both are absent'),
  }),
  example: { pool: 'default' },
  output: z.looseObject({
    data: z.looseObject({}).describe('The pool from the pool API or the chain'),
    source: z.string().nullable().describe('orca or chain_rpc'),
    as_of: z.string().nullable().describe('When it was read, ISO 8601'),
    stale: z.boolean().describe('true when the source is unavailable and an older value is shown'),
  }),
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
    'Whether the service works: upstreams, used and remaining caps, pauses, backing of ABSR, the newest operations. Call it when another tool ' +
    'fails and the cause is not clear. Takes no arguments.',
  annotations: READS,
  input: z.strictObject({}),
  output: z.looseObject({
    ok: z.boolean().describe('false when something needed to move money does not work'),
    upstreams: z.array(z.looseObject({ name: z.string(), ok: z.boolean() })),
    custody: z.looseObject({}).nullable().describe('Pauses and limits; null when it cannot be read'),
    backing: z.looseObject({ ok: z.boolean() }),
    ...freshness,
  }),
  run: (_input, context) => read('getStatus', {}, context),
});

export const SERVICE_TOOLS = [poolGet, serviceStatus];
