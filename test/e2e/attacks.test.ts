/** Payments that one of two nodes invents, on a running world. */
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { callRpc } from '../world/json-rpc.ts';
import { startWorld, type World } from '../world/world.ts';
import { createAsryStage } from './asry-stage.ts';
import { type LyingNode, startLyingNode } from './lying-node.ts';
import { type Body, createTokenCaller } from './token-caller.ts';

let liar: LyingNode;
let honest: LyingNode;
let world: World;
let caller: ReturnType<typeof createTokenCaller>;
let stage: ReturnType<typeof createAsryStage>;

beforeAll(async () => {
  liar = await startLyingNode();
  honest = await startLyingNode();
  world = await startWorld({
    cron: false,
    blockMs: 500,
    settleDelayMs: 500,
    vars: {
      SOLANA_RPC_URL: `${liar.url},${honest.url}`,
      ABSR_MINT_ADDRESS: undefined,
      ASRY_PRICE_USD: '0.25',
    },
  });
  liar.forwardTo(world.endpoints.rpc1);
  honest.forwardTo(world.endpoints.rpc2);
  caller = createTokenCaller(world);
  stage = createAsryStage(world);
  await world.control.cron();
});
afterEach(() => {
  liar.tell(undefined);
  world.faults.clear();
});
afterAll(async () => {
  await world?.stop();
  await Promise.all([liar?.stop(), honest?.stop()]);
});

const lamportsOf = (body: Body): bigint => BigInt(String(body.fee_lamports));
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
});
