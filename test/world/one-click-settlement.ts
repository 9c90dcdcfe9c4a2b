import { setTimeout as sleep } from 'node:timers/promises';
import type { BitcoinNode } from './bitcoin-node.ts';
import { payBitcoin } from './bitcoin-wallet.ts';
import type { Fault, FaultBook } from './fault-book.ts';
import type { BitcoinKey, SolanaKey } from './keys.ts';
import type { Swap, SwapStatus } from './one-click-swap.ts';
import type { LandedTransaction, SolanaLedger } from './solana-ledger.ts';
import { transferSol } from './solana-wallet.ts';

/** Lamports that a refund costs its receiver. */
export const REFUND_FEE_LAMPORTS = 10_000n;

export interface Settlement {
  /** Watches the deposit address of a swap from now on. */
  watch(swap: Swap): void;
  stop(): void;
}

export interface SettlementOptions {
  readonly ledger: SolanaLedger;
  readonly bitcoin: BitcoinNode;
  readonly faults: FaultBook;
  /** Pays refunds. */
  readonly solanaBank: SolanaKey;
  /** Pays swaps. */
  readonly bitcoinBank: BitcoinKey;
  /** Milliseconds between a confirmed deposit and its payment. */
  readonly settleDelayMs: number;
  /** The world's time, Unix milliseconds. */
  readonly now: () => number;
}

/**
 * Settles deposits: a real Bitcoin transaction for the quoted amount, a real SOL transfer back for another amount or after
 * the deadline. Fault `settle` changes the next settlement by its `mode`.
 */
export function startSettlement(options: SettlementOptions): Settlement {
  const { ledger, bitcoin, faults, solanaBank, bitcoinBank } = options;
  const swaps = new Map<string, Swap>();
  const stopping = new AbortController();

  function mark(swap: Swap, status: SwapStatus): void {
    swap.status = status;
    swap.updatedAt = new Date(options.now()).toISOString();
  }

  const pause = (ms: number): Promise<void> => sleep(ms, undefined, { signal: stopping.signal });

  async function refund(swap: Swap, reason: string, lamports: bigint): Promise<void> {
    if (lamports > REFUND_FEE_LAMPORTS) {
      const returned = lamports - REFUND_FEE_LAMPORTS;
      const { signature } = await transferSol(ledger, solanaBank.signer, swap.refundTo, returned);
      swap.refundHashes.push(signature);
    }
    swap.refunded = (swap.refunded ?? 0n) + lamports;
    swap.refundReason = reason;
  }

  async function pay(swap: Swap): Promise<void> {
    swap.paidSats = swap.amountOut;
    swap.paidHashes = [
      await payBitcoin(bitcoin, bitcoinBank, [{ address: swap.recipient, sats: swap.amountOut }]),
    ];
    mark(swap, 'SUCCESS');
  }

  async function settle(swap: Swap, fault: Fault | null): Promise<void> {
    switch (fault?.mode) {
      case 'never':
        return;
      case 'failed':
        return mark(swap, 'FAILED');
      case 'refund':
        await refund(swap, 'SLIPPAGE_EXCEEDED', swap.received);
        return mark(swap, 'REFUNDED');
      default:
        await pay(swap);
    }
  }

  async function deposited(swap: Swap, landed: LandedTransaction, lamports: bigint): Promise<void> {
    mark(swap, 'KNOWN_DEPOSIT_TX');
    await ledger.clock.reached(landed.slot + 1);
    swap.received += lamports;
    const isLate = options.now() > swap.deadline;
    if (isLate || lamports !== swap.amountIn) {
      await pause(options.settleDelayMs);
      await refund(swap, isLate ? 'DEADLINE_EXCEEDED' : 'PARTIAL_DEPOSIT', lamports);
      return mark(swap, 'REFUNDED');
    }
    mark(swap, 'PROCESSING');
    const fault = faults.take('oneclick', 'settle');
    await pause(options.settleDelayMs);
    await settle(swap, fault);
  }

  const unsubscribe = ledger.onLanded((landed) => {
    if (landed.err !== null) return;
    for (const [at, address] of landed.accounts.entries()) {
      const swap = swaps.get(address);
      const lamports = (landed.postBalances[at] ?? 0) - (landed.preBalances[at] ?? 0);
      if (swap === undefined || lamports <= 0) continue;
      deposited(swap, landed, BigInt(lamports)).catch(() => {
        if (!stopping.signal.aborted) mark(swap, 'FAILED');
      });
    }
  });

  return {
    watch: (swap) => swaps.set(swap.deposit, swap),
    stop() {
      stopping.abort();
      unsubscribe();
    },
  };
}
