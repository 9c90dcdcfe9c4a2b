import { createRoute, z } from '@hono/zod-openapi';
import { canonicalSignature } from '../../chain/solana/address.ts';
import { formatAmount } from '../../core/amount.ts';
import { AppError, BODY_ERRORS } from '../../core/errors.ts';
import type { AsryEpochView, ClaimAnswer, CustodianApi } from '../../custody/api.ts';
import { spendingBody } from '../../http/body.ts';
import type { Cache, Cached } from '../../http/cached.ts';
import { idempotencyHeaders, requestKey } from '../../http/idempotency.ts';
import { amountParam, SIGNATURE } from '../../http/params.ts';
import { clientKey, limitReads, rateLimit } from '../../http/rate-limit.ts';
import { atomsText, errorResponses, jsonResponse } from '../../http/responses.ts';
import { component, jsonRequest, newRouter } from '../../http/router.ts';
import type { AsryMirror } from './asry-store.ts';
import { claimOf, FINALITY_WAIT_MS, type GetClaimDeps, getClaim, recordOf } from './claims.ts';

export type AsryDeps = GetClaimDeps & {
  readonly claims: Pick<AsryMirror, 'epochs'>;
  readonly custody: Pick<CustodianApi, 'claimDeposit' | 'listAsryEpochs'>;
  readonly now: () => number;
  /** The ASRY mint. @throws AppError NOT_CONFIGURED naming the missing variables */
  readonly requireAsry: () => string;
  readonly treasuryAddress: string | null;
  /** Mints of the dollar tokens that earn rewards. */
  readonly depositMints: { readonly USDC: string; readonly USDT: string };
  readonly memory: Cache;
  /**
   * ASRY atoms that the reserve may move out of ASRY_SOURCE_ACCOUNT; absent if that is not set. @throws AppError
   * UPSTREAM_FAILED
   */
  readonly readAllowance?: () => Promise<bigint>;
};

const ALLOWANCE_POLICY = { freshMs: 60_000, revalidateMs: 0, staleMs: 0, changedByOperations: true };

const DOLLAR_DECIMALS = 6;

const notConfigured = ['NOT_CONFIGURED', 'CUSTODIAN_UNAVAILABLE'] as const;

const Claim = component('AsryClaim', {
  asset: z.enum(['USDC', 'USDT']),
  senderPubkey: z.string().nullable().describe('Sender of the payment, from chain data; receives the reward'),
  feeBps: z.int().openapi({ description: 'Receive fee in basis points', example: 5 }),
  feeAtomic: atomsText('Receive fee, rounded up', '50000'),
  receive: z.object({
    depositTxSignature: z.string().describe("The transaction's first signature"),
    slot: atomsText('Slot of the payment', '311224455'),
    blockTime: z.int().describe('Unix seconds; decides the epoch'),
    creditedAtomic: atomsText("Amount that the treasury's own account received", '100000000'),
    feeAtomic: atomsText('Receive fee', '50000'),
    netAtomic: atomsText('Credited amount less the fee. The reward is computed from it', '99950000'),
    epoch: z.int(),
  }),
  reward: z.object({
    status: z
      .enum(['sent', 'pending', 'skipped', 'owed'])
      .describe(
        'sent: signed, and on its way or on the chain; pending: signed within moments; owed: sent later; skipped: no reward was requested',
      ),
    signature: z.string().nullable().describe('Solana signature of the payout'),
    asryAtomic: atomsText('ASRY of this payout', '1109323590079'),
    recipient: z.string(),
    entitlementAtomic: atomsText('Total reward of the payment', '1109323590079'),
    remainingAtomic: atomsText('Part of the reward that can still be claimed', '0'),
    mint: z.string().describe('The ASRY mint'),
    reason: z.string().nullable().describe('Reason why the payout is owed'),
    how_to_get: z.string().nullable().describe('How to get it'),
  }),
});

