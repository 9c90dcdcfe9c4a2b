import { base58 } from '@scure/base';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { findAta } from '../../src/chain/solana/token-instructions.ts';
import { metadataInMint } from '../../src/chain/solana/token-metadata.ts';
import {
  decodeMint,
  decodeTokenAccount,
  TOKEN_2022_PROGRAM,
  TOKEN_PROGRAM,
} from '../../src/chain/solana/token-program.ts';
import { startWorld, type World } from '../world/world.ts';
import { type Body, createTokenCaller } from './token-caller.ts';

let world: World;
let caller: ReturnType<typeof createTokenCaller>;
beforeAll(async () => {
  world = await startWorld({ cron: false });
  caller = createTokenCaller(world);
});
afterAll(() => world?.stop());

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

describe('from a form to a token', () => {
  const flags = [0, 1, 2, 3, 4, 5, 6, 7].map((bits) => ({
    revoke_mint_authority: (bits & 1) !== 0,
    revoke_freeze_authority: (bits & 2) !== 0,
    revoke_update_authority: (bits & 4) !== 0,
  }));

  it.each(['token-2022', 'token'] as const)(
    'a payment with its reference completes a %s invoice without a confirm, for every combination of flags',
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

  it('20 simultaneous confirms create one token and get 20 equal responses', async () => {
    const body = await caller.invoice({ token_program: 'token' });
    const signature = await caller.pay(body);
    const request = { invoiceId: body.invoice_id, txSignature: signature };
    const answers = await caller.until(
      () => Promise.all(Array.from({ length: 20 }, () => caller.call('/api/invoices/confirm', request))),
      (all) => all.every(({ status }) => status === 200),
    );
    expect(new Set(answers.map((answer) => JSON.stringify(answer.body))).size).toBe(1);
    expect(answers[0]?.body).toMatchObject({ ok: true, status: 'completed' });
    const { tokens } = (await caller.call('/api/tokens')).body as { tokens: Body[] };
    expect(tokens.filter((token) => token.mint_address === answers[0]?.body.mint_address)).toHaveLength(1);
  });

  it('a token without supply keeps its mint authority, and a request to revoke it is refused', async () => {
    const body = await caller.invoice({ supply: '0' });
    await caller.pay(body);
    const end = await completed(body.invoice_id);
    expect((await mintOnChain(String(end.body.mint_address))).mint.supply).toBe(0n);
  });

  it('a Worker killed during a creation ends with the same single mint', async () => {
    const body = await caller.invoice();
    await caller.pay(body);
    await caller.until(
      () => caller.call(`/api/invoices/${body.invoice_id}`),
      (answer) => answer.body.detail !== 'awaiting_payment',
    );
    await world.worker.kill();
    await world.worker.start();
    await world.control.cron();
    const end = await completed(body.invoice_id);
    const { tokens } = (await caller.call('/api/tokens')).body as { tokens: Body[] };
    expect(tokens.filter((token) => token.mint_address === end.body.mint_address)).toHaveLength(1);
  });
});

describe('a payment belongs to one request', () => {
  it('a payment of the exact amount confirms its invoice without a reference', async () => {
    const body = await caller.invoice();
    const signature = await caller.pay(body, { references: [] });
    expect((await caller.confirm(body, signature)).status).toBe(200);
  });

  it('refuses a payment of another invoice and names its purpose', async () => {
    const [first, second] = await Promise.all([caller.invoice(), caller.invoice()]);
    const signature = await caller.pay(first);
    expect((await caller.confirm(first, signature)).status).toBe(200);
    const refused = await caller.confirm(second, signature);
    expect([refused.status, refused.body.error_code]).toEqual([409, 'PAYMENT_ALREADY_USED']);
    expect(refused.body.details).toEqual({ purpose: 'token' });
  });

  it('refuses an incomplete payment with the missing sum, and the rest completes it', async () => {
    const body = await caller.invoice();
    const fee = BigInt(String(body.fee_lamports));
    const part = fee / 2n;
    const first = await caller.pay(body, { lamports: part });
    const refused = await caller.confirm(body, first);
    expect([refused.status, refused.body.error_code]).toEqual([409, 'PAYMENT_INCOMPLETE']);
    expect(refused.body.details).toEqual({ missingLamports: (fee - part).toString() });
    await caller.pay(body, { lamports: fee - part });
    expect((await completed(body.invoice_id)).body.received_lamports).toBe(fee.toString());
  });

  it('shows an excess and a second payment as refunds that are due, with amount and payer', async () => {
    const body = await caller.invoice();
    const payer = world.users[1]?.address;
    await caller.pay(body, { lamports: 100_000_000n, from: caller.user(1) });
    await completed(body.invoice_id);
    const excess = (100_000_000n - BigInt(String(body.fee_lamports))).toString();
    await caller.pay(body, { from: caller.user(1) });
    const second = await caller.invoice();
    const end = await caller
      .until(
        async () => {
          await world.control.cron();
          return caller.call(`/api/invoices/${body.invoice_id}`);
        },
        (answer) => (answer.body.refunds as unknown[]).length === 2,
      )
      .finally(() => caller.pay(second));
    expect(end.body.refunds).toMatchObject([
      { reason: 'overpaid', lamports: excess, payer, status: 'due' },
      { reason: 'double', lamports: String(body.fee_lamports), payer, status: 'due' },
    ]);
  });
});

describe('a listing', () => {
  it('a listing of a token made elsewhere is paid by URL, confirmed by the cron without a confirm call, and searchable', async () => {
    const body = await caller.listing(await caller.foreignMint('token', 'Foreign Coin', 'FRGN'));
    const signature = await caller.pay(body);
    const listed = await caller.until(
      async () => {
        await world.control.cron();
        return (await caller.call(`/api/listings?token_id=${body.token_id}`)).body.listings as Body[];
      },
      (listings) => listings[0]?.status === 'confirmed',
    );
    expect(listed).toMatchObject([
      { listing_request_id: body.listing_request_id, payment_tx_signature: signature },
    ]);
    const found = (await caller.call('/api/listings/search?q=foreign')).body.tokens as Body[];
    expect(found.map(({ id }) => id)).toContain(body.token_id);
    const again = await caller.call('/api/listings/request', { token_id: body.token_id }, '10.2.0.2');
    expect(again).toMatchObject({
      status: 200,
      body: {
        listing_request_id: body.listing_request_id,
        status: 'confirmed',
        fee_lamports: 0,
        listing: { token_id: body.token_id, payment_tx_signature: signature },
      },
    });
    const repeats = await Promise.all(
      Array.from({ length: 20 }, () =>
        caller.call('/api/listings/confirm', {
          listingRequestId: body.listing_request_id,
          txSignature: signature,
        }),
      ),
    );
    expect(new Set(repeats.map((answer) => JSON.stringify([answer.status, answer.body]))).size).toBe(1);
  });

  it.each([
    ['a wallet', () => world.users[0]?.address ?? '', 'NOT_A_MINT'],
    ['a mint without a name', () => world.mints.usdc, 'NO_METADATA'],
  ])('refuses a listing of %s', async (_name, mint, code) => {
    const { status, body } = await caller.call('/api/listings/request', { mint_address: mint() }, '10.2.0.3');
    expect([status, body.error_code]).toEqual([400, code]);
  });
});
