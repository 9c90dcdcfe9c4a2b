/**
 * Mainnet as it is since epoch 1035. Nodes show transactions as version 1, refuse lower maximums with -32015 under HTTP
 * 400, leave `confirmations` out, and make slots of 200 to 400 ms.
 * @module-tag deep
 */
import { afterEach, describe, expect, it } from 'vitest';
import { callRpc } from '../world/json-rpc.ts';
import { startWorld, type World } from '../world/world.ts';
import { createAsryStage } from './asry-stage.ts';
import { createSwapCaller, until } from './swap-caller.ts';
import { createTokenCaller } from './token-caller.ts';

let world: World | undefined;
afterEach(async () => {
  await world?.stop();
  world = undefined;
});

async function startVersionOneWorld(slotMs: number): Promise<World> {
  const started = await startWorld({
    slotMs,
    blockMs: 500,
    settleDelayMs: 10,
    vars: { ASRY_PRICE_USD: '0.25' },
  });
  world = started;
  for (const front of ['rpc1', 'rpc2'] as const)
    started.faults.set(front, [
      { kind: 'version' },
      { kind: 'httpErrors' },
      { kind: 'withoutConfirmations' },
    ]);
  return started;
}

const userOf = (from: World, index: number) => {
  const user = from.users[index];
  if (!user) throw new Error('no such user');
  return user;
};

async function buysToken(from: World): Promise<void> {
  const caller = createTokenCaller(from);
  const invoice = await caller.invoice();
  const answer = await caller.confirm(invoice, await caller.pay(invoice));
  expect([answer.status, answer.body.error_code]).toEqual([200, undefined]);
  expect((await caller.read(invoice.invoice_id)).body.status).toBe('completed');
}

async function listsToken(from: World): Promise<void> {
  const caller = createTokenCaller(from);
  const listing = await caller.listing(await caller.foreignMint('token-2022', 'Version One', 'VONE'));
  const answer = await caller.confirm(listing, await caller.pay(listing, { from: userOf(from, 1) }));
  expect([answer.status, answer.body.error_code]).toEqual([200, undefined]);
}

async function claimsReward(from: World): Promise<void> {
  const stage = createAsryStage(from);
  const user = await stage.user();
  const deposit = await stage.deposit(user, 100n);
  const answer = await stage.claim(deposit);
  expect([answer.status, answer.body.error_code]).toEqual([200, undefined]);
  expect((await stage.paid(deposit)).payouts).toMatchObject([{ status: 'sent' }]);
}

async function swapsTwice(from: World): Promise<void> {
  const caller = createSwapCaller(from);
  const settled = async (amountSol: number) => {
    const created = await caller.create(amountSol, { key: `version-one-swap-${amountSol}` });
    expect([created.status, created.body.error_code]).toEqual([200, undefined]);
    return until(`the swap of ${amountSol} is settled`, async () => {
      const { status, body } = await caller.status(String(created.body.id));
      return status === 200 && body.status !== 'waiting' ? body : undefined;
    });
  };
  expect(await settled(0.3)).toMatchObject({ status: 'finished' });
  from.faults.set('oneclick', { kind: 'settle', mode: 'refund', times: 1 });
  expect(await settled(0.4)).toMatchObject({ status: 'failed', detail: 'refunded', reason: 'refunded' });
  const credits = from.solana.ledger.transactionsOf(from.reserve.solana).map((landed) => {
    const at = landed.accounts.indexOf(from.reserve.solana);
    return (landed.postBalances[at] ?? 0) - (landed.preBalances[at] ?? 0);
  });
  expect(credits).toContain(400_000_000 - 10_000);
}

type Caller = ReturnType<typeof createTokenCaller>;

/** An invoice that was paid twice, with the second payment recorded as owed. */
async function paidTwice(from: World, caller: Caller) {
  const first = await caller.invoice();
  expect((await caller.confirm(first, await caller.pay(first))).status).toBe(200);
  const twice = await caller.pay(first, { from: userOf(from, 0) });
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
async function refundsAfterExpiry(from: World): Promise<void> {
  const caller = createTokenCaller(from);
  const { first } = await paidTwice(from, caller);
  for (const front of ['rpc1', 'rpc2'] as const) from.faults.set(front, { kind: 'dropSends' });
  const paid = refund(caller, first.invoice_id);
  const row = async () => {
    const rows = (await from.worker.query("SELECT journal FROM operations WHERE kind = 'refund'", [])) as {
      journal: string;
    }[];
    return JSON.parse(rows[0]?.journal ?? '{}') as { attempt?: number; signing?: unknown };
  };
  await until('the first attempt is signed', async () => ((await row()).signing ? true : undefined));
  await until('the first attempt has expired', async () => ((await row()).attempt === 2 ? true : undefined));
  from.faults.clear();
  await paid;
}

async function mints(from: World): Promise<void> {
  await from.control.cron('5 0 * * *');
  await until('the day is minted', async () => {
    const response = await from.fetch('/api/arbitrage/transactions');
    const { transactions } = (await response.json()) as { transactions: unknown[] };
    return transactions.length > 0 ? true : undefined;
  });
}

describe('with Solana transactions of version 1', () => {
  it('an invoice, a listing, a claim, a swap and a refunded swap succeed', async () => {
    const from = await startVersionOneWorld(200);
    const refused = await callRpc(from.endpoints.rpc1, 'getTransaction', [
      from.solana.ledger.transactionsOf(from.treasury)[0]?.signature,
      { encoding: 'json', commitment: 'confirmed', maxSupportedTransactionVersion: 0 },
    ]);
    expect(refused.error?.code).toBe(-32015);
    const flows = [buysToken(from), listsToken(from), claimsReward(from), swapsTwice(from)];
    // All of them, so that none is left running on a world that is stopped.
    const failures = (await Promise.allSettled(flows)).filter(({ status }) => status === 'rejected');
    expect(failures).toEqual([]);
    expect(from.worker.logs().filter((line) => line.includes('"level":"alarm"'))).toEqual([]);
  });
});

it('with SOLANA_TRANSACTION_VERSION=1 the reserve sends only version 1, and every operation succeeds', async () => {
  const from = await startWorld({
    slotMs: 40,
    blockMs: 500,
    settleDelayMs: 10,
    vars: { ASRY_PRICE_USD: '0.25', SOLANA_TRANSACTION_VERSION: '1' },
  });
  world = from;
  const { ledger } = from.solana;
  const before = new Set(ledger.transactionsOf(from.reserve.solana));
  const flows = [buysToken(from), claimsReward(from), swapsTwice(from), mints(from)];
  const failures = (await Promise.allSettled(flows)).filter(({ status }) => status === 'rejected');
  expect(failures).toEqual([]);
  await refundsAfterExpiry(from);
  const own = ledger
    .transactionsOf(from.reserve.solana)
    .filter((each) => !before.has(each) && each.accounts[0] === from.reserve.solana);
  expect(own.map(({ version, err }) => [version, err])).toEqual(own.map(() => [1, null]));
  // A swap twice, two creations, a claim, a mint and a refund.
  expect(own).toHaveLength(7);
});
