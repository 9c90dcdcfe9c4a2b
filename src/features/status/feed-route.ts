import { html, raw } from 'hono/html';
import { newRouter } from '../../http/router.ts';
import type { Incident } from './database-store.ts';
import type { StatusReportDeps } from './get-status.ts';

export type StatusFeedDeps = Pick<StatusReportDeps, 'memory' | 'database' | 'now'> & {
  /** Origin of absolute links; empty if not configured. */
  readonly publicBaseUrl: string;
};

/** A feed is read often, and an isolate reads the table once in this time. */
const FRESH_SECONDS = 60;
const POLICY = { freshMs: FRESH_SECONDS * 1_000, revalidateMs: 0, staleMs: 0 };

/** @see https://www.rfc-editor.org/rfc/rfc4287 */
const feedOf = (incidents: readonly Incident[], origin: string, readAt: string) =>
  html`${raw('<?xml version="1.0" encoding="UTF-8"?>')}
<feed xmlns="http://www.w3.org/2005/Atom">
<id>${origin}/status.atom</id>
<title>Sluice: incidents</title>
<author><name>Sluice</name></author>
<updated>${incidents[0]?.to ?? incidents[0]?.from ?? readAt}</updated>
<link href="${origin}/status"/>
<link rel="self" href="${origin}/status.atom"/>
${incidents.map(
  ({ part, effect, from, to }) => html`<entry>
<id>${origin}/status#${part}-${from}</id>
<title>${part}: ${to === null ? 'under way' : 'over'}</title>
<updated>${to ?? from}</updated>
<link href="${origin}/status"/>
<summary>${effect} From ${from} to ${to ?? 'now'}.</summary>
</entry>
`,
)}</feed>
`;

export const statusFeedRoutes = newRouter<{ readonly status: StatusFeedDeps }>().get(
  '/status.atom',
  async (c) => {
    const { memory, database, now, publicBaseUrl } = c.var.deps.status;
    const { value, asOf } = await memory.read('status:incidents', POLICY, () => database.incidents(now()));
    const origin = publicBaseUrl || new URL(c.req.url).origin;
    const text = await feedOf(value, origin, new Date(asOf).toISOString());
    return c.body(String(text), 200, {
      'Content-Type': 'application/atom+xml',
      'Cache-Control': `public, max-age=${FRESH_SECONDS}`,
    });
  },
);
