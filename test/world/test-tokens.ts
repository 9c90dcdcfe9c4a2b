import { address, generateKeyPairSigner, type Instruction, type KeyPairSigner } from '@solana/web3.js';
import { getCreateAccountInstruction } from '@solana-program/system';
import {
  findAssociatedTokenPda,
  getCreateAssociatedTokenIdempotentInstruction,
  getInitializeMint2Instruction,
  getInitializeMultisig2Instruction,
  getMintToInstruction,
  TOKEN_PROGRAM_ADDRESS,
} from '@solana-program/token';
import type { SolanaLedger } from './solana-ledger.ts';
import { landTransaction } from './solana-wallet.ts';

const MINT_BYTES = 82;
const MINT_RENT_LAMPORTS = 1_461_600n;

export interface TestToken {
  readonly mint: string;
  readonly decimals: number;
  readonly mintAuthority: KeyPairSigner;
}

/** Creates a real SPL mint without a freeze authority. */
export async function createMint(
  ledger: SolanaLedger,
  payer: KeyPairSigner,
  mintAuthority: KeyPairSigner,
  decimals: number,
  /** The authority on the chain, where it is not a key. */
  multisig?: string,
): Promise<TestToken> {
  const mint = await generateKeyPairSigner();
  await landTransaction(ledger, payer, [
    getCreateAccountInstruction({
      payer,
      newAccount: mint,
      lamports: MINT_RENT_LAMPORTS,
      space: MINT_BYTES,
      programAddress: TOKEN_PROGRAM_ADDRESS,
    }),
    getInitializeMint2Instruction({
      mint: mint.address,
      decimals,
      mintAuthority: multisig === undefined ? mintAuthority.address : address(multisig),
    }),
  ]);
  return { mint: mint.address, decimals, mintAuthority };
}

const MULTISIG_BYTES = 355;
const MULTISIG_RENT_LAMPORTS = 3_361_680n;

/** Creates a native multisig account of which both keys must sign. @returns its address */
export async function createPair(
  ledger: SolanaLedger,
  payer: KeyPairSigner,
  signers: readonly [string, string],
): Promise<string> {
  const multisig = await generateKeyPairSigner();
  await landTransaction(ledger, payer, [
    getCreateAccountInstruction({
      payer,
      newAccount: multisig,
      lamports: MULTISIG_RENT_LAMPORTS,
      space: MULTISIG_BYTES,
      programAddress: TOKEN_PROGRAM_ADDRESS,
    }),
    getInitializeMultisig2Instruction({
      multisig: multisig.address,
      m: 2,
      signers: signers.map((key) => address(key)),
    }),
  ]);
  return multisig.address;
}

export async function tokenAccountOf(owner: string, mint: string): Promise<string> {
  const [account] = await findAssociatedTokenPda({
    owner: address(owner),
    mint: address(mint),
    tokenProgram: TOKEN_PROGRAM_ADDRESS,
  });
  return account;
}

async function createAccount(payer: KeyPairSigner, owner: string, mint: string): Promise<Instruction> {
  return getCreateAssociatedTokenIdempotentInstruction({
    payer,
    owner: address(owner),
    mint: address(mint),
    ata: address(await tokenAccountOf(owner, mint)),
  });
}

/** Creates the associated token accounts of one owner that do not exist yet. */
export async function createTokenAccounts(
  ledger: SolanaLedger,
  payer: KeyPairSigner,
  owner: string,
  mints: readonly string[],
): Promise<void> {
  await landTransaction(
    ledger,
    payer,
    await Promise.all(mints.map((mint) => createAccount(payer, owner, mint))),
  );
}

/** Mints atoms to an owner's associated token account, which is created where it is missing. */
export async function mintTo(
  ledger: SolanaLedger,
  payer: KeyPairSigner,
  token: TestToken,
  owner: string,
  atoms: bigint,
): Promise<string> {
  const landed = await landTransaction(ledger, payer, [
    await createAccount(payer, owner, token.mint),
    getMintToInstruction({
      mint: address(token.mint),
      token: address(await tokenAccountOf(owner, token.mint)),
      mintAuthority: token.mintAuthority,
      amount: atoms,
    }),
  ]);
  return landed.signature;
}
