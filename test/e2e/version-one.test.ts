/**
 * Mainnet as it is since epoch 1035. Nodes show transactions as version 1, refuse lower maximums with -32015 under HTTP
 * 400, and leave `confirmations` out.
 * @module-tag deep
 */
import { expect, it } from 'vitest';
import { callRpc } from '../world/json-rpc.ts';
import { useWorld } from '../world/use-world.ts';
import { createAsryStage } from './asry-stage.ts';
import { createSwapCaller, until } from './swap-caller.ts';
import { createTokenCaller } from './token-caller.ts';

const world = useWorld({
  slotMs: 100,
  blockMs: 500,
  settleDelayMs: 10,
  vars: { ASRY_PRICE_USD: '0.25', SOLANA_TRANSACTION_VERSION: '1' },
});

const NODES = ['rpc1', 'rpc2'] as const;

const userOf = (index: number) => {
  const user = world.users[index];
  if (!user) throw new Error('no such user');
  return user;
};

async function buysToken(): Promise<void> {
  const caller = createTokenCaller(world);
  const invoice = await caller.invoice();
  const answer = await caller.confirm(invoice, await caller.pay(invoice));
  expect([answer.status, answer.body.error_code]).toEqual([200, undefined]);
  expect((await caller.read(invoice.invoice_id)).body.status).toBe('completed');
}

async function listsToken(): Promise<void> {
  const caller = createTokenCaller(world);
  const listing = await caller.listing(await caller.foreignMint('token-2022', 'Version One', 'VONE'));
  const answer = await caller.confirm(listing, await caller.pay(listing, { from: userOf(1) }));
  expect([answer.status, answer.body.error_code]).toEqual([200, undefined]);
}

async function claimsReward(): Promise<void> {
  const stage = createAsryStage(world);
  const user = await stage.user();
  const deposit = await stage.deposit(user, 100n);
  const answer = await stage.claim(deposit);
  expect([answer.status, answer.body.error_code]).toEqual([200, undefined]);
  expect((await stage.paid(deposit)).payouts).toMatchObject([{ status: 'sent' }]);
}

async function swapsTwice(): Promise<void> {
  const caller = createSwapCaller(world);
  const settled = async (amountSol: number) => {
    const created = await caller.create(amountSol, { key: `version-one-swap-${amountSol}` });
    expect([created.status, created.body.error_code]).toEqual([200, undefined]);
    return until(`the swap of ${amountSol} is settled`, async () => {
      const { status, body } = await caller.status(String(created.body.id));
      return status === 200 && body.status !== 'waiting' ? body : undefined;
    });
  };
  expect(await settled(0.3)).toMatchObject({ status: 'finished' });
  world.faults.set('oneclick', { kind: 'settle', mode: 'refund', times: 1 });
  expect(await settled(0.4)).toMatchObject({ status: 'failed', detail: 'refunded', reason: 'refunded' });
  const credits = world.solana.ledger.transactionsOf(world.reserve.solana).map((landed) => {
    const at = landed.accounts.indexOf(world.reserve.solana);
    return (landed.postBalances[at] ?? 0) - (landed.preBalances[at] ?? 0);
  });
  expect(credits).toContain(400_000_000 - 10_000);
}

type Caller = ReturnType<typeof createTokenCaller>;

/** An invoice that was paid twice, with the second payment recorded as owed. */
async function paidTwice(caller: Caller) {
  const first = await caller.invoice();
  expect((await caller.confirm(first, await caller.pay(first))).status).toBe(200);
  const twice = await caller.pay(first, { from: userOf(0) });
  await caller.finality();
  const owed = await until('the second payment is owed back', async () => {
    await caller.call('/api/invoices/confirm', { invoice_id: first.invoice_id, tx_signature: twice });
    const { refunds } = (await caller.read(first.invoice_id)).body as { refunds: unknown[] };
    return refunds.length > 0 ? refunds : undefined;
  });
  expect(owed).toHaveLength(1);
  return { first, twice };
}

async function refund(caller: Caller, invoiceId: unknown): Promise<void> {
  expect(await caller.ops('refund', invoiceId)).toMatchObject({ ok: true });
  await until('the refund is paid', async () => {
    const { refunds } = (await caller.read(invoiceId)).body as {
      refunds: { refund_signature: string | null }[];
    };
    return refunds[0]?.refund_signature ?? undefined;
  });
}

/** A refund whose first transaction never lands: it expires, and the second one pays. */
async function refundsAfterExpiry(): Promise<void> {
  const caller = createTokenCaller(world);
  const { first } = await paidTwice(caller);
  for (const front of NODES) world.faults.set(front, { kind: 'dropSends' });
  const paid = refund(caller, first.invoice_id);
  const row = async () => {
    const rows = (await world.worker.query("SELECT journal FROM operations WHERE kind = 'refund'", [])) as {
      journal: string;
    }[];
    return JSON.parse(rows[0]?.journal ?? '{}') as { attempt?: number; signing?: unknown };
  };
  await until('the first attempt is signed', async () => ((await row()).signing ? true : undefined));
  await until('the first attempt has expired', async () => ((await row()).attempt === 2 ? true : undefined));
  world.faults.clear();
  await paid;
}

async function mints(): Promise<void> {
  await world.control.cron('5 0 * * *');
  await until('the day is minted', async () => {
    const response = await world.fetch('/api/arbitrage/transactions');
    const { transactions } = (await response.json()) as { transactions: unknown[] };
    return transactions.length > 0 ? true : undefined;
  });
}

it('with SOLANA_TRANSACTION_VERSION=1 the reserve sends only version 1, and every operation succeeds', async () => {
  for (const front of NODES)
    world.faults.set(front, [{ kind: 'version' }, { kind: 'httpErrors' }, { kind: 'withoutConfirmations' }]);
  const { ledger } = world.solana;
  const refused = await callRpc(world.endpoints.rpc1, 'getTransaction', [
    ledger.transactionsOf(world.treasury)[0]?.signature,
    { encoding: 'json', commitment: 'confirmed', maxSupportedTransactionVersion: 0 },
  ]);
  expect(refused.error?.code).toBe(-32015);
  const before = new Set(ledger.transactionsOf(world.reserve.solana));
  const flows = [buysToken(), listsToken(), claimsReward(), swapsTwice(), mints()];
  // All of them, so that none is left running on a world that is stopped.
  const failures = (await Promise.allSettled(flows)).filter(({ status }) => status === 'rejected');
  expect(failures).toEqual([]);
  expect(world.worker.logs().filter((line) => line.includes('"level":"alarm"'))).toEqual([]);
  await refundsAfterExpiry();
  const own = ledger
    .transactionsOf(world.reserve.solana)
    .filter((each) => !before.has(each) && each.accounts[0] === world.reserve.solana);
  expect(own.map(({ version, err }) => [version, err])).toEqual(own.map(() => [1, null]));
  // A swap twice, two creations, a claim, a mint and a refund.
  expect(own).toHaveLength(7);
});
