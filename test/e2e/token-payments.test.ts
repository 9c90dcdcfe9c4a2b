import { expect, it } from 'vitest';
import { lazy, useWorld } from '../world/use-world.ts';
import { type Body, createTokenCaller } from './token-caller.ts';

const world = useWorld({ cron: false });
const caller = lazy(() => createTokenCaller(world));

const lamportsOf = (body: Body): bigint => BigInt(String(body.fee_lamports));
const completed = (id: unknown) =>
  caller.until(
    () => caller.read(id),
    ({ body }) => body.status === 'completed',
  );
const refundsOf = async (id: unknown): Promise<Body[]> => (await caller.read(id)).body.refunds as Body[];

it.each(['token', 'token-2022'] as const)(
  'a listing of a %s mint is paid by URL, confirmed by the cron, and searchable with its chain data',
  async (kind) => {
    const name = kind === 'token' ? 'Olden Coin' : 'Newer Coin';
    const mint = await caller.foreignMint(kind, name, 'FORE');
    const request = await caller.listing(mint);
    await caller.pay(request);
    const rows = await caller.until(
      async () => {
        await world.control.cron();
        return (await caller.call(`/api/listings?token_id=${request.token_id}`)).body.listings as Body[];
      },
      (listings) => listings[0]?.status === 'confirmed',
    );
    expect(rows).toMatchObject([
      { listing_request_id: request.listing_request_id, confirmed_at: expect.any(String) },
    ]);
    const { tokens } = (await caller.call(`/api/listings/search?q=${encodeURIComponent(name)}`)).body as {
      tokens: Body[];
    };
    expect(tokens).toMatchObject([
      {
        mint_address: mint,
        supply: '1234500',
        supply_ui: '1.2345',
        token_program: kind,
        mint_authority: world.users[0]?.address,
        freeze_authority: null,
        as_of: expect.any(String),
      },
    ]);
  },
);

it("pays a refund to the payer once, on the operator's command", async () => {
  const payer = caller.user(1);
  const request = await caller.invoice();
  const excess = 90_000_000n;
  const paid = await caller.pay(request, { lamports: lamportsOf(request) + excess, from: payer });
  await completed(request.invoice_id);
  expect(await refundsOf(request.invoice_id)).toMatchObject([
    { signature: paid, reason: 'overpaid', status: 'due', refund_signature: null },
  ]);
  const before = await caller.balance(payer.address);
  await Promise.all(Array.from({ length: 5 }, () => caller.ops('refund', request.invoice_id)));
  const [refund] = await caller.until(
    () => refundsOf(request.invoice_id),
    ([row]) => row?.status === 'paid',
  );
  expect(await caller.balance(payer.address)).toBe(before + excess);
  const landed = world.solana.ledger.transaction(String(refund?.refund_signature));
  expect(landed?.err).toBeNull();
  const memos = world.solana.ledger
    .transactionsOf(world.reserve.solana)
    .filter(({ memo }) => memo?.includes(`refund:${paid}:`));
  expect(memos).toHaveLength(1);
  expect(await caller.ops('refund', paid)).toMatchObject({ ok: true, rows: [{ outcome: 'paid' }] });
  expect(await caller.ops('refund-due')).toMatchObject({ ok: true });
  await caller.finality();
  expect(await caller.balance(payer.address)).toBe(before + excess);
});