const ClaimRecord = Claim.extend({
  payouts: z.array(
    z.object({
      part: z.int(),
      status: z.enum(['sent', 'pending', 'owed']),
      signature: z.string().nullable(),
      asryAtomic: z.string(),
      reason: z.string().nullable(),
      created_at: z.iso.datetime(),
      paid_at: z.iso.datetime().nullable().describe('When the payout became final on the chain'),
    }),
  ),
  claimed_at: z.iso.datetime().nullable(),
}).openapi('AsryClaimRecord');

const Epoch = component('AsryEpoch', {
  epoch: z.int(),
  starts_at: z.iso.datetime(),
  ends_at: z.iso.datetime(),
  capAtomic: atomsText('E: maximum ASRY of the epoch', '1000000000000000'),
  depthAtomic: atomsText('K: payments that earn half of the maximum', '90000000000'),
  depositsAtomic: atomsText('C: net payments claimed so far', '0'),
  entitledAtomic: atomsText('E * C / (C + K): ASRY earned by these payments', '0'),
  paidAtomic: atomsText('Part of this ASRY whose payment is final on the chain', '0'),
  claims: z.int(),
  nextUnitAsryAtomic: atomsText('ASRY atoms for the next payment atom, not rounded', '11111.111109'),
  nextDollarAsryAtomic: atomsText('ASRY atoms for the next dollar, before the fee', '11110987655'),
  asryDecimals: z.int(),
  asryPriceUsd: z.string().nullable().describe('Price that rewardUsd uses'),
});

const amount = (decimals: number, description: string, example: string) =>
  amountParam({
    decimals,
    minimum: 1n,
    excess: 'refuse',
    description: `${description}; above 0`,
    example,
    pattern: decimals === 0 ? '^\\d{1,64}$' : `^\\d{1,57}(\\.\\d{1,${decimals}})?$`,
  }).optional();

const claimRoute = createRoute({
  method: 'post',
  path: '/asry/claim-from-deposit',
  operationId: 'claimFromDeposit',
  tags: ['asry'],
  summary: 'Claim an ASRY reward',
  description:
    'Rewards the sender of a USDC or USDT payment to the treasury with ASRY, once. Waits about 10 seconds for its finality.',
  middleware: [
    rateLimit('claim'),
    spendingBody('skipReward: true validates the deposit and pays nothing'),
  ] as const,
  request: {
    headers: idempotencyHeaders,
    body: jsonRequest(
      component('AsryClaimRequest', {
        asset: z.enum(['USDC', 'USDT']),
        depositTxSignature: z
          .string()
          .max(200)
          .transform((text, context) => {
            const signature = canonicalSignature(text);
            if (signature !== undefined) return signature;
            context.addIssue('must be a Solana signature: base58 of 64 bytes');
            return z.NEVER;
          })
          .openapi({ ...SIGNATURE, description: 'Signature of the payment in base58' }),
        amount: amount(
          DOLLAR_DECIMALS,
          'Expected received amount in whole tokens; must equal amountAtomic if both are given',
          '100.5',
        ),
        amountAtomic: amount(0, 'Expected received amount in atoms', '100500000'),
        rewardUsd: amountParam({
          decimals: DOLLAR_DECIMALS,
          minimum: 1n,
          excess: 'drop',
          description:
            'Value of the reward to pay now, at least 1 %. Later calls claim the rest; the fourth pays all of it',
          example: '10',
        }).optional(),
        skipReward: z
          .boolean()
          .optional()
          .describe('Validates only: the payment is not used, and no reward is paid'),
      }),
    ),
  },
  responses: {
    200: jsonResponse(
      Claim,
      'The payment is claimed. With skipReward: a claim would succeed, but was not made',
    ),
    ...errorResponses(
      [
        ...BODY_ERRORS,
        'INVALID_IDEMPOTENCY_KEY',
        'IDEMPOTENCY_KEY_REUSED',
        'RATE_LIMITED',
        'UPSTREAM_FAILED',
        ...notConfigured,
        'DEPOSIT_NOT_FOUND',
        'DEPOSIT_NOT_FINAL',
        'DEPOSIT_FAILED',
        'DEPOSIT_NO_CREDIT',
        'DEPOSIT_WRONG_ASSET',
        'DEPOSIT_AMOUNT_MISMATCH',
        'DEPOSIT_TOO_OLD',
        'OLDER_THAN_RECORDS',
        'DEPOSIT_TOO_SMALL',
        'DEPOSIT_NOT_ELIGIBLE',
        'DEPOSIT_HELD',
        'DEPOSIT_BOTH_ASSETS',
        'DEPOSIT_ALREADY_USED',
        'CLAIM_IN_PROGRESS',
        'ALREADY_CLAIMED',
        'REWARD_USD_UNAVAILABLE',
        'CLAIMS_PAUSED',
      ],
      // The API contract requires this status when the chain cannot be read.
      { UPSTREAM_FAILED: 500 },
    ),
  },
});

