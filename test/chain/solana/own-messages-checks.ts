/** Checks of each of our messages, in Node and in the Workers runtime. */
import { type Address, getCompiledTransactionMessageDecoder, getTransactionDecoder } from '@solana/web3.js';
import { describe, expect, it } from 'vitest';
import { signedTransaction } from '../../../src/chain/solana/transaction.ts';
import { decodeMessage } from './decode-message.ts';
import { BLOCKHASH, ownMessages } from './own-messages.ts';

const COMPUTE_BUDGET = 'ComputeBudget111111111111111111111111111111';
const littleEndian = (bytes: Uint8Array): bigint =>
  bytes.reduceRight((value, next) => value * 256n + BigInt(next), 0n);

/** The message as decoded by the library, in the members of our own reader. */
function libraryReading(bytes: Uint8Array) {
  const message = getCompiledTransactionMessageDecoder().decode(bytes);
  const keyAt = (index: number): Address | undefined => message.staticAccounts[index];
  const instructions =
    message.version === 1
      ? message.instructionHeaders.map((head, index) => ({
          program: keyAt(head.programAccountIndex),
          accounts: message.instructionPayloads[index]?.instructionAccountIndices.map(keyAt),
          data: Uint8Array.from(message.instructionPayloads[index]?.instructionData ?? []),
        }))
      : message.instructions.map(({ programAddressIndex, accountIndices = [], data = new Uint8Array() }) => ({
          program: keyAt(programAddressIndex),
          accounts: accountIndices.map(keyAt),
          data: Uint8Array.from(data),
        }));
  const { header, staticAccounts, lifetimeToken } = message;
  return {
    version: message.version,
    requiredSignatures: header.numSignerAccounts,
    readonlySigned: header.numReadonlySignerAccounts,
    readonlyUnsigned: header.numReadonlyNonSignerAccounts,
    keys: staticAccounts,
    blockhash: lifetimeToken,
    values: message.version === 1 ? message.configValues.map(({ value }) => BigInt(value)) : [],
    instructions,
  };
}

export function checkOwnMessages(): void {
  describe.each([0, 1] as const)('in version %i', (version) => {
    it.each(ownMessages(version))('$name has exactly the expected content for both readers', (own) => {
      const { config, tableLookups, rest, ...read } = decodeMessage(own.bytes);
      const budget = read.instructions.filter(({ program }) => program === COMPUTE_BUDGET);
      expect([read.version, tableLookups, rest, read.blockhash]).toEqual([version, 0, 0, BLOCKHASH]);
      expect(read.keys.slice(0, read.requiredSignatures)).toEqual(own.signers);
      expect(read.readonlySigned).toBe(0);
      expect(read.instructions.filter((each) => !budget.includes(each))).toEqual(own.instructions);
      const { values, ...library } = libraryReading(own.bytes);
      expect(library).toEqual(read);
      if (version === 1) {
        const loadedBytes = 64 * 1024 * 1024;
        expect(budget).toEqual([]);
        expect(config).toEqual({
          priorityFee: own.priorityFee,
          units: own.units,
          loadedBytes,
          heapBytes: null,
        });
        expect(values).toEqual([own.priorityFee, BigInt(own.units), BigInt(loadedBytes)]);
      } else {
        expect([config, values]).toEqual([null, []]);
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
