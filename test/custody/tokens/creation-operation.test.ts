import { SYSTEM_PROGRAM_ADDRESS } from '@solana-program/system';
import { expect, it } from 'vitest';
import { CREATION_FEE, creationSpaces, METAPLEX_FEE } from '../../../src/chain/solana/token-creation.ts';
import { TOKEN_2022_PROGRAM, TOKEN_PROGRAM } from '../../../src/chain/solana/token-program.ts';
import { lamports } from '../../../src/core/amount.ts';
import { plannedOperation } from '../../../src/custody/kernel/operation.ts';
import { createTokenKind, designOf, type FoundMint } from '../../../src/custody/tokens/creation-operation.ts';
import { wallet } from '../../kit/addresses.ts';
import { tokenDesign } from '../../kit/token-design.ts';

const [RESERVE, MINT, CREATOR] = [wallet(91), wallet(92), wallet(93)];
const SUBJECT = { ...tokenDesign({ creator: CREATOR, revokeMint: true }), supply: '5000000' };

const LEAST = 890_880n;
/** Lamports that exempt accounts of these sizes from rent. */
const rentOf = (...sizes: number[]): bigint =>
  sizes.reduce((sum, bytes) => sum + BigInt(bytes + 128) * 6_960n, 0n);
const { mint: MINT_BYTES } = creationSpaces(designOf(SUBJECT));

function prepare(
  found: FoundMint | null,
  over: Record<string, unknown> = {},
  reserved = CREATION_FEE + rentOf(MINT_BYTES, 170),
) {
  const signed: [string, Uint8Array][] = [];
  const kind = createTokenKind({
    signMint(invoiceId, message) {
      signed.push([invoiceId, message]);
      return new Uint8Array(64).fill(5);
    },
    leastBalance: async () => LEAST,
    latestBlockhash: async () => ({ blockhash: wallet(94), slot: 5n, witnesses: [] }),
    findMint: async () => found,
  });
  const operation = plannedOperation({
    signer: RESERVE,
    id: 'token:one',
    kind: 'token',
    amount: lamports(0n),
    reserved: lamports(reserved),
    plan: { ...SUBJECT, ...over, mint: MINT, invoiceId: 'one' } as never,
    now: 0,
  });
  return { signed, prepared: kind.prepare(operation) };
}

it('cosigns a token creation with the mint key of its invoice', async () => {
  const { prepared, signed } = prepare(null);
  const ready = await prepared;
  if (!('message' in ready)) throw new Error('nothing to sign');
  expect(await ready.cosign?.(new Uint8Array(64))).toEqual([new Uint8Array(64).fill(5)]);
  expect(signed).toEqual([['one', ready.message]]);
});

it.each([
  ["the mint's and the account's rent", {}, rentOf(MINT_BYTES, 170)],
  ["the mint's rent alone without a supply", { supply: '0' }, rentOf(MINT_BYTES)],
  [
    "Metaplex's fee and account as well",
    { program: 'token', metaplex: true },
    METAPLEX_FEE + rentOf(82, 607, 165),
  ],
])('a creation costs no more than the amount set aside, which covers %s', async (_name, over, cost) => {
  expect(await prepare(null, over, CREATION_FEE + cost).prepared).toMatchObject({ ok: true });
  for (const reserved of [CREATION_FEE + cost - 1n, 0n]) {
    const { prepared, signed } = prepare(null, over, reserved);
    expect(await prepared).toEqual({ ok: false, reason: 'rent_unexpected' });
    expect(signed).toEqual([]);
  }
});

it('lamports at a mint address are treated neither as our mint nor as a sign of a stolen seed', async () => {
  const funded = { owner: SYSTEM_PROGRAM_ADDRESS, supply: 0n, decimals: -1 };
  const { prepared, signed } = prepare(funded);
  expect(await prepared).toEqual({ ok: false, reason: 'mint_address_funded' });
  expect(signed).toEqual([]);
});

const mint = (over: Partial<FoundMint> = {}): FoundMint => ({
  owner: TOKEN_2022_PROGRAM,
  supply: 5_000_000n,
  decimals: 6,
  ...over,
});

it.each([
  ['as ordered', mint(), {}],
  ['some of which was burnt later', mint({ supply: 1n }), {}],
  ['whose supply its creator increased later', mint({ supply: 9_000_000n }), { revokeMint: false }],
])('an existing mint %s is the result of the creation, so nothing is signed', async (_name, found, over) => {
  const { prepared, signed } = prepare(found, over);
  expect(await prepared).toEqual({ ok: false, found: { mint: MINT } });
  expect(signed).toEqual([]);
});

it.each([
  ['of another program', mint({ owner: TOKEN_PROGRAM })],
  ['of other decimals', mint({ decimals: 9 })],
  ['of more than the mint authority may have made', mint({ supply: 5_000_001n })],
  ['that is not a mint', mint({ supply: 0n, decimals: -1 })],
])('an existing mint %s is not ours, so the operator must check it', async (_name, found) => {
  const { prepared, signed } = prepare(found);
  expect(await prepared).toEqual({ ok: false, reason: 'foreign_mint' });
  expect(signed).toEqual([]);
});
