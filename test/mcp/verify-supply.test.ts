import { expect, it } from 'vitest';
import type { ProofMessage } from '../../src/chain/bitcoin/proof-message.ts';
import { collectEvidence } from '../../src/mcp/verify-proof.ts';
import { signature } from '../custody/payments/payment-world.ts';
import { nodeBody, type TestChain } from '../kit/solana-node.ts';
import { mintAccount } from '../kit/token-accounts.ts';
import { chainTransaction } from '../world/solana-shapes.ts';

const MINT = 'So11111111111111111111111111111111111111112';
const MESSAGE = {
  bitcoinAddress: 'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4',
  bitcoinTip: { height: 900_000, hash: 'a'.repeat(64) },
  absr: { mint: MINT, atoms: 1_000n, decimals: 0 },
  solanaTip: { slot: 50n, blockhash: MINT },
} as unknown as ProofMessage;

type Sent = { readonly slot: number; readonly before: readonly number[]; readonly after: readonly number[] };

/** The supply as read from a node with these transactions of the mint, newest first. */
async function supplyWith(atoms: number, transactions: readonly Sent[]) {
  const tokens = (amounts: readonly number[]) =>
    amounts.map((amount, at) => ({
      ...{ account: `holder ${at}`, mint: MINT, owner: null, program: null, atoms: BigInt(amount) },
      decimals: 0,
    }));
  const chain: TestChain = {
    newest: 90,
    accounts: { [MINT]: mintAccount({ supply: BigInt(atoms) }) },
    transactions: transactions.map(({ slot, before, after }, at) => {
      const tokenRows = { preTokens: tokens(before), postTokens: tokens(after) };
      return chainTransaction(
        signature(at),
        { payer: -5_000n, [MINT]: 0n },
        { slot: BigInt(slot), ...tokenRows },
      );
    }),
  };
  const fetch = async (_url: unknown, init?: RequestInit) => Response.json(await nodeBody(init?.body, chain));
  const sources = { explorerUrls: [], rpcUrl: 'https://node.test', fetch: fetch as typeof globalThis.fetch };
  return (await collectEvidence(MESSAGE, sources)).supply;
}

const transfer = { slot: 60, before: [500, 0], after: [400, 100] };
const minted = { slot: 60, before: [500], after: [540] };

it('counts tokens minted or burned after the slot of the proof, and ignores transfers', async () => {
  const burned = { slot: 70, before: [40], after: [10] };
  const supply = await supplyWith(1_010, [burned, transfer, minted, { ...minted, slot: 50 }]);
  expect(supply).toEqual({ atoms: 1_010n, decimals: 0, slot: 90n, changed: 10n });
});

it('the supply change is null when not all transactions can be read', async () => {
  const many = Array.from({ length: 51 }, () => transfer);
  expect((await supplyWith(1_010, many))?.changed).toBeNull();
});

it('reads no transaction while the supply equals the signed supply', async () => {
  expect(await supplyWith(1_000, [minted])).toMatchObject({ atoms: 1_000n, changed: null });
});