const recordRoute = createRoute({
  method: 'get',
  path: '/asry/claims/{signature}',
  operationId: 'getAsryClaim',
  tags: ['asry'],
  summary: 'ASRY claim record',
  description: 'The record of a claimed payment.',
  middleware: [limitReads] as const,
  request: {
    params: z.object({
      signature: z.string().openapi({ ...SIGNATURE, description: 'Signature of the payment in base58' }),
    }),
  },
  responses: {
    200: jsonResponse(ClaimRecord, 'The record'),
    ...errorResponses(['NOT_FOUND', 'OLDER_THAN_RECORDS', 'RATE_LIMITED', ...notConfigured]),
  },
});

const epochRoute = createRoute({
  method: 'get',
  path: '/asry/epoch',
  operationId: 'getAsryEpoch',
  tags: ['asry'],
  summary: 'ASRY reward epochs',
  description: 'The current reward epoch and the past ones, newest first.',
  middleware: [limitReads] as const,
  responses: {
    200: jsonResponse(
      component('AsryEpochs', {
        mint: z.string().describe('The ASRY mint'),
        // The schema is repeated without its component name, because OpenAPI 3.0 has no nullable reference.
        current: z.object(Epoch.shape).nullable(),
        past: z.array(Epoch),
        deposit: z
          .object({
            address: z.string().nullable().describe('Owner of the accounts that receive payments'),
            mints: z.object({ USDC: z.string(), USDT: z.string() }),
            decimals: z.int(),
          })
          .describe('What a wallet needs for a payment'),
        allowanceAtomic: z
          .string()
          .nullable()
          .describe(
            'ASRY that the cold account still allows; null without such an account, or if its allowance could not be read',
          ),
        as_of: z.iso.datetime(),
      }),
      'Up to 100 epochs',
    ),
    ...errorResponses(['RATE_LIMITED', 'UPSTREAM_FAILED', ...notConfigured]),
  },
});

