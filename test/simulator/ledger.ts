/**
 * The true state of the Solana chain: slots, block heights, forks until finality, accounts with lamports and
 * token atoms. `nodes.ts` models the nodes' views of it.
 * @module
 */
import { TOKEN_2022_PROGRAM, TOKEN_PROGRAM } from '../../src/chain/solana/token-program.ts';
import type { Random } from './random.ts';
import type { Scheduler } from './scheduler.ts';
import { type Action, ataOf, type TokenFacts, type Transaction } from './transactions.ts';

/** Blocks for which a blockhash is valid. */
const BLOCKHASH_LIFE = 150;
/**
 * Slots after which a block is final. Alpenglow takes two. Here forks remove more, and a confirmed block may be lost: no
 * decision may depend on how fast a block becomes final.
 */
export const FINALITY = 32;
/** The tip when a run begins: far enough from zero for any lag. */
const FIRST_SLOT = 100_000;
/** One of this number of slots has no block. */
const SKIPPED = 16;
const NEVER = Number.POSITIVE_INFINITY;
/** Rent in lamports of a token account. */
export const TOKEN_RENT = 2_039_280n;
const TRANSFER_FEE = 5_000n;

/** Slots `from` to `to` lost their blocks when the tip was at `at`. */
type Gap = { readonly from: number; readonly to: number; readonly at: number };

/** A mint; `names` if it contains its metadata. */
export type MintFacts = {
  readonly program: string;
  readonly decimals: number;
  readonly authority: string | null;
  readonly names?: { readonly name: string; readonly symbol: string };
};

export type Entry = {
  readonly slot: number;
  readonly transaction: Transaction;
  readonly failed: boolean;
  /** Failed without a fee (SIMD-0290): the same bytes may still land. */
  readonly isNoop: boolean;
  /** Change of each value of the state, and the value before the change. */
  readonly changes: ReadonlyMap<string, bigint>;
  readonly before: ReadonlyMap<string, bigint>;
  /** The tip at which a fork removed the transaction; infinite while it is on the chain. */
  droppedAt: number;
};

export type SendFates = {
  /** Chance that no leader ever sees a send. */
  readonly dropped: number;
  /** Chance that a send lands late, at the latest in the last block that may contain it. */
  readonly late: number;
  /** Chance that a transaction fails on the chain. */
  readonly failing: number;
  /** Chance that a transaction is a no-op in one block before it may land in a later one; absent: none is. */
  readonly noop?: number;
  /** Chance that a fork removes the last slots after a landing. */
  readonly forked: number;
  /** Chance that only the winning branch of a later fork contains a transaction. */
  readonly hidden: number;
  /** Chance that a transaction of removed slots lands again without a resend. */
  readonly returning: number;
};

/** Names of the values in the state. */
export const key = {
  lamports: (address: string) => `L${address}`,
  atoms: (account: string) => `T${account}`,
  exists: (account: string) => `X${account}`,
  supply: (mint: string) => `S${mint}`,
};

export type Ledger = ReturnType<typeof createLedger>;

