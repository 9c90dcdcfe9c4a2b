import { createRoute, z } from '@hono/zod-openapi';
import { jsonResponse, newRouter } from '../../http/router.ts';
import { checkReady, type ReadyDeps } from './check-ready.ts';
import { getStatus, type StatusReportDeps } from './get-status.ts';

export type StatusDeps = ReadyDeps & StatusReportDeps & { readonly now: () => number };

const asOf = z.iso.datetime();

const health = createRoute({
  method: 'get',
  path: '/health',
  operationId: 'getHealth',
  tags: ['status'],
  summary: 'The process answers; no upstream is asked',
  responses: {
    200: jsonResponse(
      z.object({ ok: z.literal(true), as_of: asOf }).openapi('Health'),
      'The process answers',
    ),
  },
});

const Ready = z
  .object({
    ok: z.boolean(),
    checks: z.array(z.object({ name: z.string(), ok: z.boolean(), reason: z.string().nullable() })),
    as_of: asOf,
  })
  .openapi('Ready');

const ready = createRoute({
  method: 'get',
  path: '/ready',
  operationId: 'getReady',
  tags: ['status'],
  summary: 'Configuration, database and custodian, each checked',
  responses: {
    200: jsonResponse(Ready, 'Everything that money needs is there'),
    503: jsonResponse(Ready, 'Something is missing; the checks name it'),
  },
});

const cap = z.object({ usedSol: z.string(), maximumSol: z.string() });
const status = createRoute({
  method: 'get',
  path: '/status',
  operationId: 'getStatus',
  tags: ['status'],
  summary: 'Upstreams, custody, the daily mint, supply against reserve, caps used and left',
  responses: {
    200: jsonResponse(
      z
        .object({
          ok: z.boolean(),
          upstreams: z.array(
            z.object({
              name: z.string(),
              ok: z.boolean(),
              ms: z.number().int().openapi({ description: 'Milliseconds to answer' }),
            }),
          ),
          custody: z
            .object({
              frozen: z.string().nullable(),
              paused: z.string().nullable(),
              openOperations: z.number().int(),
              heldOperations: z.number().int(),
              mint: z
                .object({
                  day: z.string(),
                  state: z.enum(['scheduled', 'waiting', 'minted', 'none', 'failed']),
                  reason: z.string().nullable(),
                  ok: z.boolean(),
                })
                .nullable()
                .openapi({ description: "The day's mint of ABSR" }),
              mirrorBehindSince: asOf.nullable(),
              caps: z.object({ hour: cap, day: cap, unsettled: cap, cost_day: cap }),
            })
            .nullable(),
          backing: z
            .object({
              ok: z.boolean().openapi({ description: 'False while tokens are not covered' }),
              gapSatoshis: z.string().nullable(),
              ratio: z.number().nullable(),
            })
            .openapi({ description: 'The reserve against the ABSR supply' }),
          as_of: asOf,
          stale: z.boolean(),
        })
        .openapi('Status'),
      'The state of the service',
    ),
  },
});

export const statusRoutes = newRouter<StatusDeps>()
  .openapi(health, (c) => c.json({ ok: true as const, as_of: new Date(c.var.deps.now()).toISOString() }, 200))
  .openapi(ready, async (c) => {
    const checks = await checkReady(c.var.deps);
    const ok = checks.every((check) => check.ok);
    const body = { ok, checks, as_of: new Date(c.var.deps.now()).toISOString() };
    return ok ? c.json(body, 200) : c.json(body, 503);
  })
  .openapi(status, async (c) => c.json(await getStatus(c.var.deps), 200));
