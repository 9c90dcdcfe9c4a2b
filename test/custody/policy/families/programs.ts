/** S8: programs that a swap may not call, directly or inside other programs. */
import { SWAP_ENDPOINT_PROGRAM } from '../../../../src/bridges/lifi-chainflip.ts';
import { addressSeed } from '../../../../src/chain/solana/program-address.ts';
import { TOKEN_PROGRAM } from '../../../../src/chain/solana/token-program.ts';
import { TRACKER_PROGRAM } from '../../../../src/custody/policy/programs.ts';
import type { Random } from '../../../simulator/random.ts';
import { type Instruction, u32, u64 } from '../../../world/lifi-transaction.ts';
import { type Draft, RESERVE, THIEF, transfer, vaultSwap, wallet } from '../draft.ts';
import { also, at, collect, type Family, LEG, leg, read, system, token, USDC, us } from './family.ts';

const { list, near, chainflip, both } = collect();

both(
  'an unknown program',
  'program_unknown',
  also((r) => ({
    program: wallet(r.between(40, 9_999)),
    accounts: [],
    data: new Uint8Array(r.between(0, 40)),
  })),
);
both(
  'a memo',
  'program_unknown',
  also(() => ({
    program: 'MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr',
    accounts: [],
    data: Uint8Array.of(65),
  })),
);
near(
  'the stake program',
  'program_unknown',
  also(() => ({ program: 'Stake11111111111111111111111111111111111111', accounts: [us], data: u32(4) })),
);
near(
  'a loader',
  'program_unknown',
  also(() => ({
    program: 'BPFLoaderUpgradeab1e11111111111111111111111',
    accounts: [at(THIEF), us],
    data: u32(4),
  })),
);
near('a vault swap on the other route', 'program_not_on_route', (d) => {
  const minimum = BigInt(d.quote.estimate.toAmountMin);
  d.instructions.push(vaultSwap({ amount: 1_000_000n, minimum, seed: new Uint8Array(32) }));
});
both('a redeployed program', 'program_redeployed', (d, r) => {
  d.deployments.set(TRACKER_PROGRAM, { recorded: 5n, current: BigInt(r.between(6, 9_999)) });
});
both('a program whose deployment was not read', 'program_deploy_unread', (d, r) => {
  if (r.chance(0.5)) d.deployments.delete(TRACKER_PROGRAM);
  else d.deployments.set(TRACKER_PROGRAM, { recorded: 5n, current: null });
});
const inner =
  (change: (draft: Draft, random: Random) => Instruction, instruction = LEG): Family['change'] =>
  (d, r) => {
    const call = change(d, r);
    const accounts = call.accounts.map(({ address }) => ({
      address,
      isSigner: address === RESERVE,
      isWritable: true,
    }));
    d.simulation.inner.push({ instruction, call: { ...call, accounts } });
  };
near(
  'a call out of a plain transfer',
  'inner_not_allowed',
  inner((_, r) => transfer(THIEF, BigInt(r.between(1, 9_999)))),
);
chainflip(
  'a transfer to a third party inside the swap',
  'inner_not_allowed',
  inner((_, r) => transfer(THIEF, BigInt(r.between(1, 9_999)))),
);
chainflip(
  'an owner change inside the swap',
  'inner_not_allowed',
  inner(() => system(1, [us], addressSeed(THIEF))),
);
chainflip(
  'a token approval inside the swap',
  'inner_not_allowed',
  inner(() => token(TOKEN_PROGRAM, [4, 1, 0, 0, 0, 0, 0, 0, 0], [at(USDC), read(THIEF), us])),
);
chainflip(
  'a call out of the tracker',
  'inner_not_allowed',
  inner((d) => transfer(leg(d).accounts[1]?.address ?? '', 1n), 2),
);
chainflip(
  'an account opened for a third party',
  'inner_not_allowed',
  inner((d) => system(0, [us, at(leg(d).accounts[3]?.address ?? '')], u64(1n), u64(9n), addressSeed(THIEF))),
);
chainflip(
  'a swap that takes more inside',
  'inner_amount',
  inner((d, r) => transfer(leg(d).accounts[1]?.address ?? '', BigInt(r.between(1, 9_999)))),
);
chainflip('a swap that takes nothing inside', 'inner_amount', (d) => d.simulation.inner.pop());
chainflip(
  'unlimited rent',
  'inner_rent',
  inner((d, r) =>
    system(
      0,
      [us, at(leg(d).accounts[3]?.address ?? '')],
      u64(BigInt(r.between(600_000, 999_999_999))),
      u64(9n),
      addressSeed(SWAP_ENDPOINT_PROGRAM),
    ),
  ),
);

export const PROGRAMS_FAMILIES: readonly Family[] = list;
