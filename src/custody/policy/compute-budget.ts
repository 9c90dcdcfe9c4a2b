/**
 * S12: each setting at most once, and a limit on the priority fee.
 * @see agave compute-budget-interface src/lib.rs
 * @module
 */
import { createByteReader } from '../../chain/solana/byte-reader.ts';
import { allowed, denied, type Effect, type Judgement, type ResolvedInstruction } from './instruction.ts';

export const COMPUTE_BUDGET_PROGRAM = 'ComputeBudget111111111111111111111111111111';

/** Maximum compute units of a transaction, and the assumed value without a setting. */
const MAX_UNITS = 1_400_000n;

const FIELDS = {
  1: { field: 'heap', bytes: 5, maximum: 256n * 1_024n },
  2: { field: 'units', bytes: 5, maximum: MAX_UNITS },
  3: { field: 'price', bytes: 9, maximum: 0xffff_ffff_ffff_ffffn },
  4: { field: 'size', bytes: 5, maximum: 64n * 1_024n * 1_024n },
} as const;

export function judgeComputeBudget({ accounts, data }: ResolvedInstruction): Judgement {
  const known =
    data[0] === 1 || data[0] === 2 || data[0] === 3 || data[0] === 4 ? FIELDS[data[0]] : undefined;
  if (!known) return denied('compute_unknown');
  if (data.length !== known.bytes || accounts.length > 0) return denied('compute_malformed');
  const read = createByteReader(data, 1);
  const value = known.bytes === 9 ? read.u64() : BigInt(read.u32());
  if (value > known.maximum) return denied('compute_range');
  return allowed({ kind: 'budget', field: known.field, value });
}

/** Priority fee in lamports, rounded up like the chain does; undefined if a setting occurs twice. */
export function priorityFee(effects: readonly Effect[]): bigint | undefined {
  const settings = effects.filter((effect) => effect.kind === 'budget');
  if (new Set(settings.map(({ field }) => field)).size !== settings.length) return undefined;
  const settingOf = (name: string) => settings.find(({ field }) => field === name)?.value;
  return ((settingOf('units') ?? MAX_UNITS) * (settingOf('price') ?? 0n) + 999_999n) / 1_000_000n;
}
