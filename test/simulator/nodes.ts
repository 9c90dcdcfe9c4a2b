/**
 * The custodian's nodes. Honest ones lag, fail or prune their history. At most a minority lies: these nodes invent and
 * hide transactions, and misstate heights, balances, accounts, statuses and blockhash lifetimes.
 * @module
 */

import { SYSTEM_PROGRAM_ADDRESS } from '@solana-program/system';
import { decodeBase58 } from '../../src/chain/solana/address.ts';
import { lamports } from '../../src/core/amount.ts';
import type {
  ChainTransaction,
  SignatureEntry,
  SolanaNode,
  SolanaRpc,
  TokenRow,
} from '../../src/providers/solana-rpc.ts';
import { extended, metadataPointer, tokenMetadata } from '../chain/solana/token-bytes.ts';
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
const MIN_CONTEXT_SLOT_NOT_REACHED = -32016;
const UNSUPPORTED_VERSION = -32015;

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
  const bare = production.createSolanaRpc({
    urls: nodes.map((_node, index) => `rpc://node-${index + 1}`),
    fetch: () => Promise.reject(new Error('not modelled')),
  });

  /** The nodes as called by one instance of the custodian. */
  function rpcOver(traced: Traced): SolanaRpc {
    const asked = nodes.flatMap((node, index): SolanaNode[] => {
      const base = bare.nodes[index];
      if (!base) return [];
      const t = <T>(method: string, ask: () => Promise<T>) => traced(`node-${index + 1}.${method}`)(ask);
      const modelled = {
        balance: (address: string, _commitment: string, least?: bigint) =>
          t('balance', () => node.balance(address, least)),
        latestBlockhash: (commitment: string) => t('blockhash', () => node.latestBlockhash(commitment)),
        isBlockhashValid: (hash: string) => t('isBlockhashValid', () => node.isBlockhashValid(hash)),
        epochInfo: (commitment: string) => t('epochInfo', () => node.epochInfo(commitment)),
        signatureStatuses: (signatures: readonly string[]) =>
          t(`statuses(${signatures.map((signature) => signature.slice(0, 8))})`, async () => {
            const seen = signatures.map(node.signatureStatus);
            return { slot: seen[0]?.slot ?? 0n, statuses: seen.map(({ status }) => status) };
          }),
        firstAvailableBlock: () => t('firstBlock', () => node.firstAvailableBlock()),
        send: (wire: string) => t('send', () => node.send(wire)),
        accounts: (addresses: readonly string[], commitment: string) =>
          t('accounts', () => node.accounts(addresses, commitment)),
        rentExemption: (bytes: number) => t('rent', () => node.rentExemption(bytes)),
        transaction: (signature: string) =>
          t(`transaction(${signature.slice(0, 8)})`, () => node.transaction(signature)),
        signaturesFor: (address: string, page: Page) =>
          t('signatures', () => node.signaturesFor(address, page)),
      };
      return [{ ...base, ...modelled } as SolanaNode];
    });
    return {
      ...bare,
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

type Page = { limit: number; before?: string; until?: string };

function createNode(p: Parameters<typeof createNodes>[0] & { spec: NodeSpec; index: number }) {
  const { ledger, random, production } = p;
  const name = `node-${p.index + 1}`;
  let lag = 0;
  let isDown = false;

  /** The newest slot of this response. @throws when the node is down */
  function view(): number {
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

  const finalized = (seen: number): number => ledger.blockAt(seen - FINALITY, seen);
  /** The newest slot that this response shows as final. */
  const shownFinal = (seen: number): number => (lies('early') ? ledger.blockAt(seen, seen) : finalized(seen));
  const slotAt = (commitment: string, seen: number): number =>
    commitment === 'finalized'
      ? finalized(seen)
      : ledger.blockAt(seen - (commitment === 'confirmed' ? 1 : 0), seen);
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

  function account(address: string, slot: number, seen: number) {
    const at = (named: string): bigint => ledger.valueAt(named, slot, seen);
    const token = ledger.tokenAccounts.get(address);
    if (token && at(key.exists(address)) === 1n) {
      const atoms = at(key.atoms(address));
      const owner = lies('accounts') ? token.mint : token.owner;
      return {
        owner: token.program,
        lamports: at(key.lamports(address)),
        data: tokenData(token.mint, owner, atoms),
      };
    }
    const mint = ledger.mints.get(address);
    if (mint && at(key.exists(address)) === 1n) {
      const supply =
        at(key.supply(address)) + (lies('accounts') ? -1n * BigInt(random.between(0, 90_000)) : 0n);
      return {
        owner: mint.program,
        lamports: at(key.lamports(address)),
        data: mintData(address, mint, supply < 0n ? 0n : supply),
      };
    }
    const held = at(key.lamports(address));
    // The lie: an account at the address of a future mint, or lamports at an address that has none.
    if (held === 0n && lies('accounts'))
      return { owner: SYSTEM_PROGRAM_ADDRESS, lamports: 1n, data: new Uint8Array(0) };
    return held > 0n ? { owner: SYSTEM_PROGRAM_ADDRESS, lamports: held, data: new Uint8Array(0) } : null;
  }

  return {
    async epochInfo(commitment: string) {
      const seen = view();
      const slot = slotAt(commitment, seen);
      const ahead = lies('heights') ? random.between(60, 400) : 0;
      return { slot: BigInt(slot + ahead), blockHeight: BigInt(ledger.height(slot, seen) + ahead) };
    },

    signatureStatus(signature: string) {
      const seen = view();
      const slot = BigInt(seen);
      const entry = entryOf(signature, seen);
      if (lies('statuses')) {
        const err = random.chance(0.5) ? { InstructionError: [2, 'Custom'] } : null;
        const shown = random.chance(0.5) ? 10n ** 15n : random.chance(0.5) ? 0n : BigInt(seen - FINALITY);
        return { slot, status: { slot: shown, err, commitment: 'finalized' as const } };
      }
      if (!entry || lies('hides')) return { slot: slot + (lies('heights') ? 400n : 0n), status: null };
      const depth = seen - entry.slot;
      const commitment: 'finalized' | 'confirmed' | 'processed' =
        depth >= FINALITY || lies('early') ? 'finalized' : depth >= 2 ? 'confirmed' : 'processed';
      const err = entry.failed ? { InstructionError: [2, 'Custom'] } : null;
      return { slot, status: { slot: BigInt(entry.slot), err, commitment } };
    },

    async firstAvailableBlock() {
      view();
      return BigInt(firstAvailable());
    },

    async latestBlockhash(commitment: string) {
      const seen = view();
      const slot = ledger.blockAt(
        slotAt(commitment, seen) - (lies('lifetimes') ? random.between(0, 200) : 0),
        seen,
      );
      const lie = lies('lifetimes') ? random.between(60, 140) : 0;
      const lastValidBlockHeight = BigInt(ledger.lastValidHeight(slot, seen) - lie);
      return { blockhash: blockhashOf(slot), lastValidBlockHeight, slot: BigInt(slot) };
    },

    async isBlockhashValid(hash: string) {
      const seen = view();
      const slot = slotAt('confirmed', seen);
      const valid =
        lies('lifetimes') || (bornOf(hash) <= slot && ledger.isBlockhashAlive(bornOf(hash), seen));
      return { valid, slot: BigInt(slot) };
    },

    async balance(address: string, least?: bigint) {
      const seen = view();
      const slot = shownFinal(seen);
      if (least !== undefined && least > BigInt(slot)) {
        throw new production.RpcRefusal(
          MIN_CONTEXT_SLOT_NOT_REACHED,
          'Minimum context slot has not been reached',
          {
            contextSlot: slot,
          },
        );
      }
      const held = ledger.valueAt(key.lamports(address), slot, seen);
      const reported = lies('balances') ? (random.chance(0.5) ? held * 10n : 0n) : held;
      return { lamports: lamports(reported < 0n ? 0n : reported), slot: BigInt(slot) };
    },

    async send(wire: string) {
      const transaction = readWire(wire);
      p.onSend(transaction);
      const isLost = random.chance(p.faults().lostAnswers);
      try {
        view();
      } catch (error) {
        if (isLost) ledger.submit(transaction);
        throw error;
      }
      const signature = ledger.submit(transaction);
      if (isLost) throw production.upstreamFailed(name, 'timeout');
      return signature;
    },

    async accounts(addresses: readonly string[], commitment: string) {
      const seen = view();
      const slot = slotAt(commitment, seen);
      return { slot: BigInt(slot), accounts: addresses.map((address) => account(address, slot, seen)) };
    },

    async rentExemption(bytes: number) {
      view();
      const rent = BigInt(bytes + 128) * 6_960n;
      return lies('rents') ? rent * 20n : rent;
    },

    async transaction(signature: string): Promise<ChainTransaction | null> {
      const seen = view();
      const forged = p.forged.find((one) => one.signature === signature);
      if (forged) return lies('invents') ? forged : null;
      const entry = entryOf(signature, seen);
      if (!entry || entry.slot > shownFinal(seen) || lies('hides')) return null;
      if (!entry.transaction.readable)
        throw new production.RpcRefusal(
          UNSUPPORTED_VERSION,
          'Transaction version (1) is not supported',
          undefined,
        );
      const shown = chainTransaction(ledger, entry, p.blockTime(entry.slot));
      return lies('alters') ? altered(shown) : shown;
    },

    async signaturesFor(address: string, page: Page): Promise<SignatureEntry[]> {
      const seen = view();
      const final = shownFinal(seen);
      let list: SignatureEntry[] = ledger
        .of(address)
        .filter((entry) => isSeen(entry, seen) && entry.slot <= final && !lies('hides'))
        .toReversed()
        .map(({ transaction, slot, failed }) => ({
          signature: transaction.signature,
          slot: BigInt(slot),
          err: failed ? 'InstructionError' : null,
          blockTime: p.blockTime(slot),
          memo: transaction.memo === null ? null : `[${transaction.memo.length}] ${transaction.memo}`,
        }));
      const invented = p.forged.filter(({ accounts }) => accounts.includes(address));
      if (invented.length > 0 && lies('invents')) {
        const entries = invented.map(({ signature, slot, blockTime }) => ({
          signature,
          slot,
          err: null,
          blockTime,
        }));
        list = [...entries, ...list].toSorted((a, b) => Number(b.slot - a.slot));
      }
      const before = list.findIndex((entry) => entry.signature === page.before);
      if (before >= 0) list = list.slice(before + 1);
      const until = list.findIndex((entry) => entry.signature === page.until);
      if (until >= 0) list = list.slice(0, until);
      return list.slice(0, page.limit);
    },
  };
}

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

const bytesOf = (address: string): Uint8Array => decodeBase58(address, 32) ?? new Uint8Array(32);

/** SPL Mint: authority, supply, decimals, initialized. */
function mintData(address: string, mint: MintFacts, supply: bigint): Uint8Array {
  const data = Buffer.alloc(82);
  if (mint.authority !== null) {
    data.writeUInt32LE(1, 0);
    data.set(bytesOf(mint.authority), 4);
  }
  data.writeBigUInt64LE(supply, 36);
  data[44] = mint.decimals;
  data[45] = 1;
  const { names } = mint;
  return names
    ? extended(data, 1, [
        [18, metadataPointer(address)],
        [19, tokenMetadata(address, { ...names, uri: '' })],
      ])
    : data;
}

/** SPL Account: mint, owner, amount, initialized. */
function tokenData(mint: string, owner: string, atoms: bigint): Uint8Array {
  const data = Buffer.alloc(165);
  data.set(bytesOf(mint), 0);
  data.set(bytesOf(owner), 32);
  data.writeBigUInt64LE(atoms, 64);
  data[108] = 1;
  return data;
}
