/**
 * Compares the journal, D1 and the public responses with the true events, after all work has ended.
 * @module
 */
import { ACCOUNT_RENT } from '../../src/chain/solana/token-messages.ts';
import { TOKEN_PROGRAM } from '../../src/chain/solana/token-program.ts';
import { sats } from '../../src/core/amount.ts';
import { COUNTED, type LimitName, OPERATION_LIMITS } from '../../src/core/operation-limits.ts';
import { fairLamports } from '../../src/core/price.ts';
import type { RequestView } from '../../src/custody/api.ts';
import type { Custodian } from '../../src/custody/custodian.ts';
import type { Operation } from '../../src/custody/kernel/operation.ts';
import type { Actors, Placed } from './actors.ts';
import { judgeCurve, judgeRecords, judgeSums } from './conservation.ts';
import type { Given, Outcome, Returned, Verb } from './host.ts';
import { type Entry, key } from './ledger.ts';
import type { Production } from './production.ts';
import { movementOf } from './witness.ts';
import { bornAt, type World } from './world.ts';

const HOUR_MS = 3_600_000;
/** Time after which even the rarest check has run. */
const LAST_LOOK_MS = 2 * HOUR_MS;
/** Lamports that the opening of a recipient's account costs. */
const RENT = ACCOUNT_RENT[TOKEN_PROGRAM] ?? 0n;
/** Within this time after the faults, paid work is completed or its payment is owed back. */
const PAID_WORK_MS = 45 * 60_000;

export const operationsOf = (world: World, production: Production): Operation[] =>
  world.host.disk
    .exec('SELECT row FROM operations ORDER BY seq', [])
    .map((stored) => production.decodeOperation(String(stored.row)));

const isOver = (op: Operation): boolean => op.state === 'done' || op.state === 'failed';
const isHeld = (op: Operation): boolean => op.reason?.type === 'held';
const count = (world: World, query: string): number => Number(world.host.disk.exec(query, [])[0]?.n ?? 0);

/** Operations that were planned or signed within this time are still awaited. */
const IN_FLIGHT_MS = 15 * 60_000;

const PAID = `SELECT COUNT(*) AS n FROM requests WHERE state = 'paid'`;
const REFUNDS_MOVING = `SELECT COUNT(*) AS n FROM refunds WHERE state = 'begun'`;
/** Counts payouts that are on their way, and those that wait only for the next read. */
const PAYOUTS_MOVING = `SELECT COUNT(*) AS n FROM asry_payouts
  WHERE state = 'begun' OR (state = 'owed' AND json_extract(row, '$.reason') = 'unread')`;

/** Whether an operation waits until others have left the daily window. */
const isCapped = ({ state, reason }: Operation): boolean => state === 'planned' && reason?.type === 'limit';

/** Operations, of one kind or of all, that wait for another day. */
export const waitingForDay = (operations: readonly Operation[], kind?: string): number =>
  operations.filter((op) => isCapped(op) && (kind === undefined || op.kind === kind)).length;

/**
 * Whether no further event can follow without a caller. Late paid work is ignored, because the verdict reports
 * it.
 */
export function isQuiet(world: World, production: Production): boolean {
  if (count(world, 'SELECT COUNT(*) AS n FROM outbox') > 0) return false;
  const allowed = PAID_WORK_MS + (world.state.wasLost ? HOUR_MS : 0) + setBack(world);
  const isLate = world.scheduler.now() > world.state.dueFrom + allowed;
  if (!isLate && isBehind(world)) return false;
  const operations = operationsOf(world, production);
  const clock = world.scenario.epoch + world.state.clockOffset + world.scheduler.now();
  const held = (kind: string): number => operations.filter((op) => isHeld(op) && op.kind === kind).length;
  const moves = (kind: string, rows: string): boolean =>
    count(world, rows) > waitingForDay(operations, kind) + held(kind) && !isLate;
  if (moves('token', PAID) || moves('refund', REFUNDS_MOVING) || moves('asry', PAYOUTS_MOVING)) return false;
  return operations.every((op) => {
    const order = world.bridge.orders.get(String(op.plan.depositAddress));
    // Searches before the end of the faults may have missed a payment.
    const arrivedAt = order?.arrivedAt == null ? null : Math.max(order.arrivedAt, world.scenario.calmAt);
    const comes =
      order !== undefined &&
      (!order.isOver || (arrivedAt !== null && arrivedAt > world.scheduler.now() - LAST_LOOK_MS));
    if (op.state === 'failed') return op.unsettled === 0n || !comes;
    const rests = isHeld(op) && !comes;
    const startedAt = world.witness.signedAt.get(op.signing?.signature ?? '') ?? op.createdAt;
    const isStuck = isLate && op.kind !== 'swap' && Math.abs(clock - startedAt) > IN_FLIGHT_MS;
    return op.state === 'done' || rests || isCapped(op) || isStuck;
  });
}

