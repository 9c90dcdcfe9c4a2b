/**
 * The attacks of docs/use/threat-model.md on one running world with two nodes. The first node lies when a case requires it.
 *
 * @module-tag deep
 */
import { address } from '@solana/web3.js';
import { getBurnInstruction, getCloseAccountInstruction } from '@solana-program/token';
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import { findAta } from '../../src/chain/solana/token-instructions.ts';
import { TOKEN_PROGRAM } from '../../src/chain/solana/token-program.ts';
import { TRANSFER_FEE } from '../../src/chain/solana/transaction.ts';
import { callRpc } from '../world/json-rpc.ts';
import { landTransaction, transferSol } from '../world/solana-wallet.ts';
import { lazy, useWorld } from '../world/use-world.ts';
import { startWorld } from '../world/world.ts';
import { createAsryStage } from './asry-stage.ts';
import { type LyingNode, startLyingNode } from './lying-node.ts';
import { createSwapCaller } from './swap-caller.ts';
import { type Body, createTokenCaller, orderOf } from './token-caller.ts';

const SOL = 1_000_000_000n;
/** Up to 190 transactions and 500 calls: only a hanging test takes so long. */
const LONG = { timeout: 1_200_000 };
const FLOOR = SOL / 10n;
const FLOAT = SOL / 25n;

let liar: LyingNode;
let honest: LyingNode;
afterEach(() => liar.tell(undefined));
afterAll(() => Promise.all([liar?.stop(), honest?.stop()]));
const world = useWorld(
  async () => {
    [liar, honest] = await Promise.all([startLyingNode(), startLyingNode()]);
    return {
      ...{ cron: false, blockMs: 500, settleDelayMs: 500 },
      vars: {
        SOLANA_RPC_URL: `${liar.url},${honest.url}`,
        ABSR_MINT_ADDRESS: undefined,
        ASRY_PRICE_USD: '0.25',
        RESERVE_FLOOR_SOL: '0.1',
        OPERATING_FLOAT_SOL: '0.04',
        SWAP_MAX_SOL_HOUR: '100',
        SWAP_MAX_SOL_DAY: '100',
        SWAP_MAX_UNSETTLED_SOL: '100',
        SWAP_MAX_COST_SOL_DAY: '10',
        DAILY_LIMITS: 'refunds_day=5',
      },
    };
  },
  async (world) => {
    liar.forwardTo(world.endpoints.rpc1);
    honest.forwardTo(world.endpoints.rpc2);
    await world.control.cron();
  },
);
const caller = lazy(() => createTokenCaller(world));
const stage = lazy(() => createAsryStage(world));
const swaps = lazy(() => createSwapCaller(world));

const lamportsOf = (body: Body): bigint => BigInt(String(body.fee_lamports));
const completed = (body: Body) =>
  caller.until(
    async () => {
      await world.control.cron();
      return caller.read(body.invoice_id);
    },
    (answer) => answer.body.status === 'completed',
  );
const tokenOperations = async (): Promise<number> =>
  (
    (await world.worker.query("SELECT COUNT(*) AS n FROM operations WHERE kind = 'token'")) as { n: number }[]
  )[0]?.n ?? 0;
const logged = (event: string): number =>
  world.worker.logs().filter((line) => line.includes(`"event":"${event}"`)).length;
type Nodes = { disagreementAt: string | null };
const nodesOf = async (): Promise<Nodes> =>
  ((await caller.call('/api/status')).body.custody as { nodes: Nodes }).nodes;
const confirmOnce = async (body: Body, signature: string) => {
  const isInvoice = body.invoice_id !== undefined;
  const response = await world.fetch(isInvoice ? '/api/invoices/confirm' : '/api/listings/confirm', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(
      isInvoice
        ? { invoice_id: body.invoice_id, tx_signature: signature }
        : { listing_request_id: body.listing_request_id, tx_signature: signature },
    ),
  });
  return { status: response.status, body: (await response.json()) as Body };
};

type Shown = {
  slot: number;
  transaction: { signatures: string[]; message: { accountKeys: string[] } };
  meta: { preBalances: number[]; postBalances: number[] };
};

