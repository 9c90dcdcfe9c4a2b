import { base58, base64 } from '@scure/base';
import {
  commitmentOf,
  configParam,
  invalidParams,
  type RpcCall,
  RpcFailure,
  type RpcMethod,
  slotOf,
  textParam,
  withContext,
} from './rpc-call.ts';
import { blockhashIsValid } from './rpc-chain-methods.ts';
import type { LandedTransaction } from './solana-ledger.ts';
import { formatTokenAmount } from './token-account.ts';
import { asVersionOne, asVersionZero, requireVersion } from './transaction-version.ts';
import { maxWireBytes, readWireTransaction, type WireTransaction } from './wire-transaction.ts';

/** Slots for which a status is available without searchTransactionHistory. */
const STATUS_CACHE_SLOTS = 300;

function confirmationStatus(call: RpcCall, slot: number): 'processed' | 'confirmed' | 'finalized' {
  const { clock } = call.ledger;
  if (slot <= clock.slot('finalized', call.lag)) return 'finalized';
  return slot <= clock.slot('confirmed', call.lag) ? 'confirmed' : 'processed';
}

/** A landed transaction as shown by this server; null while it is unknown, too new or hidden. */
function known(call: RpcCall, signature: string, slot: number): LandedTransaction | null {
  const transaction = call.ledger.transaction(signature);
  return transaction === null || transaction.slot > slot || call.hides(signature) ? null : transaction;
}

function signatureStatuses(call: RpcCall): unknown {
  const signatures = call.params[0];
  if (!Array.isArray(signatures) || signatures.length > 256)
    throw invalidParams('Too many inputs provided; max 256');
  const history = configParam(call, 1).searchTransactionHistory === true;
  const head = call.ledger.clock.slot('processed', call.lag);
  return withContext(
    head,
    signatures.map((signature: unknown) => {
      const found = known(call, String(signature), head);
      if (found === null || (!history && found.slot < head - STATUS_CACHE_SLOTS)) return null;
      const status = confirmationStatus(call, found.slot);
      return {
        slot: found.slot,
        ...(call.showsConfirmations
          ? { confirmations: status === 'finalized' ? null : head - found.slot }
          : {}),
        err: found.err,
        status: found.err === null ? { Ok: null } : { Err: found.err },
        confirmationStatus: status,
      };
    }),
  );
}

function atLeastConfirmed(config: Record<string, unknown>): void {
  if (commitmentOf(config) === 'processed')
    throw invalidParams('Method does not support commitment below `confirmed`');
}

function signaturesForAddress(call: RpcCall): unknown {
  const config = configParam(call, 1);
  atLeastConfirmed(config);
  const slot = slotOf(call, config);
  const limit = typeof config.limit === 'number' ? config.limit : 1000;
  if (limit < 1 || limit > 1000) throw invalidParams('Invalid limit; max 1000');
  let rows = call.ledger
    .transactionsOf(textParam(call, 0))
    .filter((one) => one.slot <= slot && !call.hides(one.signature));
  const index = (signature: unknown) => rows.findIndex((one) => one.signature === signature);
  if (typeof config.before === 'string') {
    const at = index(config.before);
    rows = at === -1 ? [] : rows.slice(at + 1);
  }
  if (typeof config.until === 'string') {
    const at = index(config.until);
    if (at !== -1) rows = rows.slice(0, at);
  }
  return rows.slice(0, limit).map((one) => ({
    signature: one.signature,
    slot: one.slot,
    err: one.err,
    memo: one.memo,
    blockTime: one.blockTime,
    confirmationStatus: confirmationStatus(call, one.slot),
  }));
}

interface TokenBalance {
  readonly uiTokenAmount: { readonly amount: string; readonly decimals: number };
}

interface ShownTransaction {
  blockTime: number;
  transaction: { signatures: readonly string[] };
  meta: {
    fee: number;
    computeUnitsConsumed?: number;
    costUnits?: number;
    rewards?: unknown;
    returnData?: { data: readonly [string, string] };
    preTokenBalances: TokenBalance[];
    postTokenBalances: TokenBalance[];
  };
}

/** The compute cost of one signature in a block. */
const SIGNATURE_COST_UNITS = 720;

const trimmed = (balances: readonly TokenBalance[]): TokenBalance[] =>
  balances.map((row) => ({
    ...row,
    uiTokenAmount: formatTokenAmount(
      BigInt(row.uiTokenAmount.amount),
      row.uiTokenAmount.decimals,
    ) as TokenBalance['uiTokenAmount'],
  }));

