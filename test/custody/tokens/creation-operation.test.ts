import { SYSTEM_PROGRAM_ADDRESS } from '@solana-program/system';
import { expect, it } from 'vitest';
import { CREATION_FEE, METAPLEX_FEE } from '../../../src/chain/solana/token-creation.ts';
import { TOKEN_2022_PROGRAM, TOKEN_PROGRAM } from '../../../src/chain/solana/token-program.ts';
import { lamports } from '../../../src/core/amount.ts';
import { plannedOperation } from '../../../src/custody/kernel/operation.ts';
import { createTokenKind, type FoundMint } from '../../../src/custody/tokens/creation-operation.ts';
import { wallet } from '../../kit/addresses.ts';
import { tokenDesign } from '../../kit/token-design.ts';

const [RESERVE, MINT, CREATOR] = [wallet(91), wallet(92), wallet(93)];
const SUBJECT = { ...tokenDesign({ creator: CREATOR, revokeMint: true }), supply: '5000000' };

/** Lamports set aside for the creation: its fee and its rent, which includes the mint's. */
const RESERVED = 15_000_006n;

function prepare(found: FoundMint | null, over: Record<string, unknown> = {}, rent = 1_000_000n) {
  const signed: [string, Uint8Array][] = [];
  const kind = createTokenKind({
    signMint(invoiceId, message) {
      signed.push([invoiceId, message]);
      return new Uint8Array(64).fill(5);
    },
    rentExemption: async () => rent,
    latestBlockhash: async () => ({ blockhash: wallet(94), slot: 5n, witnesses: [] }),
    findMint: async () => found,
  });
  const operation = plannedOperation({
    signer: RESERVE,
    id: 'token:one',
    kind: 'token',
    amount: lamports(0n),
    reserved: lamports(RESERVED),
    plan: { ...SUBJECT, ...over, mint: MINT, invoiceId: 'one' } as never,
    now: 0,
  });
  return { signed, prepared: kind.prepare(operation) };
}

it('a creation is signed by the key that only its invoice has', async () => {
  const { prepared, signed } = prepare(null);
  const ready = await prepared;
  if (!('message' in ready)) throw new Error('nothing to sign');
  expect(await ready.cosign?.(new Uint8Array(64))).toEqual([new Uint8Array(64).fill(5)]);
  expect(signed).toEqual([['one', ready.message]]);
});

it.each([
  ["the mint's and the account's rent", {}, (RESERVED - CREATION_FEE) / 2n],
  ["the mint's rent alone without a supply", { supply: '0' }, RESERVED - CREATION_FEE],
  [
    "Metaplex's fee and account as well",
    { program: 'token', metaplex: true },
    (RESERVED - CREATION_FEE - METAPLEX_FEE) / 3n,
  ],
])('a creation costs no more than the amount set aside, which covers %s', async (_name, over, most) => {
  expect(await prepare(null, over, most).prepared).toMatchObject({ ok: true });
  for (const rent of [most + 1n, 50_000_000_000n]) {
    const { prepared, signed } = prepare(null, over, rent);
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
