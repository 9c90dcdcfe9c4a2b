import { expect, it } from 'vitest';
import { lamportsChange } from '../../../src/chain/solana/transaction.ts';

const transaction = {
  accounts: ['payer', 'receiver', 'program'],
  preLamports: [10_000n, 5n, 1n],
  postLamports: [3_000n, 2_005n, 1n],
};

it.each([
  ['payer', -7_000n],
  ['receiver', 2_000n],
  ['program', 0n],
])('the balance of the %s changed by %s lamports', (address, change) => {
  expect(lamportsChange(transaction, address)).toBe(change);
});

it('an account outside the transaction has no balance change', () => {
  expect(lamportsChange(transaction, 'thirdParty')).toBeUndefined();
  expect(lamportsChange(transaction, '')).toBeUndefined();
});

it.each([
  ['before', { ...transaction, preLamports: [] }],
  ['after', { ...transaction, postLamports: [3_000n] }],
])('the change is undefined if the balances %s the transaction are missing', (_name, cut) => {
  expect(lamportsChange(cut, 'receiver')).toBeUndefined();
});

it('the change of a balance above 2^53 is exact to the lamport', () => {
  const rich = { accounts: ['a'], preLamports: [2n ** 63n], postLamports: [2n ** 63n + 1n] };
  expect(lamportsChange(rich, 'a')).toBe(1n);
});
