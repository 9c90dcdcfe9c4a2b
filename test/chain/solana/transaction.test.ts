import { base58 } from '@scure/base';
import { expect, it } from 'vitest';
import { TRANSFER_FEE, transferMessage } from '../../../src/chain/solana/transaction.ts';
import { lamports } from '../../../src/core/amount.ts';
import { decodeMessage } from './decode-message.ts';

const FROM = base58.encode(new Uint8Array(32).fill(3));
const TO = base58.encode(new Uint8Array(32).fill(9));
const BLOCKHASH = base58.encode(new Uint8Array(32).fill(200));
const lifetime = { blockhash: BLOCKHASH };

const transfer = (amount: bigint, change: { from?: string; to?: string } = {}) =>
  decodeMessage(transferMessage({ from: FROM, to: TO, amount: lamports(amount), lifetime, ...change }));

const u32 = (data: Uint8Array, at: number) => new DataView(data.buffer).getUint32(at, true);
const u64 = (data: Uint8Array, at: number) => new DataView(data.buffer).getBigUint64(at, true);

it('a transfer costs exactly TRANSFER_FEE: one signature and the priority fee of its own budget', () => {
  const message = transfer(1n);
  const [limit, price] = message.instructions.map(({ data }) => data);
  expect(limit?.[0]).toBe(2);
  expect(price?.[0]).toBe(3);
  const units = BigInt(u32(limit ?? new Uint8Array(), 1));
  const microLamports = u64(price ?? new Uint8Array(), 1);
  // Priority fee in lamports: ceil(units * price / 1e6).
  const priority = (units * microLamports + 999_999n) / 1_000_000n;
  expect(BigInt(message.requiredSignatures) * 5_000n + priority).toBe(TRANSFER_FEE);
  expect(units).toBeGreaterThanOrEqual(450n);
});

it.each([
  ['an amount above u64', { amount: 2n ** 64n }],
  ['a negative amount', { amount: -1n }],
  ['a receiver that is not an address', { to: 'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4' }],
  ['an empty receiver', { to: '' }],
  ['a payer of 31 bytes', { from: base58.encode(new Uint8Array(31).fill(1)) }],
])('a transfer message with %s throws before anything is signed', (_name, change) => {
  const { amount = 1n, ...addresses } = change as { amount?: bigint; to?: string; from?: string };
  expect(() => transfer(amount, addresses)).toThrow();
});
