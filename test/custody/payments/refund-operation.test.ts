import { describe, expect, it } from 'vitest';
import { lamports } from '../../../src/core/amount.ts';
import { upstreamFailed } from '../../../src/core/errors.ts';
import { plannedOperation } from '../../../src/custody/kernel/operation.ts';
import { createSolanaView } from '../../../src/custody/kernel/solana-view.ts';
import {
  createRefundKind,
  createRefundSearch,
  encodeRefundPlan,
  type RefundKindPorts,
} from '../../../src/custody/payments/refund-operation.ts';
import type { ChainTransaction, SignatureEntry, SolanaNode } from '../../../src/providers/solana-rpc.ts';
import { depositSignature, wallet } from '../../kit/addresses.ts';
import { assembleTransaction } from '../../kit/custodian.ts';
import { readWire } from '../../simulator/transactions.ts';

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

describe('the transaction of a refund', () => {
  it('is one transfer of the amount to the payer, with a memo that names the payment, for the reserved sum', async () => {
    const prepared = await kind().prepare(operation());
    if (!('message' in prepared)) throw new Error('nothing to sign');
    const { wire } = assembleTransaction(prepared.message, new Uint8Array(64), []);
    expect(readWire(wire)).toMatchObject({
      fee: 5_400n,
      actions: [{ type: 'pay', from: RESERVE, to: PAYER, lamports: 70_000n }],
    });
    expect(new TextDecoder().decode(prepared.message)).toContain(`refund:${REFUND}:1`);
    expect(operation().reserved).toBe(70_000n + 5_400n);
  });

  it('is refused if the chain would not keep an account with so little', async () => {
    const prepared = await kind({ balanceOf: async () => 0n }).prepare(operation());
    expect(prepared).toEqual({ ok: false, reason: 'payer_account_closed' });
    expect(await kind({ balanceOf: async () => 820_880n }).prepare(operation())).toMatchObject({ ok: true });
  });

  it('does not exist once the chain shows the payment', async () => {
    for (const suspect of [operation({ doubtedAt: NOW - 11 * MINUTE }), operation({}, 2)]) {
      const prepared = await kind({ findPaid: async () => 'paid by this' }).prepare(suspect);
      expect(prepared).toEqual({ ok: false, found: { paidBy: 'paid by this' } });
    }
  });

  it('is searched on the chain before it is signed, unless it cannot have been signed before', async () => {
    for (const suspect of [
      operation({ doubtedAt: NOW - MINUTE }),
      operation({ reconciledAt: NOW - MINUTE }),
      operation({}, 2),
    ]) {
      const looked = kind();
      expect(await looked.prepare(suspect)).toMatchObject({ ok: true });
      expect(looked.searched).toEqual([REFUND]);
      const down = kind({ findPaid: () => Promise.reject(new Error('down')) });
      await expect(down.prepare(suspect)).rejects.toThrow('down');
    }
    const sure = kind();
    await sure.prepare(operation());
    expect(sure.searched).toEqual([]);
  });
});

