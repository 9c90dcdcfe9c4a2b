/**
 * The custodian's nodes. Honest ones lag, fail or prune their history. At most a minority lies: these nodes invent and
 * hide transactions, and misstate heights, balances, accounts, statuses and blockhash lifetimes.
 * @module
 */

import { SYSTEM_PROGRAM_ADDRESS } from '@solana-program/system';
import type {
  ChainTransaction,
  Commitment,
  SolanaNode,
  SolanaRpc,
  TokenRow,
} from '../../src/providers/solana-rpc.ts';
import { namedMint } from '../chain/solana/token-bytes.ts';
import { mintData, tokenData } from '../kit/token-accounts.ts';
import {
  type Found,
  methodOf,
  type NodeView,
  RpcFailure,
  type RpcMethod,
  respond,
} from '../world/rpc-call.ts';
import { readMethods } from '../world/rpc-methods.ts';
import {
  type AccountState,
  errorOf,
  RPC_ERRORS,
  type Shown,
  transactionBody,
} from '../world/solana-shapes.ts';
import { type Entry, FINALITY, key, type Ledger, type MintFacts } from './ledger.ts';
import type { Production } from './production.ts';
import type { Random } from './random.ts';
import { blockhashOf, bornOf, readWire, type Transaction } from './transactions.ts';

export type NodeFaults = {
  /** Chance that a call to a working node starts an outage. */
  readonly failing: number;
  /** Chance of a new lag at a call. */
  readonly shifting: number;
  readonly lags: readonly number[];
  /** Whether each response may come from another machine with its own lag. */
  readonly balanced: boolean;
  /** Chance that a send is accepted although the response is an error. */
  readonly lostAnswers: number;
};

export const LIES = [
  'invents',
  'alters',
  'hides',
  'heights',
  'lifetimes',
  'balances',
  'accounts',
  'statuses',
  'rents',
  'early',
] as const;
/** `early`: what is only confirmed is shown as final. */
export type Lie = (typeof LIES)[number];

/** The subjects of one node's lies, and their frequency. */
export type Lies = { readonly node: number; readonly about: readonly Lie[]; readonly rate: number };

export type NodeSpec = { readonly retention: number };

/** Slots for which a node shows a no-op. An attempt stays open while a node shows its no-op. */
const NOOP_SHOWN = 600;
/** The version of a transaction that no release reads. */
const UNREADABLE_VERSION = 2;
/** These reads show final blocks only, or what a lying node shows as final. */
const FINAL_READS: ReadonlySet<string> = new Set(['getBalance', 'getTransaction', 'getSignaturesForAddress']);

type Traced = (label: string) => <T>(ask: () => Promise<T>) => Promise<T>;

export function createNodes(p: {
  ledger: Ledger;
  random: Random;
  production: Production;
  specs: readonly NodeSpec[];
  lies: () => Lies | undefined;
  faults: () => NodeFaults;
  blockTime: (slot: number) => number;
  /** Invented transactions, which a lying node shows. */
  forged: readonly ChainTransaction[];
  onLie: (lie: Lie) => void;
  onSend: (transaction: Transaction) => void;
}) {
  const { ledger, production } = p;
  const nodes = p.specs.map((spec, index) => createNode({ ...p, spec, index, random: p.random.fork() }));

  /** The nodes as called by one instance of the custodian. */
  function rpcOver(traced: Traced): SolanaRpc {
    const asked = nodes.map((respond, index): SolanaNode => {
      const name = `node-${index + 1}`;
      return production.createNode(`rpc://${name}`, name, (method, params) =>
        traced(`${name}.${method} ${String(params[0]).slice(0, 8)}`)(() => respond(method, params)),
      );
    });
    return {
      nodes: asked,
      /** One after the other: the provider's own hedging waits in real time. */
      async first(read) {
        let failure: unknown;
        for (const node of asked) {
          try {
            return await read(node);
          } catch (error) {
            failure ??= error;
          }
        }
        throw production.asUpstreamFailure(failure);
      },
    };
  }

  return { rpcOver, count: nodes.length, tip: ledger.tip };
}

