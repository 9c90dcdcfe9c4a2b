import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startWorld, type World } from '../world/world.ts';
import { type Answer, type Body, createTokenDesk } from './token-desk.ts';

let world: World;
let desk: ReturnType<typeof createTokenDesk>;
beforeAll(async () => {
  world = await startWorld({ cron: false, vars: { REFUND_MAX_SOL_DAY: '0.2' } });
  desk = createTokenDesk(world);
});
afterAll(() => world?.stop());

const lamportsOf = (body: Body): bigint => BigInt(String(body.fee_lamports));
const code = ({ status, body }: Answer) => [status, body.error_code];
const completed = (id: unknown) =>
  desk.until(
    () => desk.read(id),
    ({ body }) => body.status === 'completed',
  );
const refundsOf = async (id: unknown): Promise<Body[]> => (await desk.read(id)).body.refunds as Body[];

describe('one transaction serves one purpose', () => {
  const purposes = ['invoice', 'second invoice', 'listing', 'claim'] as const;
  type Purpose = (typeof purposes)[number];
  const pairs = purposes.flatMap((a) => purposes.filter((b) => b !== a).map((b) => [a, b] as const));
  const KIND: Record<Purpose, string> = {
    invoice: 'token',
    'second invoice': 'token',
    listing: 'listing',
    claim: 'asry',
  };

  const open = async (purpose: Purpose): Promise<Body | undefined> => {
    if (purpose === 'claim') return undefined;
    return purpose === 'listing'
      ? desk.listing(await desk.foreignMint('token', 'Far Coin', 'FAR'))
      : desk.invoice();
  };

  it('in 20 trials of every ordered pair, in sequence and at once, the loser gets the purpose', {
    tags: ['deep'],
  }, async () => {
    const trials = [...pairs, ...pairs.slice(0, 8)].map(([first, second], index) => ({
      first,
      second,
      parallel: index % 2 === 1,
    }));
    expect(trials).toHaveLength(20);
    await Promise.all(
      trials.map(async ({ first, second, parallel }, index) => {
        const requests = [await open(first), await open(second)];
        const bound = requests[index % 2] ?? requests[1 - (index % 2)];
        if (!bound) throw new Error('nothing to pay for');
        const { to, lamports, references } = desk.payRequest(bound.solana_pay_url);
        const from = desk.user(index % 2);
        const claims = first === 'claim' || second === 'claim';
        const signature = await desk.land(
          from,
          desk.transfer(from, to, lamports, references),
          ...(claims ? [await desk.deposit(from, 20_000_000n + BigInt(index))] : []),
        );
        const ask = (request: Body | undefined) =>
          request ? desk.confirm(request, signature) : desk.claim(signature);
        const answers = parallel
          ? await Promise.all(requests.map(ask))
          : [await ask(requests[0]), await ask(requests[1])];
        const won = answers.findIndex(({ status }) => status === 200);
        const where = `${first} and ${second}, trial ${index}: ${JSON.stringify(answers)}`;
        expect(
          answers.filter(({ status }) => status === 200),
          where,
        ).toHaveLength(1);
        const loser = answers[1 - won];
        expect(loser?.status, where).toBe(409);
        expect(loser?.body.error_code, where).toBe(
          requests[1 - won] ? 'PAYMENT_ALREADY_USED' : 'DEPOSIT_ALREADY_USED',
        );
        expect(loser?.body.details, where).toMatchObject({ purpose: KIND[won === 0 ? first : second] });
      }),
    );
    const { tokens } = (await desk.call('/api/tokens')).body as { tokens: Body[] };
    expect(new Set(tokens.map(({ mint_address }) => mint_address)).size).toBe(tokens.length);
  });
});