export const asryRoutes = newRouter<{ readonly asry: AsryDeps }>()
  .openapi(claimRoute, async (c) => {
    const deps = c.var.deps.asry;
    const mint = deps.requireAsry();
    const {
      asset,
      depositTxSignature: signature,
      rewardUsd,
      skipReward = false,
      ...body
    } = c.req.valid('json');
    const expectedAtoms = body.amount ?? body.amountAtomic;
    if (body.amount !== undefined && body.amountAtomic !== undefined && body.amount !== body.amountAtomic) {
      throw new AppError('INVALID_INPUT', 'amount and amountAtomic are different amounts.', {
        details: { amount: body.amount.toString(), amountAtomic: body.amountAtomic.toString() },
      });
    }
    const request = {
      signature,
      asset,
      skipReward,
      ...(expectedAtoms === undefined ? {} : { expectedAtoms }),
      ...(rewardUsd === undefined ? {} : { rewardMicroUsd: rewardUsd }),
    };
    const key = requestKey(c, 'asry/claim-from-deposit', request);
    const answer = await deps.custody.claimDeposit({
      ...request,
      client: clientKey(c),
      waitMs: FINALITY_WAIT_MS,
      ...(key ? { key } : {}),
    });
    if (answer.type === 'refused') throw refusalError(answer, mint);
    if (answer.type === 'validated') return c.json(claimOf(answer.claim, undefined, mint), 200);
    if (answer.replayed) c.header('Idempotency-Replayed', 'true');
    const payout = answer.claim.payouts.find(({ part }) => part === answer.part);
    return c.json(claimOf(answer.claim, payout, mint), 200);
  })
  .openapi(recordRoute, async (c) => {
    const mint = c.var.deps.asry.requireAsry();
    const claim = await getClaim(c.var.deps.asry, c.req.valid('param').signature);
    return c.json(recordOf(claim, mint), 200);
  })
  .openapi(epochRoute, async (c) => {
    const mint = c.var.deps.asry.requireAsry();
    const began = c.var.deps.asry.now();
    const [{ current, past }, allowance] = await Promise.all([
      listEpochs(c.var.deps.asry),
      readAllowance(c.var.deps.asry),
    ]);
    const allowanceAtomic = allowance?.value.toString() ?? null;
    const as_of = new Date(Math.min(began, allowance?.asOf ?? began)).toISOString();
    const { treasuryAddress: address, depositMints: mints } = c.var.deps.asry;
    const deposit = { address, mints, decimals: DOLLAR_DECIMALS };
    const epochs = { current: current && epochOf(current), past: past.map(epochOf) };
    return c.json({ mint, ...epochs, deposit, allowanceAtomic, as_of }, 200);
  });

const readAllowance = async ({ memory, readAllowance: load }: AsryDeps): Promise<Cached<bigint> | null> =>
  load ? memory.read('asry-allowance', ALLOWANCE_POLICY, load).catch(() => null) : null;

function refusalError({ refusal, claim }: Extract<ClaimAnswer, { type: 'refused' }>, mint: string): AppError {
  const { code, message, retryAfterSeconds, details } = refusal;
  const record = claim ? { claim: recordOf(claim, mint) } : {};
  return new AppError(code, message, {
    status: code === 'UPSTREAM_FAILED' ? 500 : undefined,
    retryAfterSeconds,
    details: details || claim ? { ...details, ...record } : undefined,
  });
}

/** Digits of a price in trillionths of a dollar. */
const PRICE_DIGITS = 12;
const MICRO_DIGITS = 6;
const iso = (seconds: number): string => new Date(seconds * 1_000).toISOString();

const epochOf = (epoch: AsryEpochView) => ({
  epoch: epoch.number,
  starts_at: iso(epoch.startsAt),
  ends_at: iso(epoch.endsAt),
  capAtomic: epoch.capAtoms.toString(),
  depthAtomic: epoch.depthAtoms.toString(),
  depositsAtomic: epoch.depositsAtoms.toString(),
  entitledAtomic: epoch.entitledAtoms.toString(),
  paidAtomic: epoch.paidAtoms.toString(),
  claims: epoch.claims,
  nextUnitAsryAtomic: formatAmount(epoch.nextUnitMicroAtoms, MICRO_DIGITS),
  nextDollarAsryAtomic: epoch.nextDollarAtoms.toString(),
  asryDecimals: epoch.decimals,
  asryPriceUsd: epoch.price === null ? null : formatAmount(epoch.price, PRICE_DIGITS),
});

/** Epochs shown, newest first. */
const LIMIT = 100;

/** The current epoch (null before the first epoch) and the past epochs. */
async function listEpochs(deps: AsryDeps) {
  const seconds = Math.floor(deps.now() / 1_000);
  const isCurrent = ({ startsAt, endsAt }: AsryEpochView) => startsAt <= seconds && seconds < endsAt;
  const mirrored = await deps.claims.epochs(LIMIT).catch(() => []);
  // The first read after an epoch's start opens it in the custodian.
  const epochs = mirrored.some(isCurrent) ? mirrored : await deps.custody.listAsryEpochs(LIMIT);
  return {
    current: epochs.find(isCurrent) ?? null,
    past: epochs.filter(({ endsAt }) => endsAt <= seconds),
  };
}
