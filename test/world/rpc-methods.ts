/**
 * The read methods of a Solana node over its view of the chain. The nodes of the world and of the simulator run them.
 * @module
 */
import {
  commitmentOf,
  configParam,
  invalidParams,
  type RpcCall,
  RpcFailure,
  type RpcMethod,
  slotOf,
  textParam,
} from './rpc-call.ts';
import {
  accountBody,
  type DataSlice,
  epochBody,
  inContext,
  listedBody,
  pageOf,
  RPC_ERRORS,
  statusBody,
  tokenAmountBody,
} from './solana-shapes.ts';
import { readMint, readTokenAccount } from './token-account.ts';

/** Slots for which a status is available without searchTransactionHistory. */
const STATUS_CACHE_SLOTS = 300;

async function multipleAccounts(call: RpcCall): Promise<unknown> {
  const addresses = call.params[0];
  if (!Array.isArray(addresses) || addresses.length > 100)
    throw invalidParams('Too many inputs provided; max 100');
  const config = configParam(call, 1);
  if (config.encoding !== 'base64') throw invalidParams('the model encodes accounts as base64 only');
  const slot = slotOf(call, config);
  const accounts = await Promise.all(addresses.map((address) => call.view.account(String(address), slot)));
  return inContext(
    accounts.map((account) => account && accountBody(account, config.dataSlice as DataSlice | undefined)),
    slot,
  );
}

async function tokenSupply(call: RpcCall): Promise<unknown> {
  const slot = slotOf(call, configParam(call, 1));
  const mint = readMint(await call.view.account(textParam(call, 0), slot));
  if (mint === null) throw invalidParams('Invalid param: not a Token mint');
  return inContext(tokenAmountBody(mint.supply, mint.decimals), slot);
}

async function tokenAccountBalance(call: RpcCall): Promise<unknown> {
  const slot = slotOf(call, configParam(call, 1));
  const state = await call.view.account(textParam(call, 0), slot);
  if (state === null) throw invalidParams('Invalid param: could not find account');
  const account = readTokenAccount(state);
  if (account === null) throw invalidParams('Invalid param: not a Token account');
  const mint = readMint(await call.view.account(account.mint, slot));
  return inContext(tokenAmountBody(account.amount, mint?.decimals ?? 0), slot);
}

function signatureStatuses(call: RpcCall): unknown {
  const signatures = call.params[0];
  if (!Array.isArray(signatures) || signatures.length > 256)
    throw invalidParams('Too many inputs provided; max 256');
  const searchesHistory = configParam(call, 1).searchTransactionHistory === true;
  const { view } = call;
  const head = view.slot('processed');
  const rows = signatures.map((signature: unknown) => {
    const found = view.transaction(String(signature), head);
    if (found === null || (!searchesHistory && found.slot < head - STATUS_CACHE_SLOTS)) return null;
    const { confirmations, ...status } = statusBody(found, view.commitmentOf(found.slot), head);
    return view.showsConfirmations ? { ...status, confirmations } : status;
  });
  return inContext(rows, head);
}

function atLeastConfirmed(config: Record<string, unknown>): void {
  if (commitmentOf(config) === 'processed')
    throw invalidParams('Method does not support commitment below `confirmed`');
}

function signaturesForAddress(call: RpcCall): unknown {
  const config = configParam(call, 1);
  atLeastConfirmed(config);
  const slot = slotOf(call, config);
  const { limit = 1_000 } = config;
  if (typeof limit !== 'number' || limit < 1 || limit > 1_000) throw invalidParams('Invalid limit; max 1000');
  const { view } = call;
  return pageOf(view.transactionsOf(textParam(call, 0), slot), config).map((one) =>
    listedBody(one, view.commitmentOf(one.slot)),
  );
}

/** Refuses a transaction above the client's maximum version, like a node. A missing maximum allows `legacy` only. */
function requireVersion(version: 'legacy' | number, supported: unknown): void {
  if (version === 'legacy' || (typeof supported === 'number' && supported >= version)) return;
  throw new RpcFailure(RPC_ERRORS.unsupportedVersion(version));
}

function transaction(call: RpcCall): unknown {
  const second = call.params[1];
  const config = typeof second === 'string' ? { encoding: second } : configParam(call, 1);
  atLeastConfirmed(config);
  const { view } = call;
  const found = view.transaction(textParam(call, 0), slotOf(call, config));
  if (found === null) return null;
  const version = found.version();
  requireVersion(version, config.maxSupportedTransactionVersion);
  return found.body(version, config.encoding ?? 'json');
}

export const readMethods: Readonly<Record<string, RpcMethod>> = {
  getEpochInfo(call) {
    const slot = slotOf(call, configParam(call, 0));
    return epochBody(slot, call.view.blockHeight(slot));
  },
  getLatestBlockhash(call) {
    const slot = slotOf(call, configParam(call, 0));
    const { blockhash, lastValidBlockHeight } = call.view.blockhashAt(slot);
    return inContext({ blockhash, lastValidBlockHeight }, slot);
  },
  isBlockhashValid(call) {
    const slot = slotOf(call, configParam(call, 1));
    return inContext(call.view.isBlockhashValid(textParam(call, 0), slot), slot);
  },
  async getBalance(call) {
    const slot = slotOf(call, configParam(call, 1));
    return inContext(await call.view.lamports(textParam(call, 0), slot), slot);
  },
  getMultipleAccounts: multipleAccounts,
  getTokenSupply: tokenSupply,
  getTokenAccountBalance: tokenAccountBalance,
  getSignatureStatuses: signatureStatuses,
  getSignaturesForAddress: signaturesForAddress,
  getTransaction: transaction,
};
