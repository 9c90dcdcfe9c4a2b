/**
 * Compares, after all work has ended, the amounts moved on the chain with the journal's payments, and the
 * journal's records with those of D1.
 * @module
 */
import { isDeepStrictEqual } from 'node:util';
import type { Operation } from '../../src/custody/kernel/operation.ts';
import { isHeld } from '../../src/custody/kernel/reason.ts';
import { key } from './ledger.ts';
import type { Movement } from './witness.ts';
import type { World } from './world.ts';

/** A row of a record table: JSON with amounts as decimal text. */
type Row = Readonly<Record<string, unknown>>;

const rowsOf = ({ host }: World, table: string, order: string): Row[] =>
  host.disk
    .exec(`SELECT row FROM ${table} ORDER BY ${order}`, [])
    .map(({ row }) => JSON.parse(String(row)) as Row);

/** Sums of the amounts that have the same name. */
function sumsOf(parts: readonly (readonly [name: string, amount: bigint])[]): Map<string, bigint> {
  const sums = new Map<string, bigint>();
  for (const [name, amount] of parts) sums.set(name, (sums.get(name) ?? 0n) + amount);
  return sums;
}

/**
 * The chain moved exactly the amounts that the journal paid: atoms of rewards, lamports of refunds and atoms of
 * mints. Nothing is compared after a lost journal, which may lack payments, or while operations that await the
 * operator are not booked.
 */
export function judgeSums(world: World, operations: readonly Operation[]): void {
  const { witness, ledger, addresses } = world;
  const { broken } = witness;
  if (world.state.wasLost || operations.some(({ reason }) => isHeld(reason))) return;
  const moved = witness.moved().map(({ movement }) => movement);
  const compare = (what: string, booked: Map<string, bigint>, chain: Map<string, bigint>): void => {
    for (const name of new Set([...booked.keys(), ...chain.keys()])) {
      const [own, truth] = [booked.get(name) ?? 0n, chain.get(name) ?? 0n];
      if (own !== truth)
        broken('conservation', `${what} of ${name}: the journal paid ${own}, the chain moved ${truth}`);
    }
  };
  const paid = (table: string, order: string, amount: string) =>
    sumsOf(
      rowsOf(world, table, order)
        .filter(({ state }) => state === 'paid')
        .map((row) => [String(row.signature), BigInt(String(row[amount]))]),
    );
  const landed = (kind: Movement['kind']) =>
    sumsOf(
      moved.flatMap((movement) =>
        'source' in movement && movement.kind === kind ? [[movement.source, movement.amount] as const] : [],
      ),
    );
  const total = (amounts: Iterable<unknown>): bigint =>
    [...amounts].reduce((sum: bigint, amount) => sum + BigInt(String(amount)), 0n);
  const all = (name: string, amount: bigint) => new Map([[name, amount]]);
  compare('rewards', paid('asry_payouts', 'signature, part', 'atoms'), landed('asry'));
  compare('refunds', paid('refunds', 'rowid', 'lamports'), landed('refund'));
  const epochs = rowsOf(world, 'asry_epochs', 'number').map((epoch) => epoch.paid);
  compare('rewards', all('all epochs', total(epochs)), all('all epochs', total(landed('asry').values())));
  const minted = operations
    .filter(({ kind, state }) => kind === 'absr' && state === 'done')
    .map(({ plan }) => plan.mintAtoms);
  const supply = ledger.value(key.supply(addresses.absr));
  compare('supply', all('ABSR', total(minted)), all('ABSR', supply));
}

/** Checks that no two claims earn from the same part of the curve, and that every started payout has its operation. */
export function judgeCurve(world: World): void {
  const { witness, host } = world;
  const reached = new Map<string, bigint>();
  const claims = rowsOf(world, 'asry_claims', 'signature').toSorted((a, b) =>
    BigInt(String(a.before)) < BigInt(String(b.before)) ? -1 : 1,
  );
  for (const { signature, epoch, before, after } of claims) {
    const from = reached.get(String(epoch)) ?? 0n;
    if (BigInt(String(before)) < from)
      witness.broken(
        'conservation',
        `the claim of ${signature} earns from ${before} on, an earlier one to ${from}`,
      );
    reached.set(String(epoch), BigInt(String(after)));
  }
  for (const { number, deposits } of rowsOf(world, 'asry_epochs', 'number'))
    if (BigInt(String(deposits)) < (reached.get(String(number)) ?? 0n))
      witness.broken('conservation', `epoch ${number} has ${deposits} deposits, fewer than its claims`);
  const lost = host.disk.exec(
    `SELECT p.operation_id AS id FROM asry_payouts p LEFT JOIN operations o ON o.id = p.operation_id
     WHERE p.state = 'begun' AND o.id IS NULL`,
    [],
  );
  for (const { id } of lost)
    witness.broken('claims_end', `a payout has begun as ${id}, which does not exist`);
}

/** Checks that D1 has every record of the journal, unchanged. Callers and the payments that they report stay in the journal only. */
export function judgeRecords(world: World): void {
  const inD1 = (table: string): Map<string, Row> =>
    new Map(
      world.d1.rows(table).map(({ id, journal }) => [String(id), JSON.parse(String(journal ?? '{}')) as Row]),
    );
  const compare = (what: string, own: unknown, shown: unknown): void => {
    if (!isDeepStrictEqual(own, shown))
      world.witness.broken(
        'projection',
        `${what} is ${JSON.stringify(own)} in the journal and ${JSON.stringify(shown)} in D1`,
      );
  };
  const requests = { token: inD1('invoices'), listing: inD1('listings') };
  for (const row of rowsOf(world, 'requests', 'id'))
    compare(
      `request ${row.id}`,
      { ...row, reported: null, client: null },
      (row.kind === 'token' ? requests.token : requests.listing).get(String(row.id))?.row,
    );
  const refunds = inD1('refunds');
  for (const row of rowsOf(world, 'refunds', 'rowid'))
    compare(`refund ${row.id}`, row, refunds.get(String(row.id)));
  const tokens = inD1('tokens');
  for (const row of rowsOf(world, 'tokens', 'token_id'))
    compare(`token ${row.tokenId}`, row, tokens.get(String(row.tokenId)));
  const claims = inD1('asry_claims');
  const payouts = Map.groupBy(rowsOf(world, 'asry_payouts', 'signature, part'), ({ signature }) => signature);
  for (const claim of rowsOf(world, 'asry_claims', 'signature')) {
    const own = { claim, payouts: payouts.get(claim.signature) ?? [] };
    compare(`claim ${claim.signature}`, own, claims.get(String(claim.signature)));
  }
}
