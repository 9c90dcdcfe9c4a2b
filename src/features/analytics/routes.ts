import { createRoute, z } from '@hono/zod-openapi';
import { BODY_ERRORS } from '../../core/errors.ts';
import { jsonBody } from '../../http/body.ts';
import { limitReads, rateLimit } from '../../http/rate-limit.ts';
import { errorResponses, jsonResponse, NO_STORE } from '../../http/responses.ts';
import { component, jsonRequest, newRouter } from '../../http/router.ts';
import {
  type CountPageviewDeps,
  countPageview,
  isPath,
  isSafeText,
  MAX_PATH,
  MAX_REFERRER,
  visitorIp,
} from './count-pageview.ts';
import { type GetStatsDeps, getStats, StatsBody } from './get-stats.ts';

export type AnalyticsDeps = CountPageviewDeps & GetStatsDeps;

const PageviewBody = component('Pageview', {
  path: z
    .string()
    .max(MAX_PATH)
    .refine(isPath, 'must be a path: a slash first, no control characters')
    .openapi({
      pattern: '^/',
      example: '/reserves',
      description: 'Query and fragment are not stored; a path of more than 253 bytes is cut',
    }),
  referrer: z
    .string()
    .max(MAX_REFERRER)
    .refine(isSafeText, 'must not contain control characters')
    .optional()
    .openapi({
      example: 'https://example.com/',
      description: 'May be empty; stored without its query, and without its path if longer than 262 bytes',
    }),
});

const pageview = createRoute({
  method: 'post',
  path: '/analytics/pageview',
  operationId: 'addPageview',
  tags: ['analytics'],
  summary: 'Count a page view',
  description:
    'Logs and counts a page view, with its time and the client’s address, which is later deleted and never shown in full.',
  middleware: [rateLimit('pageview'), jsonBody] as const,
  request: { body: jsonRequest(PageviewBody) },
  responses: {
    204: { description: 'Counted' },
    ...errorResponses([...BODY_ERRORS, 'RATE_LIMITED', 'ANALYTICS_WRITE_FAILED']),
  },
});

/** The API contract requires this header. */

const stats = createRoute({
  method: 'get',
  path: '/analytics/stats',
  operationId: 'getAnalyticsStats',
  tags: ['analytics'],
  summary: 'Page-view statistics',
  description: 'Totals, top paths and referrers, the last views, daily and hourly series.',
  middleware: [limitReads] as const,
  responses: {
    200: { ...jsonResponse(StatsBody, 'The aggregates'), headers: NO_STORE },
    ...errorResponses(['RATE_LIMITED', 'ANALYTICS_READ_FAILED']),
  },
});

export const analyticsRoutes = newRouter<{ readonly analytics: AnalyticsDeps }>()
  .openapi(pageview, async (c) => {
    const { path, referrer = '' } = c.req.valid('json');
    const userAgent = c.req.header('user-agent') ?? '';
    await countPageview(c.var.deps.analytics, { path, referrer, ip: visitorIp(c), userAgent });
    return c.body(null, 204);
  })
  .openapi(stats, async (c) => {
    c.header('Cache-Control', 'no-store');
    return c.json(await getStats(c.var.deps.analytics), 200);
  });
