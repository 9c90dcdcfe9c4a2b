/**
 * The callers: they ask, lose the answer, ask again, all at once. What one key was answered must stay its answer.
 * @module
 */

import { lamports } from '../../src/core/amount.ts';
import type { SwapAnswer } from '../../src/custody/api.ts';
import { SIGNATURE_FEE } from './message-reader.ts';
import { PAYOUT_ATTEMPTS } from './payout-kind.ts';
import type { PayoutWish, SwapWish } from './wishes.ts';
import type { World } from './world.ts';

export type Clients = {
  /** Calls that have not had their answer yet, and those that are still to come. */
  waiting(): number;
};

/** What a caller of the API sees of an answer, and what a repeat must show again. */
const visible = (answer: SwapAnswer): string =>
  answer.type === 'created'
    ? `created ${answer.swap.signature} ${answer.swap.amountLamports} ${answer.swap.expectedSats} ${answer.swap.minimumSats}`
    : `refused ${answer.refusal.code} ${JSON.stringify(answer.refusal.details ?? {})}`;

const isFinal = (answer: SwapAnswer): boolean => answer.type === 'created' || answer.replayed;

export function startClients(world: World): Clients {
  const { scheduler, host, witness, scenario, trace } = world;
  const decided = new Map<string, string>();
  let waiting = 0;
  const asked = new Set<string>();
  const most = new Map<SwapWish, bigint>();

  /** After a journal was lost nobody repeats a call: what was never mirrored, no journal can know again. */
  function mayAsk(what: string): boolean {
    if (world.state.wasLost) return !asked.has(what);
    asked.add(what);
    return true;
  }

  /** One task of a caller, counted until it is over. */
  function later(at: number, task: () => Promise<void>): void {
    waiting++;
    scheduler.at(at, () => {
      void task().finally(() => waiting--);
    });
  }

  /** What a wish asks for, the same at every repeat. */
  async function amountOf(wish: SwapWish): Promise<bigint> {
    if (!wish.most) return wish.amount;
    const known = most.get(wish);
    if (known !== undefined) return known;
    const room = await host.event('swapRoom', (custodian) => custodian.swapRoom());
    const amount = room.ok ? room.value.maximumLamports : 0n;
    if (amount > 0n) most.set(wish, amount);
    return amount;
  }

  async function ask(wish: SwapWish, patience: number): Promise<void> {
    const { key, client } = wish;
    const amount = await amountOf(wish);
    if (amount === 0n || !mayAsk(`amount:${amount}`)) return;
    const request = {
      amountLamports: amount,
      client,
      ...(key === null ? {} : { key: { keyHash: key, bodyHash: `body-${amount}` } }),
    };
    trace(() => `client asks for ${amount} with ${key ?? 'no key'}`);
    const outcome = await host.event('createSwap', (custodian) => custodian.createSwap(request));
    if (!outcome.ok) {
      trace(() => `client of ${key ?? amount} got no answer: ${outcome.error}`);
      if (patience > 0) later(scheduler.now() + 1_000 * (4 - patience), () => ask(wish, patience - 1));
      return;
    }
    const answer = outcome.value;
    trace(() => `client of ${key ?? amount}: ${visible(answer)}${answer.replayed ? ' (replayed)' : ''}`);
    if (key !== null) compare(key, answer);
  }

  function compare(key: string, answer: SwapAnswer): void {
    const seen = visible(answer);
    const first = decided.get(key);
    const isBusy = answer.type === 'refused' && answer.refusal.code === 'IDEMPOTENCY_IN_PROGRESS';
    if (first !== undefined && !isBusy && first !== seen) {
      witness.broken('same_answer', `${key} was answered "${first}", then "${seen}"`);
    }
    if (isFinal(answer)) decided.set(key, first ?? seen);
  }

  /** The same key with another body must never act. */
  async function misuse(wish: SwapWish): Promise<void> {
    if (world.state.wasLost) return;
    const key = { keyHash: wish.key ?? '', bodyHash: 'another body' };
    const outcome = await host.event('createSwap', (custodian) =>
      custodian.createSwap({ amountLamports: wish.amount + 1_000_000n, client: 'ip-9', key }),
    );
    if (outcome.ok && decided.has(key.keyHash) && visible(outcome.value).startsWith('created')) {
      witness.broken('same_answer', `${key.keyHash} moved money for another body`);
    }
  }

  async function payOut(wish: PayoutWish): Promise<void> {
    if (!mayAsk(wish.id)) return;
    const intent = {
      amount: lamports(wish.amount),
      // Each attempt that fails on the chain costs its fee.
      reserved: lamports(wish.amount + BigInt(PAYOUT_ATTEMPTS) * SIGNATURE_FEE),
      plan: { to: 'Recipient' },
      claims: [`payment:${wish.id}`],
    };
    trace(() => `${wish.id} begins`);
    const outcome = await host.event('begin', (custodian) =>
      custodian.begin('asry', wish.id, () => ({ ok: true, intent })),
    );
    trace(() => `${wish.id}: ${outcome.ok ? outcome.value.type : outcome.error}`);
    if (!outcome.ok) later(scheduler.now() + 5_000, () => payOut(wish));
  }

  for (const wish of scenario.swaps) {
    later(wish.at, () => ask(wish, wish.patience));
    for (const after of wish.repeats) later(wish.at + after, () => ask(wish, 0));
    if (wish.repeats.length === 3) later(wish.at + 60_000, () => misuse(wish));
  }
  for (const wish of scenario.payouts) {
    later(wish.at, () => payOut(wish));
    if (wish.twice) later(wish.at, () => payOut(wish));
  }

  return { waiting: () => waiting };
}
