/** The payments module over a chain of transactions that the test writes. */

import { encodeBase58 } from '../../../src/chain/solana/address.ts';
import { lamports } from '../../../src/core/amount.ts';
import type { OpenRequest } from '../../../src/custody/api.ts';
import { Journal } from '../../../src/custody/kernel/journal.ts';
import { flushOutbox } from '../../../src/custody/kernel/outbox.ts';
import { CustodyBounds } from '../../../src/custody/limits.ts';
import type { LookedUp } from '../../../src/custody/nodes/signature-lookups.ts';
import { confirmPayment } from '../../../src/custody/payments/confirm.ts';
import type { PaymentDeps } from '../../../src/custody/payments/context.ts';
import { storeRequest } from '../../../src/custody/payments/open.ts';
import { Payments } from '../../../src/custody/payments/payments.ts';
import { type TokenDeps, Tokens } from '../../../src/custody/tokens/products.ts';
import type { ChainTransaction } from '../../../src/providers/solana-rpc.ts';
import { createFakeMirror } from '../../kit/fake-mirror.ts';
import { createTools, runDue } from '../../kit/kernel.ts';
import { LIMITS } from '../../kit/limits.ts';
import { CREATION, signingOf } from '../../kit/sample-operations.ts';
import { createSqliteStorage } from '../../kit/sqlite-storage.ts';
import { chainTransaction } from '../../world/solana-shapes.ts';

export const TREASURY = 'treasury';
const START = 1_800_000_000_000;
/** Together the longest time between two searches while a request is kept: an hour. */
const SEARCH_WAITS = [0, 2_000, 3_000, 595_000, 3_000_000];
export const signature = (n: number): string =>
  encodeBase58(
    Uint8Array.from({ length: 64 }, (_, i) => (i < 4 ? (n >>> (8 * i)) & 255 : (n * 13 + i) % 251)),
  );

const notExecuted = () => Promise.reject(new Error('no operation is executed here'));

export type PaymentWorld = ReturnType<typeof createPaymentWorld>;

const SUBJECT = { name: 'Moon', symbol: 'MOON', decimals: 9, supply: '1', program: 'token' };