describe('the search for what paid a refund', () => {
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
  type Fake = {
    readonly listed: readonly SignatureEntry[];
    /** Its response for any listed transaction. */
    readonly shows?: ChainTransaction | null;
    readonly firstBlock?: bigint;
    readonly isDown?: boolean;
    /** It refuses to return transactions whose names begin with this text. */
    readonly unreadable?: string;
  };

  const node = (fake: Fake, index: number): SolanaNode => {
    const { listed, shows = transaction([RESERVE]), firstBlock = 0n, unreadable } = fake;
    const up = async <T>(value: T): Promise<T> => {
      if (fake.isDown) throw upstreamFailed('solana-rpc', 'timeout');
      return value;
    };
    const parts: Partial<SolanaNode> = {
      id: `node-${index}`,
      name: `node-${index}`,
      signaturesFor: (_address, { limit, before }) => {
        const from = listed.findIndex(({ signature }) => signature === before) + 1;
        return up(listed.slice(from, from + limit));
      },
      transaction: (signature) => {
        if (unreadable && signature.startsWith(unreadable)) throw upstreamFailed('solana-rpc', 'rpc_-32015');
        // The refunded payment, at slot 5.
        return up(signature === REFUND ? transaction([PAYER]) : shows);
      },
      firstAvailableBlock: () => up(firstBlock),
      epochInfo: () => up({ slot: 10n, blockHeight: 10n }),
    };
    return parts as SolanaNode;
  };
  const searchOf = (...fakes: Fake[]) => {
    const nodes = fakes.map(node);
    const view = createSolanaView({ nodes, reserveAddress: RESERVE, now: () => NOW, log: () => undefined });
    return createRefundSearch(view, RESERVE);
  };
  const others = (count: number, slot = 6n) =>
    Array.from({ length: count }, (_, n) => entry(`o${n}`, { memo: null, slot }));

  it('finds it behind pages of other transactions', async () => {
    expect(await searchOf({ listed: [...others(2_500), entry('paid')] })(REFUND)).toBe('paid');
  });

  it.each<[string, Fake]>([
    ['a memo that another wallet wrote', { listed: [entry('x')], shows: transaction([PAYER, RESERVE]) }],
    ['a transaction that failed', { listed: [entry('x', { err: {} })] }],
    ["another refund's memo", { listed: [entry('x', { memo: `refund:${depositSignature(2)}:1` })] }],
    ['the memo of a further part', { listed: [entry('x', { memo: `refund:${REFUND}.2:1` })] }],
    ['a memo among others', { listed: [entry('x', { memo: `[5] hello; [${memo.length}] ${memo}` })] }],
    ['a listed transaction that does not exist', { listed: [entry('x')], shows: null }],
  ])('does not take %s for a payment', async (_name, only) => {
    expect(await searchOf(only)(REFUND)).toBeNull();
  });

  it.each<[string, Fake[], string | null | Error]>([
    [
      'one of three hides it',
      [{ listed: [] }, { listed: [entry('paid')] }, { listed: [entry('paid')] }],
      'paid',
    ],
    ['one of three is down', [{ listed: [], isDown: true }, { listed: [] }, { listed: [] }], null],
    [
      'only one of three lists it',
      [{ listed: [entry('paid')] }, { listed: [] }, { listed: [] }],
      new Error('quorum_missing'),
    ],
    ['one of two hides it', [{ listed: [] }, { listed: [entry('paid')] }], new Error('quorum_missing')],
    ['one of two is down', [{ listed: [], isDown: true }, { listed: [] }], new Error('quorum_missing')],
    [
      'two of three keep too little history',
      [{ listed: [], firstBlock: 6n }, { listed: [], firstBlock: 6n }, { listed: [] }],
      new Error('history_pruned'),
    ],
    [
      'one of three keeps too little history',
      [{ listed: [], firstBlock: 6n }, { listed: [] }, { listed: [] }],
      null,
    ],
  ])('needs a quorum: %s', async (_name, nodes, outcome) => {
    const search = searchOf(...nodes);
    if (outcome instanceof Error)
      await expect(search(REFUND)).rejects.toMatchObject({ details: { reason: outcome.message } });
    else expect(await search(REFUND)).toBe(outcome);
  });

  it('continues below 25,000 other transactions in further calls, and then finds it', async () => {
    const search = searchOf({ listed: [...others(25_000), entry('paid')] });
    for (let calls = 0; calls < 2; calls++)
      await expect(search(REFUND)).rejects.toMatchObject({ details: { reason: 'history_continues' } });
    expect(await search(REFUND)).toBe('paid');
  });

  it('searches from the top again once a search has ended', async () => {
    const listed: SignatureEntry[] = others(12_000);
    const search = searchOf({ listed });
    await expect(search(REFUND)).rejects.toThrow();
    expect(await search(REFUND)).toBeNull();
    listed.unshift(entry('paid'));
    expect(await search(REFUND)).toBe('paid');
  });

  it('skips transactions of a version that no node shows, with any memo', async () => {
    const dust = Array.from({ length: 100 }, (_, n) => entry(`newer${n}`));
    expect(await searchOf({ listed: [...dust, entry('paid')], unreadable: 'newer' })(REFUND)).toBe('paid');
    expect(await searchOf({ listed: dust, unreadable: 'newer' })(REFUND)).toBeNull();
  });

  it('searches no further back than the refunded payment', async () => {
    const old = others(5_000, 4n);
    expect(await searchOf({ listed: [...others(1_500), ...old, entry('paid')] })(REFUND)).toBeNull();
  });
});