/** Longest wait between two checks of an operation. */
const FARTHEST_CHECK_MS = 2 * 3_600_000;

/** The additional wait of work that was postponed before the clock went back, but planned after it. */
const setBack = ({ scenario }: World): number =>
  scenario.events.reduce(
    (sum, event) => sum + (event.type === 'clock' ? Math.min(Math.max(-event.ms, 0), FARTHEST_CHECK_MS) : 0),
    0,
  );

/** Whether there are payments that have not been read yet. */
function isBehind({ host, ledger }: World): boolean {
  return host.disk
    .exec('SELECT signature FROM unread_transactions', [])
    .some(({ signature }) => ledger.standing(String(signature))?.transaction.readable);
}

/** Whether a request has received a part of its fee, which is owed back when the request expires. */
export const hasParts = (world: World): boolean =>
  count(
    world,
    `SELECT COUNT(*) AS n FROM requests WHERE state = 'open' AND json_extract(row, '$.received') <> '0'`,
  ) > 0;

export async function judge(world: World, actors: Actors, production: Production): Promise<void> {
  const operations = operationsOf(world, production);
  const landed = world.ledger.entries.filter(
    (entry) => world.witness.isOurs(entry) && entry.droppedAt === Number.POSITIVE_INFINITY,
  );
  if (!world.state.isLost) {
    judgeEnds(world, operations);
    judgeBooks(world, operations, landed);
    judgeSums(world, operations);
    judgeCurve(world);
    judgeMirror(world, operations);
    judgeRecords(world);
    await judgeRequests(world, actors, operations);
    await judgeClaims(world, actors);
    await judgeMint(world);
  }
  judgeOlder(world);
  judgeTerminals(world, operations, landed);
  judgeOutputs(world, operations);
  judgeReturns(world, operations);
  judgeCaps(world, operations, landed);
}

/** Every operation ends in a terminal state, or is held with a reason. */
function judgeEnds(world: World, operations: readonly Operation[]): void {
  const { broken } = world.witness;
  for (const op of operations) {
    if (!isOver(op) && !isHeld(op))
      broken('everything_ends', `${op.id} stays ${op.state}/${op.detail} (${op.reason})`);
    if (isOver(op) && op.reserved !== 0n)
      broken('reservations_end', `${op.id} is ${op.state} and reserves ${op.reserved}`);
    const order = world.bridge.orders.get(String(op.plan.depositAddress));
    const isBooked =
      op.unsettled === 0n ||
      !order?.isOver ||
      order.arrivedAt === null ||
      order.fate === 'untrue' ||
      order.isShort;
    if (!isBooked && !isHeld(op))
      broken('nothing_lost', `what came for ${op.id} is not booked (${op.state}/${op.detail})`);
  }
}

/** Checks that no deposit or payment from before the birth of the journal was paid for after it. */
function judgeOlder(world: World): void {
  const { broken } = world.witness;
  const born = bornAt(world.host);
  for (const { entry, movement } of world.witness.moved()) {
    if (entry.slot <= born) continue;
    const source = 'source' in movement ? movement.source : '';
    const paidAt = world.ledger.standing(source)?.slot;
    if (paidAt !== undefined && paidAt <= born)
      broken('older_pays_nothing', `${movement.kind} of ${source} in slot ${paidAt}, born in ${born}`);
  }
}

/** Checks that every landed transaction belongs to a row that shows its landing. */
function judgeBooks(world: World, operations: readonly Operation[], landed: readonly Entry[]): void {
  const { broken } = world.witness;
  for (const entry of landed) {
    if (entry.failed || entry.slot <= bornAt(world.host)) continue;
    const { signature } = entry.transaction;
    const op = operations.find((row) => row.signing?.signature === signature);
    const [payer = ''] = entry.transaction.accounts;
    const change = entry.changes.get(key.lamports(payer)) ?? 0n;
    if (op && op.signer !== payer) broken('row_key', `${op.id} of ${op.signer} was signed by ${payer}`);
    if (!op) {
      broken(
        'nothing_lost',
        `${signature} (${movementOf(entry.transaction).kind}) landed, and no row has it`,
      );
    } else if (op.landing === null && !isHeld(op)) {
      broken('nothing_lost', `${signature} landed, but ${op.id} shows ${op.state}/${op.detail}`);
    } else if (op.landing && op.landing.debit !== -change) {
      broken('nothing_lost', `${op.id} books ${op.landing.debit} lamports of ${-change}`);
    }
  }
}

