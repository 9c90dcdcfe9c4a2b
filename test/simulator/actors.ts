/**
 * The callers: honest ones that call, pay, lose a response and repeat, and an adversary with a small budget.
 * Every call with one key must get the same result.
 * @module
 */
import { TOKEN_PROGRAM } from '../../src/chain/solana/token-program.ts';
import type { ClaimAnswer, RequestView, SwapAnswer } from '../../src/custody/api.ts';
import { wallet } from '../kit/addresses.ts';
import { tokenDesign } from '../kit/token-design.ts';
import { chainTransaction } from '../world/solana-shapes.ts';
import { startFlood, watchLate } from './flood.ts';
import { FINALITY, key, TOKEN_RENT } from './ledger.ts';
import type { Production } from './production.ts';
import type { Action } from './transactions.ts';
import { ataOf } from './transactions.ts';
import type { Attack, Deposit, Order, PaidBy, SwapWish } from './wishes.ts';
import { mostReward, type World } from './world.ts';

export type Actors = {
  /** Calls without a response yet, and future calls. */
  waiting(): number;
  /** The customers' requests with their payments, in the order of the scenario. */
  readonly orders: ReadonlyMap<number, Placed>;
  readonly deposits: ReadonlyMap<number, string>;
  /** Adds a customer, because payments are searched for only while a request is open. */
  comeAgain(): void;
  /** A stranger claims every deposit that was ever made. */
  claimAll(): void;
  /** Whether every payment was final when the last customer came. */
  isAllSought(): boolean;
};

export type Placed = {
  readonly request: RequestView;
  readonly payments: { readonly signature: string; readonly lamports: bigint; readonly readable: boolean }[];
};

const FEE = 5_000n;
const DUST = 1_000_000n;
/** Rent of a classic mint and its owner's account, and the fee of the transaction. */
export const CREATION_COST = 210n * 6_960n + TOKEN_RENT + 14_000n;
const MARGIN = 10_000_000n;
const LISTING_FEE = 20_000_000n;
const PATIENCE = 8;
const SPONSOR = wallet(905);
const VAULT = wallet(906);
const OPENED = wallet(907);
const REVOKED = { revokeMint: true, revokeFreeze: true, revokeUpdate: true } as const;
/** Attempts of the last customer, enough for the longest outage. */
const LAST_PATIENCE = 200;

/** The part of a result that a caller sees, and that a repeat must return again. */
const visible = (answer: SwapAnswer): string =>
  answer.type === 'created'
    ? `created ${answer.swap.signature} ${answer.swap.amountLamports} ${answer.swap.expectedSats} ${answer.swap.minimumSats}`
    : `refused ${answer.refusal.code} ${JSON.stringify(answer.refusal.details ?? {})}`;

