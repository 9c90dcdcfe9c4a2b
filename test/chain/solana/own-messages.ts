/** Every message that we build, with its expected content, derived from the programs' specifications. */
import { base58 } from '@scure/base';
import { creationMessage } from '../../../src/chain/solana/token-creation.ts';
import { findAta } from '../../../src/chain/solana/token-instructions.ts';
import { mintMessage, tokenTransferMessage } from '../../../src/chain/solana/token-messages.ts';
import { TOKEN_2022_PROGRAM, TOKEN_PROGRAM } from '../../../src/chain/solana/token-program.ts';
import {
  type MessageVersion,
  memoTransferMessage,
  transferMessage,
} from '../../../src/chain/solana/transaction.ts';
import { lamports } from '../../../src/core/amount.ts';

const keyOf = (n: number): string => base58.encode(new Uint8Array(32).fill(n));
export const [OWN, OTHER, MINT, BLOCKHASH] = [keyOf(1), keyOf(2), keyOf(3), keyOf(200)];

const SYSTEM = '11111111111111111111111111111111';
const ATA = 'ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL';
const MEMO = 'MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr';
const TOKENS = [TOKEN_PROGRAM, TOKEN_2022_PROGRAM];

type Expected = { readonly program: string; readonly accounts: readonly string[]; readonly data: Uint8Array };

export type OwnMessage = {
  readonly name: string;
  readonly bytes: Uint8Array;
  readonly signers: readonly string[];
  readonly units: number;
  /** Priority fee in lamports. */
  readonly priorityFee: bigint;
  /** Without those of the budget. */
  readonly instructions: readonly Expected[];
};

const u32 = (value: number): number[] => [...new Uint8Array(Uint32Array.of(value).buffer)];
const u64 = (value: bigint): number[] => [...new Uint8Array(BigUint64Array.of(value).buffer)];
const bytes = (...parts: (number | readonly number[] | Uint8Array)[]): Uint8Array =>
  Uint8Array.from(parts.flatMap((part) => (typeof part === 'number' ? [part] : [...part])));
const key = (text: string): Uint8Array => base58.decode(text);
const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text);

const pay = (amount: bigint): Expected => ({
  ...{ program: SYSTEM, accounts: [OWN, OTHER], data: bytes(u32(2), u64(amount)) },
});
const memo = (text: string): Expected => ({ program: MEMO, accounts: [], data: utf8(text) });
const openAccount = (program: string): Expected => ({
  program: ATA,
  accounts: [OWN, findAta(OTHER, MINT, program), OTHER, MINT, SYSTEM, program],
  data: bytes(1),
});
const mintTo = (program: string, atoms: bigint, decimals: number): Expected => ({
  program,
  accounts: [MINT, findAta(OTHER, MINT, program), OWN],
  data: bytes(14, u64(atoms), decimals),
});

export function ownMessages(version: MessageVersion): OwnMessage[] {
  const lifetime = { blockhash: BLOCKHASH, version };
  const amount = lamports(2n ** 63n + 5n);
  const signers = [OWN];
  return [
    {
      name: 'a swap deposit',
      bytes: transferMessage({ from: OWN, to: OTHER, amount, lifetime }),
      ...{ signers, units: 900, priorityFee: 900n, instructions: [pay(amount)] },
    },
    {
      name: 'a refund',
      bytes: memoTransferMessage({ from: OWN, to: OTHER, amount, lifetime, memo: 'refund:é日本:1' }),
      ...{ signers, units: 40_000, priorityFee: 400n },
      instructions: [pay(amount), memo('refund:é日本:1')],
    },
    ...TOKENS.flatMap((program) =>
      [true, false].map((createAccount) => ({
        name: `a payout under ${program}${createAccount ? ' that opens an account' : ''}`,
        bytes: tokenTransferMessage(
          {
            ...{ from: OWN, to: OTHER, mint: MINT, program, atoms: 2n ** 64n - 1n, decimals: 9 },
            ...{ memo: 'asry:x:1', createAccount },
          },
          lifetime,
        ),
        signers,
        units: createAccount ? 200_000 : 90_000,
        priorityFee: createAccount ? 2_000n : 900n,
        instructions: [
          ...(createAccount ? [openAccount(program)] : []),
          memo('asry:x:1'),
          {
            program,
            accounts: [findAta(OWN, MINT, program), MINT, findAta(OTHER, MINT, program), OWN],
            data: bytes(12, u64(2n ** 64n - 1n), 9),
          },
        ],
      })),
    ),
    ...TOKENS.map((program) => ({
      name: `a mint under ${program}`,
      bytes: mintMessage(
        { payer: OWN, mint: MINT, program, owner: OTHER, atoms: 77n, decimals: 8, memo: 'proof:x' },
        lifetime,
      ),
      signers,
      units: 160_000,
      priorityFee: 1_600n,
      instructions: [openAccount(program), memo('proof:x'), mintTo(program, 77n, 8)],
    })),
    {
      name: 'a token creation',
      bytes: creationMessage({
        design: {
          ...{ program: 'token', metaplex: false, name: 'Moon Cat', symbol: 'MCAT', decimals: 6, supply: 5n },
          ...{ uri: 'https://sluice.test/m.json', creator: OTHER },
          ...{ revokeMint: true, revokeFreeze: false, revokeUpdate: false },
        },
        ...{ mint: MINT, reserve: OWN, mintRent: 4_000_000n, lifetime },
      }),
      ...{ signers: [OWN, MINT], units: 200_000, priorityFee: 4_000n },
      instructions: [
        {
          program: SYSTEM,
          accounts: [OWN, MINT],
          data: bytes(u32(0), u64(4_000_000n), u64(82n), key(TOKEN_PROGRAM)),
        },
        { program: TOKEN_PROGRAM, accounts: [MINT], data: bytes(20, 6, key(OWN), 1, key(OTHER)) },
        openAccount(TOKEN_PROGRAM),
        mintTo(TOKEN_PROGRAM, 5n, 6),
        { program: TOKEN_PROGRAM, accounts: [MINT, OWN], data: bytes(6, 0, 0) },
      ],
    },
  ];
}
