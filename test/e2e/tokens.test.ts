import { base58 } from '@scure/base';
import { describe, expect, it } from 'vitest';
import { findAta } from '../../src/chain/solana/token-instructions.ts';
import { metadataInMint } from '../../src/chain/solana/token-metadata.ts';
import {
  decodeMint,
  decodeTokenAccount,
  TOKEN_2022_PROGRAM,
  TOKEN_PROGRAM,
} from '../../src/chain/solana/token-program.ts';
import { cases } from '../cases.ts';
import { lazy, useWorld } from '../world/use-world.ts';
import type { Body } from './swap-caller.ts';
import { createTokenCaller } from './token-caller.ts';

const world = useWorld({ cron: false });
const caller = lazy(() => createTokenCaller(world));

const completed = (id: unknown) =>
  caller.until(
    () => caller.read(id),
    ({ body }) => body.status === 'completed',
  );

async function accountAt(address: string) {
  const { ledger } = world.solana;
  const account = await ledger.account(address, ledger.clock.slot('finalized'));
  if (!account) throw new Error(`no account at ${address}`);
  return account;
}

async function mintOnChain(address: string) {
  const account = await accountAt(address);
  const mint = decodeMint(account.owner, account.data);
  if (!mint) throw new Error('no mint');
  const { data } = account;
  const optional = (offset: number) =>
    new DataView(data.buffer, data.byteOffset).getUint32(offset, true) === 0
      ? null
      : base58.encode(data.slice(offset + 4, offset + 36));
  return {
    mint,
    mintAuthority: optional(0),
    freezeAuthority: optional(46),
    metadata: metadataInMint(address, mint),
  };
}

describe('a token creation, from the request to the listed token', () => {
  const flags = [0, 7, 1, 2, 3, 4, 5, 6].slice(0, cases(8, 2)).map((bits) => ({
    revoke_mint_authority: (bits & 1) !== 0,
    revoke_freeze_authority: (bits & 2) !== 0,
    revoke_update_authority: (bits & 4) !== 0,
  }));

  it.each(['token-2022', 'token'] as const)(
    'a payment with its reference completes a %s invoice without a confirm call, for every combination of flags',
    { tags: ['scaled'] },
    async (program) => {
      const invoices = await Promise.all(
        flags.map((options) => caller.invoice({ ...options, token_program: program })),
      );
      for (const body of invoices) await caller.pay(body);
      for (const [index, body] of invoices.entries()) {
        const end = await completed(body.invoice_id);
        const address = String(end.body.mint_address);
        const { mint, mintAuthority, freezeAuthority, metadata } = await mintOnChain(address);
        const creator = world.users[0]?.address;
        expect(mint).toMatchObject({ supply: 5_000_000n, decimals: 6 });
        expect(mintAuthority).toBe(flags[index]?.revoke_mint_authority ? null : creator);
        expect(freezeAuthority).toBe(flags[index]?.revoke_freeze_authority ? null : creator);
        const path = `/api/tokens/${address}/metadata.json`;
        if (program === 'token-2022') {
          expect(metadata).toMatchObject({ name: 'Moon Cat', symbol: 'MCAT' });
          expect(new URL(String(metadata?.uri)).pathname).toBe(path);
        }
        expect((await caller.call(path)).body).toEqual({ name: 'Moon Cat', symbol: 'MCAT', description: '' });
        const token = await caller.call(`/api/tokens/${end.body.token_id}`);
        expect(token.body).toMatchObject({
          mint_address: address,
          supply: '5000000',
          supply_ui: '5',
          creator_address: creator,
          token_program: program,
          mint_authority: flags[index]?.revoke_mint_authority ? null : creator,
          freeze_authority: flags[index]?.revoke_freeze_authority ? null : creator,
          // A classic mint without Metaplex metadata has no metadata to change.
          update_authority: flags[index]?.revoke_update_authority || program === 'token' ? null : creator,
          as_of: expect.any(String),
        });
        const owner = program === 'token' ? TOKEN_PROGRAM : TOKEN_2022_PROGRAM;
        const held = await accountAt(findAta(String(creator), address, owner));
        expect(decodeTokenAccount(held.owner, held.data)).toMatchObject({
          owner: creator,
          atoms: 5_000_000n,
        });
        expect((await accountAt(address)).owner).toBe(owner);
        const { listings } = (await caller.call(`/api/listings?token_id=${end.body.token_id}`)).body as {
          listings: Body[];
        };
        expect(listings).toMatchObject([
          { listing_request_id: body.invoice_id, status: 'confirmed', fee_lamports: 0 },
        ]);
      }
    },
  );
});

it('finds an invoice by its id in upper case', async () => {
  const { invoice_id: id } = await caller.invoice();
  expect((await caller.read(String(id).toUpperCase())).body).toMatchObject({ invoice_id: id });
});

it.each([
  ['a wallet', () => world.users[0]?.address ?? '', 'NOT_A_MINT'],
  ['a mint without a name', () => world.mints.usdc, 'NO_METADATA'],
])('refuses a listing of %s', async (_name, mint, code) => {
  const { status, body } = await caller.call('/api/listings/request', { mint_address: mint() }, '10.2.0.3');
  expect([status, body.error_code]).toEqual([400, code]);
});
