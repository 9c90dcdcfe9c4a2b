/**
 * Restores claims after the journal was lost or rolled back, from D1's rows and from the memos of payouts on the
 * chain. A claim whose state is uncertain is no longer paid automatically.
 * @module
 */
import { ACCOUNT_RENT, tokenTransferFee } from '../../chain/solana/token-messages.ts';
import { lamports } from '../../core/amount.ts';
import type { ChainTransaction } from '../../providers/solana-rpc.ts';
import type { Journal } from '../kernel/journal.ts';
import { plannedOperation } from '../kernel/operation.ts';
import { eachRecord } from '../kernel/outbox.ts';
import type { Log, Mirror, Storage } from '../kernel/ports.ts';
import type { Recognized } from '../kernel/reconcile.ts';
import { HELD_RECONCILED } from '../kernel/state-machine.ts';
import {
  type AsryStore,
  type Claim,
  decodeRow,
  mirrorClaim,
  mirrorEpoch,
  type Payout,
} from './asry-store.ts';
import type { Epoch } from './epochs.ts';
import { claimPurpose, encodePlan, payoutId } from './payout-operation.ts';

const NONE = lamports(0n);
/** In SQLite a negative limit means no limit. */
const ALL = -1;

/** A memo in a `getSignaturesForAddress` entry: its length in brackets, then its text. */
const PAYOUT_MEMO = /^(?:\[\d+\] )?(asry:[1-9A-HJ-NP-Za-km-z]{64,88}:[1-9]\d{0,5})$/;

/** The payout operation named by the memo of a reserve transaction. */
export const payoutOfMemo = (memo: string | null | undefined): string | undefined =>
  memo ? PAYOUT_MEMO.exec(memo)?.[1] : undefined;

/** The payout that a reserve transaction carried out. @param memo its text */
export function recognizePayout(
  transaction: ChainTransaction,
  memo: string | undefined,
  reserveAddress: string,
): Recognized | undefined {
  const id = payoutOfMemo(memo);
  if (id === undefined) return undefined;
  const atoms = sentAtoms(transaction, reserveAddress).toString();
  return { id, kind: 'asry', amount: NONE, plan: { deposit: id.split(':')[1] ?? '', atoms } };
}

/** Token atoms that left the reserve's accounts; a payout moves exactly one token. */
function sentAtoms({ preTokens, postTokens }: ChainTransaction, reserve: string): bigint {
  const held = (rows: ChainTransaction['preTokens']) =>
    (rows ?? []).reduce((sum, row) => (row.owner === reserve ? sum + row.atoms : sum), 0n);
  return held(preTokens) - held(postTokens);
}

export type AsryRecoveryPorts = {
  readonly journal: Journal;
  readonly storage: Storage;
  readonly store: AsryStore;
  readonly mirror: Pick<Mirror, 'recordsAfter'>;
  readonly mint: string;
  readonly decimals: number;
  readonly now: () => number;
  readonly log: Log;
};

/**
 * Restores rows that D1 has in a newer state. Returns the number of changed rows. @throws when D1 cannot be
 * read
 */
export async function restoreClaims(p: AsryRecoveryPorts): Promise<number> {
  const { store, storage, journal, now } = p;
  let restored = 0;
  await eachRecord(p.mirror, 'asry_epochs', (text) => {
    const { epoch } = decodeRow<{ epoch: Epoch }>(text);
    if ((store.epoch(epoch.number)?.changes ?? -1) >= epoch.changes) return;
    store.putEpoch(epoch);
    restored++;
  });
  await eachRecord(p.mirror, 'asry_claims', (text) => {
    const { claim, payouts } = decodeRow<{ claim: Claim; payouts: Payout[] }>(text);
    if ((store.claim(claim.signature)?.changes ?? -1) >= claim.changes) return;
    storage.transaction(() => {
      const seq = store.isFreeSeq(claim.seq) ? claim.seq : store.nextSeq();
      store.putClaim({ ...claim, seq: store.claim(claim.signature)?.seq ?? seq });
      for (const payout of payouts) store.putPayout(payout);
      journal.consumeOnce(`payment:${claim.signature}`, claimPurpose(claim.signature), now());
    });
    restored++;
  });
  return restored;
}

