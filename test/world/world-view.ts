/**
 * The world's chain as one server shows it. Servers share the chain and differ in their faults:
 * - `lag`: shows the chain as it was `by` slots ago
 * - `nullStatus`: hides all transactions, or the signature in `value`
 * - `dropSends`: accepts a transaction, which never lands
 * - `version`: presents transactions as version `by` (1), all or the signatures in `value`, separated by commas
 * - `errorForm`: shows failed transactions with the error `value` of `TRANSACTION_ERRORS`
 * - `withoutConfirmations`: returns statuses as Alpenglow may show them
 */
import { base58 } from '@scure/base';
import type { FaultBook } from './fault-book.ts';
import { type Found, invalidParams, type NodeView } from './rpc-call.ts';
import type { LandedTransaction, SolanaLedger } from './solana-ledger.ts';
import { type AccountState, TRANSACTION_ERRORS, tokenAmountBody } from './solana-shapes.ts';
import { asVersionOne } from './transaction-version.ts';

export interface WorldView extends NodeView {
  readonly ledger: SolanaLedger;
  /** Whether this server discards a sent transaction. */
  dropsSends(): boolean;
}

export function createWorldView(
  ledger: SolanaLedger,
  { name, faults, label }: { readonly name: string; readonly faults: FaultBook; readonly label: string },
): WorldView {
  const { clock } = ledger;
  const take = (kind: string) => faults.take(name, kind, label);
  const lag = take('lag')?.by ?? 0;
  async function account(address: string, slot: number): Promise<AccountState | null> {
    const state = await ledger.account(checkAddress(address), slot);
    return state?.lamports === 0 ? null : state;
  }

  function shows({ slot: at, signature }: LandedTransaction, slot: number): boolean {
    if (at > slot) return false;
    const hidden = take('nullStatus');
    return hidden === null || (hidden.value !== undefined && hidden.value !== signature);
  }

  function errorOf({ err }: LandedTransaction): unknown {
    const form = err === null ? null : take('errorForm');
    return form === null ? err : TRANSACTION_ERRORS[form.value as keyof typeof TRANSACTION_ERRORS];
  }

  const foundOf = (landed: LandedTransaction): Found => ({
    ...landed,
    err: errorOf(landed),
    version() {
      const shown = take('version');
      // Version 1 has no lookup tables.
      const named = shown?.value?.split(',');
      const applies = shown !== null && !landed.hasTables && named?.includes(landed.signature) !== false;
      return applies ? (shown.by ?? 1) : landed.version;
    },
    body: (version, encoding) => bodyOf(ledger, { ...landed, err: errorOf(landed) }, version, encoding),
  });

  return {
    ledger,
    slot: (commitment) => clock.slot(commitment, lag),
    commitmentOf(slot) {
      if (slot <= clock.slot('finalized', lag)) return 'finalized';
      return slot <= clock.slot('confirmed', lag) ? 'confirmed' : 'processed';
    },
    blockHeight: clock.blockHeight,
    blockhashAt: clock.blockhashAt,
    isBlockhashValid(blockhash, slot) {
      const sample = clock.find(blockhash);
      return sample !== null && sample.slot <= slot && clock.blockHeight(slot) <= sample.lastValidBlockHeight;
    },
    lamports: async (address, slot) => (await account(address, slot))?.lamports ?? 0,
    account,
    transaction(signature, slot) {
      const landed = ledger.transaction(signature);
      return landed !== null && shows(landed, slot) ? foundOf(landed) : null;
    },
    transactionsOf: (address, slot) =>
      ledger
        .transactionsOf(address)
        .filter((landed) => shows(landed, slot))
        .map((landed) => ({ ...landed, err: errorOf(landed) })),
    showsConfirmations: take('withoutConfirmations') === null,
    dropsSends: () => take('dropSends') !== null,
  };
}

function checkAddress(text: string): string {
  try {
    if (base58.decode(text).length === 32) return text;
  } catch {
    throw invalidParams('Invalid param: Invalid');
  }
  throw invalidParams('Invalid param: WrongSize');
}

interface TokenBalance {
  readonly uiTokenAmount: { readonly amount: string; readonly decimals: number };
}

/** A transaction as the validator shows it. */
interface RawTransaction {
  blockTime: number;
  transaction: { signatures: readonly string[] };
  meta: {
    err: unknown;
    status: unknown;
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
    uiTokenAmount: tokenAmountBody(BigInt(row.uiTokenAmount.amount), row.uiTokenAmount.decimals),
  }));

/** The validator's own body, with the members that production shows in another form. */
async function bodyOf(
  ledger: SolanaLedger,
  landed: LandedTransaction,
  version: 'legacy' | number,
  encoding: unknown,
): Promise<unknown> {
  const shown = await ledger.surfpool.get<RawTransaction>('getTransaction', [
    landed.ranAs,
    { encoding, maxSupportedTransactionVersion: 0, commitment: 'confirmed' },
  ]);
  const { meta } = shown;
  shown.blockTime = landed.blockTime;
  if (landed.ranAs !== landed.signature) shown.transaction.signatures = landed.signatures;
  if (landed.err !== null) Object.assign(meta, { err: landed.err, status: { Err: landed.err } });
  meta.fee = landed.fee;
  meta.rewards = null;
  meta.costUnits ??= (meta.computeUnitsConsumed ?? 0) + SIGNATURE_COST_UNITS;
  meta.preTokenBalances = trimmed(meta.preTokenBalances);
  meta.postTokenBalances = trimmed(meta.postTokenBalances);
  if (meta.returnData?.data[0] === '') delete meta.returnData;
  return version === 'legacy' || version === 0 ? shown : { ...asVersionOne(shown), version };
}
