/**
 * Maps LI.FI's status and substatus to a bridge report. A refund or a partial payout is never reported as delivered.
 * @see https://docs.li.fi/introduction/user-flows-and-examples/status-tracking
 * @module
 */
import { type Lamports, lamports } from '../core/amount.ts';
import { BITCOIN_CHAIN_ID, type LifiStatus, SOL_TOKEN, SOLANA_CHAIN_ID } from '../providers/lifi.ts';
import type { BridgeReport } from './route.ts';

/** @param tool the tool of the quote; a status of another tool is ignored */
export function lifiReport(status: LifiStatus, tool: string): BridgeReport {
  if (status.tool && status.tool !== tool) return { state: 'pending', detail: 'unknown' };
  const { receiving } = status;
  const txids = receiving?.txHash ? [receiving.txHash.toLowerCase()] : [];
  switch (status.status) {
    case 'DONE':
      if (status.substatus === 'COMPLETED' && receiving?.chainId === BITCOIN_CHAIN_ID) {
        return { state: 'delivered', txids };
      }
      if (status.substatus === 'REFUNDED') return { state: 'refunded', amount: refundOf(receiving) };
      if (status.substatus === 'PARTIAL') return { state: 'partial', txids };
      return { state: 'pending', detail: 'unknown' };
    case 'FAILED':
      return status.substatus === 'REFUNDED'
        ? { state: 'refunded', amount: refundOf(receiving) }
        : { state: 'failed', reason: 'bridge_failed' };
    case 'PENDING':
      return {
        state: 'pending',
        detail: status.substatus === 'WAIT_SOURCE_CONFIRMATIONS' ? 'landed' : 'settling',
      };
    default:
      // NOT_FOUND and INVALID are not final, since the index may be late. An undocumented status is not either.
      return { state: 'pending', detail: 'unknown' };
  }
}

function refundOf(receiving: LifiStatus['receiving']): Lamports | null {
  const isSol = receiving?.token?.address === SOL_TOKEN && receiving.token.chainId === SOLANA_CHAIN_ID;
  return isSol && receiving?.amount ? lamports(BigInt(receiving.amount)) : null;
}
