/**
 * Finds payments to the treasury without anybody pasting a signature: one walk over its finalized signatures, from the
 * newest back to the last one known, shared by every flow that waits for a payment. Each run is bounded, so that a
 * treasury spammed with transactions costs time, never a limit of the platform.
 * @module
 */
import { lamportsChange } from '../../chain/solana/balance-change.ts';
import type { ChainTransaction, SignatureEntry } from '../../providers/solana-rpc.ts';
import type { Journal } from '../kernel/journal.ts';
import type { Log, Storage } from '../kernel/ports.ts';
import { orUnreadable } from '../kernel/solana-view.ts';
import type { TreasuryPayment, TreasuryStore } from './treasury-store.ts';

/** A flow that waits for payments: invoices, listings. */
export type PaymentTaker = {
  /** When the oldest request that still waits was made, in Unix milliseconds; undefined when none waits. */
  waitingSince(): number | undefined;
  /**
   * Decides what a payment is for and books it, synchronously, inside the scan's storage transaction: the purpose, or
   * null when it is not for this flow.
   */
  take(payment: TreasuryPayment, transaction: ChainTransaction): string | null;
};

export type TreasuryScanPorts = {
  readonly journal: Journal;
  readonly storage: Storage;
  readonly payments: TreasuryStore;
  readonly treasuryAddress: string;
  /** What it signs is a movement of our own, never a payment. */
  readonly reserveAddress: string;
  readonly takers: readonly PaymentTaker[];
  /** Finalized signatures of the treasury, newest first. */
  signatures(page: { limit: number; before?: string; until?: string }): Promise<SignatureEntry[]>;
  /** A finalized transaction, or null while the node does not have it. */
  transaction(signature: string): Promise<ChainTransaction | null>;
  readonly now: () => number;
  readonly log: Log;
};

/** Transactions read in one run: with the page itself well under the calls that an alarm may make. */
const PAGE = 20;
/** A walk that has come so far down without meeting the last one is looking at spam, or at another node's history. */
const MAX_WALK = 2_000;

/** A block's time and ours may differ by so much. */
const CLOCK_SKEW_MS = 120_000;

/** Where a walk that did not end in one run goes on. Kept as JSON. */
type Walk = {
  readonly number: number;
  /** The newest signature of this walk: the next one ends there. */
  readonly newest: string | null;
  readonly before: string | null;
  readonly until: string | null;
  readonly seen: number;
};

const WALK = 'treasury_walk';

export type TreasuryScan = ReturnType<typeof createTreasuryScan>;

export function createTreasuryScan(p: TreasuryScanPorts) {
  const { journal } = p;
  const readWalk = (): Walk =>
    JSON.parse(
      journal.getMeta(WALK) ?? '{"number":1,"newest":null,"before":null,"until":null,"seen":0}',
    ) as Walk;
  const saveWalk = (walk: Walk): void => journal.setMeta(WALK, JSON.stringify(walk));

  function waitingSince(): number | undefined {
    const times = p.takers.map((taker) => taker.waitingSince()).filter((at) => at !== undefined);
    return times.length > 0 ? Math.min(...times) : undefined;
  }

  /** The next walk starts at the top and ends where this one began. */
  const finished = (walk: Walk): Walk => ({
    number: walk.number + 1,
    newest: null,
    before: null,
    until: walk.newest ?? walk.until,
    seen: 0,
  });

  /** Books one payment for the first flow that knows it. Running it again changes nothing. */
  function book(transaction: ChainTransaction, walk: number): void {
    const credit = lamportsChange(transaction, p.treasuryAddress) ?? 0n;
    if (transaction.failed || credit <= 0n) return;
    const payment: TreasuryPayment = {
      signature: transaction.signature,
      slot: transaction.slot,
      blockTime: transaction.blockTime,
      lamports: credit,
      payer: payerOf(transaction, p.treasuryAddress),
    };
    const isOurs = transaction.signers.some(
      (signer) => signer === p.treasuryAddress || signer === p.reserveAddress,
    );
    p.storage.transaction(() => {
      const known = p.payments.get(payment.signature);
      if (known?.purpose) return;
      let purpose: string | null = null;
      if (!isOurs) for (const taker of p.takers) purpose ??= taker.take(payment, transaction);
      p.payments.record(payment, purpose, walk);
    });
  }

  /** One payment that cannot be booked must not keep all others waiting: who points at it has it looked at again. */
  function unbooked(signature: string, error: unknown): void {
    p.log({ level: 'alarm', event: 'payment_unbooked', signature, error: String(error).slice(0, 200) });
  }

  function bookOrTell(transaction: ChainTransaction, walk: number): void {
    try {
      book(transaction, walk);
    } catch (error) {
      unbooked(transaction.signature, error);
    }
  }

  return {
    isWaiting: (): boolean => waitingSince() !== undefined,

    /** The number of the walk that is under way. */
    walk: (): number => readWalk().number,

    /**
     * One bounded piece of the walk. True when more of it is left.
     * @throws AppError UPSTREAM_FAILED; nothing is lost, the next run takes the same piece
     */
    async run(): Promise<boolean> {
      const since = waitingSince();
      if (since === undefined) return false;
      const walk = readWalk();
      const page = await p.signatures({
        limit: PAGE,
        ...(walk.before === null ? {} : { before: walk.before }),
        ...(walk.until === null ? {} : { until: walk.until }),
      });
      // A node that does not know where the last walk began shows what was walked already.
      let met = false;
      for (const entry of page) {
        const before = p.payments.walkOf(entry.signature);
        if (before !== undefined && before < walk.number) {
          met = true;
          continue;
        }
        // The first walk of all has nowhere to end; nobody waits for anything older, clocks differing by a little.
        if (
          walk.until === null &&
          entry.blockTime !== null &&
          entry.blockTime * 1_000 < since - CLOCK_SKEW_MS
        ) {
          met = true;
          break;
        }
        if (entry.err !== null) continue;
        const transaction = await orUnreadable(p.transaction(entry.signature));
        if (transaction === 'unreadable') {
          unbooked(entry.signature, transaction);
          continue;
        }
        // The node lists what it does not have yet: take this page again later.
        if (!transaction) return true;
        bookOrTell(transaction, walk.number);
      }
      const newest = walk.newest ?? page[0]?.signature ?? null;
      const last = page[page.length - 1]?.signature ?? walk.before;
      const on: Walk = { ...walk, newest, before: last, seen: walk.seen + page.length };
      const over = met || page.length < PAGE || on.seen >= MAX_WALK;
      saveWalk(over ? finished(on) : on);
      return !over;
    },

    /** Books one transaction that somebody points at, as the walk would. */
    async look(signature: string): Promise<ChainTransaction | null> {
      const transaction = await p.transaction(signature);
      if (transaction) book(transaction, readWalk().number);
      return transaction;
    },
  };
}

/** The one signer whose lamports went down by more than the fee; null when there are several or it was the treasury. */
export function payerOf(transaction: ChainTransaction, treasury: string): string | null {
  const payers = transaction.signers.filter((signer, index) => {
    const change = lamportsChange(transaction, signer) ?? 0n;
    return signer !== treasury && change < (index === 0 ? -transaction.fee : 0n);
  });
  return payers.length === 1 ? (payers[0] ?? null) : null;
}
