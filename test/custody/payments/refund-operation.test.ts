import { describe, expect, it } from 'vitest';
import { lamports } from '../../../src/core/amount.ts';
import { upstreamFailed } from '../../../src/core/errors.ts';
import { plannedOperation } from '../../../src/custody/kernel/operation.ts';
import {
  createRefundKind,
  encodeRefundPlan,
  type RefundKindPorts,
} from '../../../src/custody/payments/refund-operation.ts';
import { createRefundSearch } from '../../../src/custody/payments/refund-search.ts';
import type { ChainTransaction, SignatureEntry } from '../../../src/providers/solana-rpc.ts';
import { depositSignature, wallet } from '../asry/claim-simulation.ts';
import { readMessage } from '../message-reader.ts';

const [RESERVE, PAYER] = [wallet(81), wallet(82)];
const REFUND = depositSignature(1);
const NOW = 1_800_000_000_000;
const MINUTE = 60_000;

function kind(over: Partial<RefundKindPorts> = {}) {
  const searched: string[] = [];
  const created = createRefundKind({
    reserveAddress: RESERVE,
    balanceOf: async () => 1_000_000n,
    leastBalance: async () => 890_880n,
    latestBlockhash: async () => ({ blockhash: wallet(83), slot: 5n, witnesses: [] }),
    async findPaid(refund) {
      searched.push(refund);
      return null;
    },
    ...over,
  });
  return { ...created, searched };
}

const operation = (plan: Record<string, unknown> = {}, attempt = 1) => {
  const base = { refund: REFUND, payment: REFUND, payer: PAYER, since: NOW - MINUTE, doubtedAt: null };
  const planned = plannedOperation({
    id: `refund:${REFUND}:1`,
    kind: 'refund',
    amount: lamports(70_000n),
    reserved: lamports(75_400n),
    plan: { ...encodeRefundPlan(base), ...plan } as never,
    now: NOW - MINUTE,
  });
  return { ...planned, attempt };
};

describe('what is signed for a refund', () => {
  it('is one transfer of the amount to the payer, under a memo that names the payment, for what was reserved', async () => {
    const prepared = await kind().prepare(operation());
    if (!('message' in prepared)) throw new Error('nothing to sign');
    expect(readMessage(prepared.message)).toMatchObject({ to: PAYER, lamports: 70_000n, fee: 5_400n });
    expect(new TextDecoder().decode(prepared.message)).toContain(`refund:${REFUND}:1`);
    expect(operation().reserved).toBe(70_000n + 5_400n);
  });

  it('is nothing where the chain would not keep an account with so little', async () => {
    const prepared = await kind({ balanceOf: async () => 0n }).prepare(operation());
    expect(prepared).toEqual({ ok: false, reason: 'payer_account_closed' });
    expect(await kind({ balanceOf: async () => 820_880n }).prepare(operation())).toMatchObject({ ok: true });
  });

  it('is nothing once the chain shows that it was paid', async () => {
    for (const doubted of [operation({ doubtedAt: NOW - 11 * MINUTE }), operation({}, 2)]) {
      const prepared = await kind({ findPaid: async () => 'paid by this' }).prepare(doubted);
      expect(prepared).toEqual({ ok: false, found: { paidBy: 'paid by this' } });
    }
  });

  it('is looked for on the chain before it is signed, unless nobody can have signed it before', async () => {
    for (const doubted of [
      operation({ doubtedAt: NOW - MINUTE }),
      operation({ reconciledAt: NOW - MINUTE }),
      operation({}, 2),
    ]) {
      const looked = kind();
      expect(await looked.prepare(doubted)).toMatchObject({ ok: true });
      expect(looked.searched).toEqual([REFUND]);
      const down = kind({ findPaid: () => Promise.reject(new Error('down')) });
      await expect(down.prepare(doubted)).rejects.toThrow('down');
    }
    const sure = kind();
    await sure.prepare(operation());
    expect(sure.searched).toEqual([]);
  });
});