async function transaction(call: RpcCall): Promise<unknown> {
  const second = call.params[1];
  const config = typeof second === 'string' ? { encoding: second } : configParam(call, 1);
  atLeastConfirmed(config);
  const found = known(call, textParam(call, 0), slotOf(call, config));
  if (found === null) return null;
  const version = call.versionOf(found);
  requireVersion(version, config.maxSupportedTransactionVersion);
  const shown = await call.ledger.surfpool.get<ShownTransaction>(call.method, [
    found.ranAs,
    { encoding: config.encoding ?? 'json', maxSupportedTransactionVersion: 0, commitment: 'confirmed' },
  ]);
  shown.blockTime = found.blockTime;
  if (found.ranAs !== found.signature) shown.transaction.signatures = found.signatures;
  shown.meta.fee = found.fee;
  shown.meta.rewards = null;
  shown.meta.costUnits ??= (shown.meta.computeUnitsConsumed ?? 0) + SIGNATURE_COST_UNITS;
  shown.meta.preTokenBalances = trimmed(shown.meta.preTokenBalances);
  shown.meta.postTokenBalances = trimmed(shown.meta.postTokenBalances);
  if (shown.meta.returnData?.data[0] === '') delete shown.meta.returnData;
  return version === 'legacy' || version === 0 ? shown : { ...asVersionOne(shown), version };
}

function decodeWire(
  call: RpcCall,
  config: Record<string, unknown>,
): { bytes: Uint8Array; wire: WireTransaction } {
  const encoded = textParam(call, 0);
  const encoding = config.encoding ?? 'base58';
  if (encoding !== 'base64' && encoding !== 'base58')
    throw invalidParams(`unsupported encoding: ${String(encoding)}. Supported encodings: base58, base64`);
  let bytes: Uint8Array;
  try {
    bytes = encoding === 'base64' ? base64.decode(encoded) : base58.decode(encoded);
  } catch {
    throw invalidParams(`invalid ${encoding} encoding`);
  }
  const limit = maxWireBytes(bytes);
  if (bytes.length > limit)
    throw invalidParams(
      `decoded solana_transaction::versioned::VersionedTransaction too large: ${bytes.length} bytes (max: ${limit} bytes)`,
    );
  try {
    return { bytes, wire: readWireTransaction(bytes) };
  } catch {
    throw invalidParams('failed to deserialize solana_transaction::versioned::VersionedTransaction');
  }
}

const emptySimulation = {
  accounts: null,
  innerInstructions: null,
  loadedAccountsDataSize: 0,
  logs: [],
  returnData: null,
};

const preflightFailure = (message: string, err: unknown): RpcFailure =>
  new RpcFailure(-32002, `Transaction simulation failed: ${message}`, {
    err,
    ...emptySimulation,
    unitsConsumed: 0,
  });

async function sendTransaction(call: RpcCall): Promise<unknown> {
  const config = configParam(call, 1);
  const { bytes, wire } = decodeWire(call, config);
  const skipPreflight = config.skipPreflight === true;
  if (!skipPreflight) {
    if (!wire.signaturesValid) throw new RpcFailure(-32003, 'Transaction signature verification failure');
    const slot = slotOf(call, {
      commitment: config.preflightCommitment,
      minContextSlot: config.minContextSlot,
    });
    if (call.ledger.transaction(wire.signature) !== null && !call.hides(wire.signature))
      throw preflightFailure('This transaction has already been processed', 'AlreadyProcessed');
    if (!blockhashIsValid(call, wire.blockhash, slot))
      throw preflightFailure('Blockhash not found', 'BlockhashNotFound');
  } else if (
    !wire.signaturesValid ||
    !blockhashIsValid(call, wire.blockhash, call.ledger.clock.slot('processed'))
  ) {
    return wire.signature;
  }
  const outcome = await call.ledger.send(bytes, { skipPreflight });
  if ('result' in outcome || skipPreflight) return wire.signature;
  const { code, message, data } = outcome.error;
  if (message.includes('already been processed'))
    throw preflightFailure('This transaction has already been processed', 'AlreadyProcessed');
  throw new RpcFailure(code, message.replace(/: \d+ log messages?:[\s\S]*$/, ''), data);
}

interface Simulation {
  value: { replacementBlockhash?: unknown };
}

async function simulateTransaction(call: RpcCall): Promise<unknown> {
  const config = configParam(call, 1);
  const { bytes, wire } = decodeWire(call, config);
  const slot = slotOf(call, config);
  if (config.replaceRecentBlockhash === true && config.sigVerify === true)
    throw invalidParams('sigVerify may not be used with replaceRecentBlockhash');
  if (config.sigVerify === true && !wire.signaturesValid)
    throw new RpcFailure(-32003, 'Transaction signature verification failure');
  if (config.replaceRecentBlockhash !== true && !blockhashIsValid(call, wire.blockhash, slot))
    return withContext(slot, { err: 'BlockhashNotFound', ...emptySimulation, unitsConsumed: 0 });
  const { value } = await call.ledger.surfpool.get<Simulation>(call.method, [
    base64.encode(wire.version === 1 ? await asVersionZero(bytes, []) : bytes),
    { ...config, encoding: 'base64', commitment: 'processed', minContextSlot: undefined },
  ]);
  const { blockhash, lastValidBlockHeight } = call.ledger.clock.blockhashAt(slot);
  value.replacementBlockhash =
    config.replaceRecentBlockhash === true ? { blockhash, lastValidBlockHeight } : null;
  return withContext(slot, value);
}

export const transactionMethods: Record<string, RpcMethod> = {
  getSignatureStatuses: signatureStatuses,
  getSignaturesForAddress: signaturesForAddress,
  getTransaction: transaction,
  sendTransaction,
  simulateTransaction,
};
