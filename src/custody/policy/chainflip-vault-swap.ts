/**
 * S19 for `chainflip`: the instruction contains the whole order, which is decoded and compared here.
 * @module
 */
import { decodeVaultSwap, judgeVaultSwap } from '../../bridges/lifi-chainflip.ts';
import type { Sats } from '../../core/amount.ts';
import { allowed, denied, type Judgement, type ResolvedInstruction } from './instruction.ts';
import type { PolicyTerms } from './terms.ts';

/** Index of the sender among the accounts. */
const FROM = 2;

export function judgeChainflip(
  { accounts, data }: ResolvedInstruction,
  terms: PolicyTerms,
  { minimumSats, expectedSats }: { readonly minimumSats: Sats; readonly expectedSats: Sats },
): Judgement {
  const decoded = decodeVaultSwap(data);
  if (!decoded.ok) return denied(decoded.reason);
  const addresses = accounts.map(({ address }) => address);
  const verdict = judgeVaultSwap(decoded.swap, addresses, {
    reserveAddress: terms.reserveAddress,
    bitcoinAddress: terms.bitcoinAddress,
    minimumSats,
    expectedSats,
    maxFeesBps: terms.limits.maxBrokerBps,
  });
  if (!verdict.ok) return denied(verdict.reason);
  // The reserve's key may occur in the data only as the refund address.
  return allowed({ kind: 'vault_swap', swap: decoded.swap, accounts: addresses }, [FROM], 1);
}
