/**
 * Solana JSON-RPC over a list of nodes. Plain reads use the first node that responds. The evidence that a
 * transaction landed or expired is read from each node separately, because responses of different nodes do not
 * combine into a proof. Amounts are bigint, and the commitment is always explicit.
 * @see https://solana.com/docs/rpc
 * @module
 */
import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js';
import type * as z from 'zod';
import { lamports } from '../core/amount.ts';
import { failureReason, UpstreamRefusal, upstreamFailed } from '../core/errors.ts';
import { tryJson } from '../core/json.ts';
import { ask, type Fetch, hedged, shaped, type UpstreamResponse } from './http.ts';
import {
  type Account,
  Accounts,
  Balance,
  Blockhash,
  Envelope,
  EpochInfo,
  ErrorEnvelope,
  SentSignature,
  Signatures,
  Simulation,
  Statuses,
  TokenAmount,
  Transaction,
  Unparsed,
  uint,
  Validity,
  Version,
} from './solana-responses.ts';

export type { ChainTransaction, TokenRow } from '../chain/solana/transaction.ts';

/** An Alpenglow cluster has a genesis certificate. Agave before 4.3 cannot report it: `unknown`. */
export type Consensus = 'towerbft' | 'alpenglow' | 'unknown';

export type Commitment = 'processed' | 'confirmed' | 'finalized';

/** An account as a node shows it. */
export type ChainAccount = Readonly<z.infer<typeof Account>>;
/** A row of `getSignaturesForAddress`. */
export type SignatureEntry = Readonly<z.infer<typeof Signatures>[number]>;

export type SolanaRpc = ReturnType<typeof createSolanaRpc>;
export type SolanaNode = SolanaRpc['nodes'][number];

/** A JSON-RPC error response, with a code from anza-xyz/agave `custom_error.rs`. */
export class RpcRefusal extends UpstreamRefusal {
  override readonly name = 'RpcRefusal';
  readonly code: number;
  readonly data: unknown;
  constructor(code: number, message: string, data: unknown) {
    super(`rpc_${code}`, message);
    this.code = code;
    this.data = data;
  }
}

/** The error code for a transaction whose version is above the requested maximum. */
const UNSUPPORTED_VERSION = -32_015;
const METHOD_NOT_FOUND = -32_601;
/** The newest transaction version whose JSON form this file can read (SIMD-0385). */
const NEWEST_VERSION = 1;
/** The highest version that a read can request from a node. */
export const ANY_VERSION = 255;

/**
 * Some nodes return a JSON-RPC error with HTTP status 400 or 500. The JSON-RPC code is more specific
 * than the status, except for 429.
 */
function refusalUnderHttpError({
  status,
  text,
}: UpstreamResponse): z.infer<typeof ErrorEnvelope> | undefined {
  if ((status >= 200 && status <= 299) || status === 429) return undefined;
  return ErrorEnvelope.safeParse(tryJson(text)).data;
}

type RpcOptions = {
  readonly urls: readonly string[];
  readonly fetch: Fetch;
  /** Names the nodes in errors and in the status. */
  readonly name?: string;
};

const CUSTODY_NODE = 'solana-rpc';

/** Whether an upstream of this name is one of the custodian's nodes. */
export const isCustodyNode = (name: string): boolean => name.startsWith(`${CUSTODY_NODE}-`);

export function createSolanaRpc({ urls, fetch, name = CUSTODY_NODE }: RpcOptions) {
  const nodes = urls.map((url, index) => {
    const node = `${name}-${index + 1}`;
    return createNode(url, node, exchangeOver(url, node, fetch));
  });

  /** The response of the first node that returns one. @throws the first node's failure if all fail */
  async function first<T>(read: (node: (typeof nodes)[number]) => Promise<T>): Promise<T> {
    if (nodes.length === 0) throw upstreamFailed(name, 'no_node');
    return hedged(nodes, read).catch((failure: unknown) => {
      throw asUpstreamFailure(failure);
    });
  }

  return { nodes, first };
}

/** Sends one JSON-RPC request to a node, and returns the members of its response. */
type Exchange = (method: string, params: unknown[]) => Promise<z.infer<typeof Envelope>>;

