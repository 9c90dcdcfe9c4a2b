/**
 * The operator's route. It exists only if OPS_SECRET is set. It is not in the OpenAPI document, and browsers
 * may not call it. It can never name a destination or an amount.
 * @module
 */
import { sha256 } from '@noble/hashes/sha2.js';
import { utf8ToBytes } from '@noble/hashes/utils.js';
import { Hono } from 'hono';
import { AppError } from '../../core/errors.ts';
import { jsonBody } from '../../http/body.ts';
import { rateLimit } from '../../http/rate-limit.ts';
import type { RouterEnv } from '../../http/router.ts';
import { Command, type CommandDeps, runCommand } from './run-command.ts';

export type OpsDeps = CommandDeps & {
  readonly opsSecret: string | undefined;
};

/** Compares hashes, so that the duration reveals neither content nor length of the secret. */
function isSecret(given: string, secret: string): boolean {
  const a = sha256(utf8ToBytes(given));
  const b = sha256(utf8ToBytes(secret));
  let difference = 0;
  for (let i = 0; i < a.length; i++) difference |= (a[i] ?? 0) ^ (b[i] ?? 0);
  return difference === 0;
}

export const opsRoutes = new Hono<RouterEnv<{ readonly ops: OpsDeps }>>()
  .use(async function onlyTheOperator(c, next) {
    const secret = c.var.deps.ops.opsSecret;
    if (secret === undefined) throw new AppError('ROUTE_NOT_FOUND', 'No such path.');
    if (c.req.method !== 'POST') {
      c.header('Allow', 'POST');
      throw new AppError('METHOD_NOT_ALLOWED', 'Use POST.');
    }
    await next();
  })
  .use(rateLimit('ops'))
  .use(async function checkSecret(c, next) {
    const given = c.req.header('authorization')?.replace(/^Bearer /, '') ?? '';
    const secret = c.var.deps.ops.opsSecret;
    if (secret === undefined || !isSecret(given, secret)) {
      throw new AppError('UNAUTHORIZED', 'Send the operator secret as a bearer token.');
    }
    await next();
  })
  .all('/', jsonBody, async (c) => {
    const command = Command.safeParse(await c.req.json());
    if (!command.success) throw new AppError('INVALID_INPUT', 'No such operator command.');
    return c.json(await runCommand(c.var.deps.ops, command.data));
  });
