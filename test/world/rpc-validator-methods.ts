/**
 * What the world adds to the read methods: its validator runs sent and simulated transactions, and knows rents and the
 * first block.
 * @module
 */
import { base58, base64 } from '@scure/base';
import {
  configParam,
  invalidParams,
  type RpcCall,
  RpcFailure,
  type RpcMethod,
  slotOf,
  textParam,
} from './rpc-call.ts';
import { EMPTY_SIMULATION, inContext, RPC_ERRORS } from './solana-shapes.ts';
import { asVersionZero } from './transaction-version.ts';
import { maxWireBytes, readWireTransaction, type WireTransaction } from './wire-transaction.ts';
import type { WorldView } from './world-view.ts';

type WorldCall = RpcCall<WorldView>;

function decodeWire(
  call: WorldCall,
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

const alreadyProcessed = () => new RpcFailure(RPC_ERRORS.preflight('AlreadyProcessed'));

async function sendTransaction(call: WorldCall): Promise<unknown> {
  const config = configParam(call, 1);
  const { view } = call;
  const { bytes, wire } = decodeWire(call, config);
  if (view.dropsSends()) return wire.signature;
  const skipPreflight = config.skipPreflight === true;
  if (!skipPreflight) {
    if (!wire.signaturesValid) throw new RpcFailure(RPC_ERRORS.invalidSignature);
    const slot = slotOf(call, {
      commitment: config.preflightCommitment,
      minContextSlot: config.minContextSlot,
    });
    if (view.transaction(wire.signature, Number.POSITIVE_INFINITY)) throw alreadyProcessed();
    if (!view.isBlockhashValid(wire.blockhash, slot))
      throw new RpcFailure(RPC_ERRORS.preflight('BlockhashNotFound'));
  } else if (
    !wire.signaturesValid ||
    !view.isBlockhashValid(wire.blockhash, view.ledger.clock.slot('processed'))
  ) {
    return wire.signature;
  }
  const outcome = await view.ledger.send(bytes, { skipPreflight });
  if ('result' in outcome || skipPreflight) return wire.signature;
  const { code, message, data } = outcome.error;
  if (message.includes('already been processed')) throw alreadyProcessed();
  throw new RpcFailure({ code, message: message.replace(/: \d+ log messages?:[\s\S]*$/, ''), data });
}

interface Simulation {
  value: { replacementBlockhash?: unknown };
}

async function simulateTransaction(call: WorldCall): Promise<unknown> {
  const config = configParam(call, 1);
  const { bytes, wire } = decodeWire(call, config);
  const slot = slotOf(call, config);
  if (config.replaceRecentBlockhash === true && config.sigVerify === true)
    throw invalidParams('sigVerify may not be used with replaceRecentBlockhash');
  if (config.sigVerify === true && !wire.signaturesValid) throw new RpcFailure(RPC_ERRORS.invalidSignature);
  if (config.replaceRecentBlockhash !== true && !call.view.isBlockhashValid(wire.blockhash, slot))
    return inContext({ err: 'BlockhashNotFound', ...EMPTY_SIMULATION }, slot);
  const { value } = await call.view.ledger.surfpool.get<Simulation>(call.method, [
    base64.encode(wire.version === 1 ? await asVersionZero(bytes, []) : bytes),
    { ...config, encoding: 'base64', commitment: 'processed', minContextSlot: undefined },
  ]);
  const { blockhash, lastValidBlockHeight } = call.view.blockhashAt(slot);
  value.replacementBlockhash =
    config.replaceRecentBlockhash === true ? { blockhash, lastValidBlockHeight } : null;
  return inContext(value, slot);
}

/** Passed on unchanged, because these results do not depend on the commitment. */
const pass: RpcMethod<WorldView> = ({ view, method, params }) => view.ledger.surfpool.get(method, params);

export const validatorMethods: Readonly<Record<string, RpcMethod<WorldView>>> = {
  getMinimumBalanceForRentExemption: pass,
  getFirstAvailableBlock: pass,
  sendTransaction,
  simulateTransaction,
};
