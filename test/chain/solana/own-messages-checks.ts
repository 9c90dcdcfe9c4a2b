/** Checks of each of our messages, in Node and in the Workers runtime. */
import { getTransactionDecoder } from '@solana/web3.js';
import { describe, expect, it } from 'vitest';
import { signedTransaction } from '../../../src/chain/solana/transaction.ts';
import { decodeMessage } from './decode-message.ts';
import { BLOCKHASH, ownMessages } from './own-messages.ts';

const COMPUTE_BUDGET = 'ComputeBudget111111111111111111111111111111';
const littleEndian = (bytes: Uint8Array): bigint =>
  bytes.reduceRight((value, next) => value * 256n + BigInt(next), 0n);

export function checkOwnMessages(): void {
  describe.each([0, 1] as const)('in version %i', (version) => {
    it.each(ownMessages(version))('$name has exactly the expected content', (own) => {
      const { config, tableLookups, rest, ...read } = decodeMessage(own.bytes);
      const budget = read.instructions.filter(({ program }) => program === COMPUTE_BUDGET);
      expect([read.version, tableLookups, rest, read.blockhash]).toEqual([version, 0, 0, BLOCKHASH]);
      expect(read.keys.slice(0, read.requiredSignatures)).toEqual(own.signers);
      expect(read.readonlySigned).toBe(0);
      expect(read.instructions.filter((each) => !budget.includes(each))).toEqual(own.instructions);
      if (version === 1) {
        const loadedBytes = 64 * 1024 * 1024;
        expect(budget).toEqual([]);
        expect(config).toEqual({
          priorityFee: own.priorityFee,
          units: own.units,
          loadedBytes,
          heapBytes: null,
        });
      } else {
        expect(config).toBeNull();
        const [limit, price] = budget.map(({ data }) => data);
        expect([budget.length, limit?.[0], price?.[0]]).toEqual([2, 2, 3]);
        const units = littleEndian(limit?.slice(1) ?? new Uint8Array());
        const unitPrice = littleEndian(price?.slice(1) ?? new Uint8Array());
        expect([Number(units), (units * unitPrice) / 1_000_000n]).toEqual([own.units, own.priorityFee]);
      }
    });

    it.each(ownMessages(version))('$name is read by the library with its signatures', (own) => {
      const signatures = own.signers.map((_key, at) => new Uint8Array(64).fill(at + 5));
      const [first = new Uint8Array(64), ...others] = signatures;
      const { wire } = signedTransaction(own.bytes, [first, ...others]);
      const read = getTransactionDecoder().decode(wire);
      expect(new Uint8Array(read.messageBytes)).toEqual(own.bytes);
      expect(Object.entries(read.signatures).map(([key, value]) => [key, [...(value ?? [])]])).toEqual(
        own.signers.map((key, at) => [key, [...(signatures[at] ?? [])]]),
      );
    });
  });
}
