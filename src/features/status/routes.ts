import { createRoute, z } from '@hono/zod-openapi';
import { AppError } from '../../core/errors.ts';
import type { SigningState } from '../../custody/operator-api.ts';
import { CoverageBody } from '../../http/coverage.ts';
import { jsonResponse } from '../../http/responses.ts';
import { component, newRouter } from '../../http/router.ts';
import { within } from '../../http/within.ts';
import { OperationLine } from './database-store.ts';
import { Beat, Release, readState, type State, type StatusReportDeps, UpstreamState } from './get-status.ts';

export type StatusDeps = StatusReportDeps & {
  /** Null if not configured. */
  readonly reserveAddress: string | null;
  signingState(): Promise<SigningState>;
};

/** The parts of the status can be five seconds old anyway. */
const STATUS_POLICY = { freshMs: 1_000, revalidateMs: 0, staleMs: 0 };
/** Maximum wait for the custodian before health responds without it. */
const HEALTH_WAIT_MS = 3_000;
const asOf = z.iso.datetime();

const health = createRoute({
  method: 'get',
  path: '/health',
  operationId: 'getHealth',
  tags: ['status'],
  summary: 'Process health',
  description: 'The release, and whether the custodian is still starting.',
  responses: {
    200: jsonResponse(
      component('Health', {
        ok: z.literal(true),
        state: z
          .enum(['starting', 'running'])
          .describe('starting until the custodian has compared its journal with D1 and the chain'),
        release: Release,
        reserveAddress: z
          .string()
          .nullable()
          .describe('Solana address of the reserve; null if not configured'),
        as_of: asOf,
      }),
      'The process runs',
    ),
  },
});

const Ready = component('Ready', {
  ok: z.boolean(),
  checks: z.array(z.object({ name: z.string(), ok: z.boolean(), reason: z.string().nullable() })),
  as_of: asOf,
});

const ready = createRoute({
  method: 'get',
  path: '/ready',
  operationId: 'getReady',
  tags: ['status'],
  summary: 'Service readiness',
  description: 'Names each part that fails. The service is ready while `ok` of the status is true.',
  responses: {
    200: jsonResponse(Ready, 'Money can move'),
    503: jsonResponse(Ready, 'The service is not ready; the checks name what is missing'),
  },
});

