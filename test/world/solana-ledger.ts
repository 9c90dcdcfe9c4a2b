import { base58, base64 } from '@scure/base';
import type { KeyPairSigner } from '@solana/web3.js';
import { type AccountHistory, createAccountHistory } from './account-history.ts';
import type { SolanaClock } from './solana-clock.ts';
import type { AccountState, Shown } from './solana-shapes.ts';
import type { RpcOutcome, Surfpool } from './surfpool.ts';
import { asVersionZero } from './transaction-version.ts';
import { readWireTransaction, type WireTransaction } from './wire-transaction.ts';

/** A landed transaction in the world's record. */
export interface LandedTransaction extends Shown {
  readonly signatures: readonly string[];
  /** The signature in the virtual machine, which differs if version 1 ran as version 0. */
  readonly ranAs: string;
  readonly blockTime: number;
  /** The signed version, or 1 for a transaction of a version 1 wallet of the world. */
  readonly version: 'legacy' | number;
  /** Whether it loads accounts from lookup tables. */
  readonly hasTables: boolean;
  /** Lamports, with the priority fee. */
  readonly fee: number;
  readonly accounts: readonly string[];
  readonly preBalances: readonly number[];
  readonly postBalances: readonly number[];
}

export interface SendOptions {
  readonly skipPreflight: boolean;
  /** Recorded as version 1, because the virtual machine runs version 0 only. */
  readonly asVersionOne?: boolean;
}

export interface SolanaLedger {
  readonly surfpool: Surfpool;
  readonly clock: SolanaClock;
  /** Runs a transaction now. It lands in the current slot, even if it fails there; after an error it has not landed. */
  send(wire: Uint8Array, options: SendOptions): Promise<RpcOutcome<string>>;
  transaction(signature: string): LandedTransaction | null;
  /** Transactions that name the address, newest first. */
  transactionsOf(address: string): readonly LandedTransaction[];
  count(): number;
  /** Finds keys of the world, with which transactions of version 1 are signed again as version 0. */
  lendKeys(find: (address: string) => Promise<KeyPairSigner | undefined>): void;
  /** The account at the end of a slot. */
  account(address: string, slot: number): Promise<AccountState | null>;
  /** Writes an account into the chain without a transaction (a pool, a program's state). */
  plant(address: string, lamports: bigint, data: Uint8Array, owner: string): Promise<void>;
  onLanded(listener: (transaction: LandedTransaction) => void): () => void;
}

interface RawAccount {
  readonly lamports: number;
  readonly owner: string;
  readonly executable: boolean;
  readonly space: number;
  readonly data: unknown;
}

interface RawTransaction {
  readonly slot: number;
  readonly meta: {
    readonly err: unknown;
    readonly preBalances: readonly number[];
    readonly postBalances: readonly number[];
    readonly loadedAddresses?: { readonly writable: readonly string[]; readonly readonly: readonly string[] };
  };
  readonly transaction: {
    readonly message: {
      readonly accountKeys: readonly string[];
      readonly instructions: readonly { readonly programIdIndex: number; readonly data: string }[];
    };
  };
}

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);

const MEMO_PROGRAMS = [
  'Memo1UhkJRfHyvLMcVucJwxXeuD728EqVDDwQDxFMNo',
  'MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr',
];

// In the form of `getSignaturesForAddress`: `[length] text` of every memo instruction of the message itself.
function memoOf({ accountKeys, instructions }: RawTransaction['transaction']['message']): string | null {
  const memos = instructions
    .filter(({ programIdIndex }) => MEMO_PROGRAMS.includes(accountKeys[programIdIndex] ?? ''))
    .map(({ data }) => base58.decode(data))
    .map((bytes) => `[${bytes.length}] ${new TextDecoder().decode(bytes)}`);
  return memos.length === 0 ? null : memos.join('; ');
}

