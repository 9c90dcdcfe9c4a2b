/**
 * The two payments that the site offers to a wallet: SOL with a Solana Pay reference, and a deposit of dollars.
 * @module
 */

import {
  AccountRole,
  address,
  appendTransactionMessageInstructions,
  type Base64EncodedWireTransaction,
  compileTransaction,
  createNoopSigner,
  createSolanaRpcFromTransport,
  createTransactionMessage,
  getBase64Decoder,
  getTransactionEncoder,
  type Instruction,
  pipe,
  setTransactionMessageFeePayer,
  setTransactionMessageLifetimeUsingBlockhash,
} from '@solana/web3.js';
import { getTransferSolInstruction } from '@solana-program/system';
import {
  findAssociatedTokenPda,
  getCreateAssociatedTokenIdempotentInstruction,
  getTransferCheckedInstruction,
  TOKEN_PROGRAM_ADDRESS,
} from '@solana-program/token';
import { formatAmount, SOL_DECIMALS } from '../../src/core/amount.ts';
import { readSiteFile } from '../api/call.ts';
import type { Sources } from '../build/host-files.ts';
import { WalletProblem } from './problem.ts';
import { type Connected, signAndSend } from './wallets.ts';

/** Fee of one signature, and room for a priority fee that the wallet may add. */
const FEE_RESERVE_LAMPORTS = 100_000n;
const TOKEN_ACCOUNT_BYTES = 165n;

const PATIENCE_MS = 15_000;

/** JSON-RPC without the library's own header, which a public node's CORS policy may not allow. */
const rpcAt = (url: string) =>
  createSolanaRpcFromTransport(async <T>({ payload, signal }: { payload: unknown; signal?: AbortSignal }) => {
    const patience = AbortSignal.timeout(PATIENCE_MS);
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(payload, (_, value) => (typeof value === 'bigint' ? Number(value) : value)),
      credentials: 'omit',
      referrerPolicy: 'no-referrer',
      signal: signal ? AbortSignal.any([signal, patience]) : patience,
    });
    if (!response.ok) throw new Error(`status ${response.status}`);
    return (await response.json()) as T;
  });
type Rpc = ReturnType<typeof rpcAt>;

/** Runs on the first public node that responds. @throws WalletProblem no_node */
async function withNode<T>(read: (rpc: Rpc) => Promise<T>): Promise<T> {
  const { rpcUrls } = await readSiteFile<Sources>('/verify-sources.json');
  for (const url of rpcUrls) {
    try {
      return await read(rpcAt(url));
    } catch (cause) {
      if (cause instanceof WalletProblem) throw cause;
    }
  }
  throw new WalletProblem('no_node');
}

async function signWithFreshBlockhash(
  connected: Connected,
  instructions: readonly Instruction[],
): Promise<string> {
  const lifetime = await withNode(async (rpc) => (await rpc.getLatestBlockhash().send()).value);
  const transaction = pipe(
    createTransactionMessage({ version: 0 }),
    (message) => setTransactionMessageFeePayer(address(connected.account.address), message),
    (message) => setTransactionMessageLifetimeUsingBlockhash(lifetime, message),
    (message) => appendTransactionMessageInstructions(instructions, message),
    compileTransaction,
  );
  const bytes = Uint8Array.from(getTransactionEncoder().encode(transaction));
  return signAndSend(connected, bytes, (signed) => {
    const wire = getBase64Decoder().decode(signed) as Base64EncodedWireTransaction;
    return withNode((rpc) => rpc.sendTransaction(wire, { encoding: 'base64' }).send());
  });
}

async function requireLamports(rpc: Rpc, owner: string, needed: bigint): Promise<void> {
  const { value: held } = await rpc.getBalance(address(owner)).send();
  if (held < needed)
    throw new WalletProblem(
      'too_little_sol',
      `It holds ${formatAmount(held, SOL_DECIMALS)} SOL; ${formatAmount(needed, SOL_DECIMALS)} SOL are needed, fees included.`,
    );
}

export type SolPayment = {
  readonly to: string;
  readonly lamports: bigint;
  /** Null for a receiver that finds payments by its address alone. */
  readonly reference: string | null;
};

/** Pays SOL, with a reference as a read-only account by which the service finds the payment. */
export async function paySol(connected: Connected, { to, lamports, reference }: SolPayment): Promise<string> {
  const owner = connected.account.address;
  await withNode((rpc) => requireLamports(rpc, owner, lamports + FEE_RESERVE_LAMPORTS));
  const transfer = getTransferSolInstruction({
    source: createNoopSigner(address(owner)),
    destination: address(to),
    amount: lamports,
  });
  const found =
    reference === null ? [] : [{ address: address(reference), role: AccountRole.READONLY } as const];
  return signWithFreshBlockhash(connected, [{ ...transfer, accounts: [...transfer.accounts, ...found] }]);
}

export type DollarDeposit = {
  readonly to: string;
  readonly mint: string;
  readonly atoms: bigint;
  readonly decimals: number;
};

/** Sends USDC or USDT to the treasury's associated account, which the sender opens if it does not exist. */
export async function depositDollars(connected: Connected, deposit: DollarDeposit): Promise<string> {
  const owner = address(connected.account.address);
  const [to, mint] = [address(deposit.to), address(deposit.mint)];
  const accountOf = async (wallet: typeof owner) =>
    (await findAssociatedTokenPda({ owner: wallet, mint, tokenProgram: TOKEN_PROGRAM_ADDRESS }))[0];
  const [source, destination] = await Promise.all([accountOf(owner), accountOf(to)]);
  const exists = await withNode(async (rpc) => {
    const [from, target] = (
      await rpc.getMultipleAccounts([source, destination], { encoding: 'base64' }).send()
    ).value;
    const held = from ? BigInt((await rpc.getTokenAccountBalance(source).send()).value.amount) : 0n;
    if (held < deposit.atoms)
      throw new WalletProblem(
        'too_little_token',
        `It holds ${formatAmount(held, deposit.decimals)}; ${formatAmount(deposit.atoms, deposit.decimals)} were entered.`,
      );
    const rent = target ? 0n : await rpc.getMinimumBalanceForRentExemption(TOKEN_ACCOUNT_BYTES).send();
    await requireLamports(rpc, owner, FEE_RESERVE_LAMPORTS + rent);
    return Boolean(target);
  });
  const payer = createNoopSigner(owner);
  const open = getCreateAssociatedTokenIdempotentInstruction({ payer, ata: destination, owner: to, mint });
  const transfer = getTransferCheckedInstruction({
    source,
    mint,
    destination,
    authority: payer,
    amount: deposit.atoms,
    decimals: deposit.decimals,
  });
  return signWithFreshBlockhash(connected, exists ? [transfer] : [open, transfer]);
}
