/** S11: associated accounts. */
import { TOKEN_PROGRAM } from '../../../../src/chain/solana/token-program.ts';
import {
  ASSOCIATED_TOKEN_PROGRAM,
  SYSTEM_PROGRAM,
  WRAPPED_SOL,
} from '../../../../src/custody/policy/programs.ts';
import type { Account, Instruction } from '../../../world/lifi-transaction.ts';
import { THIEF } from '../draft.ts';
import { ABSR_MINT, also, at, collect, type Family, read, TEMPORARY, us } from './family.ts';

const { list, near } = collect();

const ata = (data: number[], change: (accounts: Account[]) => void = () => undefined): Instruction => {
  const accounts = [us, at(TEMPORARY), us, read(WRAPPED_SOL), read(SYSTEM_PROGRAM), read(TOKEN_PROGRAM)];
  change(accounts);
  return { program: ASSOCIATED_TOKEN_PROGRAM, accounts, data: Uint8Array.from(data) };
};
near(
  'an account for a third party at our cost',
  'ata_owner',
  also((r) => ata(r.pick([[], [0], [1]]), (accounts) => (accounts[2] = at(THIEF)))),
);
near(
  'an account of another token',
  'ata_account',
  also((r) => ata(r.pick([[], [0], [1]]), (accounts) => (accounts[3] = read(ABSR_MINT)))),
);
near(
  'a nested account recovered',
  'ata_recover',
  also(() => ata([2])),
);
near(
  'an associated instruction of the future',
  'ata_unknown',
  also((r) => ata([r.between(3, 255)])),
);
near(
  'an associated account with a tail',
  'ata_malformed',
  also(() => ata([1, 0])),
);
near(
  'our own wrapped SOL on a route without it',
  'program_not_on_route',
  also((r) => ata(r.pick([[], [0], [1]]))),
);

export const ASSOCIATED_TOKEN_FAMILIES: readonly Family[] = list;
