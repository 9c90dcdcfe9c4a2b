/**
 * Strangers from many networks who do all that is free, as often as the limiter allows: read, open, confirm, claim, repeat
 * and name dust. Meanwhile late customers come, after the faults. Their work must progress as if they were alone.
 * @module
 */
import type { ClaimAnswer, ConfirmRequest, SwapAnswer } from '../../src/custody/api.ts';
import { wallet } from '../kit/addresses.ts';
import type { Placed } from './actors.ts';
import type { Production } from './production.ts';
import { createRandom } from './random.ts';
import { operationsOf } from './verdict.ts';
import type { Deposit, Order, SwapWish } from './wishes.ts';
import type { World } from './world.ts';

export type Flood = {
  readonly networks: number;
  /** Milliseconds between two calls. */
  readonly everyMs: number;
  readonly until: number;
  /** When the late customers come. */
  readonly lateAt: number;
};

/** The late customers' work progresses within this time. Alone it takes about half of it, with the slowest slots. */
const BOUND_MS = 75_000;

export const floodOf = (calmAt: number): Flood => ({
  networks: 40,
  everyMs: 50,
  lateAt: calmAt + 20_000,
  until: calmAt + 20_000 + BOUND_MS,
});

/** The names by which the late customers are found. */
const LATE = { key: 'late', client: '192.0.2.77' } as const;

export const lateSwap = ({ lateAt }: Flood): SwapWish => ({
  at: lateAt,
  amount: 10_000_777n,
  most: false,
  key: LATE.key,
  client: LATE.client,
  repeats: [5_000, 15_000, 30_000],
  patience: 3,
});

/** A listing, and a token whose mint must be created. */
export const lateOrders = ({ lateAt }: Flood): Order[] =>
  (['listing', 'token'] as const).map((kind) => ({
    at: lateAt,
    kind,
    payments: [{ after: 500, percent: 100, hasReference: true, readable: true }],
    confirms: [],
  }));

export const lateDeposit = ({ lateAt }: Flood): Deposit => ({
  at: lateAt,
  asset: 'USDC',
  atoms: 25_000_000n,
  hasAccount: true,
  claims: [0, 10_000, 20_000, 30_000].map((after) => ({
    after: after + 500,
    microUsd: null,
    key: null,
    skipReward: false,
  })),
});

/** What the flood uses of the other actors. */
type Known = {
  readonly orders: ReadonlyMap<number, Placed>;
  readonly deposits: ReadonlyMap<number, string>;
  readonly payTreasury: (from: string, lamports: bigint) => string;
  readonly open: (client: string) => Promise<unknown>;
  /** The newest answer to each key. */
  readonly answers: ReadonlyMap<string, SwapAnswer>;
  /** The last answer to each claim, by the signature of its deposit. */
  readonly claimAnswers: ReadonlyMap<string, ClaimAnswer>;
};

export function startFlood(world: World, flood: Flood, known: Known): void {
  const { scenario, scheduler, host, ledger, count } = world;
  const random = createRandom(scenario.seed ^ 0x666c_6f6f);
  const stranger = wallet(510);
  const client = (): string => `10.${random.between(0, flood.networks - 1)}.0.1`;
  const confirm = (request: Pick<ConfirmRequest, 'id' | 'kind'>, signature: string) =>
    host.ask('confirmPayment', { ...request, signature, client: client(), waitMs: 10_000 });
  const claim = (signature: string) =>
    host.ask('claimDeposit', { signature, asset: 'USDC', skipReward: true, client: client(), waitMs: 5_000 });
  const someOrder = () => [...known.orders.values()].at(-1 - random.between(0, 2))?.request;
  const someEntry = () => ledger.entries.at(-1 - random.between(0, 200))?.transaction.signature;
  let dust = 0;

  const calls: Readonly<Record<string, () => unknown>> = {
    'reads an order': () => {
      const order = someOrder();
      return order && host.ask('findRequest', order.id);
    },
    'opens an order': () => known.open(client()),
    'confirms an invented signature': () => {
      const order = someOrder();
      return order && confirm(order, world.signature());
    },
    'confirms any transaction': () => {
      const [order, entry] = [someOrder(), someEntry()];
      return order && entry && confirm(order, entry);
    },
    'claims an invented signature': () => claim(world.signature()),
    'claims any transaction': () => {
      const entry = someEntry();
      return entry && claim(entry);
    },
    'repeats a claim': () => {
      const signature = [...known.deposits.values()].at(-1);
      return signature && claim(signature);
    },
    'names dust': () => {
      const order = someOrder();
      const signature = known.payTreasury(stranger, 20_000n + BigInt(++dust));
      if (order) scheduler.after(40 * scenario.slotMs, () => void confirm(order, signature));
    },
    'asks for an estimate': () =>
      host.ask('estimateSwap', {
        amountLamports: BigInt(random.between(1_000, 900_000)) * 1_000n,
        client: client(),
      }),
    'asks for the bounds': () => host.ask('swapRoom'),
  };
  const names = Object.keys(calls);

  function call(): void {
    if (scheduler.now() > flood.until) return;
    // A burst of seconds, and then a pause: the run stays short, and budgets become full and empty.
    if (scheduler.now() % 20_000 < 6_000 || scheduler.now() > flood.lateAt) {
      const name = random.pick(names);
      count(`flood: ${name}`);
      calls[name]?.();
    }
    scheduler.after(flood.everyMs, call);
  }
  scheduler.at(0, call);
}

