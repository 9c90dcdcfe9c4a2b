import { zstdCompressSync } from 'node:zlib';
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

interface DataSlice {
  readonly offset: number;
  readonly length: number;
}

function encodeData(account: AccountState, config: Record<string, unknown>): unknown {
  const { encoding } = config;
  if (encoding === 'jsonParsed' && account.parsed !== null) return account.parsed;
  const slice = config.dataSlice as DataSlice | undefined;
  const data =
    slice === undefined ? account.data : account.data.subarray(slice.offset, slice.offset + slice.length);
  if (encoding === 'base64' || encoding === 'jsonParsed') return [base64.encode(data), 'base64'];
  if (encoding === 'base64+zstd') return [base64.encode(zstdCompressSync(data)), 'base64+zstd'];
  if (data.length > 128)
    throw invalidParams(
      'Encoded binary (base 58) data should be less than 128 bytes, please use Base64 encoding.',
    );
  return encoding === 'base58' ? [base58.encode(data), 'base58'] : base58.encode(data);
}

// rentEpoch: every real account has u64::MAX. The server writes that literal, which no JavaScript number can
// represent.
function show(account: AccountState | null, config: Record<string, unknown>): unknown {
  if (account === null || account.lamports === 0) return null;
  return {
    data: encodeData(account, config),
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
  const slot = slotOf(call, config);
  const accounts = await Promise.all(addresses.map((address) => read(call, String(address), slot)));
  return withContext(
    slot,
    accounts.map((account) => show(account, { encoding: 'base64', ...config })),
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

interface Found {
  readonly pubkey: string;
}

// Found by the virtual machine among the newest accounts, shown as the slot of this commitment has them.
async function asOf(call: RpcCall, found: readonly Found[], config: Record<string, unknown>, slot: number) {
  const shown = await Promise.all(
    found.map(async ({ pubkey }) => ({ pubkey, account: show(await read(call, pubkey, slot), config) })),
  );
  return shown.filter(({ account }) => account !== null);
}

async function tokenAccountsByOwner(call: RpcCall): Promise<unknown> {
  const config = configParam(call, 2);
  const slot = slotOf(call, config);
  const { value } = await call.ledger.surfpool.get<{ value: readonly Found[] }>(call.method, [
    checkAddress(textParam(call, 0)),
    configParam(call, 1),
    { encoding: 'base64' },
  ]);
  return withContext(slot, await asOf(call, value, config, slot));
}

async function programAccounts(call: RpcCall): Promise<unknown> {
  const config = configParam(call, 1);
  const slot = slotOf(call, config);
  const found = await call.ledger.surfpool.get<readonly Found[]>(call.method, [
    checkAddress(textParam(call, 0)),
    { encoding: 'base64', ...(config.filters === undefined ? {} : { filters: config.filters }) },
  ]);
  const shown = await asOf(call, found, config, slot);
  return config.withContext === true ? withContext(slot, shown) : shown;
}

export const accountMethods: Record<string, RpcMethod> = {
  async getBalance(call) {
    const slot = slotOf(call, configParam(call, 1));
    return withContext(slot, (await read(call, textParam(call, 0), slot))?.lamports ?? 0);
  },
  async getAccountInfo(call) {
    const config = configParam(call, 1);
    const slot = slotOf(call, config);
    return withContext(slot, show(await read(call, textParam(call, 0), slot), config));
  },
  getMultipleAccounts: multipleAccounts,
  getTokenSupply: tokenSupply,
  getTokenAccountBalance: tokenAccountBalance,
  getTokenAccountsByOwner: tokenAccountsByOwner,
  getProgramAccounts: programAccounts,
};