/** One node: its response to a call. */
function createNode(p: Parameters<typeof createNodes>[0] & { spec: NodeSpec; index: number }) {
  const { ledger, random, production } = p;
  const name = `node-${p.index + 1}`;
  let lag = 0;
  let isDown = false;

  /** The newest slot of this response. @throws when the node is down */
  function newestSeen(): number {
    const { failing, shifting, lags, balanced } = p.faults();
    isDown = isDown ? failing > 0 && !random.chance(0.3) : random.chance(failing);
    if (isDown) throw production.upstreamFailed(name, random.pick(['timeout', 'unreachable', 'status_502']));
    if (balanced || random.chance(shifting)) lag = random.pick(lags);
    return ledger.tip() - lag;
  }

  /** Whether this response lies about a subject. */
  function lies(about: Lie): boolean {
    const own = p.lies();
    const does = own?.node === p.index && own.about.includes(about) && random.chance(own.rate);
    if (does) p.onLie(about);
    return does;
  }

  const firstAvailable = (): number => Math.max(ledger.tip() - p.spec.retention, 0);
  const isSeen = (entry: Entry, seen: number): boolean =>
    entry.slot <= seen &&
    entry.droppedAt > seen &&
    entry.slot >= firstAvailable() &&
    !(entry.isNoop && entry.slot + NOOP_SHOWN < seen);

  function entryOf(signature: string, seen: number): Entry | undefined {
    const shown = ledger.attempts(signature).filter((entry) => isSeen(entry, seen));
    // Half of the nodes show an old no-op even after the same bytes have landed.
    return p.index % 2 === 0 ? shown.at(-1) : (shown.find(({ isNoop }) => isNoop) ?? shown.at(-1));
  }

  const foundOf = (entry: Entry): Found => ({
    ...shownOf(entry, p.blockTime),
    version: () => (entry.transaction.readable ? 0 : UNREADABLE_VERSION),
    body(version) {
      const shown = chainTransaction(ledger, entry, p.blockTime(entry.slot));
      return transactionBody(lies('alters') ? altered(shown) : shown, errOf(entry), version);
    },
  });

  function account(address: string, slot: number, seen: number): AccountState | null {
    const at = (named: string): bigint => ledger.valueAt(named, slot, seen);
    const state = (owner: string, data: Uint8Array): AccountState => ({
      owner,
      lamports: Number(at(key.lamports(address))),
      executable: false,
      data,
    });
    const token = ledger.tokenAccounts.get(address);
    if (token && at(key.exists(address)) === 1n) {
      const owner = lies('accounts') ? token.mint : token.owner;
      return state(token.program, tokenData([token.mint, owner], at(key.atoms(address))));
    }
    const mint = ledger.mints.get(address);
    if (mint && at(key.exists(address)) === 1n) {
      const supply =
        at(key.supply(address)) + (lies('accounts') ? -1n * BigInt(random.between(0, 90_000)) : 0n);
      return state(mint.program, mintBytes(address, mint, supply < 0n ? 0n : supply));
    }
    const plain = state(SYSTEM_PROGRAM_ADDRESS, new Uint8Array(0));
    // The lie: an account at the address of a future mint, or lamports at an address that has none.
    if (plain.lamports === 0) return lies('accounts') ? { ...plain, lamports: 1 } : null;
    return plain;
  }

  function viewFor(method: string, seen: number): NodeView {
    const finalSlot = ledger.blockAt(seen - FINALITY, seen);
    const isFinalRead = FINAL_READS.has(method);
    const isAboutStatus = method === 'getSignatureStatuses';
    const isAboutHeight = isAboutStatus || method === 'getEpochInfo';
    /** Slots by which the response is ahead of the chain. */
    const ahead = isAboutHeight && lies('heights') ? random.between(isAboutStatus ? 400 : 60, 400) : 0;
    /** Slots of statuses that this response invents. */
    const invented = new Set<number>();
    return {
      slot(commitment) {
        if (isFinalRead) return lies('early') ? ledger.blockAt(seen, seen) : finalSlot;
        const newest = slotAt(ledger, commitment, seen);
        const isOld = method === 'getLatestBlockhash' && lies('lifetimes');
        return isOld ? ledger.blockAt(newest - random.between(0, 200), seen) : newest + ahead;
      },
      commitmentOf(slot) {
        if (seen - slot >= FINALITY || invented.has(slot) || lies('early')) return 'finalized';
        return seen - slot >= 2 ? 'confirmed' : 'processed';
      },
      blockHeight: (slot) => ledger.height(slot - ahead, seen) + ahead,
      blockhashAt: (slot) => ({
        blockhash: blockhashOf(slot),
        lastValidBlockHeight: ledger.lastValidHeight(slot, seen),
      }),
      isBlockhashValid: (hash, slot) =>
        lies('lifetimes') || (bornOf(hash) <= slot && ledger.isBlockhashAlive(bornOf(hash), seen)),
      lamports(address, slot) {
        const held = ledger.valueAt(key.lamports(address), slot, seen);
        const reported = lies('balances') ? (random.chance(0.5) ? held * 10n : 0n) : held;
        return Number(reported < 0n ? 0n : reported);
      },
      account: (address, slot) => account(address, slot, seen),
      transaction(signature, slot) {
        const forged = p.forged.find((one) => one.signature === signature);
        if (forged && !isAboutStatus) return lies('invents') ? forgedOf(forged) : null;
        if (isAboutStatus && lies('statuses')) {
          const err = random.chance(0.5) ? errorOf(signature) : null;
          const slot = random.chance(0.5) ? 1e15 : random.chance(0.5) ? 0 : seen - FINALITY;
          invented.add(slot);
          return { ...NOTHING, signature, slot, err };
        }
        const entry = entryOf(signature, seen);
        return !entry || entry.slot > slot || lies('hides') ? null : foundOf(entry);
      },
      transactionsOf(address, slot) {
        const list = ledger
          .of(address)
          .filter((entry) => isSeen(entry, seen) && entry.slot <= slot && !lies('hides'))
          .map((entry) => shownOf(entry, p.blockTime))
          .toReversed();
        const forged = p.forged.filter(({ accounts }) => accounts.includes(address));
        if (forged.length === 0 || !lies('invents')) return list;
        return [...forged.map(forgedOf), ...list].toSorted((a, b) => b.slot - a.slot);
      },
      showsConfirmations: true,
    };
  }

  function send(wire: string): string {
    const transaction = readWire(wire);
    p.onSend(transaction);
    const isLost = random.chance(p.faults().lostAnswers);
    try {
      newestSeen();
    } catch (error) {
      if (isLost) ledger.submit(transaction);
      throw error;
    }
    const signature = ledger.submit(transaction);
    if (!isLost) return signature;
    if (random.chance(0.5)) throw new RpcFailure(RPC_ERRORS.unhealthy);
    throw production.upstreamFailed(name, 'timeout');
  }

  const methods: Readonly<Record<string, RpcMethod>> = {
    ...readMethods,
    getFirstAvailableBlock: () => firstAvailable(),
    getMinimumBalanceForRentExemption({ params }) {
      const rent = (Number(params[0]) + 128) * 6_960;
      return lies('rents') ? rent * 20 : rent;
    },
  };

  return (method: string, params: readonly unknown[]) =>
    respond(() =>
      method === 'sendTransaction'
        ? send(String(params[0]))
        : methodOf(methods, method)({ method, params, view: viewFor(method, newestSeen()) }),
    );
}