export function createNode(url: string, name: string, exchange: Exchange) {
  const call = createCall(name, exchange);
  return {
    name,
    /**
     * Identifies the node independently of its position in the list. It does not reveal the URL, which may
     * contain a key.
     */
    id: bytesToHex(sha256(utf8ToBytes(url))).slice(0, 12),
    call,
    ...stateReads(name, call),
    ...transactionReads(name, call),
    ...sends(call),
  };
}

const exchangeOver =
  (url: string, name: string, fetch: Fetch): Exchange =>
  async (method, params) => {
    const body = { jsonrpc: '2.0', id: 1, method, params };
    // Anyone can add transactions with long memos to a list.
    const shortens = method === 'getSignaturesForAddress';
    const answer = await ask({ fetch, upstream: name, url, method: 'POST', body, shortens });
    return refusalUnderHttpError(answer) ?? shaped(name, answer, Envelope);
  };

type Call = ReturnType<typeof createCall>;

function createCall(name: string, exchange: Exchange) {
  return async function call<T>(method: string, params: unknown[], result: z.ZodType<T>): Promise<T> {
    const { error, result: value } = await exchange(method, params);
    if (error) throw new RpcRefusal(error.code, error.message, error.data);
    const parsed = result.safeParse(value);
    if (!parsed.success) throw upstreamFailed(name, `unexpected_shape_${method}`, parsed.error);
    return parsed.data;
  };
}

/**
 * Maximum bytes read of an account. Callers name accounts, and an account can have 10 MB. A hundred accounts of this
 * length fit into one response.
 */
const MOST_ACCOUNT_BYTES = 12 * 1024;

/** Blocks, balances and accounts. */
const stateReads = (name: string, call: Call) => ({
  /** Lamports of an account and the slot of that view, not older than `minContextSlot`. */
  async balance(address: string, commitment: Commitment, minContextSlot?: bigint) {
    const options = { commitment, ...(minContextSlot ? { minContextSlot: Number(minContextSlot) } : {}) };
    const { context, value } = await call('getBalance', [address, options], Balance);
    return { lamports: lamports(value), slot: context.slot };
  },

  async latestBlockhash(commitment: Commitment) {
    const { context, value } = await call('getLatestBlockhash', [{ commitment }], Blockhash);
    return { ...value, slot: context.slot };
  },

  /** Whether the node has seen the blockhash and still accepts it, and the slot of that view. */
  async isBlockhashValid(blockhash: string, commitment: Commitment) {
    const { context, value } = await call('isBlockhashValid', [blockhash, { commitment }], Validity);
    return { valid: value, slot: context.slot };
  },

  /** Slot and block height of one view of the chain, in one response. */
  async epochInfo(commitment: Commitment) {
    const info = await call('getEpochInfo', [{ commitment }], EpochInfo);
    return { slot: info.absoluteSlot, blockHeight: info.blockHeight };
  },

  async consensus(): Promise<Consensus> {
    try {
      return (await call('getAgGenesisCert', [], Unparsed)) === null ? 'towerbft' : 'alpenglow';
    } catch (error) {
      if (error instanceof RpcRefusal && error.code === METHOD_NOT_FOUND) return 'unknown';
      throw error;
    }
  },

  firstAvailableBlock: () => call('getFirstAvailableBlock', [], uint),

  /**
   * Accounts of one slot, in the given order, null if absent; at most 100 addresses per call.
   * @param bytes maximum bytes of data that the node sends; an account with as many or more is returned without data
   */
  async accounts(addresses: readonly string[], commitment: Commitment, bytes = MOST_ACCOUNT_BYTES) {
    const options = { encoding: 'base64', commitment, dataSlice: { offset: 0, length: bytes } };
    const { context, value } = await call('getMultipleAccounts', [addresses, options], Accounts);
    if (value.length !== addresses.length) throw upstreamFailed(name, 'unexpected_shape_getMultipleAccounts');
    const accounts = value.map((account) =>
      account && account.data.length >= bytes ? { ...account, data: new Uint8Array() } : account,
    );
    return { slot: context.slot, accounts };
  },

  /** Minimum balance that makes an account of this size in bytes rent-exempt, in lamports. */
  rentExemption: (bytes: number) => call('getMinimumBalanceForRentExemption', [bytes], uint),

  async tokenSupply(mint: string, commitment: Commitment, minContextSlot?: bigint) {
    const options = { commitment, ...(minContextSlot ? { minContextSlot: Number(minContextSlot) } : {}) };
    const { context, value } = await call('getTokenSupply', [mint, options], TokenAmount);
    return { atoms: value.amount, decimals: value.decimals, slot: context.slot };
  },
});