/** The transaction as an honest node shows it, with this number of additional lamports from the payer to the treasury. */
function enlarged(shown: Shown, more: number): Shown {
  const copy = structuredClone(shown);
  const at = copy.transaction.message.accountKeys.indexOf(world.treasury);
  copy.meta.preBalances[0] = (copy.meta.preBalances[0] ?? 0) + more;
  copy.meta.postBalances[at] = (copy.meta.postBalances[at] ?? 0) + more;
  return copy;
}

/** The lying node returns these as finalized in every response. */
function invent(shown: readonly Shown[]): void {
  const bySignature = new Map(shown.map((tx) => [tx.transaction.signatures[0] ?? '', tx]));
  const row = ({ slot, transaction }: Shown) => ({
    signature: transaction.signatures[0],
    slot,
    err: null,
    memo: null,
    blockTime: Math.floor(Date.now() / 1_000),
    confirmationStatus: 'finalized',
  });
  liar.tell((method, [first], result) => {
    if (method === 'getTransaction') return bySignature.get(String(first)) ?? result;
    if (method !== 'getSignaturesForAddress') return result;
    const listed = result as { signature: string }[];
    const fresh = shown.filter(
      ({ transaction }) =>
        transaction.message.accountKeys.includes(String(first)) &&
        !listed.some(({ signature }) => signature === transaction.signatures[0]),
    );
    return [...fresh.map(row), ...listed];
  });
}

async function shownBy(signature: string): Promise<Shown> {
  await stage.finalized(signature);
  const { result } = await callRpc(world.endpoints.rpc2, 'getTransaction', [
    signature,
    { encoding: 'json', maxSupportedTransactionVersion: 0, commitment: 'finalized' },
  ]);
  return result as Shown;
}

