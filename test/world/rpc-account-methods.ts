import { base58, base64 } from '@scure/base';
import type { AccountState } from './account-history.ts';
import {
  configParam,
  invalidParams,
  type RpcCall,
  type RpcMethod,
  slotOf,
  textParam,
  withContext,
} from './rpc-call.ts';
import { formatTokenAmount, readMint, readTokenAccount } from './token-account.ts';

function checkAddress(text: string): string {
  try {
    if (base58.decode(text).length === 32) return text;
  } catch {
    throw invalidParams('Invalid param: Invalid');
  }
  throw invalidParams('Invalid param: WrongSize');
}

/** The part of an account's data that a node sends; `space` stays the size of all of it. */
type DataSlice = { readonly offset: number; readonly length: number };

// rentEpoch: every real account has u64::MAX. The server writes that literal, which no JavaScript number can
// represent.
function show(account: AccountState | null, { offset, length }: DataSlice): unknown {
  if (account === null || account.lamports === 0) return null;
  return {
    data: [base64.encode(account.data.slice(offset, offset + length)), 'base64'],
    executable: account.executable,
    lamports: account.lamports,
    owner: account.owner,
    rentEpoch: 0,
    space: account.space,
  };
}

const read = (call: RpcCall, address: string, slot: number): Promise<AccountState | null> =>
  call.ledger.account(checkAddress(address), slot);

async function multipleAccounts(call: RpcCall): Promise<unknown> {
  const addresses = call.params[0];
  if (!Array.isArray(addresses) || addresses.length > 100)
    throw invalidParams('Too many inputs provided; max 100');
  const config = configParam(call, 1);
  if (config.encoding !== 'base64') throw invalidParams('the world encodes accounts as base64 only');
  const slot = slotOf(call, config);
  const accounts = await Promise.all(addresses.map((address) => read(call, String(address), slot)));
  const { dataSlice: slice = { offset: 0, length: Number.POSITIVE_INFINITY } } = config;
  return withContext(
    slot,
    accounts.map((account) => show(account, slice as DataSlice)),
  );
}

async function tokenSupply(call: RpcCall): Promise<unknown> {
  const slot = slotOf(call, configParam(call, 1));
  const mint = readMint(await read(call, textParam(call, 0), slot));
  if (mint === null) throw invalidParams('Invalid param: not a Token mint');
  return withContext(slot, formatTokenAmount(mint.supply, mint.decimals));
}

async function tokenAccountBalance(call: RpcCall): Promise<unknown> {
  const slot = slotOf(call, configParam(call, 1));
  const state = await read(call, textParam(call, 0), slot);
  if (state === null) throw invalidParams('Invalid param: could not find account');
  const account = readTokenAccount(state);
  if (account === null) throw invalidParams('Invalid param: not a Token account');
  const mint = readMint(await read(call, account.mint, slot));
  return withContext(slot, formatTokenAmount(account.amount, mint?.decimals ?? 0));
}

export const accountMethods: Record<string, RpcMethod> = {
  async getBalance(call) {
    const slot = slotOf(call, configParam(call, 1));
    return withContext(slot, (await read(call, textParam(call, 0), slot))?.lamports ?? 0);
  },
  getMultipleAccounts: multipleAccounts,
  getTokenSupply: tokenSupply,
  getTokenAccountBalance: tokenAccountBalance,
};
