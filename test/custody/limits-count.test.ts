/** Each kind of operation that a limit can name, driven as production does, adds to the limit, which then refuses the next one. */
import { expect, it } from 'vitest';
import {
  COUNTED,
  type LimitName,
  OPERATION_LIMITS,
  type OperationLimit,
} from '../../src/core/operation-limits.ts';
import { decodeOperation, type Operation } from '../../src/custody/kernel/operation.ts';
import { checkLimit, type Limit, limitUse } from '../../src/custody/kernel/spending-limits.ts';
import { CustodyBounds } from '../../src/custody/limits.ts';
import { wallet } from '../kit/addresses.ts';
import { LIMITS } from '../kit/limits.ts';
import { START, simulateCustodian } from '../kit/simulated-custodian.ts';
import { createReserveService } from './reserve/reserve-service.ts';

type LimitedKind = keyof typeof COUNTED;
const SECOND = 1_000;

/** The custodian, with a limit that can be set while it runs. */
function setUp() {
  let set: { readonly name: LimitName; readonly maximum: bigint } | undefined;
  let isFailing = false;
  const run = simulateCustodian({
    failing: () => (isFailing ? 1 : 0),
    deps: (deps) => ({ ...deps, limits: { ...LIMITS, ...(set && { [set.name]: set.maximum }) } }),
  });
  let people = 0;
  const next = () => ++people;
  const acts: Readonly<Record<Exclude<LimitedKind, 'absr'>, () => Promise<unknown>>> = {
    swap: () =>
      run.call((custody) =>
        custody.createSwap({ amountLamports: 100_000_000n + BigInt(next()), client: `10.0.${next()}.1` }),
      ),
    async token() {
      const { feeLamports, reference } = await run
        .open('token')
        .catch(() => ({ feeLamports: '', reference: '' }));
      if (feeLamports !== '') run.pay(wallet(70_000 + next()), BigInt(feeLamports), [reference]);
    },
    async refund() {
      const { id, feeLamports, reference } = await run.open('listing');
      run.pay(wallet(70_000 + next()), 2n * BigInt(feeLamports), [reference]);
      await run.pass(70 * SECOND);
      await run.ops('refund', id);
    },
    async asry() {
      const signature = run.deposit(wallet(80_000 + next()), false);
      await run.pass(10 * SECOND);
      await run.call((custody) =>
        custody.claimDeposit({ signature, asset: 'USDC', skipReward: false, client: `10.1.${next()}.1` }),
      );
    },
  };
  const operations = (kind: LimitedKind): Operation[] =>
    run.host.disk
      .exec('SELECT row FROM operations ORDER BY seq', [])
      .map(({ row }) => decodeOperation(String(row)))
      .filter((operation) => operation.kind === kind);
  return {
    operations,
    /** Lets a person cause an operation; the number of operations that were ever signed. */
    async act(kind: Exclude<LimitedKind, 'absr'>): Promise<number> {
      await acts[kind]();
      // The BTC of a swap has not arrived yet then.
      await run.pass((kind === 'swap' ? 1 : 90) * SECOND);
      return operations(kind).filter(({ signing }) => signing !== null).length;
    },
    /** Whether transactions fail on the chain from now on. */
    fail(is: boolean): void {
      isFailing = is;
    },
    now: () => START + run.scheduler.now(),
    limit(name: LimitName, maximum: bigint): void {
      set = { name, maximum };
      run.host.restart('another limit');
    },
  };
}

const bounds = new CustodyBounds(LIMITS);
const declared = Object.entries(OPERATION_LIMITS) as [LimitName, OperationLimit][];
const limitOf = (name: LimitName): Limit => {
  const found = bounds.limits.find((limit) => limit.name === name);
  if (!found) throw new Error(`no limit ${name}`);
  return found;
};

it.each(declared)(
  'the limit %s counts an operation of its kind and stops the next operation',
  async (name, { kind, counts, windowMs }) => {
    if (kind === 'absr') throw new Error('a limit on mints needs an act of its own here');
    const limit = limitOf(name);
    const w = setUp();
    // A payout costs something once it has failed.
    const fails = kind === 'asry' && counts === 'cost';
    w.fail(fails);
    const before = await w.act(kind);
    expect(before).toBeGreaterThan(0);
    w.fail(false);
    const { used } = limitUse(limit, w.operations(kind), w.now());
    // A limit on each operation alone has no use; it refuses by the amount.
    const maximum = windowMs === 0 ? 1n : used;
    if (windowMs !== 0) expect(used).toBeGreaterThan(0n);
    w.limit(name, maximum);
    expect(await w.act(kind)).toBe(before);
    w.limit(name, LIMITS[name]);
    expect(await w.act(kind)).toBeGreaterThan(before);
  },
  60_000,
);

/** Operations of a kind, one of which was carried out; it failed if only that has the counted figure. */
async function driven(kind: LimitedKind, counts: string): Promise<readonly Operation[]> {
  if (kind === 'absr') {
    const service = createReserveService({ at: Date.UTC(2026, 4, 10, 0, 5), mints: true });
    service.bitcoin.move(50_000n);
    for (let block = 0; block < 6; block++) service.bitcoin.mine();
    await service.custody.wake();
    return service.journal.latest(1);
  }
  const w = setUp();
  w.fail(kind === 'asry' && counts === 'cost');
  await w.act(kind);
  return w.operations(kind);
}

it.each(
  (Object.keys(COUNTED) as LimitedKind[]).flatMap((kind) =>
    COUNTED[kind].map((counts) => [kind, counts] as const),
  ),
)(
  'an operation of the kind %s is counted in a limit on its %s',
  async (kind, counts) => {
    const operations = await driven(kind, counts);
    const last = Math.max(...operations.map(({ createdAt }) => createdAt));
    const limit: Limit = {
      kind,
      counts,
      name: 'any',
      unit: 'count',
      windowMs: counts === 'unsettled' ? null : 86_400_000,
      label: 'any',
      maximum: 10n ** 18n,
    } as Limit;
    const { used } = limitUse(limit, operations, last + 1);
    expect(used).toBeGreaterThan(0n);
    const added = { amount: 1n, cost: 1n };
    expect(checkLimit({ ...limit, maximum: used }, operations, added, last + 1)).toBeDefined();
  },
  60_000,
);