/**
 * Runs after a suspect journal was rebuilt. Payouts found on the chain are attached to their claims. Owed
 * payouts, and begun ones whose operation is lost, wait for the operator: a lost instance may have signed them.
 */
export function holdSuspect(p: AsryRecoveryPorts): void {
  const { store, storage, journal, now } = p;
  for (const operation of journal.ofKind('asry', ALL)) {
    const signature = String(operation.plan.deposit);
    if (!store.claim(signature)) {
      journal.consumeOnce(`payment:${signature}`, claimPurpose(signature), now());
      p.log({ level: 'alarm', event: 'claim_lost', operation: operation.id });
    }
  }
  for (const { signature } of store.claims()) {
    storage.transaction(() => {
      adopt(p, signature);
      hold(p, signature);
    });
  }
  storage.transaction(() => advanceEpochs(p));
}

/** Advances each epoch to its last claim: D1 may have received the claim without the epoch's own change. */
function advanceEpochs({ store, journal, now }: AsryRecoveryPorts): void {
  for (const { epoch: number, after } of store.claims()) {
    const epoch = store.epoch(number);
    if (!epoch || epoch.deposits >= after) continue;
    const advanced = { ...epoch, deposits: after, changes: epoch.changes + 1 };
    store.putEpoch(advanced);
    mirrorEpoch(journal, advanced, now());
  }
}

/** Adds to a claim the payouts that were made for it and are missing from its row. */
function adopt(p: AsryRecoveryPorts, signature: string): void {
  const { store, journal, now } = p;
  for (;;) {
    const claim = store.claim(signature);
    const operation = claim && journal.get(payoutId(signature, claim.operations + 1));
    if (!claim || !operation) return;
    const atoms = BigInt(String(operation.plan.atoms ?? 0));
    const payouts = store.payouts(signature);
    const promised = payouts.find((payout) => payout.state === 'owed' && payout.atoms === atoms);
    const taken = promised ? 0n : atoms < claim.left ? atoms : claim.left;
    const blank = { tries: 0, keyHash: null, bodyHash: null, createdAt: now() };
    const payout = promised ?? { ...blank, signature, part: payouts.length + 1, atoms };
    attach(
      p,
      { ...claim, left: claim.left - taken, operations: claim.operations + 1 },
      { ...payout, operationId: operation.id, rent: 0n, rentAt: null, paidAt: null },
    );
  }
}

/** A payout with its operation. */
type Paid = Omit<Payout, 'state' | 'reason' | 'dueAt'>;

/** Stores a payout that an operation pays, and its claim, and queues the D1 update. Call inside a transaction. */
function attach({ store, journal, now }: AsryRecoveryPorts, claim: Claim, payout: Paid): void {
  store.putPayout({ ...payout, state: 'begun', reason: null, dueAt: null });
  const changed = { ...claim, changes: claim.changes + 1 };
  store.putClaim(changed);
  mirrorClaim(journal, store, changed, now());
}

/**
 * Creates an operation that awaits the operator for each unpaid payout that has none. D1 may have received a claim
 * without the operation that pays it: the chain shows that payout only under the lost operation's id.
 */
function hold(p: AsryRecoveryPorts, signature: string): void {
  const { store, journal, mint, decimals, now } = p;
  for (const payout of store.payouts(signature)) {
    const claim = store.claim(signature);
    const lost =
      payout.state === 'begun' && payout.operationId !== null && !journal.get(payout.operationId)
        ? payout.operationId
        : undefined;
    if (!claim || (payout.state !== 'owed' && lost === undefined)) continue;
    const id = lost ?? payoutId(signature, claim.operations + 1);
    const plan = encodePlan({
      deposit: signature,
      part: payout.part,
      receiver: claim.sender,
      atoms: payout.atoms,
      mint,
      program: null,
      decimals,
      createAccount: true,
    });
    const rent = Object.values(ACCOUNT_RENT).reduce((most, each) => (each > most ? each : most), 0n);
    const intent = plannedOperation({
      id,
      kind: 'asry',
      amount: NONE,
      reserved: lamports(rent + tokenTransferFee({ createAccount: true })),
      plan: { ...plan, reconciled: true },
      now: now(),
    });
    journal.insert({ ...intent, reason: HELD_RECONCILED });
    const operations = lost === undefined ? claim.operations + 1 : claim.operations;
    attach(p, { ...claim, operations }, { ...payout, operationId: id });
  }
}
