import { CallFailed, call, type Failure } from '../api/call.ts';

/** A deposit that no node shows after this many attempts of about 10 seconds did not reach the chain. */
const CLAIM_ATTEMPTS = 12;
const RETRY_SECONDS = 3;

export type DepositAsset = 'USDC' | 'USDT';
export const ASSETS: readonly (readonly [DepositAsset, string])[] = [
  ['USDC', 'USDC'],
  ['USDT', 'USDT'],
];

export const assetOf = (text: string): DepositAsset => (text === 'USDT' ? 'USDT' : 'USDC');

/** An existing claim is followed, regardless of the call that created it. */
export const isClaimed = ({ code }: Failure): boolean =>
  code === 'ALREADY_CLAIMED' || code === 'CLAIM_IN_PROGRESS';
const isEarly = ({ code }: Failure): boolean => code === 'DEPOSIT_NOT_FOUND' || code === 'DEPOSIT_NOT_FINAL';
export const failureOfCall = (thrown: unknown): Failure | null =>
  thrown instanceof CallFailed ? thrown.failure : null;

/** Claims as soon as the deposit is final. @throws CallFailed when that takes too long or is refused */
export async function claimWhenFinal(asset: string, depositTxSignature: string): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      await call('claimFromDeposit', { asset: assetOf(asset), depositTxSignature });
      return;
    } catch (thrown) {
      const failure = failureOfCall(thrown);
      if (failure !== null && isClaimed(failure)) return;
      if (failure === null || !isEarly(failure) || attempt === CLAIM_ATTEMPTS) throw thrown;
      const seconds = failure.retryAfterSeconds ?? RETRY_SECONDS;
      await new Promise((resolve) => setTimeout(resolve, seconds * 1000));
    }
  }
}
