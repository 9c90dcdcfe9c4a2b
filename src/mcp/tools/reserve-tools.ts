import * as z from 'zod';
import { solanaAddress } from '../arguments.ts';
import { atoms, freshness, READS, read, tool } from './tool.ts';

export const getReserves = tool({
  name: 'get_reserves',
  title: 'Reserve balances',
  description:
    'Addresses and balances of the reserve: confirmed BTC and finalized SOL. Use it to see the holdings; null means that a source ' +
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
  run: (_input, context) => read('getReserves', {}, context),
});

export const verifyReserveProof = tool({
  name: 'verify_reserve_proof',
  title: 'Verify the proof of the reserve',
  description:
    'Reads the newest signed proof and verifies it independently of the service: both signatures are checked here, balance and block ' +
    'are compared with two public Bitcoin explorers, and the ABSR supply with a public Solana node. `verified` is true only when ' +
    'all five checks pass; `checks` lists the finding of each. Takes no arguments.',
  annotations: READS,
  input: z.strictObject({}),
  output: z.looseObject({
    verified: z.boolean().describe('true when every check passed'),
    checks: z.array(
      z.object({
        name: z.enum(['bitcoin_signature', 'solana_signature', 'reserve', 'supply', 'freshness']),
        ok: z.boolean(),
        text: z.string().describe('The finding'),
      }),
    ),
    proof: z.looseObject({
      message: z.string().describe('The exact text signed by both keys'),
      hash: z.string().nullable(),
      bitcoin: z.looseObject({ address: z.string(), signature: z.string() }),
      solana: z.looseObject({ address: z.string(), signature: z.string() }),
    }),
    signed_at: z.string().nullable().describe('Time in the signed message, ISO 8601'),
    age_seconds: z.number().nullable().describe('Seconds from signed_at to checked_at'),
    sources: z.array(z.string()).describe('Hosts queried in addition to the service'),
    checked_at: z.string().describe('When the sources were queried, ISO 8601'),
  }),
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
  description:
    "A Whirlpool: price, balances, fee rate. Give `address`, or `pool` for one of this service's pools. source shows whether the " +
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