/** Checks that D1 has the same values as the journal. */
function judgeMirror(world: World, operations: readonly Operation[]): void {
  const { broken } = world.witness;
  const mirrored = new Map(world.d1.rows('operations').map((row) => [String(row.id), row]));
  for (const op of operations) {
    const row = mirrored.get(op.id);
    const shown = row && `${row.revision} ${row.detail} ${row.signature} ${row.btc_txid}`;
    const want = `${op.revision} ${op.detail} ${op.signing?.signature ?? null} ${op.outcome.btcTxid ?? null}`;
    if (shown !== want) broken('projection', `${op.id} is "${want}" in the journal and "${shown}" in D1`);
  }
  if (mirrored.size !== operations.length && bornAt(world.host) === 0)
    broken('projection', `${mirrored.size} operations in D1, ${operations.length} in the journal`);
}

/** The answer to a call of a reader; undefined if it fails. */
async function read<Name extends Verb<Custodian>>(
  { host, scheduler }: World,
  verb: Name,
  ...given: Given<Custodian, Name>
): Promise<Returned<Custodian, Name> | undefined> {
  let outcome: Outcome<Returned<Custodian, Name>> | undefined;
  void host.ask(verb, ...given).then((heard) => {
    outcome = heard;
  });
  await scheduler.run(scheduler.now() + 60_000, () => outcome !== undefined);
  return outcome?.ok ? outcome.value : undefined;
}

/** Checks that every paid request is completed, or its payment is owed back or refunded. */
async function judgeRequests(world: World, actors: Actors, operations: readonly Operation[]): Promise<void> {
  for (const placed of actors.orders.values()) {
    const view = await read(world, 'findRequest', placed.request.id);
    judgeRequest(world, placed, view ?? null, operations);
  }
}

/** Whether the operator decides about a payment without reference: a swap of about that sum has not settled. */
const mayBeReturned = ({ scenario }: World, operations: readonly Operation[], lamports: bigint): boolean =>
  scenario.treasuryIsReserve &&
  operations.some(({ unsettled }) => unsettled >= lamports && unsettled * 9n <= lamports * 10n);

function judgeRequest(
  world: World,
  { request, payments }: Placed,
  view: RequestView | null,
  operations: readonly Operation[],
): void {
  const broken = (invariant: string, what: string): void =>
    world.witness.broken(invariant, `request ${request.id} ${what}`);
  const fee = BigInt(request.feeLamports);
  const final = payments.filter(({ signature, readable }) => {
    const entry = world.ledger.standing(signature);
    return readable && entry !== undefined && !entry.failed;
  });
  const isReferenced = ({ signature }: { signature: string }): boolean =>
    world.ledger.standing(signature)?.transaction.accounts.includes(request.reference) ?? false;
  // Without the reference a payment belongs to a request only by its exact amount, and only while the request is open.
  const isOpen = ({ signature }: { signature: string }): boolean =>
    world.blockTime(world.ledger.standing(signature)?.slot ?? 0) <= Date.parse(request.expiresAt);
  const exact = final
    .filter((payment) => !isReferenced(payment) && payment.lamports === fee && isOpen(payment))
    .filter(({ lamports }) => !mayBeReturned(world, operations, lamports))
    .slice(0, 1);
  const isTimely = world.scenario.events.every(({ type }) => type !== 'clock');
  const bound = [...final.filter(isReferenced), ...(isTimely && !final.some(isReferenced) ? exact : [])];
  const sum = (list: readonly { lamports: bigint }[]): bigint =>
    list.reduce((total, { lamports }) => total + lamports, 0n);
  const paid = sum(bound);
  const all = sum(final);
  if (!view) {
    // A journal cannot restore a lost request that D1 never had.
    if (!world.state.wasLost) broken('paid_work', 'is no longer known');
    return;
  }
  // After a loss the operator decides about a held creation, and about a payment that was used before the loss.
  const awaitsOperator =
    world.state.wasLost &&
    (view.reason?.startsWith('held') || bound.some(({ signature }) => isUsedBefore(world, signature)));
  if (view.mintAddress !== null && view.kind === 'token') {
    const exists = world.ledger.value(key.exists(view.mintAddress)) === 1n;
    if (view.status === 'completed' && !exists)
      broken('no_false_terminal', `is completed without its mint ${view.mintAddress}`);
    if (exists && view.status !== 'completed' && !awaitsOperator)
      broken('paid_work', `is ${view.detail} (${view.reason}), and its mint exists`);
  }
  if (view.status === 'completed' && all < fee && !world.state.wasLost)
    broken('no_false_terminal', `is completed for ${paid} of ${fee}`);
  const owed = view.refunds.reduce((sum, { lamports }) => sum + BigInt(lamports), 0n);
  const consumed = view.status === 'completed' ? fee : 0n;
  const isHelped = world.scenario.attacks.some(({ type }) => type === 'reference');
  if (owed + consumed > all && !world.state.wasLost && !isHelped)
    broken('no_false_terminal', `of ${all} lamports owes ${owed} back and has used ${consumed}`);
  // This amount is less than the cost of its refund.
  const DUST = 10_000n;
  if (paid > 0n && owed + consumed + DUST * BigInt(bound.length) < paid && !awaitsOperator)
    broken('paid_work', `received ${paid} of ${fee}, is ${view.detail} (${view.reason}) and owes ${owed}`);
}