describe('looking for what paid a refund', () => {
  const memo = `refund:${REFUND}:1`;
  const entry = (signature: string, over: Partial<SignatureEntry> = {}): SignatureEntry => ({
    signature,
    slot: 5n,
    err: null,
    blockTime: NOW / 1_000,
    memo: `[${memo.length}] ${memo}`,
    ...over,
  });
  const transaction = (signers: readonly string[], failed = false): ChainTransaction => ({
    signature: 's',
    slot: 5n,
    blockTime: NOW / 1_000,
    failed,
    fee: 5_000n,
    accounts: signers,
    signers,
    preLamports: [],
    postLamports: [],
    preTokens: null,
    postTokens: null,
  });
  const node = (
    list: readonly SignatureEntry[],
    found: ChainTransaction | null = transaction([RESERVE]),
  ) => ({
    signatures: async ({ limit, before }: { limit: number; before?: string }) => {
      const from = list.findIndex(({ signature }) => signature === before) + 1;
      return list.slice(from, from + limit);
    },
    transaction: async () => found,
  });
  const others = (count: number, blockTime = NOW / 1_000) =>
    Array.from({ length: count }, (_, n) => entry(`o${n}`, { memo: null, blockTime }));

  it('finds it on any of the nodes, and behind pages of other transactions', async () => {
    const search = createRefundSearch([node([]), node([...others(2_500), entry('paid')])], RESERVE);
    expect(await search(REFUND, NOW)).toBe('paid');
  });

  it.each([
    ['a memo that somebody else wrote', node([entry('x')], transaction([PAYER, RESERVE]))],
    ['a transaction that failed', node([entry('x', { err: {} })])],
    ["another refund's memo", node([entry('x', { memo: `refund:${depositSignature(2)}:1` })])],
    ['the memo of a further part', node([entry('x', { memo: `refund:${REFUND}.2:1` })])],
    ['a memo among others', node([entry('x', { memo: `[5] hello; [${memo.length}] ${memo}` })])],
  ])('%s is none', async (_name, only) => {
    expect(await createRefundSearch([only], RESERVE)(REFUND, NOW)).toBeNull();
  });

  it('fails while a node fails or does not have what it lists', async () => {
    const down = { ...node([]), signatures: () => Promise.reject(new Error('down')) };
    for (const nodes of [[node([entry('paid')]), down], [node([entry('paid')], null)]])
      await expect(createRefundSearch(nodes, RESERVE)(REFUND, NOW)).rejects.toThrow();
  });

  it('continues below 25,000 other transactions in further calls, and then finds it', async () => {
    const search = createRefundSearch([node([]), node([...others(25_000), entry('paid')])], RESERVE);
    for (let calls = 0; calls < 2; calls++)
      await expect(search(REFUND, NOW)).rejects.toMatchObject({ details: { reason: 'history_continues' } });
    expect(await search(REFUND, NOW)).toBe('paid');
  });

  it('searches from the top again once a search has ended', async () => {
    const list: SignatureEntry[] = others(12_000);
    const search = createRefundSearch([node(list)], RESERVE);
    await expect(search(REFUND, NOW)).rejects.toThrow();
    expect(await search(REFUND, NOW)).toBeNull();
    list.unshift(entry('paid'));
    expect(await search(REFUND, NOW)).toBe('paid');
  });

  it('skips transactions of a version that no node shows, whatever memo they carry', async () => {
    const dust = Array.from({ length: 100 }, (_, n) => entry(`newer${n}`));
    const reading = {
      ...node([...dust, entry('paid')]),
      transaction: async (signature: string) => {
        if (signature.startsWith('newer')) throw upstreamFailed('solana-rpc', 'rpc_-32015');
        return transaction([RESERVE]);
      },
    };
    expect(await createRefundSearch([reading], RESERVE)(REFUND, NOW)).toBe('paid');
    const unpaid = { ...reading, signatures: node(dust).signatures };
    expect(await createRefundSearch([unpaid], RESERVE)(REFUND, NOW)).toBeNull();
  });

  it('looks no further back than the refund itself', async () => {
    const old = others(5_000, NOW / 1_000 - 86_400);
    expect(
      await createRefundSearch([node([...others(1_500), ...old, entry('paid')])], RESERVE)(REFUND, NOW),
    ).toBeNull();
  });
});
