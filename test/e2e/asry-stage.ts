/** Deposits on the world's chain, and claims of them by callers. */

import type { Instruction, KeyPairSigner } from '@solana/web3.js';
import { findAta } from '../../src/chain/solana/token-instructions.ts';
import { decodeTokenAccount, TOKEN_PROGRAM } from '../../src/chain/solana/token-program.ts';
import { WAIT_MS } from '../patience.ts';
import { createSolanaKey, type SolanaKey } from '../world/keys.ts';
import { landTransaction } from '../world/solana-wallet.ts';
import type { World } from '../world/world.ts';
import { ask } from './swap-caller.ts';

const DOLLAR = 1_000_000n;

type ClaimRecord = {
  readonly payouts: readonly { readonly asryAtomic: string; readonly paid_at: string | null }[];
};
export type Answer = {
  readonly status: number;
  readonly body: {
    readonly reward: {
      readonly status: string;
      readonly signature: string | null;
      readonly asryAtomic: string;
      readonly reason: string | null;
    };
    readonly error_code: string;
  };
  readonly retryAfter: string | null;
};

export function createAsryStage(world: World) {
  const { ledger, faucet } = world.solana;

  async function land(payer: KeyPairSigner, ...instructions: Instruction[]): Promise<string> {
    return (await landTransaction(ledger, payer, instructions)).signature;
  }

  /** A wallet with SOL and USDC. */
  async function user(): Promise<SolanaKey> {
    const key = await createSolanaKey();
    await faucet(key.address, 'sol', 1_000_000_000n);
    await faucet(key.address, 'usdc', 1_000n * DOLLAR);
    return key;
  }

  /** The body is sent unchanged. */
  async function post(body: unknown, ip?: string): Promise<Answer> {
    const { status, headers, body: answer } = await ask(world, '/api/asry/claim-from-deposit', { body, ip });
    return { status, body: answer as never, retryAfter: headers.get('retry-after') };
  }

  async function finalized(signature: string): Promise<void> {
    const slot = ledger.transaction(signature)?.slot;
    if (slot === undefined) throw new Error(`${signature} has not landed`);
    await ledger.clock.reached(slot + ledger.clock.finality + 1);
  }

  /** ASRY atoms of an owner at the newest slot. */
  async function asryOf(owner: string): Promise<bigint> {
    const address = findAta(owner, world.mints.asry, TOKEN_PROGRAM);
    const account = await ledger.account(address, ledger.clock.slot('processed'));
    return account ? (decodeTokenAccount(account.owner, account.data)?.atoms ?? 0n) : 0n;
  }

  /** Payouts of a deposit that the chain shows. */
  const payoutsOf = (signature: string) =>
    ledger
      .transactionsOf(world.reserve.solana)
      .filter(({ err, memo }) => err === null && (memo ?? '').includes(`asry:${signature}:`));

  return {
    land,
    user,
    post,
    asryOf,
    payoutsOf,

    /** A plain deposit, final. */
    async deposit(from: SolanaKey, dollars: bigint): Promise<string> {
      const amount = dollars * DOLLAR;
      const signature = await world.control.transfer({ from, to: world.treasury, asset: 'usdc', amount });
      await finalized(signature);
      return signature;
    },

    claim: (depositTxSignature: string, more: Record<string, unknown> = {}) =>
      post({ asset: 'USDC', depositTxSignature, ...more }),

    /** The record once all its payouts are final. */
    async paid(signature: string): Promise<ClaimRecord> {
      let last: unknown;
      for (const end = Date.now() + WAIT_MS; Date.now() < end; ) {
        const { status, body } = await ask(world, `/api/asry/claims/${signature}`);
        const record = body as Partial<ClaimRecord>;
        if (status === 200 && record.payouts?.every(({ paid_at }) => paid_at !== null))
          return record as ClaimRecord;
        last = { status, body };
        await ledger.clock.reached(ledger.clock.slot('processed') + 5);
      }
      throw new Error(`the claim is not paid: ${JSON.stringify(last)}`);
    },
  };
}