const status = createRoute({
  method: 'get',
  path: '/status',
  operationId: 'getStatus',
  tags: ['status'],
  summary: 'Service status',
  description: 'State of every part, limits, open alarms, and the last 20 operations.',
  responses: {
    200: jsonResponse(
      component('Status', {
        ok: z.boolean(),
        release: Release,
        upstreams: z.array(
          UpstreamState.extend({
            circuit: z.enum(['closed', 'open']).describe('open while calls are skipped after two timeouts'),
          }),
        ),
        cron: z.array(Beat).nullable().describe('Null when it cannot be read'),
        custody: z
          .object({
            release: z.string().nullable().describe('Id of the Worker version that the custodian runs'),
            lastWakeAt: asOf.nullable().describe('When the cron last woke it without a failure'),
            swapsRefused: z
              .object({ code: z.string(), since: asOf })
              .nullable()
              .describe('Why every swap was refused in the last minute, for a reason other than its amount'),
            unexplainedSpends: z
              .array(
                z.object({
                  signature: z.string(),
                  time: asOf.nullable(),
                  signedByReserve: z
                    .boolean()
                    .describe("False if the ASRY or the mint of ABSR was moved without the reserve's key"),
                  moved: z.array(
                    z.object({
                      mint: z.string().nullable().describe('Null for SOL'),
                      atoms: z.string(),
                      receiver: z.string().nullable().describe('Owner of the account that gained most'),
                    }),
                  ),
                  memo: z.string().nullable(),
                }),
              )
              .describe('Unexplained transactions, for which signing is frozen'),
            frozen: z.string().nullable().describe('Reason why signing is stopped'),
            paused: z.string().nullable().describe('Reason why new operations are refused'),
            openOperations: z.int().describe('Operations that have not ended'),
            heldOperations: z.int().describe('Operations, rewards and refunds that await the operator'),
            mint: z
              .object({
                day: z.string(),
                state: z.enum(['scheduled', 'waiting', 'minted', 'none', 'failed']),
                reason: z.string().nullable(),
                ok: z.boolean(),
              })
              .nullable()
              .describe("The day's mint of ABSR"),
            mirrorBehindSince: asOf.nullable(),
            mirrorRefusedRows: z.int().describe('Rows that D1 refuses while it accepts others'),
            mirrorRestored: z.boolean().describe('True from a restore of D1 until D1 has every row again'),
            limits: z
              .array(
                z.object({
                  name: z.string(),
                  label: z.string().describe('The bounded quantity'),
                  unit: z.enum(['lamports', 'count']),
                  windowSeconds: z
                    .number()
                    .nullable()
                    .describe('0: each operation separately; null: all open operations'),
                  used: z.string(),
                  maximum: z.string(),
                  left: z.string(),
                  availableAt: asOf.nullable().describe('Null while the limit has room'),
                }),
              )
              .describe('Every cap'),
            quotes: z
              .object({ used: z.int(), maximum: z.int(), left: z.int() })
              .describe('Bridge quotes that estimates have used in two hours'),
            bridgeFault: z
              .string()
              .nullable()
              .describe('Why the bridge refuses every swap until the operator acts'),
            nodes: z
              .object({
                configured: z.int(),
                quorum: z.int().describe('Nodes that must agree before money moves'),
                disagreementAt: asOf
                  .nullable()
                  .describe('When two nodes last returned different finalized data, within the last hour'),
                quorumMissingSince: asOf.nullable(),
                stalledSince: asOf.nullable().describe('When Solana stopped finalizing'),
                consensus: z.enum(['towerbft', 'alpenglow', 'unknown']),
              })
              .describe('The agreement of the Solana nodes'),
          })
          .nullable(),
        backing: CoverageBody.extend({
          ok: z.boolean().describe('True only while every token is known to be covered by a sat'),
        }),
        alarms: z
          .array(z.string())
          .nullable()
          .describe('The active alarms of the last minute; null when unread'),
        database: z
          .object({
            schema: z.string().describe('Fingerprint of its columns'),
          })
          .nullable(),
        operations: z.array(OperationLine).nullable().describe('Newest first; null when they cannot be read'),
        as_of: asOf,
        stale: z.boolean(),
      }),
      'The state of the service',
    ),
  },
});

export const statusRoutes = newRouter<{ readonly status: StatusDeps }>()
  .openapi(health, async (c) => {
    const { readRelease, reserveAddress, now } = c.var.deps.status;
    const [state, release] = await Promise.all([startState(c.var.deps.status), readRelease()]);
    const as_of = new Date(now()).toISOString();
    return c.json({ ok: true as const, state, release, reserveAddress, as_of }, 200);
  })
  .openapi(ready, async (c) => {
    const { checks, status } = await stateOf(c.var.deps.status);
    const body = { ok: status.ok, checks: [...checks], as_of: status.as_of };
    return status.ok ? c.json(body, 200) : c.json(body, 503);
  })
  .openapi(status, async (c) => c.json((await stateOf(c.var.deps.status)).status, 200));

const stateOf = async (deps: StatusDeps): Promise<State> =>
  (await deps.memory.read('status', STATUS_POLICY, () => readState(deps))).value;

/**
 * A custodian that does not respond is shown as starting. A custodian without its settings never starts, so it is not
 * shown as starting.
 */
async function startState({
  signingState,
}: Pick<StatusDeps, 'signingState'>): Promise<'starting' | 'running'> {
  const state = signingState().then(
    ({ frozen }) => (frozen === 'unverified' ? 'starting' : 'running'),
    (error: unknown) =>
      error instanceof AppError && error.code === 'NOT_CONFIGURED' ? 'running' : 'starting',
  );
  return (await within(state, HEALTH_WAIT_MS)) ?? 'starting';
}