export function startActors(world: World, production: Production): Actors {
  const { scheduler, host, witness, scenario, trace, ledger, truth, addresses } = world;
  const decided = new Map<string, string>();
  const answers = new Map<string, SwapAnswer>();
  const claimAnswers = new Map<string, ClaimAnswer>();
  const orders = new Map<number, Placed>();
  const deposits = new Map<number, string>();
  const most = new Map<SwapWish, bigint>();
  const asked = new Set<string>();
  /** The part of its claim that a key received. */
  const parts = new Map<string, number>();
  let waiting = 0;
  let lastCameAt = 0;

  /** Starts a caller's task at a time, and counts it as waiting until it ends. */
  function later(at: number, task: () => Promise<void>): void {
    waiting++;
    scheduler.at(at, () => void task().finally(() => waiting--));
  }

  /** Sends a transaction of any party except the reserve; its sender gets the amount that it spends. */
  function send(
    from: string,
    actions: readonly Action[],
    {
      more = [],
      memo = null,
      readable = true,
      sponsor,
    }: {
      readonly more?: readonly string[];
      readonly memo?: string | null;
      readonly readable?: boolean;
      readonly sponsor?: string | undefined;
    } = {},
  ): string {
    const signature = world.signature();
    let spent = FEE;
    const touched: string[] = [];
    for (const action of actions) {
      if (action.type === 'pay') spent += action.lamports;
      if (action.type === 'open') spent += TOKEN_RENT;
      if (action.type === 'pay' || action.type === 'move') touched.push(action.to);
      if (action.type === 'close') touched.push(action.account);
    }
    ledger.endow(key.lamports(from), spent);
    if (sponsor !== undefined) ledger.endow(key.lamports(sponsor), FEE);
    const signers = sponsor === undefined ? [from] : [sponsor, from];
    const accounts = [...new Set([...signers, ...touched, ...more])];
    const common = { signature, accounts, signers: signers.length, fee: FEE, actions };
    ledger.add({ ...common, memo, born: null, readable });
    return signature;
  }

  function payTreasury(
    from: string,
    amount: bigint,
    references: readonly string[],
    readable = true,
    by?: PaidBy,
  ): string {
    const to = addresses.treasury;
    const isVault = by === 'vault';
    const pays: Action = { type: 'pay', from: isVault ? VAULT : from, to, lamports: amount };
    const rent: Action = { type: 'pay', from, to: OPENED, lamports: TOKEN_RENT };
    const signature = isVault
      ? send(from, [pays, rent], { more: [VAULT, ...references], readable })
      : send(from, [pays], { more: references, readable, sponsor: by && SPONSOR });
    if (isVault) ledger.endow(key.lamports(VAULT), amount);
    if (by !== undefined) world.count(`payments by ${by}`);
    truth.payments.set(signature, { lamports: amount, payer: isVault ? null : from });
    trace(() => `customer pays ${amount} as ${signature.slice(0, 8)}`);
    return signature;
  }

  // Swaps.

  /** No call is repeated after a journal was lost, because a row that was never mirrored cannot be restored. */
  function mayAsk(what: string): boolean {
    if (world.state.wasLost) return !asked.has(what);
    asked.add(what);
    return true;
  }

  /** The amount that a wish requests, the same at every repeat. */
  async function amountOf(wish: SwapWish): Promise<bigint> {
    if (!wish.most) return wish.amount;
    const known = most.get(wish);
    if (known !== undefined) return known;
    const room = await host.ask('swapRoom');
    // A repeat may have asked at the same time.
    const meanwhile = most.get(wish);
    if (meanwhile !== undefined) return meanwhile;
    // Subtracts the digits that distinguish this wish. The result may still equal the amount of another wish, because
    // the maximum may have changed by the same digits.
    let amount = room.ok ? room.value.maximumLamports - (wish.amount % 1_000n) : 0n;
    while ([...most.values()].includes(amount)) amount -= 1n;
    if (amount > 0n) most.set(wish, amount);
    return amount;
  }

  async function swap(wish: SwapWish, patience: number): Promise<void> {
    const { key: name, client } = wish;
    const amount = await amountOf(wish);
    if (amount <= 0n || !mayAsk(`amount:${amount}`)) return;
    const request = {
      amountLamports: amount,
      client,
      ...(name === null ? {} : { key: { keyHash: name, bodyHash: `body-${amount}` } }),
    };
    const outcome = await host.ask('createSwap', request);
    const isRetryable =
      !outcome.ok || (outcome.value.type === 'refused' && outcome.value.refusal.code === 'UPSTREAM_FAILED');
    if (isRetryable && patience > 0)
      later(scheduler.now() + 1_000 * (4 - patience), () => swap(wish, patience - 1));
    if (!outcome.ok) return;
    trace(() => `swapper ${name ?? amount}: ${visible(outcome.value)}`);
    if (name === null) return;
    answers.set(name, outcome.value);
    compare(name, outcome.value);
  }

  function compare(name: string, answer: SwapAnswer): void {
    const seen = visible(answer);
    const first = decided.get(name);
    const isBusy = answer.type === 'refused' && answer.refusal.code === 'IDEMPOTENCY_IN_PROGRESS';
    if (first !== undefined && !isBusy && first !== seen)
      witness.broken('same_answer', `${name} was answered "${first}", then "${seen}"`);
    if (answer.type === 'created' || answer.replayed) decided.set(name, first ?? seen);
  }

  /** The same key with a different body must have no effect. */
  async function misuse(wish: SwapWish): Promise<void> {
    if (world.state.wasLost) return;
    const name = { keyHash: wish.key ?? '', bodyHash: 'another body' };
    const outcome = await host.ask('createSwap', {
      amountLamports: wish.amount + 1_000_000n,
      client: 'ip-9',
      key: name,
    });
    if (outcome.ok && decided.has(name.keyHash) && visible(outcome.value).startsWith('created'))
      witness.broken('same_answer', `${name.keyHash} moved money for another body`);
  }

  // Paid requests.

  const subjectOf = (kind: Order['kind'], index: number) => ({
    ...tokenDesign({ ...{ program: 'token', name: 'Moon', symbol: 'MOON', decimals: 9 }, ...REVOKED }),
    ...{ supply: '1000', creator: wallet(200 + index), costLamports: CREATION_COST.toString() },
    ...(kind === 'listing' ? { mint: wallet(300 + index) } : {}),
  });

  async function openRequest(
    kind: Order['kind'],
    index: number,
    client: string,
  ): Promise<RequestView | undefined> {
    const baseFeeLamports = kind === 'token' ? CREATION_COST + MARGIN : LISTING_FEE;
    if (kind === 'listing') world.ledger.nameMint(wallet(300 + index), { name: 'Moon', symbol: 'MOON' });
    const outcome = await host.ask('openRequest', {
      kind,
      subject: subjectOf(kind, index),
      baseFeeLamports,
      client,
    });
    if (!outcome.ok || outcome.value.type !== 'opened') return undefined;
    const { request } = outcome.value;
    const { id, reference, mintAddress, feeLamports } = request;
    if (kind === 'token' && mintAddress !== null)
      truth.invoices.set(mintAddress, { fee: BigInt(feeLamports), id, reference });
    return request;
  }

  async function place(order: Order, index: number, patience: number): Promise<void> {
    const request = await openRequest(order.kind, index, `customer-${index}`);
    if (!request) {
      if (patience > 0) later(scheduler.now() + 5_000, () => place(order, index, patience - 1));
      return;
    }
    trace(() => `customer ${index} opened ${request.id} for ${request.feeLamports}`);
    const placed: Placed = { request, payments: [] };
    orders.set(index, placed);
    const fee = BigInt(request.feeLamports);
    for (const { after, percent, hasReference, readable, by } of order.payments) {
      later(scheduler.now() + after, async () => {
        const amount = (fee * BigInt(percent)) / 100n + (percent === 60 ? 1n : 0n);
        const references = hasReference ? [request.reference] : [];
        const signature = payTreasury(wallet(100 + index), amount, references, readable, by);
        placed.payments.push({ signature, lamports: amount, readable });
      });
    }
    const paidAfter = Math.max(0, ...order.payments.map(({ after }) => after));
    for (const wait of order.confirms)
      later(scheduler.now() + paidAfter + FINALITY * scenario.slotMs + wait, async () => {
        const last = placed.payments.at(-1);
        if (last) await confirm(request, last.signature);
      });
  }

  async function confirm(request: RequestView, signature: string): Promise<void> {
    const { id, kind } = request;
    const outcome = await host.ask('confirmPayment', {
      ...{ id, kind, signature, client: 'customer', waitMs: 10_000 },
    });
    trace(() => `customer of ${id} confirms: ${outcome.ok ? outcome.value.type : outcome.error}`);
  }

  // Deposits and their rewards.

  async function deposit(wish: Deposit, index: number): Promise<void> {
    const sender = wallet(400 + index);
    const mint = addresses[wish.asset];
    const from = ledger.openAccount(sender, mint, wish.atoms);
    const to = ataOf(addresses.treasury, mint);
    const account = ataOf(sender, addresses.asry);
    if (wish.hasAccount) ledger.openAccount(sender, addresses.asry);
    const signature = send(sender, [{ type: 'move', from, to, atoms: wish.atoms }], { more: [from] });
    truth.deposits.set(signature, { atoms: wish.atoms, account, most: mostReward(wish.atoms) });
    deposits.set(index, signature);
    for (const call of wish.claims)
      later(scheduler.now() + FINALITY * scenario.slotMs + call.after, () =>
        claim(signature, wish, call, PATIENCE),
      );
  }

  async function claim(
    signature: string,
    wish: Deposit,
    call: Deposit['claims'][number],
    patience: number,
  ): Promise<void> {
    const { key: name, microUsd, skipReward } = call;
    const outcome = await host.ask('claimDeposit', {
      signature,
      asset: wish.asset,
      skipReward,
      client: 'usedBy',
      ...(microUsd === null ? {} : { rewardMicroUsd: microUsd }),
      ...(name === null ? {} : { key: { keyHash: name, bodyHash: `${signature} ${microUsd}` } }),
    });
    if (outcome.ok) claimAnswers.set(signature, outcome.value);
    trace(() => `claim of ${signature.slice(0, 8)}: ${outcome.ok ? resultOf(outcome.value) : outcome.error}`);
    if (name !== null && outcome.ok && outcome.value.type === 'claimed') {
      const answered = `${name} ${signature} ${microUsd}`;
      const first = parts.get(answered);
      parts.set(answered, outcome.value.part);
      // A restored journal lacks rows that were never mirrored.
      if (first !== undefined && first !== outcome.value.part && !world.state.wasLost)
        witness.broken('same_answer', `${name} was given part ${first}, then part ${outcome.value.part}`);
      if (first === undefined) later(scheduler.now() + 3_000, () => claim(signature, wish, call, 0));
    }
    const again =
      !outcome.ok ||
      (outcome.value.type === 'refused' && /NOT_FINAL|UPSTREAM|PAUSED/.test(outcome.value.refusal.code));
    if (again && patience > 0)
      later(scheduler.now() + 5_000, () => claim(signature, wish, call, patience - 1));
  }

  // The adversary.

  const BAD = wallet(500);

  const claimAs = (signature: string) =>
    host.ask('claimDeposit', { signature, asset: 'USDC', skipReward: false, client: 'adversary' });
  const payDust = (to: string, memo?: string) =>
    send(BAD, [{ type: 'pay', from: BAD, to, lamports: DUST }], memo === undefined ? {} : { memo });

  async function attack(attack: Attack): Promise<void> {
    trace(() => `adversary: ${JSON.stringify(attack)}`);
    world.count(`attack: ${attack.type}`);
    const placed = 'order' in attack ? orders.get(attack.order) : undefined;
    switch (attack.type) {
      case 'dust':
        for (let number = 0; number < attack.count; number++)
          payTreasury(BAD, DUST + BigInt(number), [], attack.readable);
        return;
      case 'reference':
        if (placed) payTreasury(BAD, DUST, [placed.request.reference], attack.readable);
        return;
      case 'requests':
        for (let number = 0; number < attack.count; number++)
          await openRequest('token', 600 + number, 'adversary');
        return;
      case 'memo': {
        const ours = ledger.entries.findLast(
          (entry) => witness.isOurs(entry) && entry.transaction.memo !== null,
        );
        return void payDust(addresses.reserve, ours?.transaction.memo ?? `refund:${'5'.repeat(88)}:1`);
      }
      case 'fund_mint':
        if (placed?.request.mintAddress) payDust(placed.request.mintAddress);
        return;
      case 'close':
        return closeAccount(attack.deposit);
      case 'forge':
        return forge(attack.what);
      case 'reuse': {
        const payment = placed?.payments[0];
        const other = payment && (await openRequest('token', 700, 'adversary'));
        if (!other) return;
        await confirm(other, payment.signature);
        await claimAs(payment.signature);
      }
    }
  }

  /** Moves the rewards to another account and collects the rent of the empty one. */
  function closeAccount(index: number): void {
    const owner = wallet(400 + index);
    const account = ataOf(owner, addresses.asry);
    if (ledger.value(key.exists(account)) !== 1n) return;
    const atoms = ledger.value(key.atoms(account));
    const elsewhere = ataOf(BAD, addresses.asry);
    if (ledger.value(key.exists(elsewhere)) !== 1n) ledger.openAccount(BAD, addresses.asry);
    send(owner, [
      { type: 'move', from: account, to: elsewhere, atoms },
      { type: 'close', account, owner },
    ]);
  }

  /** An invented transaction that only the lying node shows; the adversary uses it. */
  async function forge(what: 'payment' | 'overpayment' | 'deposit'): Promise<void> {
    const request = what === 'deposit' ? undefined : await openRequest('token', 710, 'adversary');
    if (what !== 'deposit' && !request) return;
    const signature = world.signature();
    const amount = BigInt(request?.feeLamports ?? 0) + (what === 'overpayment' ? 300_000_000n : 0n);
    const slot = ledger.blockAt(ledger.tip() - FINALITY - 3, ledger.tip());
    const row = (owner: string, atoms: bigint) => ({
      account: ataOf(owner, addresses.USDC),
      mint: addresses.USDC,
      owner,
      program: TOKEN_PROGRAM,
      atoms,
      decimals: 6,
    });
    const atoms = what === 'deposit' ? 50_000_000n : 0n;
    const changes = { [BAD]: -amount - FEE, [addresses.treasury]: amount };
    const forged = chainTransaction(signature, request ? { ...changes, [request.reference]: 0n } : changes, {
      slot: BigInt(slot),
      blockTime: Math.floor(world.blockTime(slot) / 1_000),
      fee: FEE,
      preTokens: atoms === 0n ? [] : [row(BAD, atoms), row(addresses.treasury, 0n)],
      postTokens: atoms === 0n ? [] : [row(BAD, 0n), row(addresses.treasury, atoms)],
    });
    world.forged.push(forged);
    await (request ? confirm(request, signature) : claimAs(signature));
    if (request && what === 'overpayment') await host.ask('ops', { name: 'refund', id: request.id });
  }

  for (const wish of scenario.swaps) {
    later(wish.at, () => swap(wish, wish.patience));
    for (const after of wish.repeats) later(wish.at + after, () => swap(wish, wish.patience));
    if (wish.repeats.length === 3) later(wish.at + 60_000, () => misuse(wish));
  }
  for (const [index, order] of scenario.orders.entries())
    later(order.at, () => place(order, index, PATIENCE));
  for (const [index, wish] of scenario.deposits.entries()) later(wish.at, () => deposit(wish, index));
  for (const each of scenario.attacks) later(each.at, () => attack(each));
  const { flood } = scenario;
  if (flood) {
    const pay = (from: string, amount: bigint) => payTreasury(from, amount, []);
    const open = (client: string) => openRequest('listing', 800, client);
    const known = { orders, deposits, payTreasury: pay, open, answers, claimAnswers };
    startFlood(world, flood, known);
    watchLate(world, flood, known, production);
    // The run lasts until the verdict.
    later(flood.until, async () => undefined);
  }

  return {
    waiting: () => waiting,
    orders,
    deposits,
    isAllSought: () =>
      [...truth.payments.keys()].every((signature) => {
        const entry = ledger.standing(signature);
        return entry !== undefined && ledger.timeOf(entry.slot + FINALITY) < lastCameAt;
      }),
    claimAll() {
      for (const [index, wish] of scenario.deposits.entries()) {
        const signature = deposits.get(index);
        const call = { after: 0, key: null, microUsd: null, skipReward: false };
        if (signature) later(scheduler.now() + 5_000, () => claim(signature, wish, call, PATIENCE));
      }
    },
    comeAgain() {
      lastCameAt = scheduler.now();
      later(lastCameAt, () =>
        place({ at: 0, kind: 'listing', payments: [], confirms: [] }, 90, LAST_PATIENCE),
      );
    },
  };
}

const resultOf = (answer: ClaimAnswer): string =>
  answer.type === 'refused' ? answer.refusal.code : answer.type;
