/**
 * Holds the journal, D1 and the answers against what truly happened, when everything has come to rest.
 * @module
 */
import type { Operation } from '../../src/custody/kernel/operation.ts';
import type { ChainEntry } from './chain-model.ts';
import type { Production } from './production.ts';
import type { World } from './world.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** By then the rarest look has been taken. */
const LAST_LOOK_MS = 2 * HOUR_MS;

export const rowsOf = (world: World, production: Production): Operation[] =>
  world.host.disk
    .exec('SELECT row FROM operations ORDER BY seq', [])
    .map((stored) => production.decodeOperation(String(stored.row)));

const isOver = (op: Operation): boolean => op.state === 'done' || op.state === 'failed';
const isHeld = (op: Operation): boolean => op.reason?.startsWith('held') ?? false;

/** Whether anything may still happen by itself. */
export function isQuiet(world: World, rows: readonly Operation[]): boolean {
  if (Number(world.host.disk.exec('SELECT COUNT(*) AS waiting FROM outbox', [])[0]?.waiting) > 0)
    return false;
  return rows.every((op) => {
    const order = world.bridge.orders.get(String(op.plan.depositAddress));
    // What arrived before the faults ended may have been looked for in vain.
    const arrivedAt = order?.arrivedAt == null ? null : Math.max(order.arrivedAt, world.scenario.calmAt);
    const comes =
      order !== undefined &&
      (!order.isOver || (arrivedAt !== null && arrivedAt > world.scheduler.now() - LAST_LOOK_MS));
    if (op.state === 'failed') return op.unsettled === 0n || !comes;
    return op.state === 'done' || (isHeld(op) && !comes);
  });
}

export function judge(world: World, production: Production): void {
  const rows = rowsOf(world, production);
  const landed = world.chain.entries.filter(
    (entry) => entry.movement !== null && entry.droppedAt === Number.POSITIVE_INFINITY,
  );
  if (!world.state.isLost) {
    judgeEnds(world, rows);
    judgeBooks(world, rows, landed);
    judgeMirror(world, rows);
  }
  judgeTerminals(world, rows, landed);
  judgeOutputs(world, rows);
  judgeCaps(world, rows, landed);
}

/** Everything ends terminal, or held with a reason. */
function judgeEnds(world: World, rows: readonly Operation[]): void {
  for (const op of rows) {
    if (!isOver(op) && !isHeld(op)) {
      world.witness.broken('everything_ends', `${op.id} stays ${op.state}/${op.detail} (${op.reason})`);
    }
    if (isOver(op) && op.reserved !== 0n) {
      world.witness.broken('reservations_end', `${op.id} is ${op.state} and reserves ${op.reserved}`);
    }
    const order = world.bridge.orders.get(String(op.plan.depositAddress));
    if (
      op.unsettled > 0n &&
      order?.isOver &&
      order.arrivedAt !== null &&
      order.fate !== 'untrue' &&
      !isHeld(op)
    ) {
      world.witness.broken('nothing_lost', `what came for ${op.id} is not booked (${op.state}/${op.detail})`);
    }
  }
}

/** Every transaction that landed belongs to a row that says so. */
function judgeBooks(world: World, rows: readonly Operation[], landed: readonly ChainEntry[]): void {
  for (const entry of landed) {
    if (entry.failed) continue;
    const op = rows.find((row) => row.signing?.signature === entry.signature);
    if (!op) {
      world.witness.broken(
        'nothing_lost',
        `${entry.signature} (${entry.movement?.intent}) landed and no row knows it`,
      );
    } else if (op.landing === null && !isHeld(op)) {
      world.witness.broken(
        'nothing_lost',
        `${entry.signature} landed and ${op.id} says ${op.state}/${op.detail}`,
      );
    } else if (op.landing && op.landing.debit !== -entry.delta) {
      world.witness.broken('nothing_lost', `${op.id} books ${op.landing.debit} lamports of ${-entry.delta}`);
    }
  }
}

/** D1 shows what the journal says. */
function judgeMirror(world: World, rows: readonly Operation[]): void {
  const mirrored = new Map(world.d1.rows().map((row) => [String(row.id), row]));
  for (const op of rows) {
    const row = mirrored.get(op.id);
    const told = row && `${row.revision} ${row.detail} ${row.signature} ${row.btc_txid}`;
    const want = `${op.revision} ${op.detail} ${op.signing?.signature ?? null} ${op.outcome.btcTxid ?? null}`;
    if (told !== want) {
      world.witness.broken('projection', `${op.id} is "${want}" in the journal and "${told}" in D1`);
    }
  }
  if (mirrored.size !== rows.length) {
    world.witness.broken('projection', `${mirrored.size} rows in D1, ${rows.length} in the journal`);
  }
}