describe('one lying and one honest node', () => {
  it('three payments invented by one node create no token and no refund', async () => {
    const model = await caller.invoice();
    const paid = await caller.pay(model);
    expect((await caller.confirm(model, paid)).status).toBe(200);
    const shown = await shownBy(paid);
    const operations = await tokenOperations();
    const invoices = await Promise.all([1, 2, 3].map(() => caller.invoice()));
    const forged = invoices.map((invoice, at) => {
      const more = Number(lamportsOf(invoice) - lamportsOf(model));
      const copy = enlarged(shown, more);
      copy.transaction.signatures = [`${at + 2}${paid.slice(1, -1)}${at + 2}`];
      copy.transaction.message.accountKeys = copy.transaction.message.accountKeys.map((key) =>
        key === model.reference ? String(invoice.reference) : key,
      );
      return copy;
    });
    invent(forged);
    const answers = await Promise.all(
      invoices.map((invoice, at) => confirmOnce(invoice, forged[at]?.transaction.signatures[0] ?? '')),
    );
    expect(answers.map(({ status }) => status)).not.toContain(200);
    for (let runs = 0; runs < 3; runs++) {
      await world.control.cron();
      await caller.finality();
    }
    for (const { invoice_id } of invoices)
      expect((await caller.read(invoice_id)).body).toMatchObject({ status: 'pending', refunds: [] });
    expect(await tokenOperations()).toBe(operations);
  });

  it('an overpayment invented by one node is not refunded, is shown in the status, and raises an alarm', async () => {
    const invoice = await caller.invoice();
    const from = caller.user(1);
    const paid = await caller.pay(invoice, { from });
    invent([enlarged(await shownBy(paid), 300_000_000)]);
    const before = await caller.balance(from.address);
    expect((await confirmOnce(invoice, paid)).status).not.toBe(200);
    await world.control.cron();
    await caller.until(nodesOf, ({ disagreementAt }) => disagreementAt !== null);
    expect(logged('nodes_disagree')).toBeGreaterThan(0);
    expect((await caller.read(invoice.invoice_id)).body).toMatchObject({ status: 'pending', refunds: [] });
    liar.tell(undefined);
    expect((await caller.confirm(invoice, paid)).status).toBe(200);
    expect((await caller.read(invoice.invoice_id)).body.refunds).toEqual([]);
    expect(await caller.ops('refund', invoice.invoice_id)).toMatchObject({ ok: false });
    expect(await caller.balance(from.address)).toBe(before);
  });

  it.each([60, 100, 140])(
    'a node that lowers lastValidBlockHeight by %i and hides statuses causes no double payment or expiry',
    LONG,
    async (by) => {
      const user = await stage.user();
      const deposit = await stage.deposit(user, 20n);
      const overpaid = await caller.invoice();
      await caller.pay(overpaid, { lamports: lamportsOf(overpaid) + 30_000_000n, from: caller.user(1) });
      await completed(overpaid);
      const payments = swaps.payments().length;
      world.faults.set('rpc1', { kind: 'dropSends' });
      world.faults.set('rpc2', { kind: 'dropSends' });
      liar.tell((method, _params, result) => {
        if (method === 'getLatestBlockhash') {
          const { value, context } = result as { context: unknown; value: { lastValidBlockHeight: number } };
          return { context, value: { ...value, lastValidBlockHeight: value.lastValidBlockHeight - by } };
        }
        if (method !== 'getSignatureStatuses') return result;
        const { context, value } = result as { context: unknown; value: unknown[] };
        return { context, value: value.map(() => null) };
      });
      const made = await swaps.create(0.3, { ip: `10.60.${by}.1` });
      const claimed = await stage.claim(deposit);
      await caller.ops('refund', overpaid.invoice_id);
      expect([made.status, claimed.status]).toEqual([200, 200]);
      const { clock } = world.solana.ledger;
      await clock.reached(clock.slot('processed') + 80);
      world.faults.clear();
      await clock.reached(clock.slot('processed') + 60);
      liar.tell(undefined);
      const end = await swaps.settled(String(made.body.id));
      await stage.paid(deposit);
      const [refund] = await caller.until(
        async () => (await caller.read(overpaid.invoice_id)).body.refunds as Body[],
        ([row]) => row?.status === 'paid',
      );
      await caller.finality();
      expect(stage.payoutsOf(deposit)).toHaveLength(1);
      const landed = swaps
        .payments()
        .slice(payments)
        .filter(({ lamports }) => lamports === 300_000_000n);
      expect(landed.map(({ signature }) => signature)).toEqual(
        end.reason === 'expired' ? [] : [made.body.id],
      );
      const memos = world.solana.ledger
        .transactionsOf(world.reserve.solana)
        .filter(({ err, memo }) => err === null && memo?.includes(`refund:${refund?.signature}:`));
      expect(memos).toHaveLength(1);
    },
  );
});

it('a single confirm right after the payment returns 200 completed', async () => {
  const invoice = await caller.invoice();
  expect(await confirmOnce(invoice, await caller.pay(invoice))).toMatchObject({
    status: 200,
    body: { status: 'completed' },
  });
  const listing = await caller.listing(await caller.foreignMint('token', 'Once Coin', 'ONCE'));
  expect((await confirmOnce(listing, await caller.pay(listing))).status).toBe(200);
});

it('pays the rent once to an owner who closes the account between four partial payouts', async () => {
  const user = await stage.user();
  const deposit = await stage.deposit(user, 200n);
  const { ledger } = world.solana;
  const at = findAta(user.address, world.mints.asry, TOKEN_PROGRAM);
  let reasons: (string | null)[] = [];
  for (let part = 1; part <= 4; part++) {
    const { status, body } = await stage.claim(deposit, { rewardUsd: 1 });
    expect(status).toBe(200);
    reasons = [...reasons, body.reward.reason];
    if (body.reward.status === 'owed') continue;
    await stage.paid(deposit);
    await landTransaction(ledger, user.signer, [
      getBurnInstruction({
        account: address(at),
        mint: address(world.mints.asry),
        authority: user.signer,
        amount: await stage.asryOf(user.address),
      }),
      getCloseAccountInstruction({
        account: address(at),
        destination: user.signer.address,
        owner: user.signer,
      }),
    ]);
    await caller.finality();
  }
  expect(reasons).toEqual([null, ...Array(3).fill('recipient_account_closed')]);
  expect(stage.payoutsOf(deposit)).toHaveLength(1);
});