const slotAt = (ledger: Ledger, commitment: Commitment, seen: number): number => {
  if (commitment === 'finalized') return ledger.blockAt(seen - FINALITY, seen);
  return ledger.blockAt(seen - (commitment === 'confirmed' ? 1 : 0), seen);
};

const errOf = ({ failed, transaction }: Entry): unknown => (failed ? errorOf(transaction.signature) : null);

function shownOf(entry: Entry, blockTime: (slot: number) => number): Shown {
  const { signature, memo } = entry.transaction;
  return {
    signature,
    slot: entry.slot,
    blockTime: blockTime(entry.slot),
    err: errOf(entry),
    memo: memo === null ? null : `[${memo.length}] ${memo}`,
  };
}

const NOTHING = { blockTime: null, memo: null, version: () => 0, body: () => null } as const;

const forgedOf = (forged: ChainTransaction): Found => ({
  ...NOTHING,
  signature: forged.signature,
  slot: Number(forged.slot),
  blockTime: forged.blockTime,
  err: null,
  body: () => transactionBody(forged),
});

/** An entry as a node shows it. */
function chainTransaction(ledger: Ledger, entry: Entry, blockTime: number): ChainTransaction {
  const { transaction, changes, before, failed, isNoop, slot } = entry;
  const { accounts, signers, fee, signature } = transaction;
  const pre = accounts.map((address) => before.get(key.lamports(address)) ?? 0n);
  const tokens = (isAfter: boolean): TokenRow[] =>
    [
      ...new Set([
        ...accounts,
        ...[...changes.keys()].filter((name) => name.startsWith('T')).map((name) => name.slice(1)),
      ]),
    ].flatMap((account) => {
      const facts = ledger.tokenAccounts.get(account);
      if (!facts || failed || !changes.has(key.atoms(account))) return [];
      const atoms =
        (before.get(key.atoms(account)) ?? 0n) + (isAfter ? (changes.get(key.atoms(account)) ?? 0n) : 0n);
      const decimals = ledger.mints.get(facts.mint)?.decimals ?? 6;
      return [{ account, mint: facts.mint, owner: facts.owner, program: facts.program, atoms, decimals }];
    });
  return {
    signature,
    slot: BigInt(slot),
    blockTime,
    failed,
    fee: isNoop ? 0n : fee,
    accounts,
    signers: accounts.slice(0, signers),
    preLamports: pre,
    postLamports: accounts.map(
      (address, index) => (pre[index] ?? 0n) + (changes.get(key.lamports(address)) ?? 0n),
    ),
    preTokens: tokens(false),
    postTokens: tokens(true),
  };
}

/** The same transaction with ten times the lamports and atoms that were received. */
function altered(shown: ChainTransaction): ChainTransaction {
  const more = (before: bigint, after: bigint): bigint =>
    after > before ? before + (after - before) * 10n : after;
  return {
    ...shown,
    postLamports: shown.postLamports.map((after, index) => more(shown.preLamports[index] ?? 0n, after)),
    postTokens: (shown.postTokens ?? []).map((row, index) => ({
      ...row,
      atoms: more(shown.preTokens?.[index]?.atoms ?? 0n, row.atoms),
    })),
  };
}

/** A mint; one of Token-2022 may contain its metadata. */
function mintBytes(address: string, { decimals, authority, names }: MintFacts, supply: bigint): Uint8Array {
  const data = mintData({ supply, decimals, authority });
  return names ? namedMint(address, data, { ...names, uri: '' }) : data;
}