/** @param now block times, Unix milliseconds */
export function createSolanaLedger(
  surfpool: Surfpool,
  clock: SolanaClock,
  now: () => number = Date.now,
): SolanaLedger {
  const history: AccountHistory = createAccountHistory();
  const landed = new Map<string, LandedTransaction>();
  const byAddress = new Map<string, LandedTransaction[]>();
  const listeners = new Set<(transaction: LandedTransaction) => void>();
  // One transaction at a time, so that the accounts can be read after each of them.
  let queue: Promise<unknown> = Promise.resolve();
  let findKey: (address: string) => Promise<KeyPairSigner | undefined> = async () => undefined;

  async function read(addresses: readonly string[]): Promise<(AccountState | null)[]> {
    const { value } = await surfpool.get<{ value: readonly (RawAccount | null)[] }>('getMultipleAccounts', [
      addresses,
      { encoding: 'base64' },
    ]);
    return addresses.map((_, index) => {
      const account = value[index];
      if (account === null || account === undefined) return null;
      const data = Array.isArray(account.data) ? base64.decode(String(account.data[0])) : new Uint8Array();
      return {
        lamports: account.lamports,
        owner: account.owner,
        executable: account.executable,
        data,
      };
    });
  }

  async function record(addresses: readonly string[], slot: number): Promise<void> {
    for (let from = 0; from < addresses.length; from += 100) {
      const part = addresses.slice(from, from + 100);
      const states = await read(part);
      for (const [index, address] of part.entries()) history.record(address, slot, states[index] ?? null);
    }
  }

  async function writable(wire: WireTransaction): Promise<string[]> {
    const loaded: string[] = [];
    for (const { table, writableIndexes } of wire.lookups) {
      const { value } = await surfpool.get<{ value: RawAccount | null }>('getAccountInfo', [
        table,
        { encoding: 'base64' },
      ]);
      const data = Array.isArray(value?.data) ? base64.decode(String(value.data[0])) : new Uint8Array();
      const entries = lookupEntries(data);
      for (const index of writableIndexes) loaded.push(entries[index] ?? '');
    }
    return [...wire.writableAccounts, ...loaded.filter((address) => address !== '')];
  }

  async function signedAnew(bytes: Uint8Array, { signers }: WireTransaction): Promise<Uint8Array> {
    const keys = await Promise.all(signers.map(({ address }) => findKey(address)));
    const missing = signers.filter((_, index) => keys[index] === undefined).map(({ address }) => address);
    if (missing.length > 0) throw new Error(`version 1 needs keys that the world lacks: ${missing.join()}`);
    return asVersionZero(
      bytes,
      keys.flatMap((key) => key ?? []),
    );
  }

  async function run(
    bytes: Uint8Array,
    { skipPreflight, asVersionOne = false }: SendOptions,
  ): Promise<RpcOutcome<string>> {
    const wire = readWireTransaction(bytes);
    const ran = wire.version === 1 ? await signedAnew(bytes, wire) : bytes;
    const ranAs = readWireTransaction(ran).signature;
    const touched = await writable(wire);
    await record(
      touched.filter((address) => !history.has(address)),
      0,
    );
    const outcome = await surfpool.call<string>('sendTransaction', [
      base64.encode(ran),
      { encoding: 'base64', skipPreflight, preflightCommitment: 'processed' },
    ]);
    if ('error' in outcome) return outcome;
    const raw = await surfpool.get<RawTransaction | null>('getTransaction', [
      ranAs,
      { encoding: 'json', maxSupportedTransactionVersion: 0 },
    ]);
    if (raw === null) return { result: wire.signature };
    await record(touched, raw.slot);
    const { meta } = raw;
    const transaction: LandedTransaction = {
      signature: wire.signature,
      signatures: wire.signers.map(({ signature }) => signature),
      ranAs,
      slot: raw.slot,
      blockTime: Math.floor(now() / 1000),
      version: asVersionOne ? 1 : wire.version,
      hasTables: wire.lookups.length > 0,
      err: meta.err,
      fee: sum(meta.preBalances) - sum(meta.postBalances),
      memo: memoOf(raw.transaction.message),
      accounts: [
        ...raw.transaction.message.accountKeys,
        ...(meta.loadedAddresses?.writable ?? []),
        ...(meta.loadedAddresses?.readonly ?? []),
      ],
      preBalances: meta.preBalances,
      postBalances: meta.postBalances,
    };
    landed.set(transaction.signature, transaction);
    for (const address of new Set(transaction.accounts)) {
      const list = byAddress.get(address) ?? [];
      list.unshift(transaction);
      byAddress.set(address, list);
    }
    clock.saw(transaction.slot);
    for (const listener of listeners) listener(transaction);
    return { result: transaction.signature };
  }

  function inTurn<T>(work: () => Promise<T>): Promise<T> {
    const result = queue.then(work);
    queue = result.catch(() => undefined);
    return result;
  }

  return {
    surfpool,
    clock,
    send: (bytes, options) => inTurn(() => run(bytes, options)),
    transaction: (signature) => landed.get(signature) ?? null,
    transactionsOf: (address) => byAddress.get(address) ?? [],
    count: () => landed.size,
    lendKeys(find) {
      findKey = find;
    },
    async account(address, slot) {
      const recorded = history.at(address, slot);
      if (recorded !== undefined) return recorded;
      const [current] = await read([address]);
      // A transaction may have changed the account during the read; the recorded account before it is returned then.
      const meanwhile = history.at(address, slot);
      return meanwhile !== undefined ? meanwhile : (current ?? null);
    },
    plant: (address, lamports, data, owner) =>
      inTurn(async () => {
        if (!history.has(address)) await record([address], 0);
        surfpool.setAccount(address, lamports, data, owner);
        await record([address], clock.slot('processed'));
      }),
    onLanded(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}

/** Addresses in a lookup table account: 32 bytes each after a header of 56 bytes. */
function lookupEntries(data: Uint8Array): string[] {
  const entries: string[] = [];
  for (let at = 56; at + 32 <= data.length; at += 32) entries.push(base58.encode(data.subarray(at, at + 32)));
  return entries;
}