describe("a third party's confirm changes nothing", () => {
  it.each([
    [
      "another payer's plain transfer",
      () => desk.land(desk.user(1), desk.transfer(desk.user(1), world.treasury, 300_000_001n, [])),
    ],
    ["an operator's top-up", () => world.control.faucet(world.treasury, 'sol', 250_000_003n)],
    [
      'an amount that fits two invoices',
      async (own: Body) => {
        const other = await desk.invoice();
        const references = [String(own.reference), String(other.reference)];
        return desk.land(
          desk.user(1),
          desk.transfer(desk.user(1), world.treasury, lamportsOf(own), references),
        );
      },
    ],
    [
      'a transfer with the reference of another request',
      (own: Body) =>
        desk.land(
          desk.user(1),
          desk.transfer(desk.user(1), world.treasury, lamportsOf(own) + 1n, [world.mints.absr]),
        ),
    ],
  ] as const)(
    'with %s: PAYMENT_NOT_BOUND, and the payment of the request still counts',
    async (_name, make) => {
      const own = await desk.invoice();
      const refused = await desk.confirm(own, await make(own));
      expect(code(refused)).toEqual([409, 'PAYMENT_NOT_BOUND']);
      const paid = await desk.pay(own);
      expect((await desk.confirm(own, paid)).status).toBe(200);
    },
  );

  it('with a transaction that failed or does not exist', async () => {
    const own = await desk.invoice();
    const unknown = await desk.call('/api/invoices/confirm', {
      invoice_id: own.invoice_id,
      tx_signature: '5'.repeat(87),
    });
    expect(unknown.status).toBeGreaterThanOrEqual(400);
    expect(await desk.read(own.invoice_id)).toMatchObject({ body: { detail: 'awaiting_payment' } });
  });
});

describe('listings of tokens made elsewhere', () => {
  it.each(['token', 'token-2022'] as const)(
    'a %s mint is paid by URL, found without a confirm, and searchable with its data on the chain',
    async (kind) => {
      const name = kind === 'token' ? 'Olden Coin' : 'Newer Coin';
      const mint = await desk.foreignMint(kind, name, 'FORE');
      const request = await desk.listing(mint);
      await desk.pay(request);
      const rows = await desk.until(
        async () => {
          await world.control.cron();
          return (await desk.call(`/api/listings?token_id=${request.token_id}`)).body.listings as Body[];
        },
        (listings) => listings[0]?.status === 'confirmed',
      );
      expect(rows).toMatchObject([
        { listing_request_id: request.listing_request_id, confirmed_at: expect.any(String) },
      ]);
      const { tokens } = (await desk.call(`/api/listings/search?q=${encodeURIComponent(name)}`)).body as {
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
});

describe('refunds', () => {
  it("goes back to the payer once, on the operator's command, and within the daily limit", async () => {
    const payer = desk.user(1);
    const request = await desk.invoice();
    const excess = 90_000_000n;
    const paid = await desk.pay(request, { lamports: lamportsOf(request) + excess, from: payer });
    await completed(request.invoice_id);
    expect(await refundsOf(request.invoice_id)).toMatchObject([
      { signature: paid, reason: 'overpaid', status: 'due', refund_signature: null },
    ]);
    const before = await desk.balance(payer.address);
    await Promise.all(Array.from({ length: 5 }, () => desk.ops('refund', request.invoice_id)));
    const [refund] = await desk.until(
      () => refundsOf(request.invoice_id),
      ([row]) => row?.status === 'paid',
    );
    expect(await desk.balance(payer.address)).toBe(before + excess);
    const landed = world.solana.ledger.transaction(String(refund?.refund_signature));
    expect(landed?.err).toBeNull();
    const memos = world.solana.ledger
      .transactionsOf(world.reserve.solana)
      .filter(({ memo }) => memo?.includes(`refund:${paid}:`));
    expect(memos).toHaveLength(1);
    expect(await desk.ops('refund', paid)).toMatchObject({ ok: true, rows: [{ outcome: 'paid' }] });
    expect(await desk.ops('refund-due')).toMatchObject({ ok: true });
    await desk.finality();
    expect(await desk.balance(payer.address)).toBe(before + excess);

    const larger = await desk.invoice();
    await desk.pay(larger, { lamports: lamportsOf(larger) + 150_000_000n, from: payer });
    await completed(larger.invoice_id);
    expect(await desk.ops('refund', larger.invoice_id)).toMatchObject({
      ok: false,
      rows: [{ outcome: expect.stringContaining('REFUND_LIMIT_REACHED') }],
    });
    expect(await refundsOf(larger.invoice_id)).toMatchObject([{ status: 'due' }]);
    expect(await desk.ops('reconcile')).toMatchObject({ ok: true });
    expect(await refundsOf(request.invoice_id)).toMatchObject([{ status: 'paid' }]);
    expect(await refundsOf(larger.invoice_id)).toMatchObject([{ status: 'due' }]);
  });
});