/** Creations and refunds are counted and end in the given state. */
export function createPaymentWorld(
  options: { creates?: 'done' | 'failed' | 'never'; heldPayers?: string[]; reserve?: string } = {},
) {
  const storage = createSqliteStorage();
  const journal = new Journal(storage, {
    onEnd: (operation) => payments.kinds[operation.kind]?.onEnd?.(operation),
  });
  const mirror = createFakeMirror();
  const state = {
    now: START,
    random: 1,
    creates: options.creates ?? 'done',
    refunds: 'done' as 'done' | 'failed' | 'never',
    /** Why nothing may begin or be signed. */
    stopped: undefined as string | undefined,
    /** Awaited by every read of a transaction. */
    reading: undefined as (() => Promise<void>) | undefined,
    /** Awaited by an operation that may not begin. */
    stopping: undefined as (() => Promise<void>) | undefined,
    /** Awaited by every drive of a creation. */
    driving: undefined as (() => Promise<void>) | undefined,
    /** Transactions and lists that were read. */
    reads: 0,
    lists: 0,
    unreadable: false,
    /** The result of each lookup; undefined for that of the chain. */
    lookedUp: undefined as LookedUp | undefined,
    /** What the chain says of each mint to be listed; undefined for the texts of its newest request. */
    listing: undefined as TokenDeps['listingFacts'] | undefined,
    /** The result of every draw of two bytes; undefined for new ones each time. */
    drawn: undefined as readonly number[] | undefined,
  };
  const chain: ChainTransaction[] = [];
  /** The texts of the newest request for each mint. */
  const named = new Map<string, Partial<typeof SUBJECT>>();
  /** Confirmed transactions that are not final. */
  const confirmed: ChainTransaction[] = [];
  /** State and wait of each lookup, and the longest wait for an unknown signature. */
  const lookups: [until: 'confirmed' | 'final', waitMs: number, unknownMs: number][] = [];
  /** How long a confirm call waited for the end of each creation. */
  const waits: number[] = [];
  const created: string[] = [];
  const alarms: Readonly<Record<string, unknown>>[] = [];
  const refunded: string[] = [];
  /** Ends the operation in this state; a failed one moved nothing. */
  function finish(id: string, end: 'done' | 'failed'): void {
    const planned = journal.get(id);
    if (!planned) throw new Error(`no ${id}`);
    const amount = end === 'failed' ? lamports(0n) : planned.amount;
    const none = lamports(0n);
    journal.update(
      planned,
      { ...planned, state: end, dueAt: null, amount, reserved: none, signing: signingOf(id) },
      state.now,
    );
  }
  /** Like the executor: an operation whose end throws stays as it is. */
  function attempt(work: () => void): void {
    try {
      work();
    } catch {
      // The next drive tries again.
    }
  }
  /** The executor's effect on a planned operation. */
  async function drive(id: string): Promise<void> {
    const isRefund = id.startsWith('refund:');
    if (!isRefund) await state.driving?.();
    const planned = journal.get(id);
    if (planned?.state !== 'planned') return;
    const [begun, end] = isRefund ? [refunded, state.refunds] : [created, state.creates];
    if (!begun.includes(id)) begun.push(id);
    if (state.stopped !== undefined)
      journal.update(planned, { ...planned, reason: { type: 'stopped', by: state.stopped } }, state.now);
    else if (end !== 'never') attempt(() => finish(id, end));
  }
  const tools = createTools(storage, () => state.now, {
    journal,
    reserveAddress: options.reserve ?? 'reserve',
    limits: { refunds_day: 100_000_000n },
    log: (line) => {
      if (line.level === 'alarm') alarms.push(line);
    },
    async stopBeginning() {
      const why = state.stopped;
      if (why !== undefined) await state.stopping?.();
      return why;
    },
    drive,
    async finish(id, waitMs) {
      waits.push(waitMs);
      await drive(id);
    },
  });
  const nextRandom = (): number => {
    state.random = (state.random * 1_103_515_245 + 12_345) % 2 ** 31;
    return state.random;
  };
  const ports: PaymentDeps & TokenDeps = {
    treasuryAddress: TREASURY,
    heldPayers: new Set(options.heldPayers),
    nodes: [
      {
        id: 'node',
        name: 'node',
        async signaturesFor(of, { limit, before }) {
          state.lists++;
          const list = chain.filter(({ accounts }) => accounts.includes(of));
          const from = before === undefined ? 0 : list.findIndex((tx) => tx.signature === before) + 1;
          return list.slice(from, from + limit).map(({ signature: text, slot, failed, blockTime }) => {
            return { signature: text, slot, err: failed ? {} : null, blockTime };
          });
        },
        firstAvailableBlock: async () => 0n,
      },
    ],
    async transaction(text) {
      state.reads++;
      if (state.unreadable) throw new Error('the node is down');
      await state.reading?.();
      return chain.find((transaction) => transaction.signature === text) ?? null;
    },
    async lookUp({ signature: text, until, waitMs, unknownMs }) {
      lookups.push([until, waitMs, unknownMs]);
      if (state.lookedUp) return state.lookedUp;
      const found = await ports.transaction(text);
      if (found) return { type: 'final', transaction: found };
      const transaction = confirmed.find((each) => each.signature === text);
      if (!transaction) return { type: 'unknown' };
      return { type: 'confirmed', transaction: until === 'confirmed' ? transaction : null };
    },
    async listingFacts(mint) {
      if (state.listing) return state.listing(mint);
      const { name, symbol, decimals, supply } = { ...SUBJECT, ...named.get(mint) };
      return {
        type: 'listable',
        token: { mint, name, symbol, uri: '', creator: null, decimals, supply, program: 'token' },
      };
    },
    randomBytes: (length) =>
      Uint8Array.from(
        { length },
        (_, at) => (length === 2 ? state.drawn?.[at] : undefined) ?? nextRandom() >> 7,
      ),
    randomId: () => `request-${++state.random}`,
    // Creations begin here and are not executed.
    creation: { rules: CREATION, prepare: notExecuted, settle: notExecuted },
    creationCost: async ({ costLamports }) => BigInt(String(costLamports)),
    mintAddress: (id) => `mint of ${id}`,
    metadataUri: (mint) => `https://sluice.test/${mint}`,
    // Refunds begin here and are not executed.
    balanceOf: async () => 0n,
    leastBalance: async () => 0n,
    latestBlockhash: notExecuted,
  };
  class ServedPayments extends Payments {
    /** Advances the time until the chain was searched once; planned operations are executed, then booked. */
    async run(): Promise<void> {
      const lists = state.lists;
      for (const wait of SEARCH_WAITS) {
        state.now += wait;
        await runDue(this, tools.agenda);
        await this.onCron();
        await tokens.onCron();
        if (state.lists > lists) break;
      }
      for (const { id } of journal.ofKind('token', -1)) await drive(id);
      await runDue(this, tools.agenda);
    }
  }
  /** When the timer of the Durable Object searches next, in Unix milliseconds. */
  const nextSearchAt = () => tools.agenda.dueAt('search', 'treasury');
  const tokens = new Tokens(tools, ports);
  const bounds = new CustodyBounds({ ...LIMITS, floor: lamports(0n) });
  const payments = new ServedPayments(tools, ports, { products: tokens.products, bounds });
  const { context } = payments;
  const open = (over: Partial<OpenRequest> = {}) => {
    const subject = { ...SUBJECT, mint: `thirdParty ${++state.random}`, costLamports: '5000' };
    const { mint, ...texts } = { ...subject, ...over.subject };
    named.set(mint, texts);
    const opened = storeRequest(context, {
      kind: 'token',
      subject,
      baseFeeLamports: 20_000_000n,
      client: `client ${state.random}`,
      ...over,
    });
    if (opened.type === 'refused') throw new Error(opened.refusal.code);
    return opened.request;
  };
  const pay = (lamports: bigint, references: string[] = [], over: Partial<ChainTransaction> = {}): string => {
    const n = chain.length + 1;
    const changes = { payer: -lamports - 5_000n, [TREASURY]: lamports };
    const named = Object.fromEntries(references.map((each) => [each, 0n]));
    const facts = { slot: BigInt(n), blockTime: Math.floor(state.now / 1_000), ...over };
    chain.unshift(chainTransaction(signature(n), { ...changes, ...named }, facts));
    return over.signature ?? signature(n);
  };
  /** A request whose exact payment is on the chain. */
  const openPaid = (over: Partial<OpenRequest> = {}) => {
    const request = open(over);
    return { request, paid: pay(fee(request), [request.reference]) };
  };
  /** A payment that is confirmed and not final. */
  const send = (...payment: Parameters<typeof pay>): string => {
    const sent = pay(...payment);
    confirmed.push(...chain.splice(0, 1));
    return sent;
  };
  const confirm = (id: string, text: string, waitMs = 5_000) =>
    confirmPayment(context, {
      id,
      kind: payments.find(id)?.kind ?? 'token',
      signature: text,
      client: 'ip',
      waitMs,
    });
  /** Writes the waiting rows to D1. */
  const flush = () => flushOutbox({ ...tools, mirror });
  return {
    payments,
    tokens,
    context,
    ports,
    state,
    chain,
    lookups,
    waits,
    alarms,
    created,
    refunded,
    finish,
    journal,
    storage,
    mirror,
    flush,
    open,
    openPaid,
    pay,
    send,
    confirm,
    nextSearchAt,
  };
}

export const fee = (request: { feeLamports: string }): bigint => BigInt(request.feeLamports);
