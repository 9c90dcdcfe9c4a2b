import { formatAmount } from '../../core/amount.ts';
import { AppError } from '../../core/errors.ts';
import type { Range } from '../../providers/changenow.ts';
import { type AttoCoins, COIN_DECIMALS } from '../../providers/coin-amount.ts';

const RATE_LIMIT_PAUSE_SECONDS = 60;

/** The error that a caller sees for a provider's refusal. */
export function refusal(code: string): AppError {
  switch (code) {
    case 'pair_is_inactive':
      return new AppError('EXCHANGE_PAIR_INACTIVE', 'The provider does not exchange this pair right now.');
    case 'out_of_range':
    case 'deposit_too_small':
      return new AppError('EXCHANGE_AMOUNT_OUT_OF_RANGE', 'The provider does not accept this amount.');
    case 'not_valid_address':
      return new AppError(
        'EXCHANGE_ADDRESS_INVALID',
        'The provider refuses the address: payoutAddress must be valid for `to`, refundAddress for `from`.',
      );
    case 'invalid_api_key':
      return new AppError('NOT_CONFIGURED', 'The exchange provider refuses the configured key.', {
        details: { variables: ['CHANGENOW_API_KEY'] },
      });
    case 'rate_limited':
      return new AppError('UPSTREAM_FAILED', 'changenow: rate_limited', {
        retryAfterSeconds: RATE_LIMIT_PAUSE_SECONDS,
        details: { upstream: 'changenow', reason: code },
      });
  }
  if (code.startsWith('status_')) {
    return new AppError('UPSTREAM_FAILED', `changenow: ${code}`, {
      details: { upstream: 'changenow', reason: code },
    });
  }
  return new AppError('EXCHANGE_REFUSED', 'The provider refuses this exchange; none was created.', {
    details: { provider_code: code },
  });
}

/** @throws AppError EXCHANGE_AMOUNT_OUT_OF_RANGE; a deposit below the minimum can be lost at the provider */
export function assertInRange(amount: AttoCoins, { minAmount, maxAmount }: Range, currency: string): void {
  const [minimum, maximum] = [text(minAmount), maxAmount === null ? null : text(maxAmount)];
  const details = { minAmount: minimum, maxAmount: maximum };
  if (amount < minAmount) {
    throw new AppError('EXCHANGE_AMOUNT_OUT_OF_RANGE', `amount: at least ${minimum} ${currency}`, {
      details,
    });
  }
  if (maxAmount !== null && amount > maxAmount) {
    throw new AppError('EXCHANGE_AMOUNT_OUT_OF_RANGE', `amount: at most ${maximum} ${currency}`, { details });
  }
}

const text = (amount: AttoCoins): string => formatAmount(amount, COIN_DECIMALS);
