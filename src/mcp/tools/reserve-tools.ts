import * as z from 'zod';
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
    'all five checks pass; `checks` has the finding of each. Takes no arguments.',
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
