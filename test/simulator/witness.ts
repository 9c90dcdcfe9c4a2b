/**
 * Checks the chain itself during a run, independently of the custodian's state.
 * @module
 */
import type { BridgeModel } from './bridge-model.ts';
import { type Entry, key, type Ledger } from './ledger.ts';
import type { Transaction } from './transactions.ts';

export type Violation = { readonly invariant: string; readonly detail: string };

/** What is paid for a payment or a deposit, which is its source: lamports back, or atoms of ASRY. */
export type Return = {
  readonly kind: 'refund' | 'asry';
  readonly source: string;
  readonly to: string;
  readonly amount: bigint;
  /** It opens the recipient's account. */
  readonly opens: boolean;
};

/** The effect of a reserve transaction, decoded from its bytes. */
export type Movement =
  | { readonly kind: 'swap'; readonly to: string; readonly lamports: bigint }
  | Return
  | { readonly kind: 'token'; readonly mint: string }
  | { readonly kind: 'absr'; readonly atoms: bigint; readonly to: string }
  | { readonly kind: 'unknown' };

const movements = new WeakMap<Transaction, Movement>();

/** Cached by transaction, because every landing and finality reads all of them. */
export function movementOf(transaction: Transaction): Movement {
  const known = movements.get(transaction) ?? readMovement(transaction);
  movements.set(transaction, known);
  return known;
}

function readMovement({ actions, memo }: Transaction): Movement {
  const [name, subject = ''] = memo?.split(':') ?? [];
  const pay = actions.find((action) => action.type === 'pay');
  const move = actions.find((action) => action.type === 'move');
  const create = actions.find((action) => action.type === 'create');
  const mint = actions.find((action) => action.type === 'mint');
  if (create) return { kind: 'token', mint: create.mint };
  if (mint) return { kind: 'absr', atoms: mint.atoms, to: mint.account };
  const opens = actions.some((action) => action.type === 'open');
  const source = subject.split('.')[0] ?? '';
  if (name === 'refund' && pay) return { kind: name, source, to: pay.to, amount: pay.lamports, opens };
  if (name === 'asry' && move) return { kind: name, source, to: move.to, amount: move.atoms, opens };
  return pay ? { kind: 'swap', to: pay.to, lamports: pay.lamports } : { kind: 'unknown' };
}

/** The true events on the chain outside the custodian. */
export type Truth = {
  /**
   * Payments to the treasury by their signature: what the treasury gained and who paid. The payer is null if no signer
   * paid; the service never pays such a payment back.
   */
  readonly payments: Map<string, { readonly lamports: bigint; readonly payer: string | null }>;
  /** Deposits by their signature. */
  readonly deposits: Map<string, { readonly atoms: bigint; readonly account: string; readonly most: bigint }>;
  /** Fee and payments of the request that makes a mint. */
  readonly invoices: Map<string, { readonly fee: bigint; readonly id: string; readonly reference: string }>;
};

const DAY_MS = 86_400_000;

export type Witness = ReturnType<typeof createWitness>;

