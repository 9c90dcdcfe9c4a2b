/**
 * The operator's route and its commands. The route exists only if OPS_SECRET is set. It is not in the OpenAPI document,
 * and browsers may not call it. The custodian runs the commands that make changes; the others only read. Commands
 * cannot name a destination or an amount.
 * @module
 */

import { equalBytes } from '@noble/curves/utils.js';
import { sha256 } from '@noble/hashes/sha2.js';
import { utf8ToBytes } from '@noble/hashes/utils.js';
import { Hono } from 'hono';
import * as z from 'zod';
import { AppError, failureReason, notConfigured } from '../../core/errors.ts';
import type { CustodianApi, Refusal } from '../../custody/api.ts';
import {
  type MintPreview,
  OPS_COMMANDS,
  type OpsAnswer,
  type OpsCommand,
} from '../../custody/operator-api.ts';
import { jsonBody } from '../../http/body.ts';
import { rateLimit } from '../../http/rate-limit.ts';
import type { RouterEnv } from '../../http/router.ts';
import type { OpsRow, RefundStore } from './refund-store.ts';

export type OpsDeps = {
  readonly opsSecret: string | undefined;
  /** One screen with all that needs the operator, and the same facts as JSON. */
  readState(): Promise<OpsReport>;
  readonly custody: Pick<
    CustodianApi,
    'ops' | 'report' | 'draftProof' | 'submitProof' | 'previewMint' | 'listMints'
  >;
  readonly refunds: Pick<RefundStore, 'due'>;
  /** Settings that the mint lacks; empty when it is configured. */
  readonly missingForMint: readonly string[];
  /** Calls every upstream once from this Worker. */
  probeUpstreams(): Promise<readonly { name: string; ms: number; failure: string | null }[]>;
  /** Posts a test alarm and returns its message; undefined if no webhook is configured. */
  readonly sendTestAlarm: (() => Promise<string>) | undefined;
};

const Command = z.union([
  z.strictObject({ name: z.enum(OPS_COMMANDS), id: z.string().max(200).optional() }),
  z.strictObject({ name: z.enum(['state', 'probe', 'proof-message', 'test-alarm']) }),
  z.strictObject({ name: z.literal('refund-due'), page: z.int().min(1).max(10_000).default(1) }),
  // Shows the mint without making it: only the daily trigger can mint.
  z.strictObject({ name: z.literal('mint-preview') }),
  z.strictObject({ name: z.literal('proof-submit'), signature: z.string().min(1).max(2_000) }),
]);
type Command = z.output<typeof Command>;

const MINTS = 30;

async function runCommand(deps: OpsDeps, command: Command): Promise<OpsReport> {
  switch (command.name) {
    case 'state':
      return deps.readState();
    case 'refund-due': {
      const rows = await deps.refunds.due(command.page);
      const total = rows.reduce((sum, { lamports }) => sum + BigInt(lamports ?? 0), 0n);
      return {
        ok: true,
        message: `${rows.length} payments are owed back, ${total} lamports in total (page ${command.page}).`,
        rows,
      };
    }
    case 'mint-preview':
      return showMint(deps);
    case 'probe': {
      const [rows, { quotes }] = await Promise.all([deps.probeUpstreams(), deps.custody.report()]);
      const failed = rows.filter(({ failure }) => failure !== null).length;
      return {
        ok: failed === 0,
        message: `Called from the Worker: ${rows.length - failed} of ${rows.length} sources respond. ${quotes.used} of ${quotes.maximum} quotes for estimates are used.`,
        rows: rows.map(({ name, ms, failure }) => ({ name, ms, answer: failure ?? 'ok' })),
      };
    }
    case 'test-alarm':
      return testAlarm(deps);
    case 'proof-message': {
      const draft = await deps.custody.draftProof();
      if (draft.type === 'refused') return refused(draft.refusal);
      return {
        ok: true,
        message: 'Sign exactly these bytes with the key of the Bitcoin address.',
        text: draft.message,
      };
    }
    case 'proof-submit': {
      const answer = await deps.custody.submitProof(command.signature);
      if (answer.type === 'refused') return refused(answer.refusal);
      const { timestamp, hash, bitcoin } = answer.proof;
      return {
        ok: true,
        message: `The proof of ${timestamp} is signed (${bitcoin.scheme}) and archived as ${hash}.`,
      };
    }
    default:
      return deps.custody.ops(commandOf(command));
  }
}

const commandOf = ({ name, id }: { name: OpsCommand['name']; id?: string | undefined }): OpsCommand =>
  id === undefined ? { name } : { name, id };

const refused = ({ code, message, details }: Refusal): OpsReport => ({
  ok: false,
  message: `${code}: ${message}${details ? ` ${JSON.stringify(details)}` : ''}`,
});

async function testAlarm({ sendTestAlarm }: OpsDeps): Promise<OpsReport> {
  if (sendTestAlarm === undefined)
    return { ok: false, message: 'ALARM_WEBHOOK_URL is not set, so no alarm is sent to anyone.' };
  try {
    const text = await sendTestAlarm();
    return { ok: true, message: `The webhook accepted this message. Check that it has arrived:\n${text}` };
  } catch (error) {
    return { ok: false, message: `The webhook did not accept the alarm: ${failureReason(error)}.` };
  }
}

/** @throws AppError NOT_CONFIGURED */
async function showMint(deps: OpsDeps): Promise<OpsReport> {
  if (deps.missingForMint.length > 0) throw notConfigured(deps.missingForMint);
  const [preview, history] = await Promise.all([deps.custody.previewMint(), deps.custody.listMints(MINTS)]);
  const { indexes, nodes, ...figures } = preview;
  return {
    ok: preview.verdict !== 'wait',
    message: said(preview),
    tables: [
      { title: 'figures', rows: [figures] },
      { title: 'bitcoin indexes', rows: indexes },
      { title: 'solana nodes', rows: nodes },
      { title: 'mints', rows: history.map((mint) => ({ ...mint })) },
    ],
  };
}

function said({ day, verdict, reason, mintAtoms }: MintPreview): string {
  switch (verdict) {
    case 'mint':
      return `${day}: a mint now would create ${mintAtoms} atoms. Nothing was minted.`;
    case 'none':
      return `${day}: nothing to mint (${reason}).`;
    case 'wait':
      return `${day}: no mint is possible now (${reason}).`;
    default:
      return verdict satisfies never;
  }
}

/** Compares hashes, so that the duration reveals neither content nor length of the secret. */
const isSecret = (given: string, secret: string): boolean =>
  equalBytes(sha256(utf8ToBytes(given)), sha256(utf8ToBytes(secret)));

export const opsRoutes = new Hono<RouterEnv<{ readonly ops: OpsDeps }>>()
  .use(async function existsIfConfigured(c, next) {
    if (c.var.deps.ops.opsSecret === undefined) throw new AppError('ROUTE_NOT_FOUND', 'No such path.');
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
  .post('/', jsonBody, async (c) => {
    const command = Command.safeParse(await c.req.json());
    if (!command.success) throw new AppError('INVALID_INPUT', 'No such operator command.');
    return c.json(await runCommand(c.var.deps.ops, command.data));
  });

/** The result of an operator's command. If `text` is present, only `text` is printed to standard output. */
export type OpsReport = OpsAnswer & {
  /** The data of the command `state`; `message` is then the text for the terminal. */
  readonly state?: object;
  readonly tables?: readonly { readonly title: string; readonly rows: readonly OpsRow[] }[];
};