export function createLedger(p: {
  scheduler: Scheduler;
  random: Random;
  slotMs: number;
  fates: () => SendFates;
  onLanding: (entry: Entry) => void;
  onDropped: (entry: Entry) => void;
  onFinal: (entry: Entry) => void;
  /** Called when the fee payer of a transaction cannot pay the fee. */
  onUncovered: (transaction: Transaction, balance: bigint) => void;
}) {
  const { scheduler, random, slotMs } = p;
  const entries: Entry[] = [];
  const byAccount = new Map<string, Entry[]>();
  const bySignature = new Map<string, Entry[]>();
  const gaps: Gap[] = [];
  const known = new Map<string, Transaction>();
  /** Signatures that no block of this branch contains. */
  const elsewhere = new Set<string>();
  const state = new Map<string, bigint>();
  const tokenAccounts = new Map<string, TokenFacts>();
  const mints = new Map<string, MintFacts>();

  const tip = (): number => FIRST_SLOT + Math.floor(scheduler.now() / slotMs);
  const timeOf = (slot: number): number => (slot - FIRST_SLOT) * slotMs;
  const regular = (slot: number): number => slot - Math.floor(slot / SKIPPED);
  const value = (name: string): bigint => state.get(name) ?? 0n;

  const isSkipped = (slot: number, seenFrom: number): boolean =>
    slot % SKIPPED === 0 || gaps.some((gap) => gap.at <= seenFrom && gap.from <= slot && slot <= gap.to);

  /** Number of blocks up to a slot, as counted by a node whose tip is `seenFrom`. */
  function height(slot: number, seenFrom: number): number {
    let blocks = regular(slot);
    for (const gap of gaps) {
      if (gap.at > seenFrom || gap.from > slot) continue;
      blocks -= regular(Math.min(gap.to, slot)) - regular(gap.from - 1);
    }
    return blocks;
  }

  /** The newest slot with a block, not after `slot`. */
  function blockAt(slot: number, seenFrom: number): number {
    let at = slot;
    while (isSkipped(at, seenFrom)) at--;
    return at;
  }

  const standing = (signature: string): Entry | undefined =>
    bySignature.get(signature)?.find(({ droppedAt, isNoop }) => droppedAt === NEVER && !isNoop);

  /** Adds the changes of an action to `overlay`. Returns false if the action cannot run. */
  function run(action: Action, overlay: Map<string, bigint>): boolean {
    const get = (name: string): bigint => overlay.get(name) ?? value(name);
    const add = (name: string, change: bigint): boolean => {
      overlay.set(name, get(name) + change);
      return get(name) >= 0n;
    };
    const isOpen = (account: string): boolean => get(key.exists(account)) === 1n;
    switch (action.type) {
      case 'pay':
        return (
          add(key.lamports(action.from), -action.lamports) && add(key.lamports(action.to), action.lamports)
        );
      case 'open': {
        if (isOpen(action.account)) return true;
        const { owner, mint, program } = action;
        tokenAccounts.set(action.account, { owner, mint, program });
        overlay.set(key.exists(action.account), 1n);
        return add(key.lamports(action.payer), -TOKEN_RENT) && add(key.lamports(action.account), TOKEN_RENT);
      }
      case 'close':
        if (!isOpen(action.account) || get(key.atoms(action.account)) !== 0n) return false;
        overlay.set(key.exists(action.account), 0n);
        add(key.lamports(action.owner), get(key.lamports(action.account)));
        overlay.set(key.lamports(action.account), 0n);
        return true;
      case 'move':
        return (
          isOpen(action.from) &&
          isOpen(action.to) &&
          add(key.atoms(action.from), -action.atoms) &&
          add(key.atoms(action.to), action.atoms)
        );
      case 'mint':
        return (
          isOpen(action.account) &&
          add(key.atoms(action.account), action.atoms) &&
          add(key.supply(action.mint), action.atoms)
        );
      case 'create': {
        // The chain refuses an account that exists or has lamports.
        if (get(key.exists(action.mint)) === 1n || get(key.lamports(action.mint)) > 0n) return false;
        mints.set(action.mint, { program: action.program, decimals: action.decimals, authority: null });
        overlay.set(key.exists(action.mint), 1n);
        return (
          add(key.lamports(action.payer), -action.lamports) && add(key.lamports(action.mint), action.lamports)
        );
      }
    }
  }

  function execute(transaction: Transaction, willFail: boolean) {
    const payer = key.lamports(transaction.accounts[0] ?? '');
    const fee = new Map([[payer, value(payer) - transaction.fee]]);
    const overlay = new Map(fee);
    const passes = !willFail && transaction.actions.every((action) => run(action, overlay));
    return { failed: !passes, after: passes ? overlay : fee };
  }

  function append(
    transaction: Transaction,
    slot: number,
    failed: boolean,
    after: ReadonlyMap<string, bigint>,
    isNoop = false,
  ): void {
    const before = new Map(
      transaction.accounts.map((account) => [key.lamports(account), value(key.lamports(account))]),
    );
    const changes = new Map<string, bigint>();
    for (const [name, next] of after) {
      before.set(name, value(name));
      changes.set(name, next - value(name));
      state.set(name, next);
    }
    const entry: Entry = { slot, transaction, failed, isNoop, changes, before, droppedAt: NEVER };
    entries.push(entry);
    push(bySignature, transaction.signature, entry);
    for (const account of transaction.accounts) push(byAccount, account, entry);
    p.onLanding(entry);
    scheduler.at(timeOf(slot + FINALITY + 1), () => {
      if (entry.droppedAt === NEVER) p.onFinal(entry);
    });
    if (random.chance(p.fates().forked)) {
      scheduler.after(random.between(1, FINALITY - 2) * slotMs, () => fork(random.between(1, FINALITY - 1)));
    }
  }

  /** Puts a transaction of the reserve into the block of the current slot, if its blockhash is still valid. */
  function tryLand(signature: string): void {
    const transaction = known.get(signature);
    const slot = tip();
    if (!transaction || transaction.born === null || standing(signature)) return;
    const { born } = transaction;
    if (isSkipped(born, slot) || born >= slot) return;
    if (height(slot, slot) > height(born, slot) + BLOCKHASH_LIFE) return;
    if (isSkipped(slot, slot)) return void scheduler.at(timeOf(slot + 1), () => tryLand(signature));
    const free = value(key.lamports(transaction.accounts[0] ?? ''));
    if (free < transaction.fee) return void p.onUncovered(transaction, free);
    const { noop, failing } = p.fates();
    if (noop !== undefined && !bySignature.has(signature) && random.chance(noop)) {
      append(transaction, slot, true, new Map(), true);
      const next = random.between(slot + 1, Math.max(slot + 1, lastSlot(born)));
      return void scheduler.at(timeOf(next), () => tryLand(signature));
    }
    const { failed, after } = execute(transaction, random.chance(failing));
    append(transaction, slot, failed, after);
  }

  /** The last slot in which a transaction may land, as seen from the tip: heights grow by at most one per slot. */
  function lastSlot(born: number): number {
    const left = height(born, tip()) + BLOCKHASH_LIFE - height(tip(), tip());
    return tip() + Math.ceil((Math.max(left, 0) * SKIPPED) / (SKIPPED - 1));
  }

  /** A leader receives the transaction, unless it is dropped. The time of its landing is random. */
  function queue({ signature, born }: Transaction): void {
    if (born === null || elsewhere.has(signature)) return;
    const { dropped, late } = p.fates();
    if (random.chance(dropped)) return;
    const quick = tip() + random.between(1, 4);
    const last = lastSlot(born);
    const isLate = random.chance(late) && last > quick;
    scheduler.at(timeOf(isLate ? lateSlot(random, quick, last) : quick), () => tryLand(signature));
  }

  /** Only the other branch of a coming fork has this transaction, and wins after the transaction seemed to expire. */
  function hide({ signature, born }: Transaction): void {
    elsewhere.add(signature);
    const overdue = random.between(1, FINALITY - 8);
    scheduler.at(timeOf(lastSlot(born ?? 0) + overdue), () => fork(overdue + random.between(2, 6)));
  }

  /** A third party's transaction, which its sender repeats until it is on the chain. */
  function add(transaction: Transaction): void {
    scheduler.at(timeOf(tip() + 1), () => {
      const slot = tip();
      if (isSkipped(slot, slot)) return add(transaction);
      const { failed, after } = execute(transaction, false);
      append(transaction, slot, failed, after);
    });
  }

  /** Removes the blocks of the last `depth` slots. */
  function fork(depth: number): void {
    const at = tip();
    const from = Math.max(at - depth + 1, (gaps[gaps.length - 1]?.to ?? 0) + 1);
    if (from > at) return;
    gaps.push({ from, to: at, at });
    const lost = entries.filter(({ slot, droppedAt }) => slot >= from && droppedAt === NEVER);
    for (const entry of lost) {
      entry.droppedAt = at;
      for (const [name, change] of entry.changes) state.set(name, value(name) - change);
    }
    for (const entry of lost) {
      p.onDropped(entry);
      if (entry.transaction.born === null) add(entry.transaction);
    }
    // Transactions that leaders still have, and those of abandoned blocks, may land in a block of the other
    // branch.
    for (const signature of known.keys()) {
      if (standing(signature) || !(elsewhere.delete(signature) || random.chance(p.fates().returning)))
        continue;
      scheduler.at(timeOf(at + random.between(1, 6)), () => tryLand(signature));
    }
  }

  /** A value of the state at a slot, as seen by a node that knows the chain up to `seen`. */
  function valueAt(name: string, slot: number, seen: number): bigint {
    let result = value(name);
    for (let index = entries.length - 1; index >= 0; index--) {
      const entry = entries[index];
      if (!entry || entry.slot < slot - 2_000) break;
      const isCounted = entry.droppedAt === NEVER;
      const isSeen = entry.slot <= slot && entry.droppedAt > seen;
      if (isCounted === isSeen) continue;
      const change = entry.changes.get(name) ?? 0n;
      result += isSeen ? change : -change;
    }
    return result;
  }

  /** Puts a value into the chain before its first block. */
  function endow(name: string, amount: bigint): void {
    state.set(name, value(name) + amount);
  }

  return {
    tip,
    timeOf,
    height,
    blockAt,
    fork,
    value,
    valueAt,
    add,
    standing,
    entries: entries as readonly Entry[],
    of: (account: string): readonly Entry[] => byAccount.get(account) ?? [],
    attempts: (signature: string): readonly Entry[] => bySignature.get(signature) ?? [],
    tokenAccounts: tokenAccounts as ReadonlyMap<string, TokenFacts>,
    mints,

    /** A Token-2022 mint that a third party made, with its name inside. */
    nameMint(mint: string, names: { readonly name: string; readonly symbol: string }): void {
      mints.set(mint, { program: TOKEN_2022_PROGRAM, decimals: 9, authority: null, names });
      endow(key.exists(mint), 1n);
    },

    endow,
    /** A third party's transfer, which also names `references`; its sender gets the amount and the fee before. */
    transfer(
      signature: string,
      pay: { readonly from: string; readonly to: string; readonly lamports: bigint },
      references: readonly string[] = [],
    ): void {
      endow(key.lamports(pay.from), pay.lamports + TRANSFER_FEE);
      add({
        signature,
        accounts: [pay.from, pay.to, ...references],
        signers: 1,
        fee: TRANSFER_FEE,
        actions: [{ type: 'pay', ...pay }],
        memo: null,
        born: null,
        readable: true,
      });
    },
    /** An owner's account of a classic token, with these atoms. @returns its address */
    openAccount(owner: string, mint: string, atoms = 0n): string {
      const account = ataOf(owner, mint);
      tokenAccounts.set(account, { owner, mint, program: TOKEN_PROGRAM });
      state.set(key.exists(account), 1n);
      state.set(key.atoms(account), atoms);
      return account;
    },

    /** The last block height at which a transaction signed with the hash of this slot's block may land. */
    lastValidHeight: (slot: number, seenFrom: number) => height(slot, seenFrom) + BLOCKHASH_LIFE,
    isBlockhashAlive: (slot: number, seenFrom: number) =>
      slot <= seenFrom &&
      !isSkipped(slot, seenFrom) &&
      height(seenFrom, seenFrom) <= height(slot, seenFrom) + BLOCKHASH_LIFE,

    submit(transaction: Transaction): string {
      if (!known.has(transaction.signature)) {
        known.set(transaction.signature, transaction);
        if (random.chance(p.fates().hidden)) hide(transaction);
      }
      queue(transaction);
      return transaction.signature;
    },
  };
}

const push = <T>(map: Map<string, T[]>, name: string, item: T): void => {
  const list = map.get(name);
  if (list) list.push(item);
  else map.set(name, [item]);
};

/** Half of the late transactions land in one of the last slots that may contain them. */
const lateSlot = (random: Random, quick: number, last: number): number =>
  random.chance(0.5) ? random.between(Math.max(quick, last - 4), last) : random.between(quick, last);
