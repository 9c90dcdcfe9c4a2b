import { address, getProgramDerivedAddress } from '@solana/web3.js';
import { expect, it } from 'vitest';
import { programAddress } from '../../../src/chain/solana/program-address.ts';
import { TOKEN_2022_PROGRAM, TOKEN_PROGRAM } from '../../../src/chain/solana/token-program.ts';

const seedOf = (...bytes: number[]): Uint8Array => Uint8Array.from(bytes);
const peer = async (program: string, seeds: Uint8Array[]): Promise<string> =>
  (await getProgramDerivedAddress({ programAddress: address(program), seeds }))[0];

it('an address is the same on a repeated call, after more other calls than the cache holds', async () => {
  const asked = Array.from({ length: 150 }, (_none, at) => [seedOf(at, 7)]);
  const first = asked.map((seeds) => programAddress(TOKEN_PROGRAM, seeds));
  const again = asked.map((seeds) => programAddress(TOKEN_PROGRAM, seeds));
  expect(again).toEqual(first);
  expect(again.toReversed()).toEqual(asked.toReversed().map((seeds) => programAddress(TOKEN_PROGRAM, seeds)));
  expect(new Set(first).size).toBe(asked.length);
  for (const at of [0, 85, 86, 87, 149]) {
    expect(first[at]).toBe(await peer(TOKEN_PROGRAM, asked[at] ?? []));
  }
});

it.each<[string, string, Uint8Array[]]>([
  ['another program', TOKEN_2022_PROGRAM, [seedOf(1, 2), seedOf(3)]],
  ['seeds that are divided elsewhere', TOKEN_PROGRAM, [seedOf(1), seedOf(2, 3)]],
  ['one seed of the same bytes', TOKEN_PROGRAM, [seedOf(1, 2, 3)]],
  ['another order', TOKEN_PROGRAM, [seedOf(3), seedOf(1, 2)]],
  ['an empty seed more', TOKEN_PROGRAM, [seedOf(1, 2), seedOf(3), seedOf()]],
  ['no seed', TOKEN_PROGRAM, []],
  ['a seed of nothing', TOKEN_PROGRAM, [seedOf()]],
])('%s is not confused with a cached entry', async (_name, program, seeds) => {
  programAddress(TOKEN_PROGRAM, [seedOf(1, 2), seedOf(3)]);
  expect(programAddress(program, seeds)).toBe(await peer(program, seeds));
});

it('a seed that changes afterwards does not change the cache', async () => {
  const seed = seedOf(9, 9);
  const before = programAddress(TOKEN_PROGRAM, [seed]);
  seed[0] = 8;
  expect(programAddress(TOKEN_PROGRAM, [seed])).toBe(await peer(TOKEN_PROGRAM, [seedOf(8, 9)]));
  expect(programAddress(TOKEN_PROGRAM, [seedOf(9, 9)])).toBe(before);
});
