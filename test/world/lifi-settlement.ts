/** Settles LI.FI's landed transactions, and returns their status. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { BitcoinNode } from './bitcoin-node.ts';
import { payBitcoin } from './bitcoin-wallet.ts';
import type { FaultBook } from './fault-book.ts';
import type { BitcoinKey, SolanaKey } from './keys.ts';
import type { OneClick } from './one-click.ts';
import { REFUND_FEE_LAMPORTS } from './one-click-settlement.ts';
import type { SolanaLedger } from './solana-ledger.ts';
import { transferSol } from './solana-wallet.ts';

/** A returned quote, identified on the chain by an account that only its transaction names. */
export interface LifiSwap {
  readonly tool: string;
  readonly transactionId: string;
  /** The deposit address of `near`, the event account of `chainflip`. */
  readonly mark: string;
  readonly amount: bigint;
  readonly paid: bigint;
  readonly toAmount: bigint;
  readonly toAmountMin: bigint;
  readonly recipient: string;
  readonly refundTo: string;
  signature: string | null;
  outcome: Outcome;
}

export type Outcome =
  | { readonly status: 'PENDING'; readonly substatus: string }
  | {
      readonly status: 'DONE';
      readonly substatus: 'COMPLETED' | 'PARTIAL';
      readonly txid: string;
      readonly sats: bigint;
    }
  | {
      readonly status: 'DONE';
      readonly substatus: 'REFUNDED';
      readonly lamports: bigint;
      readonly txid: string;
    }
  | { readonly status: 'FAILED'; readonly substatus: string };

export interface LifiSettlementOptions {
  readonly ledger: SolanaLedger;
  readonly bitcoin: BitcoinNode;
  readonly faults: FaultBook;
  readonly oneClick: OneClick;
  readonly solanaBank: SolanaKey;
  readonly bitcoinBank: BitcoinKey;
  readonly settleDelayMs: number;
}

export interface LifiSettlement {
  watch(swap: LifiSwap): void;
  /** The current state of the swap of a landed transaction. */
  find(txHash: string): LifiSwap | undefined;
  outcome(swap: LifiSwap): Outcome;
  stop(): void;
}

const PENDING: Outcome = { status: 'PENDING', substatus: 'WAIT_DESTINATION_TRANSACTION' };

/** Vault swaps are paid here, deposits by 1Click. Fault `settle` changes the next vault swap by its `mode`. */
export function startLifiSettlement(options: LifiSettlementOptions): LifiSettlement {
  const { ledger, bitcoin, faults, bitcoinBank, solanaBank } = options;
  const swaps = new Map<string, LifiSwap>();
  const landedSwaps = new Map<string, LifiSwap>();
  const stopping = new AbortController();

  const pay = (swap: LifiSwap, sats: bigint) =>
    payBitcoin(bitcoin, bitcoinBank, [{ address: swap.recipient, sats }]);

  async function settle(swap: LifiSwap, mode: string | undefined): Promise<Outcome> {
    switch (mode) {
      case 'never':
        return PENDING;
      case 'failed':
        return { status: 'FAILED', substatus: 'UNKNOWN_FAILED_ERROR' };
      case 'refund': {
        const lamports = swap.paid - REFUND_FEE_LAMPORTS;
        const { signature } = await transferSol(ledger, solanaBank.signer, swap.refundTo, lamports);
        return { status: 'DONE', substatus: 'REFUNDED', lamports, txid: signature };
      }
      case 'partial': {
        const sats = swap.toAmountMin / 2n;
        return { status: 'DONE', substatus: 'PARTIAL', sats, txid: await pay(swap, sats) };
      }
      case 'wrongTx': {
        const txid = await payBitcoin(bitcoin, bitcoinBank, [{ address: bitcoinBank.address, sats: 1_000n }]);
        return { status: 'DONE', substatus: 'COMPLETED', sats: swap.toAmount, txid };
      }
      default:
        return {
          status: 'DONE',
          substatus: 'COMPLETED',
          sats: swap.toAmount,
          txid: await pay(swap, swap.toAmount),
        };
    }
  }

  async function arrived(swap: LifiSwap, slot: number): Promise<void> {
    await ledger.clock.reached(slot + 1);
    swap.outcome = PENDING;
    const fault = faults.take('lifi', 'settle');
    const slow = fault?.mode === 'slow' ? (fault.ms ?? 10_000) : 0;
    await sleep(options.settleDelayMs + slow, undefined, { signal: stopping.signal });
    swap.outcome = await settle(swap, fault?.mode);
  }

  const unsubscribe = ledger.onLanded(({ accounts, signature, slot, err }) => {
    const swap = accounts.map((account) => swaps.get(account)).find((one) => one !== undefined);
    if (swap === undefined || swap.signature !== null || err !== null) return;
    swap.signature = signature;
    landedSwaps.set(signature, swap);
    if (swap.tool === 'chainflip')
      arrived(swap, slot).catch(() => {
        if (!stopping.signal.aborted) swap.outcome = { status: 'FAILED', substatus: 'UNKNOWN_FAILED_ERROR' };
      });
  });

  /** LI.FI reads 1Click's result. */
  function ofDeposit(swap: LifiSwap): Outcome {
    const deposit = options.oneClick.swap(swap.mark);
    switch (deposit?.status) {
      case 'SUCCESS': {
        const [txid = ''] = deposit.paidHashes;
        const substatus = deposit.paidSats < deposit.minAmountOut ? 'PARTIAL' : 'COMPLETED';
        return { status: 'DONE', substatus, sats: deposit.paidSats, txid };
      }
      case 'REFUNDED':
        return {
          status: 'DONE',
          substatus: 'REFUNDED',
          lamports: deposit.refunded - REFUND_FEE_LAMPORTS,
          txid: swap.signature ?? '',
        };
      case 'FAILED':
        return { status: 'FAILED', substatus: 'UNKNOWN_FAILED_ERROR' };
      case 'PROCESSING':
        return PENDING;
      default:
        return { status: 'PENDING', substatus: 'WAIT_SOURCE_CONFIRMATIONS' };
    }
  }

  return {
    watch: (swap) => swaps.set(swap.mark, swap),
    find: (txHash) => landedSwaps.get(txHash),
    outcome: (swap) => (swap.tool === 'near' ? ofDeposit(swap) : swap.outcome),
    stop() {
      stopping.abort();
      unsubscribe();
    },
  };
}
