/**
 * Hands the mint authority of ABSR to a multisig account of the reserve and a witness, 2 of 2. Runs on the operator's
 * machine with the reserve's key; the service takes no part.
 */
import { type Address, address, createAddressWithSeed, type Instruction } from '@solana/web3.js';
import { getAllocateWithSeedInstruction, getTransferSolInstruction } from '@solana-program/system';
import {
  AuthorityType,
  getInitializeMultisig2Instruction,
  getSetAuthorityInstruction,
} from '@solana-program/token';
import { isAddress } from '../../src/chain/solana/address.ts';
import {
  decodeMint,
  decodeMultisig,
  type Mint,
  type Multisig,
} from '../../src/chain/solana/token-program.ts';
import { networkFee, SYSTEM_PROGRAM, signerAt } from '../../src/chain/solana/transaction.ts';
import { readConfig } from '../../src/config.ts';
import { createSolanaRpc, type SolanaRpc } from '../../src/providers/solana-rpc.ts';
import type { Settings } from '../doctor/finding.ts';
import { reserveSigner } from './reserve-signer.ts';
import { sendSigned } from './send-signed.ts';

const MULTISIG_BYTES = 355;
/** Compute units of creation, initialization and hand-over: 15,000 are used. */
const BUDGET = { units: 40_000, unitPrice: 10_000n };
/** The seed of an account may have 32 characters. */
const SEED_CHARS = 32;

export type HandOver = {
  /** What the transaction does, one line each. */
  readonly lines: readonly string[];
  readonly multisig: string;
  /** Empty when the multisig is the authority already. */
  readonly instructions: readonly Instruction[];
};

/** What the chain shows. */
export type AuthorityFacts = {
  readonly mint: Mint;
  /** The account at the address of the multisig; null if nothing uses the address, which may still have lamports. */
  readonly account: Multisig | 'other' | null;
  /** Lamports at that address. Anyone can send some, because both keys are public. */
  readonly lamports: bigint;
  /** Lamports that exempt the multisig account from rent. */
  readonly rent: bigint;
};

type Keys = { readonly reserve: string; readonly witness: string; readonly mint: string };

/** Address and seed of the multisig of a reserve and a witness: derived, so that a repeated command finds it. */
export async function multisigOf({ reserve, witness }: Keys, program: string) {
  const seed = witness.slice(0, SEED_CHARS);
  const multisig = await createAddressWithSeed({
    baseAddress: address(reserve),
    programAddress: address(program),
    seed,
  });
  return { multisig, seed };
}

type Creation = {
  readonly multisig: Address;
  readonly seed: string;
  /** Lamports that the address lacks to be exempt from rent. */
  readonly missing: bigint;
  readonly program: string;
};

/** An instruction that creates an account fails if its address has lamports. These three do not. */
function creationOf(
  { reserve, witness }: Keys,
  { multisig, seed, missing, program }: Creation,
): Instruction[] {
  const programAddress = { programAddress: address(program) };
  return [
    getTransferSolInstruction({ source: signerAt(reserve), destination: multisig, amount: missing }),
    getAllocateWithSeedInstruction({
      newAccount: multisig,
      baseAccount: signerAt(reserve),
      base: address(reserve),
      seed,
      space: MULTISIG_BYTES,
      ...programAddress,
    }),
    getInitializeMultisig2Instruction(
      { multisig, m: 2, signers: [address(reserve), address(witness)] },
      programAddress,
    ),
  ];
}

