import { createPrivateKey, createPublicKey, sign, verify } from 'node:crypto';
import { base58 } from '@scure/base';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { signedTransaction, TRANSFER_FEE, transferMessage } from '../../../src/chain/solana/transaction.ts';
import { lamports } from '../../../src/core/amount.ts';
import { decodeMessage } from './decode-message.ts';

const COMPUTE_BUDGET = 'ComputeBudget111111111111111111111111111111';
const SYSTEM = '11111111111111111111111111111111';
const FROM = base58.encode(new Uint8Array(32).fill(3));
const TO = base58.encode(new Uint8Array(32).fill(9));
const BLOCKHASH = base58.encode(new Uint8Array(32).fill(200));
const lifetime = { blockhash: BLOCKHASH };

const transfer = (amount: bigint, change: { from?: string; to?: string } = {}) =>
  decodeMessage(transferMessage({ from: FROM, to: TO, amount: lamports(amount), lifetime, ...change }));

const u32 = (data: Uint8Array, at: number) => new DataView(data.buffer).getUint32(at, true);
const u64 = (data: Uint8Array, at: number) => new DataView(data.buffer).getBigUint64(at, true);

describe('transferMessage', () => {
  it('a transfer message is one version 0 message with one signer, no lookup table and no extra byte', () => {
    const message = transfer(500_000_000n);
    expect(message).toMatchObject({
      version: 0,
      requiredSignatures: 1,
      readonlySigned: 0,
      tableLookups: 0,
      rest: 0,
      blockhash: BLOCKHASH,
    });
  });

  it('names four accounts: payer, receiver and the two programs, both programs read only', () => {
    const message = transfer(1n);
    expect(message.keys[0]).toBe(FROM);
    expect(new Set(message.keys)).toEqual(new Set([FROM, TO, SYSTEM, COMPUTE_BUDGET]));
    expect(message.keys).toHaveLength(4);
    expect(message.readonlyUnsigned).toBe(2);
    expect(message.keys.indexOf(TO)).toBe(1);
  });

  it('a transfer message has exactly three instructions: unit limit, unit price, one System transfer', () => {
    const [limit, price, pay, ...more] = transfer(1n).instructions;
    expect(more).toEqual([]);
    expect(limit).toMatchObject({ program: COMPUTE_BUDGET, accounts: [] });
    expect(price).toMatchObject({ program: COMPUTE_BUDGET, accounts: [] });
    expect(pay).toMatchObject({ program: SYSTEM, accounts: [FROM, TO] });
  });

  it.each([1n, 1_000_000n, 500_000_000n, 2n ** 53n + 1n, 2n ** 64n - 1n])(
    'moves exactly %s lamports',
    (amount) => {
      const data = transfer(amount).instructions[2]?.data ?? new Uint8Array();
      expect(data).toHaveLength(12);
      // System instruction 2 is Transfer.
      expect(u32(data, 0)).toBe(2);
      expect(u64(data, 4)).toBe(amount);
    },
  );

  it('costs exactly TRANSFER_FEE: one signature and the priority fee of its own budget', () => {
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
  ])('%s throws before anything could be signed', (_name, change) => {
    const { amount = 1n, ...addresses } = change as { amount?: bigint; to?: string; from?: string };
    expect(() => transfer(amount, addresses)).toThrow();
  });

  it('a transfer message has the given payer, receiver and sum, for every address and amount', () => {
    const key = fc.uint8Array({ minLength: 32, maxLength: 32 }).map((bytes) => base58.encode(bytes));
    fc.assert(
      fc.property(key, key, fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }), (from, to, amount) => {
        fc.pre(new Set([from, to, SYSTEM, COMPUTE_BUDGET]).size === 4);
        const message = transfer(amount, { from, to });
        const pay = message.instructions[2];
        expect(message.keys[0]).toBe(from);
        expect(pay?.accounts).toEqual([from, to]);
        expect(u64(pay?.data ?? new Uint8Array(), 4)).toBe(amount);
      }),
    );
  });
});

describe('signedTransaction', () => {
  // PKCS #8 of the seed 42 42 42 ...
  const seed = Buffer.alloc(32, 42);
  const key = createPrivateKey({
    key: Buffer.concat([Buffer.from('302e020100300506032b657004220420', 'hex'), seed]),
    format: 'der',
    type: 'pkcs8',
  });
  const publicKey = createPublicKey(key);
  const raw = publicKey.export({ type: 'spki', format: 'der' }).subarray(-32);
  const message = transferMessage({ from: base58.encode(raw), to: TO, amount: lamports(7n), lifetime });
  const { wire, signature } = signedTransaction(message, [new Uint8Array(sign(null, message, key))]);

  it('a signed transaction is one signature, then the message, within the size of a packet', () => {
    expect(wire[0]).toBe(1);
    expect(wire.slice(65)).toEqual(message);
    expect(wire).toHaveLength(65 + message.length);
    expect(wire.length).toBeLessThanOrEqual(1_232);
  });

  it('the id is the base58 of the first 64 bytes, which are a signature of the rest', () => {
    expect(base58.decode(signature)).toEqual(wire.slice(1, 65));
    expect(verify(null, wire.slice(65), publicKey, wire.slice(1, 65))).toBe(true);
  });
});