describe('dust', () => {
  /** Few enough that the last transaction lands before the blockhash of its batch expires. */
  const BATCH = 20;

  /** Lands transfers of 0.001 SOL, each a transaction of its own. */
  async function dust(to: string, count: number): Promise<void> {
    const { ledger, bank } = world.solana;
    for (let sent = 0; sent < count; sent += BATCH)
      await Promise.all(
        Array.from({ length: Math.min(BATCH, count - sent) }, () =>
          transferSol(ledger, bank.signer, to, 1_000_000n),
        ),
      );
  }

  it(
    '190 dust transfers with confirm calls between them hide no payment without a reference',
    LONG,
    async () => {
      const hidden = await caller.invoice();
      await caller.pay(hidden, { references: [] });
      await dust(world.treasury, 95);
      const other = await caller.invoice();
      expect((await confirmOnce(other, await caller.pay(other))).status).toBe(200);
      await dust(world.treasury, 95);
      await caller.finality();
      expect((await completed(hidden)).body).toMatchObject({ status: 'completed', refunds: [] });
    },
  );

  it('120 dust transactions, 20 of them after the swap, hide no refund by the bridge', LONG, async () => {
    await dust(world.reserve.solana, 100);
    world.faults.set('oneclick', { kind: 'settle', mode: 'refund' });
    const made = await swaps.create(0.3, { ip: '10.61.0.1' });
    expect(made.status).toBe(200);
    await dust(world.reserve.solana, 20);
    expect(await swaps.settled(String(made.body.id))).toMatchObject({ status: 'failed', reason: 'refunded' });
  });
});

it('USDC that a bridge returns to a treasury that is also the reserve earns no reward', LONG, async () => {
  const shared = await startWorld({
    cron: false,
    settleDelayMs: 600_000,
    vars: { TREASURY_SOLANA_ADDRESS: undefined, ABSR_MINT_ADDRESS: undefined },
  });
  try {
    const own = createAsryStage(shared);
    expect((await createSwapCaller(shared).create(0.3)).status).toBe(200);
    const bridge = await own.user();
    await own.land(shared.solana.bank.signer, own.openAccount(shared.reserve.solana, 'usdc'));
    const signature = await own.land(bridge.signer, own.pay(bridge, shared.reserve.solana, 30_000_000n));
    await own.finalized(signature);
    const { status, body } = await own.claim(signature);
    expect([status, body.error_code]).toEqual([503, 'CLAIMS_PAUSED']);
    expect(own.payoutsOf(signature)).toHaveLength(0);
  } finally {
    await shared.stop();
  }
});

