import { z } from '@hono/zod-openapi';
import { component } from './router.ts';

export const CoverageBody = component('Coverage', {
  state: z
    .enum(['covered', 'short', 'unknown', 'no_token'])
    .describe('unknown: a figure is missing, or is stale and does not show a shortage'),
  reserveSatoshis: z.string().nullable().describe('Confirmed sats in the reserve'),
  supplySatoshis: z
    .string()
    .nullable()
    .describe('Whole ABSR, finalized; a fraction is treated as a whole one'),
  supplyAtoms: z.string().nullable().describe('Atoms of ABSR, finalized'),
  gapSatoshis: z.string().nullable().describe('Reserve minus supply; null when unknown'),
  ratio: z.number().nullable().describe('Sats per ABSR, rounded down; null without tokens'),
  as_of: z.iso.datetime().nullable().describe('When the older of both figures was read'),
  stale: z.boolean().describe('True when a source is unavailable and an older figure is shown'),
}).describe('Comparison of the confirmed sats with the ABSR supply');
