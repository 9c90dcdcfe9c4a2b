import { configParam, type RpcCall, type RpcMethod, slotOf, textParam, withContext } from './rpc-call.ts';

const SLOTS_IN_EPOCH = 432_000;

/** Passed on unchanged, because these results do not depend on the commitment. */
const passed = ['getMinimumBalanceForRentExemption', 'getFirstAvailableBlock'];

const pass: RpcMethod = ({ ledger, method, params }) => ledger.surfpool.get(method, params);

function epochInfo(call: RpcCall): unknown {
  const { ledger } = call;
  const slot = slotOf(call, configParam(call, 0));
  return {
    absoluteSlot: slot,
    blockHeight: ledger.clock.blockHeight(slot),
    epoch: Math.floor(slot / SLOTS_IN_EPOCH),
    slotIndex: slot % SLOTS_IN_EPOCH,
    slotsInEpoch: SLOTS_IN_EPOCH,
    transactionCount: ledger.count(),
  };
}

function latestBlockhash(call: RpcCall): unknown {
  const slot = slotOf(call, configParam(call, 0));
  const { blockhash, lastValidBlockHeight } = call.ledger.clock.blockhashAt(slot);
  return withContext(slot, { blockhash, lastValidBlockHeight });
}

/** Whether a transaction with this block hash can still land, as that slot sees it. */
export function blockhashIsValid(call: RpcCall, blockhash: string, slot: number): boolean {
  const { clock } = call.ledger;
  const sample = clock.find(blockhash);
  return sample !== null && sample.slot <= slot && clock.blockHeight(slot) <= sample.lastValidBlockHeight;
}

export const chainMethods: Record<string, RpcMethod> = {
  ...Object.fromEntries(passed.map((method) => [method, pass])),
  getEpochInfo: epochInfo,
  getLatestBlockhash: latestBlockhash,
  isBlockhashValid(call) {
    const config = configParam(call, 1);
    const slot = slotOf(call, config);
    return withContext(slot, blockhashIsValid(call, textParam(call, 0), slot));
  },
};
