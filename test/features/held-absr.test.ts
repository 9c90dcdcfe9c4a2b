import { expect, it } from 'vitest';
import { findAta } from '../../src/chain/solana/token-instructions.ts';
import { TOKEN_2022_PROGRAM, TOKEN_PROGRAM } from '../../src/chain/solana/token-program.ts';
import { heldAbsrOf, heldAccounts } from '../../src/features/reserves/held-absr.ts';
import { mintData, tokenData } from '../kit/token-accounts.ts';

const MINT = 'TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb';
const TREASURY = '7Np41oeYqPefeNQEHSv1UDhYrehxin3NStELsSKCT4K2';
const SYSTEM = '11111111111111111111111111111111';

const NONE = { owner: SYSTEM, data: new Uint8Array(3) };
const heldUnder = (program: string) => ({ owner: program, data: tokenData([MINT, TREASURY], 7n) });

it.each([
  ['the token program holds a part', TOKEN_PROGRAM, TOKEN_PROGRAM, heldUnder(TOKEN_PROGRAM), '7'],
  ['Token-2022 holds a part', TOKEN_2022_PROGRAM, TOKEN_2022_PROGRAM, heldUnder(TOKEN_2022_PROGRAM), '7'],
  [
    'the other program is not that of the mint',
    TOKEN_PROGRAM,
    TOKEN_2022_PROGRAM,
    heldUnder(TOKEN_PROGRAM),
    '0',
  ],
  ['the treasury does not exist', TOKEN_PROGRAM, TOKEN_PROGRAM, null, '0'],
  ['the treasury has other bytes', TOKEN_PROGRAM, TOKEN_PROGRAM, NONE, null],
  ['the mint has other bytes', SYSTEM, TOKEN_PROGRAM, heldUnder(TOKEN_PROGRAM), null],
] as const)('the split of ABSR is right if %s', (_title, program, under, account, treasuryAtoms) => {
  const mint = { owner: program, data: mintData({ supply: 9n, decimals: 2 }) };
  const asked = new Map(heldAccounts(TREASURY, MINT).map((address) => [address, null]));
  const shown = new Map<string, typeof account>([...asked, [findAta(TREASURY, MINT, under), account]]);
  const held = heldAbsrOf({ address: MINT, treasury: TREASURY }, mint, (address) => shown.get(address));
  expect(held).toEqual(treasuryAtoms && { treasuryAtoms, supplyAtoms: '9', decimals: 2 });
});
