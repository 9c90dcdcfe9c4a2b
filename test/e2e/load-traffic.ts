/**
 * Concurrent callers: they read, poll, view pages, swap, buy tokens and claim rewards. Everything that moves
 * money is recorded and later compared with the chain.
 * @module
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { World } from '../world/world.ts';
import { createAsryStage, DOLLAR } from './asry-stage.ts';
import { type Answer, read } from './swap-caller.ts';

/** The responses to callers, to be compared with the real results. */
export interface Answered {
  /** Signatures in the responses to one idempotency key. */
  readonly swaps: Map<string, Set<string>>;
  readonly invoices: string[];
  readonly deposits: string[];
  pageviewsCounted: number;
  /** Views without a response; they may be counted or not. */
  pageviewsUnknown: number;
}

export interface Sample {
  readonly kind: string;
  readonly ms: number;
  /** Status and error code; `none` without a response. */
  readonly outcome: string;
}

type Call = { readonly kind: string; readonly path: string; readonly init?: RequestInit };

const BROWSER = 'Mozilla/5.0 (X11; Linux x86_64) Firefox/140.0';
const SWAP_SOL = 0.3;
/** Number of concurrent repeats of a slow call. */
const REPEATS = 3;
const READS = [
  '/api/reserves',
  '/api/health',
  '/api/status',
  '/api/swap/min',
  '/api/exchanges/transactions',
  '/api/arbitrage/transactions',
  '/api/analytics/stats',
  '/api/listings/search?q=load',
  '/api/tokens',
  '/api/asry/epoch',
  '/api/openapi.json',
  '/api/proof',
];

const jsonPost = (body: unknown, headers: Readonly<Record<string, string>> = {}): RequestInit => ({
  method: 'POST',
  headers: { 'content-type': 'application/json', 'user-agent': BROWSER, ...headers },
  body: JSON.stringify(body),
});

export function createTraffic(world: World, onSample: (sample: Sample) => void) {
  const stage = createAsryStage(world);
  const answered: Answered = {
    swaps: new Map(),
    invoices: [],
    deposits: [],
    pageviewsCounted: 0,
    pageviewsUnknown: 0,
  };
  const names: Record<string, number> = {};
  let calls = 0;

  const next = (name: string): number => {
    names[name] = (names[name] ?? 0) + 1;
    return names[name];
  };

  /** From an address of its own, as most callers are. */
  async function send({ kind, path, init }: Call): Promise<Answer | undefined> {
    calls += 1;
    const ip = `${10 + ((calls >> 16) & 255)}.${(calls >> 8) & 255}.${calls & 255}.1`;
    const started = performance.now();
    const answer = await world.fetch(path, { ...init, ip }).then(read, () => undefined);
    const code = answer?.body.error_code;
    const outcome = answer ? [answer.status, code].filter(Boolean).join(' ') : 'none';
    onSample({ kind, ms: performance.now() - started, outcome });
    return answer;
  }

  async function look(): Promise<void> {
    const dice = next('looks');
    const ids = [...answered.swaps.values()].flatMap((swap) => [...swap]);
    const id = ids[dice % Math.max(ids.length, 1)];
    if (dice % 4 === 0 && id !== undefined)
      return void (await send({ kind: 'poll', path: `/api/swap/status/${id}` }));
    if (dice % 4 === 1) {
      const page = { path: `/page/${dice % 50}`, referrer: 'https://site.example/' };
      const answer = await send({ kind: 'page view', path: '/api/analytics/pageview', init: jsonPost(page) });
      if (answer?.status === 204) answered.pageviewsCounted += 1;
      if (answer === undefined) answered.pageviewsUnknown += 1;
      return;
    }
    if (dice % 40 === 2)
      return void (await send({ kind: 'estimate', path: '/api/swap/estimate?amountSol=0.5' }));
    const path = READS[next('reads') % READS.length] ?? '/api/health';
    await send({ kind: `GET ${path.replace(/\?.*/, '')}`, path });
  }

  async function createSwap(key: string): Promise<void> {
    const answer = await send({
      kind: 'create',
      path: '/api/swap/create',
      init: jsonPost({ amountSol: SWAP_SOL }, { 'idempotency-key': key }),
    });
    const ids = answered.swaps.get(key) ?? new Set();
    answered.swaps.set(key, ids);
    if (answer?.status === 200) ids.add(String(answer.body.id));
  }

  const atOnce = (work: () => Promise<unknown>): Promise<unknown> =>
    Promise.all(Array.from({ length: REPEATS }, work));

  async function swap(): Promise<void> {
    const key = `load-0123456789-${next('swaps')}`;
    await atOnce(() => createSwap(key));
  }

  async function token(): Promise<void> {
    const number = next('tokens');
    const [payer] = world.users;
    const wanted = {
      name: `Load ${number}`,
      symbol: `LD${number}`,
      decimals: 0,
      supply: '1',
      creator_address: payer?.address,
    };
    const invoice = (await send({ kind: 'invoice', path: '/api/invoices', init: jsonPost(wanted) }))?.body;
    if (!payer || typeof invoice?.invoice_id !== 'string') return;
    const signature = await world.control.transfer({
      from: payer,
      to: String(invoice.treasury_address),
      asset: 'sol',
      amount: BigInt(String(invoice.fee_lamports)),
      references: [String(invoice.reference)],
    });
    answered.invoices.push(invoice.invoice_id);
    const confirmed = { invoice_id: invoice.invoice_id, tx_signature: signature };
    await atOnce(() => send({ kind: 'confirm', path: '/api/invoices/confirm', init: jsonPost(confirmed) }));
  }

  const claim = (depositTxSignature: string): Promise<Answer | undefined> =>
    send({
      kind: 'claim',
      path: '/api/asry/claim-from-deposit',
      init: jsonPost({ asset: 'USDC', depositTxSignature }),
    });

  async function reward(): Promise<void> {
    const user = await stage.user();
    const amount = DOLLAR * BigInt(1 + (next('rewards') % 9));
    const signature = await stage.land(user.signer, stage.pay(user, world.treasury, amount));
    answered.deposits.push(signature);
    await atOnce(() => claim(signature));
  }

  return {
    answered,
    stage,
    createSwap,
    claim,
    /** Continuous callers: the next call begins with the response to the last one. */
    look,
    /** Spending calls, one after the other, with a pause that spreads them over the run. */
    async spend(what: 'swap' | 'token' | 'reward', pauseMs: number): Promise<void> {
      await { swap, token, reward }[what]();
      await sleep(pauseMs);
    },
  };
}

export type Traffic = ReturnType<typeof createTraffic>;
