import { createRoute, z } from '@hono/zod-openapi';
import { jsonResponse, newRouter } from '../../http/router.ts';

export type StatusDeps = { now: () => number };

const health = createRoute({
  method: 'get',
  path: '/health',
  operationId: 'getHealth',
  tags: ['status'],
  summary: 'The process answers; no upstream is asked',
  responses: {
    200: jsonResponse(
      z.object({ ok: z.literal(true), as_of: z.iso.datetime() }).openapi('Health'),
      'The process answers',
    ),
  },
});

export const statusRoutes = newRouter<StatusDeps>().openapi(health, (c) =>
  c.json({ ok: true as const, as_of: new Date(c.var.deps.now()).toISOString() }, 200),
);