export function createWitness(p: {
  ledger: () => Ledger;
  bridge: () => BridgeModel;
  truth: Truth;
  /** Lamports that swaps must leave in the reserve, and the maximum unsettled amount. */
  limits: { readonly swapFloor: bigint; readonly unsettled: bigint };
  /** Addresses of the reserve's keys. */
  reserves: readonly string[];
  absr: { readonly mint: string; readonly scale: bigint; readonly cover: () => bigint };
  /** Unix milliseconds of the chain. */
  blockTime: (slot: number) => number;
  wallClock: () => number;
  /** The slot from which on the journal knows its swaps: a journal that began anew counts no earlier one. */
  bornAt: () => number;
  /** Whether a bridge may report one output for two swaps. This looks like a late payment; cap_unsettled is skipped. */
  bridgeLies: boolean;
}) {
  const violations: Violation[] = [];
  /** Signatures made while nothing may be signed, and why. */
  const forbidden = new Map<string, string>();
  /** By signature: the address whose key made it. */
  const madeBy = new Map<string, string>();
  const sent = new Set<string>();
  /** By a message's bytes: the UTC day of the custodian's clock on which its first signature was requested. */
  const askedOn = new Map<string, string>();
  /** The same day by signature: a mint belongs to the day on which it was prepared, however late it lands. */
  const signedOn = new Map<string, string>();
  /** By signature: when a transaction was last signed before it was sent, Unix ms of the custodian's clock. */
  const signedAt = new Map<string, number>();
  const { truth } = p;

  const broken = (invariant: string, detail: string) => void violations.push({ invariant, detail });

  const isOurs = ({ transaction }: Entry): boolean => p.reserves.includes(transaction.accounts[0] ?? '');
  const stands = (entry: Entry): boolean => entry.droppedAt === Number.POSITIVE_INFINITY;
  /** Successful reserve transactions on the chain, with their effects. */
  const moved = () =>
    p
      .ledger()
      .entries.filter((entry) => isOurs(entry) && !entry.failed && stands(entry))
      .map((entry) => ({ entry, movement: movementOf(entry.transaction) }));

  /** Lamports sent whose counterpart has not arrived. */
  const exposure = (): bigint =>
    moved().reduce((sum, { movement, entry }) => {
      const order = movement.kind === 'swap' ? p.bridge().orders.get(movement.to) : undefined;
      if (entry.slot <= p.bornAt()) return sum;
      return order && (order.arrivedAt === null || order.isShort) ? sum + order.swap.amountIn : sum;
    }, 0n);

  function swapLanded(entry: Entry, movement: Extract<Movement, { kind: 'swap' }>): void {
    const { signature, accounts } = entry.transaction;
    const funds = key.lamports(accounts[0] ?? '');
    // Only swaps must leave the floor. All other kinds may spend it, also on the fees of failed transactions.
    const balance = p
      .ledger()
      .entries.filter((other) => isOurs(other) && stands(other))
      .filter((other) => movementOf(other.transaction).kind !== 'swap')
      .reduce((sum, other) => sum - (other.changes.get(funds) ?? 0n), p.ledger().value(funds));
    if (balance < p.limits.swapFloor)
      broken('floor', `swap ${signature} leaves ${balance} lamports, below ${p.limits.swapFloor}`);
    const order = p.bridge().orders.get(movement.to);
    if (!order) {
      broken('destination', `${signature} pays ${movement.lamports} to ${movement.to}, which no quote named`);
      return;
    }
    if (movement.lamports !== order.swap.amountIn)
      broken('amount', `${signature} pays ${movement.lamports} for a quote of ${order.swap.amountIn}`);
    const unsettled = exposure();
    if (!p.bridgeLies && unsettled > p.limits.unsettled)
      broken('cap_unsettled', `${unsettled} lamports are out, ${p.limits.unsettled} may be`);
  }

  /** A payout may open the recipient's account once a day: its owner keeps the rent by closing it. */
  function payoutLanded(entry: Entry, { to }: Return): void {
    const opens = ({ changes }: Entry): boolean => changes.get(key.exists(to)) === 1n;
    if (!opens(entry)) return;
    const since = p.blockTime(entry.slot) - DAY_MS;
    const opened = moved().filter(
      (other) =>
        other.movement.kind === 'asry' && opens(other.entry) && p.blockTime(other.entry.slot) > since,
    );
    if (opened.length > 1)
      broken('rent_once', `the account ${to} was opened ${opened.length} times within a day`);
  }

  /** A refund goes to the payer, a reward to the account of the depositor. Together they are at most what is owed. */
  function returnFinal({ kind, source, to }: Return): void {
    const payment = kind === 'refund' ? truth.payments.get(source) : undefined;
    const deposit = kind === 'asry' ? truth.deposits.get(source) : undefined;
    const most = payment?.lamports ?? deposit?.most;
    const owner = payment ? payment.payer : deposit?.account;
    const total = moved().reduce(
      (sum, { movement: other }) =>
        other.kind === kind && other.source === source ? sum + other.amount : sum,
      0n,
    );
    if (most === undefined || !p.ledger().standing(source))
      broken('invented', `a ${kind} of ${total} was paid for ${source}, which never was`);
    else if (total > most)
      broken('one_landing', `a ${kind} of ${total} was paid for ${source}; ${most} may be`);
    else if (to !== owner) broken('destination', `the ${kind} of ${source} went to ${to}, not to ${owner}`);
  }

  /** A token is created only for a payment that is on the chain. */
  function creationFinal(mint: string): void {
    const invoice = truth.invoices.get(mint);
    if (!invoice) {
      broken('invented', `${mint} was made for no request`);
      return;
    }
    const ledger = p.ledger();
    const paid = [...truth.payments].reduce((sum, [signature, { lamports }]) => {
      const entry = ledger.standing(signature);
      if (!entry || entry.failed) return sum;
      const references = entry.transaction.accounts.filter((account) =>
        [...truth.invoices.values()].some(({ reference }) => reference === account),
      );
      const isHers =
        references.length === 0 ? lamports === invoice.fee : references.includes(invoice.reference);
      return isHers ? sum + lamports : sum;
    }, 0n);
    if (paid < invoice.fee) broken('invented', `${mint} was made for ${paid} lamports of ${invoice.fee}`);
  }

  /** Each day has one mint. None is for an earlier day, because no day begins again after the clock was set back. */
  function mintFinal(): void {
    const days = moved().flatMap(({ entry, movement }) =>
      movement.kind === 'absr' ? [signedOn.get(entry.transaction.signature) ?? 'unknown'] : [],
    );
    for (const [index, day] of days.entries()) {
      const before = days[index - 1];
      if (before !== undefined && before >= day)
        broken('one_landing', `a mint of ${day} landed after the mint of ${before}`);
    }
  }

  function swapFinal(entry: Entry, movement: Extract<Movement, { kind: 'swap' }>): void {
    for (const other of moved()) {
      if (other.entry === entry || other.movement.kind !== 'swap') continue;
      const pair = `${other.entry.transaction.signature} and ${entry.transaction.signature}`;
      if (other.movement.lamports === movement.lamports)
        broken('one_landing', `a swap of ${movement.lamports} landed as ${pair}`);
      else if (other.movement.to === movement.to)
        broken('one_payment_a_deposit', `${movement.to} was paid by ${pair}`);
    }
  }

  return {
    violations,
    broken,
    moved,
    isOurs,
    sent: sent as ReadonlySet<string>,
    signedAt: signedAt as ReadonlyMap<string, number>,

    landed(entry: Entry): void {
      if (!isOurs(entry)) return;
      const { signature, accounts } = entry.transaction;
      if (madeBy.get(signature) !== accounts[0])
        broken('row_key', `${signature} of ${accounts[0]} was signed by ${madeBy.get(signature)}`);
      if (entry.failed) return;
      const movement = movementOf(entry.transaction);
      if (movement.kind === 'swap') swapLanded(entry, movement);
      if (movement.kind === 'asry') payoutLanded(entry, movement);
      if (movement.kind === 'absr') {
        const { memo } = entry.transaction;
        if (memo !== null && !/^proof:[0-9a-f]{64}$/.test(memo)) broken('mint_memo', memo);
        const supply = p.ledger().value(key.supply(p.absr.mint));
        if (supply > p.absr.cover() * p.absr.scale)
          broken('covered_supply', `supply ${supply} for ${p.absr.cover()} sats`);
      }
      if (movement.kind === 'unknown')
        broken('destination', `${entry.transaction.signature} does what no kind does`);
    },

    final(entry: Entry): void {
      if (!isOurs(entry) || entry.failed) return;
      const movement = movementOf(entry.transaction);
      if (movement.kind === 'swap') swapFinal(entry, movement);
      if (movement.kind === 'refund' || movement.kind === 'asry') returnFinal(movement);
      if (movement.kind === 'token') creationFinal(movement.mint);
      if (movement.kind === 'absr') mintFinal();
    },

    /** Records that the custodian requests a signature. Returns the name of the message. */
    toSign(message: Uint8Array): string {
      const name = Buffer.from(message).toString('latin1');
      if (!askedOn.has(name)) askedOn.set(name, new Date(p.wallClock()).toISOString().slice(0, 10));
      return name;
    },

    /**
     * @param name    of the message that was signed
     * @param address of the key that signed
     * @param stopped why nothing may be signed at this moment; undefined when it may
     */
    signed(name: string, signature: string, address: string, stopped: string | undefined): void {
      madeBy.set(signature, address);
      signedOn.set(signature, askedOn.get(name) ?? 'unknown');
      if (!sent.has(signature)) signedAt.set(signature, p.wallClock());
      // A message with the same blockhash may be signed again, possibly after the stop has ended.
      if (stopped === undefined) forbidden.delete(signature);
      else if (!sent.has(signature)) forbidden.set(signature, stopped);
    },

    sending(signature: string): void {
      const stopped = forbidden.get(signature);
      if (stopped !== undefined && !sent.has(signature))
        broken('no_signing_while_stopped', `${signature} was signed while ${stopped}`);
      sent.add(signature);
    },
  };
}