/** @throws Error when the reserve cannot hand over the authority */
export async function planHandOver(
  keys: Keys,
  { mint, account, lamports, rent }: AuthorityFacts,
): Promise<HandOver> {
  const { reserve, witness } = keys;
  const { multisig, seed } = await multisigOf(keys, mint.program);
  const isPair =
    account !== null &&
    account !== 'other' &&
    account.required === 2 &&
    account.signers.length === 2 &&
    [reserve, witness].every((key) => account.signers.includes(key));
  if (account !== null && !isPair)
    throw new Error(`${multisig} exists and is not a multisig of these two keys.`);
  const shown = [
    `Mint       ${keys.mint}`,
    `Multisig   ${multisig}, 2 of 2`,
    `           ${reserve} (reserve)`,
    `           ${witness} (witness)`,
  ];
  if (mint.mintAuthority === multisig)
    return { lines: [...shown, 'The multisig is the mint authority already.'], multisig, instructions: [] };
  if (mint.mintAuthority !== reserve)
    throw new Error(`The mint authority is ${mint.mintAuthority ?? 'nobody'}, not the reserve ${reserve}.`);
  const missing = rent > lamports ? rent - lamports : 0n;
  const handOver = getSetAuthorityInstruction(
    {
      owned: address(keys.mint),
      owner: signerAt(reserve),
      authorityType: AuthorityType.MintTokens,
      newAuthority: multisig,
    },
    { programAddress: address(mint.program) },
  );
  return {
    lines: [
      ...shown,
      ...(isPair ? [] : [`Creates the multisig account for ${missing} lamports.`]),
      'Makes the multisig the mint authority. After that, each mint and each change of the authority needs both keys.',
      `Fee: ${networkFee(BUDGET)} lamports.`,
    ],
    multisig,
    instructions: [
      ...(isPair ? [] : creationOf(keys, { multisig, seed, missing, program: mint.program })),
      handOver,
    ],
  };
}

/**
 * Shows the hand-over, and sends it if asked to.
 * @param print shows one line
 * @throws Error with a text for the operator
 */
export async function handOverMintAuthority(
  given: { readonly settings: Settings; readonly witness: string; readonly send: boolean },
  print: (line: string) => void,
): Promise<void> {
  const { settings, witness, send } = given;
  const { ABSR_MINT_ADDRESS: mint, SOLANA_RPC_URL: urls } = readConfig(settings);
  if (!mint) throw new Error('ABSR_MINT_ADDRESS must be set.');
  const signer = reserveSigner(settings);
  if (!isAddress(witness) || witness === signer.address)
    throw new Error('--witness takes the address of another key than the reserve.');
  const rpc = createSolanaRpc({ urls, fetch: (url, init) => fetch(url, init) });
  const keys = { reserve: signer.address, witness, mint };
  const plan = await planHandOver(keys, await readFacts(rpc, keys));
  for (const line of plan.lines) print(line);
  if (plan.instructions.length === 0) return;
  if (!send) return print('Nothing was sent. Repeat the command with --send to send it.');
  const handOver = { payer: signer, others: [], budget: BUDGET, instructions: plan.instructions };
  const failed = await sendSigned(rpc, [handOver], (_, signature) => print(`Signature  ${signature}`));
  for (const error of failed.values()) throw error;
  const { mint: after } = await readFacts(rpc, keys);
  if (after.mintAuthority !== plan.multisig)
    throw new Error('The chain still shows another mint authority. Repeat the command.');
  print(`Done. Set ABSR_MINT_AUTHORITY=${plan.multisig} at the witness and at the service.`);
}

async function readFacts(rpc: SolanaRpc, keys: Keys): Promise<AuthorityFacts> {
  const { accounts } = await rpc.first((node) => node.accounts([keys.mint], 'finalized'));
  const mint = accounts[0] && decodeMint(accounts[0].owner, accounts[0].data);
  if (!mint) throw new Error(`${keys.mint} is not a mint.`);
  const { multisig } = await multisigOf(keys, mint.program);
  const [found] = (await rpc.first((node) => node.accounts([multisig], 'finalized'))).accounts;
  const rent = await rpc.first((node) => node.rentExemption(MULTISIG_BYTES));
  const isUnused = !found || (found.owner === SYSTEM_PROGRAM && found.data.length === 0);
  const account = isUnused ? null : (decodeMultisig(found.owner, found.data) ?? 'other');
  return { mint, account, lamports: found?.lamports ?? 0n, rent };
}
