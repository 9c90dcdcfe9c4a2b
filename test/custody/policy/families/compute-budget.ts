/** S12: what priority costs. */
import { concatBytes } from '@noble/hashes/utils.js';
import { COMPUTE_BUDGET_PROGRAM } from '../../../../src/custody/policy/programs.ts';
import { budget, u32, u64 } from '../../../world/lifi-transaction.ts';
import { also, collect, type Family, us } from './family.ts';

const { list, near } = collect();

near('a price for priority above the cap', 'compute_price', (d, r) => {
  d.instructions[1] = budget(3, u64(BigInt(r.between(2_600_000, 2_000_000_000))));
});
near('a price without a limit', 'compute_price', (d) => {
  d.instructions[1] = budget(3, u64(400_000n));
  d.instructions.splice(0, 1);
});
near(
  'a repeated limit',
  'compute_repeated',
  also(() => budget(2, u32(1_000))),
);
near(
  'a repeated price',
  'compute_repeated',
  also(() => budget(3, u64(1n))),
);
near(
  'more units than a transaction has',
  'compute_range',
  (d, r) => (d.instructions[0] = budget(2, u32(r.between(1_400_001, 2_000_000_000)))),
);
near(
  'the old request with a fee of its own',
  'compute_unknown',
  also((r) => budget(0, concatBytes(u32(1), u32(r.between(1, 2_000_000_000))))),
);
near(
  'a compute instruction of the future',
  'compute_unknown',
  also((r) => budget(r.between(5, 255), u32(1))),
);
near(
  'a price with a tail',
  'compute_malformed',
  (d) => (d.instructions[1] = budget(3, concatBytes(u64(1n), u32(0)))),
);
near(
  'our key under a compute instruction',
  'compute_malformed',
  also(() => ({ program: COMPUTE_BUDGET_PROGRAM, accounts: [us], data: Uint8Array.of(1, 0, 128, 0, 0) })),
);

export const COMPUTE_BUDGET_FAMILIES: readonly Family[] = list;
