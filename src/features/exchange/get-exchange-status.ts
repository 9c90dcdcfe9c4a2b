import { z } from '@hono/zod-openapi';

import { BTC_DECIMALS } from '../../core/amount.ts';
import { AppError, upstreamFailed } from '../../core/errors.ts';
import type { CacheReader } from '../../http/cached.ts';
import { type ChangeNow, COIN_DECIMALS, type ExchangeState } from '../../providers/changenow.ts';
import { trackerUrl } from './create-exchange.ts';
import { coinNumber, coinText, refusal, Sourced, sourceOf } from './quote.ts';

export type GetStatusDeps = { memory: CacheReader; changenow: Pick<ChangeNow, 'status'> };

const PUBLIC_STATUSES = ['waiting', 'pending', 'finished', 'failed', 'refunded', 'expired'] as const;
export type PublicStatus = (typeof PUBLIC_STATUSES)[number];

const exact = z.string().nullable();

export const ExchangeStatusBody = Sourced.extend({
  id: z.string(),
  status: z.enum(PUBLIC_STATUSES).describe('All states except waiting and pending are final'),
  providerStatus: z.string().openapi({ description: 'The provider’s own state', example: 'verifying' }),
  hold: z.boolean().describe('The provider holds the payment until a check is complete'),
  from: z.string(),
  fromNetwork: z.string(),
  to: z.string(),
  toNetwork: z.string(),
  amountSol: z
    .number()
    .nullable()
    .describe('SOL received, or expected before that; null when the pay-in is another coin'),
  btcSats: z
    .number()
    .nullable()
    .describe('Sats paid out; null before that, and when the payout is another coin'),
  amountFrom: exact.describe('Received, in whole coins'),
  amountTo: exact.describe('Paid out, in whole coins'),
  expectedAmountFrom: exact,
  expectedAmountTo: exact,
  payinAddress: z.string().nullable().describe('null while the provider has none'),
  payinExtraId: exact,
  payinHash: exact.describe('Pay-in transaction'),
  payoutHash: exact.describe('Payout transaction'),
  refundHash: exact,
  statusUrl: z.url(),
}).openapi('ExchangeStatus');

/**
 * The provider's other states are `confirming`, `exchanging`, `sending` and `verifying` (stopped for an identity
 * check). These and undocumented states are not final, so the exchange is shown as pending.
 */
export const publicStatus = (state: string): PublicStatus =>
  state === 'new' ? 'waiting' : (PUBLIC_STATUSES.find((status) => status === state) ?? 'pending');

/** An exchange is read at most once in this time, however many callers poll. */
const POLL_POLICY = { freshMs: 5_000, revalidateMs: 0, staleMs: 60_000 };

/** Codes of a response about an unknown id, which is undocumented. Only the id can be wrong in this call. */
const UNKNOWN_ID = /^status_40[04]$|not_found|not_valid|not_exist|invalid_id|unknown/;

/** @throws AppError NOT_FOUND when the provider does not have the id */
export async function getExchangeStatus(
  deps: GetStatusDeps,
  id: string,
): Promise<z.infer<typeof ExchangeStatusBody>> {
  const { value, ...read } = await deps.memory.read(`exchange:${id}`, POLL_POLICY, async () => {
    const answer = await deps.changenow.status(id);
    if (!answer.ok && UNKNOWN_ID.test(answer.code)) {
      throw new AppError('NOT_FOUND', 'The provider has no exchange with this id.');
    }
    if (!answer.ok) throw refusal(answer.code);
    if (answer.value.id !== id) throw upstreamFailed('changenow', 'mismatch_id');
    return answer.value;
  });
  return { ...statusBody(value), ...sourceOf(read) };
}

function statusBody(state: ExchangeState) {
  const fromSol = state.fromCurrency === 'sol' && state.fromNetwork === 'sol';
  const toBtc = state.toCurrency === 'btc' && state.toNetwork === 'btc';
  return {
    id: state.id,
    status: publicStatus(state.status),
    providerStatus: /^[a-z_]{1,30}$/.test(state.status) ? state.status : 'unknown',
    hold: state.status === 'verifying',
    from: state.fromCurrency,
    fromNetwork: state.fromNetwork,
    to: state.toCurrency,
    toNetwork: state.toNetwork,
    amountSol: fromSol ? coinNumber(state.amountFrom ?? state.expectedAmountFrom) : null,
    btcSats:
      toBtc && state.amountTo !== null
        ? Number(state.amountTo / 10n ** BigInt(COIN_DECIMALS - BTC_DECIMALS))
        : null,
    amountFrom: coinText(state.amountFrom),
    amountTo: coinText(state.amountTo),
    expectedAmountFrom: coinText(state.expectedAmountFrom),
    expectedAmountTo: coinText(state.expectedAmountTo),
    payinAddress: state.payinAddress,
    payinExtraId: state.payinExtraId,
    payinHash: state.payinHash,
    payoutHash: state.payoutHash,
    refundHash: state.refundHash,
    statusUrl: trackerUrl(state.id),
  };
}
