import {
  commitmentOf,
  configParam,
  type RpcCall,
  type RpcMethod,
  slotOf,
  textParam,
  withContext,
} from './rpc-call.ts';

const SLOTS_IN_EPOCH = 432_000;

/** Passed on unchanged, because these results do not depend on the commitment. */
const passed = [
  'getGenesisHash',
  'getVersion',
  'getMinimumBalanceForRentExemption',
  'getBlockTime',
  'getFirstAvailableBlock',
  'minimumLedgerSlot',
];

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

// The minimum priority fees of the newest blocks, which are nearly always 0 here.
function prioritizationFees(call: RpcCall): unknown {
  const head = call.ledger.clock.slot('processed', call.lag);
  return Array.from({ length: 20 }, (_, index) => ({ slot: head - 19 + index, prioritizationFee: 0 }));
}

export const chainMethods: Record<string, RpcMethod> = {
  ...Object.fromEntries(passed.map((method) => [method, pass])),
  getHealth: () => 'ok',
  getSlot: (call) => slotOf(call, configParam(call, 0)),
  getBlockHeight: (call) => call.ledger.clock.blockHeight(slotOf(call, configParam(call, 0))),
  getEpochInfo: epochInfo,
  getLatestBlockhash: latestBlockhash,
  getRecentPrioritizationFees: prioritizationFees,
  getTransactionCount: ({ ledger }) => ledger.count(),
  isBlockhashValid(call) {
    const config = configParam(call, 1);
    const slot = slotOf(call, config);
    return withContext(slot, blockhashIsValid(call, textParam(call, 0), slot));
  },
  async getFeeForMessage(call) {
    const config = configParam(call, 1);
    const slot = slotOf(call, config);
    const answer = await call.ledger.surfpool.get<{ value: unknown }>('getFeeForMessage', [
      textParam(call, 0),
      { commitment: commitmentOf(config) },
    ]);
    return withContext(slot, answer.value);
  },
};
