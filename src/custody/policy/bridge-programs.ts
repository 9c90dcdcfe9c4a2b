/**
 * The two programs of a bridge that a swap may call.
 *
 * LI.FI's tracker records the quote's id on the chain. It ties the bytes to the quote and receives no
 * authority.
 * @see lifinance/solana-programs; data is a zero byte and the 8 bytes of `transactionId`
 * @module
 */
import { hexToBytes } from '@noble/hashes/utils.js';
import { decodeVaultSwap, judgeVaultSwap } from '../../bridges/lifi-chainflip.ts';
import { programAddress } from '../../chain/solana/program-address.ts';
import type { Sats } from '../../core/amount.ts';
import { allowed, denied, type Judgement, type ResolvedInstruction } from './resolved-instructions.ts';
import type { PolicyTerms } from './terms.ts';

export const TRACKER_PROGRAM = '3i5JeuZuUxeKtVysUnwQNGerJP2bSMX9fTFfS4Nxe3Br';
export const CLOCK_SYSVAR = 'SysvarC1ock11111111111111111111111111111111';

/** The account that stores an epoch's records of the tracker. */
export function trackerAccount(epoch: bigint): string {
  const seed = new Uint8Array(8);
  new DataView(seed.buffer).setBigUint64(0, epoch, true);
  return programAddress(TRACKER_PROGRAM, [seed]);
}

/**
 * @param transactionId `0x` and 16 hex digits, of the quote
 * @param epoch         Solana's current epoch; the program accepts this and the previous one
 */
export function judgeTracker(
  { accounts, data }: ResolvedInstruction,
  { transactionId, epoch }: { transactionId: string; epoch: bigint },
): Judgement {
  if (data.length !== 9 || data[0] !== 0 || accounts.length !== 2) return denied('tracker_malformed');
  const [clock, notes] = accounts.map(({ address }) => address);
  const own = [trackerAccount(epoch), ...(epoch > 0n ? [trackerAccount(epoch - 1n)] : [])];
  if (clock !== CLOCK_SYSVAR || notes === undefined || !own.includes(notes)) return denied('tracker_account');
  const id = hexToBytes(transactionId.slice(2));
  return id.length === 8 && id.every((byte, index) => byte === data[index + 1])
    ? allowed({ kind: 'tracker' })
    : denied('tracker_id');
}

/** Index of the sender among the accounts of Chainflip's endpoint. */
const FROM = 2;

/** S19 for `chainflip`: the instruction contains the whole order, which is decoded and compared here. */
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