/** A page of `getSignaturesForAddress`. `before` is exclusive. */
type SignaturePage = {
  readonly limit: number;
  readonly before?: string;
  readonly commitment: Commitment;
};

/** Statuses, contents and lists of transactions. */
const transactionReads = (name: string, call: Call) => ({
  /** At most 256. Searches the whole history: the recent cache covers only about 150 blocks. */
  async signatureStatuses(signatures: readonly string[]) {
    const options = { searchTransactionHistory: true };
    const { context, value } = await call('getSignatureStatuses', [signatures, options], Statuses);
    if (value.length !== signatures.length)
      throw upstreamFailed(name, 'unexpected_shape_getSignatureStatuses');
    return { slot: context.slot, statuses: value };
  },

  /**
   * A transaction at this commitment, or null while the node does not have it.
   * @throws RpcRefusal -32015 for a version above `newest`, even if the node returns it, and for a version whose JSON
   * has a different form
   */
  async transaction(signature: string, commitment: 'confirmed' | 'finalized', newest = NEWEST_VERSION) {
    const options = { encoding: 'json', commitment, maxSupportedTransactionVersion: newest };
    const shown = await call('getTransaction', [signature, options], Unparsed);
    const version = Version.safeParse(shown).data?.version ?? 'legacy';
    const number = version === 'legacy' ? 0 : version;
    const parsed = Transaction.safeParse(shown);
    const isKnown = typeof number === 'number' && number <= (parsed.success ? newest : NEWEST_VERSION);
    if (!isKnown)
      throw new RpcRefusal(UNSUPPORTED_VERSION, 'transaction version is not supported', undefined);
    if (!parsed.success) throw upstreamFailed(name, 'unexpected_shape_getTransaction', parsed.error);
    return parsed.data;
  },

  /** Newest first; failed ones included. */
  signaturesFor: (address: string, page: SignaturePage): Promise<SignatureEntry[]> =>
    call('getSignaturesForAddress', [address, page], Signatures),
});

/** RPC methods that send or simulate a transaction. */
const sends = (call: Call) => ({
  /** Sends without preflight, because the transaction was already checked and a lagging node must not refuse it. */
  send: (wireBase64: string) =>
    call(
      'sendTransaction',
      [
        wireBase64,
        { encoding: 'base64', skipPreflight: true, preflightCommitment: 'confirmed', maxRetries: 0 },
      ],
      SentSignature,
    ),

  /** Simulates a message without signatures. Returns the node's error, or null on success. */
  async simulate(wireBase64: string): Promise<unknown> {
    const options = {
      encoding: 'base64',
      sigVerify: false,
      replaceRecentBlockhash: true,
      commitment: 'confirmed',
    };
    const { value } = await call('simulateTransaction', [wireBase64, options], Simulation);
    return value.err;
  },
});

/** A node's failure in the form that callers may see. */
export const asUpstreamFailure = (error: unknown): unknown =>
  error instanceof RpcRefusal ? upstreamFailed('solana-rpc', error.reason, error) : error;

/** Whether an error of sendTransaction means that the transaction has already landed. */
export function isAlreadyProcessed(error: unknown): boolean {
  if (!(error instanceof RpcRefusal)) return false;
  const { data } = error;
  const err: unknown = typeof data === 'object' && data !== null ? Reflect.get(data, 'err') : undefined;
  return err === 'AlreadyProcessed' || /already been processed/i.test(error.message);
}

/**
 * Whether a read failed because the transaction's version is unsupported. Our own transactions never have an
 * unsupported version.
 */
export const isUnsupportedVersion = (error: unknown): boolean =>
  failureReason(error) === `rpc_${UNSUPPORTED_VERSION}`;
