/** Our messages, which the Solana library compiles, read back byte by byte by a reader of our own. */
import { base58 } from '@scure/base';
import { expect, it } from 'vitest';
import { compileMessage } from '../../../src/chain/solana/transaction.ts';
import { decodeMessage } from './decode-message.ts';
import { checkOwnMessages } from './own-messages-checks.ts';

const [PAYER, BLOCKHASH] = [1, 200].map((n) => base58.encode(new Uint8Array(32).fill(n))) as [string, string];

checkOwnMessages();

it('a compiled message contains its compute budget, with the fee rounded up', () => {
  const read = (version: 0 | 1) =>
    decodeMessage(compileMessage(PAYER, { blockhash: BLOCKHASH, version }, { units: 5, unitPrice: 3n }, []));
  expect(read(1).config).toMatchObject({ priorityFee: 1n, units: 5 });
  expect(read(0).instructions.map(({ data }) => [...data])).toEqual([
    [2, 5, 0, 0, 0],
    [3, 3, 0, 0, 0, 0, 0, 0, 0],
  ]);
});