/** No terminal word that the chains contradict. */
function judgeTerminals(world: World, rows: readonly Operation[], landed: readonly ChainEntry[]): void {
  const broken = (op: Operation, why: string) =>
    world.witness.broken('no_false_terminal', `${op.id} is ${op.state}/${op.detail}, but ${why}`);
  const movedBy = (signature: string | undefined) =>
    landed.find((entry) => entry.signature === signature && !entry.failed);
  for (const op of rows) {
    const own = movedBy(op.signing?.signature);
    const order = world.bridge.orders.get(String(op.plan.depositAddress));
    if (op.state === 'done' && !own) broken(op, 'nothing of it landed');
    if (op.state === 'failed' && own && op.landing === null) broken(op, `${own.signature} landed`);
    if (op.state === 'failed' && op.kind !== 'swap') {
      const other = landed.find((entry) => entry.movement?.intent === op.id && !entry.failed);
      if (other && !rows.some((row) => row.signing?.signature === other.signature))
        broken(op, `${other.signature} landed`);
    }
    if (op.kind !== 'swap' || !own || !order) continue;
    if (op.detail === 'partial' && order.payment && order.fate !== 'partial') {
      const paid = world.bitcoin.confirmed(order.payment.txid, order.payment.vout);
      if (paid && paid.value >= order.minimumSats)
        broken(op, `${paid.value} sats of ${order.minimumSats} arrived`);
    }
    if (op.detail === 'refunded' && order.fate !== 'refunded') broken(op, `the bridge ${order.fate} it`);
  }
}

/** A finished swap has its own confirmed output, of at least the agreed value. */
function judgeOutputs(world: World, rows: readonly Operation[]): void {
  const taken = new Map<string, string>();
  for (const op of rows) {
    const { btcTxid, btcVout, btcSats } = op.outcome;
    if (op.kind === 'swap' && op.state === 'done' && typeof btcTxid !== 'string') {
      world.witness.broken('no_false_terminal', `${op.id} is done without BTC`);
    }
    if (typeof btcTxid !== 'string') continue;
    const name = `${btcTxid}:${btcVout}`;
    const output = world.bitcoin.confirmed(btcTxid, Number(btcVout));
    const minimum = BigInt(String(op.plan.minimumSats));
    if (!output || output.value.toString() !== btcSats || (op.state === 'done' && output.value < minimum)) {
      world.witness.broken(
        'no_false_terminal',
        `${op.id} booked ${name} of ${btcSats} sats; the chain has ${output?.value}`,
      );
    }
    const other = taken.get(name);
    if (other) world.witness.broken('one_swap_an_output', `${name} serves ${other} and ${op.id}`);
    taken.set(name, op.id);
  }
}

/** Of what landed, no hour and no day holds more than its cap. */
function judgeCaps(world: World, rows: readonly Operation[], landed: readonly ChainEntry[]): void {
  const spends = landed.flatMap((entry) => {
    const op = rows.find((row) => row.signing?.signature === entry.signature);
    // By what the chain says that it was: a payout that nobody remembers is recovered as a swap.
    return entry.failed || !op || !entry.movement?.intent.startsWith('amount:')
      ? []
      : [{ at: op.createdAt, lamports: entry.movement.lamports, cost: op.cost }];
  });
  const { maxHour, maxDay, maxCostDay, maxOperation } = world.scenario.limits;
  for (const { at, lamports } of spends) {
    const since = (ms: number) => spends.filter((spend) => spend.at <= at && spend.at > at - ms);
    const hour = since(HOUR_MS).reduce((sum, spend) => sum + spend.lamports, 0n);
    const day = since(DAY_MS).reduce((sum, spend) => sum + spend.lamports, 0n);
    const cost = since(DAY_MS).reduce((sum, spend) => sum + spend.cost, 0n);
    const over = (cap: string, used: bigint, most: bigint) => {
      if (used > most) world.witness.broken(cap, `${used} lamports where ${most} may be`);
    };
    over('cap_operation', lamports, maxOperation);
    over('cap_hour', hour, maxHour);
    over('cap_day', day, maxDay);
    over('cap_cost_day', cost, maxCostDay);
  }
}