/** Refusals of work because others use up what it needs. */
const STARVED: ReadonlySet<string> = new Set([
  'RATE_LIMITED',
  'UPSTREAM_FAILED',
  'QUOTE_BUDGET_SPENT',
  'IDEMPOTENCY_IN_PROGRESS',
  'DEPOSIT_NOT_FINAL',
]);

/**
 * Judges the late customers' work when their time is over. Every operation that was planned in the first half of it must
 * be signed by then, or wait for something else than the nodes.
 */
export function watchLate(world: World, flood: Flood, known: Known, production: Production): void {
  const { scheduler } = world;
  const planned = () => operationsOf(world, production).filter(({ state }) => state === 'planned');
  let early: ReadonlySet<string> = new Set();
  scheduler.at(flood.lateAt + BOUND_MS / 2, () => {
    early = new Set(planned().map(({ id }) => id));
  });
  scheduler.at(flood.until, () => {
    const waiting = planned().filter(
      ({ id, reason }) =>
        early.has(id) &&
        // The witness waits until its last blockhash has expired, which takes a minute with slow slots.
        (reason === null || (reason.type === 'upstream' && reason.by !== 'earlier_mint_open')),
    );
    judgeLate(
      world,
      flood,
      known,
      waiting.map(({ id, reason }) => `${id} (${JSON.stringify(reason)})`),
    );
  });
}

function judgeLate(world: World, flood: Flood, known: Known, waiting: readonly string[]): void {
  const { host, witness, scenario, state, count } = world;
  const rows = (query: string, ...params: string[]) => host.disk.exec(query, params);
  const isStopped =
    rows(`SELECT 1 FROM meta WHERE key IN ('frozen', 'paused', 'birth') AND value <> ''`).length > 0;
  if (state.isLost || state.wasLost || isStopped) return;
  const broken = (what: string): void =>
    witness.broken('not_starved', `${what} made no progress within ${BOUND_MS} ms of a flood`);
  count('late customers');
  for (const operation of waiting) broken(operation);
  const answer = known.answers.get(LATE.key);
  if (isStarved(answer))
    broken(`the swap ${answer?.type === 'refused' ? answer.refusal.code : 'without an answer'}`);
  for (const [index, { at }] of scenario.orders.entries()) {
    const order = at === flood.lateAt ? known.orders.get(index) : undefined;
    if (order && !hasProgressed(world, order)) broken(`the paid order ${order.request.id}`);
  }
  // A treasury that is the reserve may have a swap's money back, so its claims wait for the swap.
  if (scenario.treasuryIsReserve) return;
  const deposit = known.deposits.get(scenario.deposits.findIndex(({ at }) => at === flood.lateAt));
  if (deposit === undefined || rows('SELECT 1 FROM asry_claims WHERE signature = ?', deposit).length > 0)
    return;
  // A deposit may be refused for what it is, such as its age after a jump of the clock.
  if (isStarved(known.claimAnswers.get(deposit))) broken(`the claim of ${deposit}`);
}

const isStarved = (answer: SwapAnswer | ClaimAnswer | undefined): boolean =>
  !answer || (answer.type === 'refused' && STARVED.has(answer.refusal.code));

/**
 * Whether the payment of an order has had its effect. The order is no longer open. A payment that landed after its end,
 * because the custodian's clock is behind the chain's, is owed back instead.
 */
function hasProgressed({ host, ledger, blockTime }: World, { request, payments }: Placed): boolean {
  const slots = payments.flatMap(({ signature }) => ledger.standing(signature)?.slot ?? []);
  const isLate = slots.some((slot) => blockTime(slot) > Date.parse(request.expiresAt));
  const query = isLate
    ? 'SELECT 1 FROM refunds WHERE request_id = ?'
    : "SELECT 1 FROM requests WHERE id = ? AND state <> 'open'";
  return host.disk.exec(query, [request.id]).length > 0;
}