/** Whether a payment pays for nothing although its name is used: it was used before the loss. */
const isUsedBefore = ({ host }: World, signature: string): boolean =>
  host.disk.exec(
    `SELECT 1 FROM treasury_payments t JOIN once c ON c.name = 'payment:' || t.signature
     WHERE t.signature = ? AND t.used_by IS NULL`,
    [signature],
  ).length > 0;

/** Checks that every claim is paid, or owed with a reason, and promises no more than the deposit earns. */
async function judgeClaims(world: World, actors: Actors): Promise<void> {
  const { broken } = world.witness;
  for (const signature of actors.deposits.values()) {
    const claim = await read(world, 'findClaim', signature);
    if (!claim) continue;
    for (const payout of claim.payouts) {
      const isStuck = payout.status === 'pending' || (payout.status === 'sent' && payout.paidAtMs === null);
      if (isStuck && !world.state.wasLost)
        broken('claims_end', `a payout of ${signature} stays ${payout.status} (${payout.reason})`);
      if (payout.status === 'owed' && payout.reason === null)
        broken('claims_end', `a payout of ${signature} is owed without a reason`);
    }
  }
}

/** Checks that a day whose cron ran has its mint, or a reason why there is none. */
async function judgeMint(world: World): Promise<void> {
  const { broken } = world.witness;
  if (world.scenario.cronMs === Number.POSITIVE_INFINITY) return;
  const { mint } = (await read(world, 'report')) ?? {};
  if (mint && (mint.state === 'failed' || mint.state === 'waiting') && !world.state.wasLost)
    broken('mint_of_the_day', `the mint is ${mint.state} (${mint.reason})`);
}

/** Checks that no terminal state contradicts the chains. */
function judgeTerminals(world: World, operations: readonly Operation[], landed: readonly Entry[]): void {
  const broken = (op: Operation, why: string) =>
    world.witness.broken('no_false_terminal', `${op.id} is ${op.state}/${op.detail}, but ${why}`);
  for (const op of operations) {
    const own = landed.find(
      (entry) => entry.transaction.signature === op.signing?.signature && !entry.failed,
    );
    const order = world.bridge.orders.get(String(op.plan.depositAddress));
    const isFound = op.outcome.endedBy !== undefined || op.outcome.mint !== undefined;
    if (op.state === 'done' && !own && !isFound) broken(op, 'nothing of it landed');
    if (op.state === 'failed' && own && op.landing === null)
      broken(op, `${own.transaction.signature} landed`);
    if (op.kind !== 'swap' || !own || !order) continue;
    if (op.detail === 'partial' && order.payment && order.fate !== 'partial') {
      const { txid, vout } = order.payment;
      // The bridge pays several swaps to one address. Nothing on the chain names the swap of an output.
      const servesAnother = operations.some(
        ({ id, outcome }) => id !== op.id && outcome.btcTxid === txid && Number(outcome.btcVout) === vout,
      );
      const paid = world.bitcoin.confirmed(txid, vout);
      if (paid && paid.value >= order.swap.minAmountOut && !servesAnother)
        broken(op, `${paid.value} sats of ${order.swap.minAmountOut} arrived`);
    }
    if (op.detail === 'refunded' && order.fate !== 'refunded' && order.fate !== 'crumbs')
      broken(op, `the bridge ${order.fate} it`);
    if (order.isShort && isOver(op) && op.unsettled === 0n && op.detail !== 'late')
      broken(op, 'the bridge returned only a part of it');
  }
}

