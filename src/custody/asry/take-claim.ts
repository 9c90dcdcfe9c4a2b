/**
 * Takes the next part of a claim. One critical section consumes the payment, moves along the curve, and stores the claim
 * and the intent of its payout.
 * @module
 */
import { MAX_WAIT_MS } from '../../core/limits.ts';
import { failureReason } from '../../providers/solana-rpc.ts';
import type { ClaimRequest } from '../api.ts';
import type { ModuleTools } from '../kernel/module.ts';
import type { AsryStore, OwedReason, Payout } from './asry-store.ts';
import {
  type ClaimFacts,
  type Deposit,
  decideClaim,
  decideOpening,
  type Opened,
  ownMoney,
  type Refused,
} from './claim-rules.ts';
import { type AsryProgram, missingEpochs } from './epochs.ts';
import { type AsryPorts, claimPurpose, type Payee } from './payout-operation.ts';
import type { createAsryPayouts, Taken } from './payouts.ts';
import * as view from './view.ts';

/** The result of the work, or undefined after this many milliseconds; the work continues. */
export type Within = <T>(work: Promise<T>, ms: number) => Promise<T | undefined>;

export type OnceOnly = ReturnType<typeof createSharedWork>;

/** Returns a function that opens the epochs that have started by now or by a later Unix time in seconds. */
export function createEpochOpener(
  { journal, storage, now }: ModuleTools,
  store: AsryStore,
  program: AsryProgram,
) {
  const unixNow = (): number => Math.floor(now() / 1_000);

  return function openEpochs(time = 0): void {
    const until = Math.max(time, unixNow());
    const [last] = store.epochs(1);
    if (last && last.endsAt > until) return;
    storage.transaction(() => {
      for (const epoch of missingEpochs(last, program, until, unixNow())) {
        store.putEpoch(epoch);
        view.mirrorEpoch(journal, epoch, now());
      }
    });
  };
}

/** Takes the next part of a claim and begins its payout. */
export function createTaking(
  { journal, storage, now, log }: ModuleTools,
  p: AsryPorts & {
    readonly store: AsryStore;
    readonly payouts: ReturnType<typeof createAsryPayouts>;
    readonly openEpochs: ReturnType<typeof createEpochOpener>;
    readonly once: OnceOnly;
    readonly within: Within;
  },
) {
  const { program, store, payouts, openEpochs, once } = p;
  const unixNow = (): number => Math.floor(now() / 1_000);

  /** The claim that a deposit would create now. Stores epochs that have started, and nothing else. */
  function opening(deposit: Deposit): Opened | Refused {
    const { signature, blockTime } = deposit;
    openEpochs(blockTime);
    return decideOpening(deposit, {
      usedFor: journal.consumerOf(`payment:${signature}`),
      own: ownMoney(deposit, {
        isDepositAddress: journal.consumerOf(`deposit:${deposit.sender}`) !== undefined,
        sharesAddress: p.terms.treasury === p.terms.reserve,
        unsettledSince: journal.open().flatMap((op) => (op.unsettled > 0n ? [op.createdAt] : [])),
      }),
      epoch: store.epochAt(blockTime),
      oldest: unixNow() - program.maxAgeSeconds,
      minimumDeposit: program.minimumDeposit,
      seq: store.nextSeq(),
      now: now(),
    });
  }

  /** The stored claim of a deposit with its epoch, or the claim that it would open. */
  function claimOf(deposit: Deposit): ClaimFacts['claim'] {
    const claim = store.claim(deposit.signature);
    if (!claim) return opening(deposit);
    const epoch = store.epoch(claim.epoch);
    return epoch ? { type: 'known', claim, epoch } : { type: 'refused', refusal: view.alreadyClaimed() };
  }

  /** The payout that an earlier request with this key created. */
  const earlier = ({ key }: ClaimRequest): Payout | undefined =>
    key && store.payoutByKey(key.keyHash, now() - view.KEY_LIFE_MS);

  /** Takes the next part of a claim, and stores the claim itself if it is new. Call inside a transaction. */
  function take(request: ClaimRequest, deposit: Deposit): Taken {
    const decision = decideClaim(request, {
      isRepeat: earlier(request) !== undefined,
      claim: claimOf(deposit),
      parts: store.payouts(deposit.signature).length,
      now: now(),
    });
    if (decision.type !== 'take') return decision;
    const { claim, payout, opened } = decision;
    if (opened) {
      journal.consumeOnce(`payment:${claim.signature}`, claimPurpose(claim.signature), now());
      store.putEpoch(opened);
      view.mirrorEpoch(journal, opened, now());
    }
    if (request.key) journal.recordCall('key', request.client, now());
    return { type: 'taken', claim, payout };
  }

  async function readPayee(sender: string): Promise<Payee | undefined> {
    try {
      return (await once(`payee ${sender}`, () => p.readPayees([sender])))[0];
    } catch (error) {
      log({ level: 'warn', event: 'payees_unread', reason: failureReason(error) });
      return undefined;
    }
  }

  /** Stores the part as owed. The background run pays it later. */
  function promise(request: ClaimRequest, deposit: Deposit, reason: OwedReason): Taken {
    return storage.transaction(() => {
      const taken = take(request, deposit);
      if (taken.type !== 'taken') return taken;
      const payout = payouts.owe(taken.payout, reason);
      payouts.save(taken.claim, payout);
      return { ...taken, payout };
    });
  }

  /** Claims the next part and begins its payout. */
  async function claimPart(request: ClaimRequest, deposit: Deposit): Promise<Taken> {
    const payee = await readPayee(deposit.sender);
    if (!payee) return promise(request, deposit, 'unread');
    const { signature } = deposit;
    const operations = store.claim(signature)?.operations ?? 0;
    // Set only by this call's own critical section. It stays set when the wait below ends early.
    const own: { taken: Taken | undefined } = { taken: undefined };
    const work = payouts.begin({ signature, operations }, payee, () => {
      own.taken = take(request, deposit);
      return own.taken;
    });
    const begun = await p.within(work, MAX_WAIT_MS);
    const taken = own.taken?.type === 'taken' ? own.taken : undefined;
    // The alarm continues the stored payout. Taking another part now would pay twice.
    const isStored = store.payouts(signature).some(({ part }) => part === taken?.payout.part);
    if (!begun) return taken && isStored ? taken : { type: 'refused', refusal: view.inProgress() };
    switch (begun.type) {
      case 'begun':
        return taken ?? { type: 'again' };
      case 'owed':
        return begun.reason === 'paused'
          ? { type: 'refused', refusal: view.claimsPaused('stopped') }
          : promise(request, deposit, begun.reason);
      case 'refused':
      case 'again':
        return begun;
    }
  }

  return { opening, earlier, claimPart };
}

/** Runs one piece of work per name and shares its result with all concurrent callers. */
export function createSharedWork() {
  const shared = new Map<string, Promise<unknown>>();
  return function once<T>(name: string, work: () => Promise<T>): Promise<T> {
    const running = shared.get(name) as Promise<T> | undefined;
    if (running) return running;
    const started = work().finally(() => shared.delete(name));
    shared.set(name, started);
    return started;
  };
}