describe('a reserve that runs out of SOL', () => {
  /** The operator takes SOL out in a wallet, and acknowledges the alarm about it. */
  async function takeOut(amount: bigint): Promise<void> {
    const { ledger, bank, reserve } = world.solana;
    await transferSol(ledger, reserve.signer, bank.address, amount);
    await caller.until(
      async () => {
        await world.control.cron();
        return (await swaps.get('/api/ready')).body as { checks: { reason?: string }[] };
      },
      ({ checks }) => checks.some(({ reason }) => reason === 'signing is frozen: unexplained_spend'),
    );
    await caller.ops('unfreeze');
    await caller.ops('resume');
  }

  it(
    'swaps cannot use floor or float; the reserve delivers all it sold and sells only what the float covers',
    LONG,
    async () => {
      const sold = await caller.invoice();
      const overpaid = await caller.invoice();
      await caller.pay(overpaid, { lamports: lamportsOf(overpaid) + 10_000_000n, from: caller.user(1) });
      await completed(overpaid);
      const deposit = await stage.deposit(await stage.user(), 20n);
      const smallest = Number((await swaps.get('/api/swap/min')).body.minAmountSol);
      let client = 0;
      const made: Body[] = [];
      for (const amount of [2, 0.5, smallest])
        await caller.until(
          async () => {
            // A swap in transit may still be reserved after the balance has fallen.
            if (amount === smallest) for (const { id } of made.splice(0)) await swaps.settled(String(id));
            const answer = await swaps.create(amount, { ip: `10.62.${++client}.1` });
            if (answer.status === 200) made.push(answer.body);
            return answer;
          },
          ({ body }) => body.error_code === 'INSUFFICIENT_BALANCE',
        );
      const drained = await swaps.lamports();
      expect(drained).toBeGreaterThanOrEqual(FLOOR + FLOAT);
      expect(drained).toBeLessThan(FLOOR + FLOAT + BigInt(Math.round(smallest * 1e9)) + TRANSFER_FEE);
      // The rest above the float is removed as well, so that only the float is left for the next steps.
      await takeOut(drained - FLOOR - FLOAT - TRANSFER_FEE);
      await caller.pay(sold);
      expect((await completed(sold)).body.refunds).toEqual([]);
      await caller.ops('refund', overpaid.invoice_id);
      await caller.until(
        async () => (await caller.read(overpaid.invoice_id)).body.refunds as Body[],
        ([row]) => row?.status === 'paid',
      );
      expect((await stage.claim(deposit)).body.reward.status).toBe('sent');
      await stage.paid(deposit);
      await caller.until(
        async () => {
          const answer = await caller.call('/api/invoices', orderOf(caller.user().address), caller.freshIp());
          if (answer.status !== 200) return answer.body;
          await caller.pay(answer.body);
          expect((await completed(answer.body)).body.refunds).toEqual([]);
          return answer.body;
        },
        ({ details }) => (details as Body | undefined)?.limit === 'operating_float',
      );
      expect(await swaps.lamports()).toBeGreaterThanOrEqual(FLOOR);
    },
  );

  it('twelve older requests that wait for SOL do not block the record of a created token', LONG, async () => {
    const { ledger, bank, reserve } = world.solana;
    await transferSol(ledger, bank.signer, reserve.address, SOL);
    await caller.finality();
    // The custodian may still use a balance that it read up to a second ago.
    const first = await caller.until(
      () => caller.call('/api/invoices', orderOf(caller.user().address), caller.freshIp()),
      ({ status }) => status === 200,
    );
    const invoices: Body[] = [first.body];
    while (invoices.length < 13) invoices.push(await caller.invoice());
    const spare = (await swaps.lamports()) - FLOOR - 1_000_000n;
    await takeOut(spare);
    for (const invoice of invoices) await caller.pay(invoice);
    const states = async () =>
      Promise.all(invoices.map(async ({ invoice_id }) => (await caller.read(invoice_id)).body));
    await caller.until(
      async () => {
        await world.control.cron();
        return states();
      },
      (all) => all.every(({ reason }) => String(reason).includes('short_of_sol')),
    );
    const rows = (await world.worker.query(
      "SELECT journal FROM operations WHERE kind = 'token' AND status = 'waiting'",
    )) as { journal: string }[];
    const cost = BigInt(String((JSON.parse(rows[0]?.journal ?? '{}') as Body).reserved));
    await transferSol(ledger, bank.signer, reserve.address, cost);
    const one = await caller.until(states, (all) => all.some(({ status }) => status === 'completed'));
    expect(one.filter(({ status }) => status === 'completed')).toHaveLength(1);
    await transferSol(ledger, bank.signer, reserve.address, SOL);
    await caller.until(states, (all) => all.every(({ status }) => status === 'completed'));
  });
});

describe('one client with many addresses', () => {
  it('120 estimates from one address leave capacity for other addresses and for creates', LONG, async () => {
    const { ledger, bank, reserve } = world.solana;
    await transferSol(ledger, bank.signer, reserve.address, 5n * SOL);
    await caller.finality();
    const ask = async (amount: number, ip: string) =>
      (await world.fetch(`/api/swap/estimate?amountSol=${amount}`, { ip })).status;
    const statuses: number[] = [];
    for (let at = 0; at < 120; at++) statuses.push(await ask(0.3 + at / 1_000, '198.51.100.9'));
    expect(statuses.filter((status) => status === 200).length).toBeLessThanOrEqual(15);
    expect(statuses.filter((status) => status !== 200 && status !== 429)).toEqual([]);
    for (const ip of ['203.0.113.1', '203.0.114.1', '203.0.115.1']) expect(await ask(0.7, ip)).toBe(200);
    expect((await swaps.create(0.35, { ip: '203.0.113.1' })).status).toBe(200);
  });
});