/** A finished swap has its own confirmed output, of at least the agreed value. */
function judgeOutputs(world: World, operations: readonly Operation[]): void {
  const { broken } = world.witness;
  const taken = new Map<string, string>();
  for (const op of operations) {
    const { btcTxid, btcVout, btcSats } = op.outcome;
    if (op.kind === 'swap' && op.state === 'done' && typeof btcTxid !== 'string')
      broken('no_false_terminal', `${op.id} is done without BTC`);
    if (typeof btcTxid !== 'string') continue;
    const name = `${btcTxid}:${btcVout}`;
    const output = world.bitcoin.confirmed(btcTxid, Number(btcVout));
    const minimum = BigInt(String(op.plan.minimumSats));
    const isWrong =
      !output || output.value.toString() !== btcSats || (op.state === 'done' && output.value < minimum);
    // A payment in a reorganized block confirms again later.
    if (isWrong && (output || world.scenario.events.every(({ type }) => type !== 'reorg')))
      broken(
        'no_false_terminal',
        `${op.id} booked ${name} of ${btcSats} sats; the chain has ${output?.value}`,
      );
    const other = taken.get(name);
    if (other) broken('one_swap_an_output', `${name} serves ${other} and ${op.id}`);
    taken.set(name, op.id);
  }
}

const isReturned = ({ detail }: Operation): boolean => detail === 'refunded' || detail === 'partial';

/**
 * The cost in lamports that was compared with the cap at signing. If a bridge returns too little, the row's cost is
 * raised afterwards.
 */
function agreedCost(op: Operation): bigint {
  if (!isReturned(op)) return op.cost;
  const { minimumSats, priceBtcUsd, priceSolUsd } = op.plan;
  if (priceBtcUsd === undefined) return 0n;
  const price = { source: 'plan', btcUsd: BigInt(String(priceBtcUsd)), solUsd: BigInt(String(priceSolUsd)) };
  const worth = fairLamports(sats(BigInt(String(minimumSats))), price);
  return worth < op.amount ? op.amount - worth : 0n;
}

/** The amount that a bridge keeps of a returned swap is part of the swap's cost. */
function judgeReturns(world: World, operations: readonly Operation[]): void {
  const { broken } = world.witness;
  for (const op of operations) {
    const { refundLamports } = op.outcome;
    if (op.unsettled > 0n || typeof refundLamports !== 'string') continue;
    const kept = op.amount - BigInt(refundLamports);
    if (op.cost < kept) broken('kept_is_cost', `${op.id} costs ${op.cost}; ${kept} did not return`);
  }
}

/** The landed amounts signed within any hour or day are at most the cap. */
function judgeCaps(world: World, operations: readonly Operation[], landed: readonly Entry[]): void {
  const { broken } = world.witness;
  const bySignature = new Map(operations.map((op) => [op.signing?.signature, op]));
  const spends = landed.flatMap((entry) => {
    const movement = movementOf(entry.transaction);
    const op = bySignature.get(entry.transaction.signature);
    if (entry.failed || !op) return [];
    const rent = movement.kind === 'asry' && movement.opens ? RENT : 0n;
    const lamports =
      movement.kind === 'swap' ? movement.lamports : movement.kind === 'refund' ? movement.amount : rent;
    const at = world.witness.signedAt.get(entry.transaction.signature) ?? op.createdAt;
    return [{ kind: movement.kind, at, lamports, cost: agreedCost(op) }];
  });
  type Spend = (typeof spends)[number];
  const countOf = {
    amount: ({ lamports }: Spend) => lamports,
    cost: ({ cost }: Spend) => cost,
    operations: () => 1n,
  };
  // A limit on anything else would never count; see COUNTED.
  for (const { id, kind, amount, unsettled, cost } of bySignature.values()) {
    const counted: readonly string[] = COUNTED[kind as keyof typeof COUNTED] ?? [];
    for (const [quantity, lamports] of Object.entries({ amount, unsettled, cost }))
      if (lamports > 0n && !counted.includes(quantity)) broken('uncounted', `${id} ${quantity}`);
  }
  for (const [name, { kind, windowMs, counts }] of Object.entries(OPERATION_LIMITS)) {
    // The witness checks the cap on unsettled SOL at each landing.
    if (windowMs === null) continue;
    const most = world.limits[name as LimitName];
    const counted = spends.filter((spend) => spend.kind === kind);
    for (const last of counted) {
      const inWindow =
        windowMs === 0 ? [last] : counted.filter(({ at }) => at <= last.at && at > last.at - windowMs);
      const used = inWindow.reduce((sum, spend) => sum + countOf[counts](spend), 0n);
      if (used > most) broken(`cap_${name}`, `${used} where ${most} may be`);
    }
  }
}
