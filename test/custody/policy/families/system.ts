/** S6 and S9: transactions that never expire, and other System instructions with our signature. */
import { concatBytes } from '@noble/hashes/utils.js';
import { addressSeed } from '../../../../src/chain/solana/program-address.ts';
import { LIFI_COLLECTOR } from '../../../../src/custody/policy/instructions.ts';
import { SYSTEM_PROGRAM } from '../../../../src/custody/policy/programs.ts';
import { u32, u64 } from '../../../world/lifi-transaction.ts';
import { RESERVE, THIEF, transfer, vaultSwap, wallet } from '../draft.ts';
import { also, amountOf, at, collect, type Family, LEG, leg, seed, system, us } from './family.ts';

const { list, near, chainflip, both } = collect();

for (const [name, discriminator] of [
  ['advanced', 4],
  ['withdrawn from', 5],
  ['initialized', 6],
  ['handed over', 7],
  ['upgraded', 12],
] as const) {
  near(`a nonce ${name}`, 'nonce_instruction', (d, r) => {
    const nonce = system(
      discriminator,
      [at(wallet(r.between(50, 999))), us],
      discriminator === 4 ? u32(0).slice(4) : addressSeed(THIEF),
    );
    d.instructions.splice(r.pick([0, 0, 3]), 0, nonce);
  });
}

both(
  'the reserve given to another program',
  'system_owner_change',
  also(() => system(1, [us], addressSeed(THIEF))),
);
near(
  'the reserve given away by seed',
  'system_owner_change',
  also(() => system(10, [at(THIEF), us], addressSeed(RESERVE), seed('x'), addressSeed(THIEF))),
);
both(
  'the reserve bricked with data',
  'system_allocate',
  also((r) => system(8, [us], u64(BigInt(r.between(1, 10_000))))),
);
near(
  'data by seed',
  'system_allocate',
  also(() => system(9, [at(THIEF), us], addressSeed(RESERVE), seed('x'), u64(9n), addressSeed(THIEF))),
);
both(
  'an account opened at our cost',
  'system_create_account',
  also((r) =>
    system(r.pick([0, 13]), [us, { ...at(THIEF) }], amountOf(r), u64(0n), addressSeed(SYSTEM_PROGRAM)),
  ),
);
near(
  'an account opened by seed',
  'system_create_account',
  also((r) =>
    system(3, [us, at(THIEF)], addressSeed(RESERVE), seed('x'), amountOf(r), u64(0n), addressSeed(THIEF)),
  ),
);
near(
  'a transfer by seed',
  'system_seed_transfer',
  also((r) => system(11, [at(THIEF), us, at(wallet(77))], amountOf(r), seed('x'), addressSeed(THIEF))),
);
near(
  'a System instruction of the future',
  'system_unknown',
  also((r) => system(r.between(14, 2_000_000_000), [us])),
);
near(
  'a transfer with a tail',
  'system_malformed',
  (d, r) => (leg(d).data = concatBytes(leg(d).data, new Uint8Array(r.between(1, 20)))),
);
near(
  'a transfer cut short',
  'system_malformed',
  (d, r) => (leg(d).data = leg(d).data.slice(0, r.between(0, 11))),
);
near('a transfer of nothing', 'system_malformed', (d) => leg(d).data.fill(0, 4));
near('a transfer with one more account', 'system_malformed', (d) => leg(d).accounts.push(at(THIEF)));
near(
  'a transfer out of another wallet',
  'system_source',
  also((r) => transfer(RESERVE, BigInt(r.between(1, 999)), wallet(r.between(300, 399)))),
);
both(
  'a second payment',
  'payment_count',
  also((r) => transfer(THIEF, BigInt(r.between(1, 1_000_000)))),
);
near('two payments that sum up', 'payment_count', (d, r) => {
  const part = BigInt(r.between(1, 1_000));
  d.instructions[LEG] = transfer(d.deposit, d.amount - d.fee - part);
  d.instructions.push(transfer(THIEF, part));
});
near('no payment', 'payment_missing', (d) => d.instructions.splice(LEG, 1));
chainflip('no swap', 'payment_missing', (d) => d.instructions.splice(LEG, 1));
chainflip(
  'a plain transfer of the exact amount in place of the swap',
  'payment_missing',
  (d) => (d.instructions[LEG] = transfer(THIEF, d.amount - d.fee)),
);
near(
  'all of it as a fee',
  'payment_missing',
  (d) => (d.instructions[LEG] = transfer(LIFI_COLLECTOR, d.amount - d.fee)),
);
near(
  'more than requested',
  'payment_total',
  (d, r) => (d.instructions[LEG] = transfer(d.deposit, d.amount - d.fee + BigInt(r.between(1, 1_000_000)))),
);
near(
  'less than requested',
  'payment_total',
  (d, r) => (d.instructions[LEG] = transfer(d.deposit, d.amount - d.fee - BigInt(r.between(1, 1_000)))),
);
chainflip('a swap of more', 'payment_total', (d, r) => {
  const amount = d.amount - d.fee + BigInt(r.between(1, 1_000_000));
  d.instructions[LEG] = vaultSwap({
    amount,
    minimum: BigInt(d.quote.estimate.toAmountMin) + 1n,
    seed: new Uint8Array(32).fill(r.between(0, 255)),
  });
});

export const SYSTEM_FAMILIES: readonly Family[] = list;
