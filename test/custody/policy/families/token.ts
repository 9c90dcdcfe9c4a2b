/** S10: tokens, under both programs. */
import { addressSeed } from '../../../../src/chain/solana/program-address.ts';
import { TOKEN_2022_PROGRAM, TOKEN_PROGRAM } from '../../../../src/chain/solana/token-program.ts';
import { SYSTEM_PROGRAM, WRAPPED_SOL } from '../../../../src/custody/policy/programs.ts';
import type { Account } from '../../../world/lifi-transaction.ts';
import { THIEF } from '../draft.ts';
import {
  ABSR_MINT,
  also,
  at,
  collect,
  type Family,
  type Reason,
  read,
  TEMPORARY,
  token,
  USDC,
  us,
} from './family.ts';

const { list, near } = collect();

const TOKEN_ATTACKS: [string, Reason, number[], Account[]][] = [
  ['a delegate', 'token_delegate', [4, 1, 0, 0, 0, 0, 0, 0, 0], [at(USDC), read(THIEF), us]],
  [
    'a checked delegate',
    'token_delegate',
    [13, 1, 0, 0, 0, 0, 0, 0, 0, 6],
    [at(USDC), read(ABSR_MINT), read(THIEF), us],
  ],
  ['an authority', 'token_authority', [6, 2, 1, ...addressSeed(THIEF)], [at(USDC), us]],
  ['a mint', 'token_mint', [7, 1, 0, 0, 0, 0, 0, 0, 0], [at(ABSR_MINT), at(THIEF), us]],
  ['a checked mint', 'token_mint', [14, 1, 0, 0, 0, 0, 0, 0, 0, 8], [at(ABSR_MINT), at(THIEF), us]],
  ['a burn', 'token_burn', [8, 1, 0, 0, 0, 0, 0, 0, 0], [at(USDC), at(ABSR_MINT), us]],
  ['a freeze', 'token_freeze', [10], [at(USDC), read(ABSR_MINT), us]],
  ['a thaw', 'token_freeze', [11], [at(USDC), read(ABSR_MINT), us]],
  ['a batch', 'token_batch', [255, 3, 9, 4, 1, 0, 0, 0, 0, 0, 0, 0], [at(USDC), read(THIEF), us]],
  ['lamports withdrawn', 'token_lamports', [38], [at(USDC), at(THIEF), us]],
  ['lamports unwrapped', 'token_lamports', [45, 0], [at(TEMPORARY), at(THIEF), us]],
  ['a longer account', 'token_reallocate', [29, 7, 0], [at(USDC), us, read(SYSTEM_PROGRAM), us]],
  ['an extension', 'token_extension', [36, 1], [at(ABSR_MINT), us]],
  ['an account initialized', 'token_initialize', [18, ...addressSeed(THIEF)], [at(THIEF), read(WRAPPED_SOL)]],
  ['a question', 'token_query', [21], [read(WRAPPED_SOL)]],
  ['an opcode of the future', 'token_unknown', [99], [at(USDC), us]],
  ['a close with a tail', 'token_malformed', [9, 0], [at(TEMPORARY), us, us]],
  [
    'a transfer of the treasury',
    'token_not_own_wsol',
    [3, 1, 0, 0, 0, 0, 0, 0, 0],
    [at(USDC), at(THIEF), us],
  ],
  ['a close of the treasury', 'token_not_own_wsol', [9], [at(USDC), us, us]],
];
for (const [name, reason, data, accounts] of TOKEN_ATTACKS) {
  for (const [program, by] of [
    [TOKEN_PROGRAM, 'Token'],
    [TOKEN_2022_PROGRAM, 'Token-2022'],
  ] as const) {
    near(
      `${name} by ${by}`,
      reason,
      also(() => token(program, data, accounts)),
    );
  }
}
near(
  'wrapped SOL closed to a third party',
  'token_close_destination',
  also(() => token(TOKEN_PROGRAM, [9], [at(TEMPORARY), at(THIEF), us])),
);
near(
  'wrapped SOL moved',
  'program_not_on_route',
  also(() => token(TOKEN_PROGRAM, [3, 1, 0, 0, 0, 0, 0, 0, 0], [at(TEMPORARY), at(THIEF), us])),
);

export const TOKEN_FAMILIES: readonly Family[] = list;
