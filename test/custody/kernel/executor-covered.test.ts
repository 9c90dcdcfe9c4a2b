/** Creations begin regardless of the balance: their cost was set aside when they were sold. Signing checks both. */
import { lamports } from '../../../src/core/amount.ts';
import { DAY_MS } from '../../../src/core/durations.ts';
import { reasonText } from '../../../src/custody/kernel/reason.ts';
import { land } from '../../kit/fake-chain.ts';
import { createKernel, ready } from '../../kit/kernel.ts';
import { FEE, NOW, planned } from '../../kit/sample-operations.ts';
import { msOf, playScenes } from '../../kit/scenes.ts';

const COST = lamports(1_000n);
const FLOOR = lamports(100n);

/** Creations of 1,000 lamports each are queued; the balance must leave 100. */
function createVerbs() {
  let prepared = 0;
  const ids: string[] = [];
  const selling = (creationsDay: bigint) =>
    createKernel(
      {
        async prepare() {
          prepared++;
          return ready({ once: [], cost: 0n });
        },
      },
      { floor: FLOOR, creations_day: creationsDay },
    );
  let w = selling(10n);
  const stateOf = (id: string) =>
    w.row(id).state === 'planned' ? (reasonText(w.row(id).reason) ?? 'planned') : w.row(id).state;
  const refund = { id: 'refund:1', kind: 'refund' } as const;
  return {
    'per-day': (limit: string) => {
      w = selling(BigInt(limit));
    },
    balance(sum: string, slot?: string) {
      w.chain.nextBalance = async (least) => {
        if (sum === 'unread') throw new Error('down');
        return { lamports: lamports(BigInt(sum)), slot: slot === undefined ? least : BigInt(slot) };
      };
    },
    queue(count: string) {
      for (let at = 0; at < Number(count); at++) {
        const id = `token:${ids.length + 1}`;
        ids.push(w.add(planned({ id, kind: 'token', amount: lamports(0n), reserved: COST })).id);
      }
    },
    /** A refund that has set aside this sum. */
    refund: (state: 'planned' | 'signed', reserved: string) =>
      w.add(planned({ ...refund, state, reserved: lamports(BigInt(reserved)), dueAt: null })),
    /** The refund ends, in slot 5, while the balance of slot 4 is read. */
    'ends-in-read'(balance: string) {
      w.chain.nextBalance = async () => {
        const ended = { state: 'done', reserved: lamports(0n), releasedSlot: 5n } as const;
        w.journal.update(w.row('refund:1'), { ...w.row('refund:1'), ...ended }, NOW);
        return { lamports: lamports(BigInt(balance)), slot: 4n };
      };
    },
    /** A creation of two days ago, signed this long ago. */
    earlier(state: 'failed' | 'done', ago: string) {
      const old = {
        kind: 'token',
        createdAt: NOW - 2 * DAY_MS,
        dueAt: null,
        reserved: lamports(0n),
      } as const;
      w.add(planned({ ...old, id: `token:${state}`, state, signedAt: NOW - msOf(ago) }));
    },
    begin: (id: string) => w.begin(id, { reserved: lamports(FEE) }),
    land: () => land(w.chain, { debit: COST, slot: 5n }),
    wait: (length: string) => Object.assign(w.clock, { now: w.clock.now + msOf(length) }),
    /** Runs one operation, or all creations at once. */
    drive: (id?: string) => Promise.all((id ? [id] : ids).map((each) => w.executor.drive(each))),
    async 'drive-in-turn'() {
      for (const id of ids) await w.executor.drive(id);
    },
    due: () => w.executor.driveDue(5),
    state: stateOf,
    /** Each creation's state, or the reason for which it waits. */
    states: () => ids.map(stateOf).join(' '),
    reserved: () => w.row('token:1').reserved,
    prepared: () => prepared,
    sent: () => w.chain.sent.length,
    calls: () => w.order.join(' ') || 'none',
  };
}

playScenes(`
  a queued creation is signed when the balance covers its cost and the floor
    | balance 1100; queue 1; drive; states = signed; reserved = 1000; prepared = 1
  a queued creation waits while the balance is one lamport short
    | balance 1099; queue 1; drive; states = short_of_sol; reserved = 1000; prepared = 0
  when the balance covers one of five queued creations, only one is signed if they run at once
    | balance 1100; queue 5; drive; states = signed short_of_sol short_of_sol short_of_sol short_of_sol; sent = 1
  when the balance covers one of five queued creations, only one is signed if they run one after another
    | balance 1100; queue 5; drive-in-turn; states = signed short_of_sol short_of_sol short_of_sol short_of_sol; sent = 1
  a queued creation is signed once an earlier creation is done and the balance includes its cost
    | balance 1100; queue 2; drive; land; wait 1m; drive token:1; states = done short_of_sol; balance 1100 5; drive token:2; states = done signed
  a queued creation does not use the amount that a planned refund has reserved
    | balance 1100; queue 1; refund planned 1; drive; states = short_of_sol
  a queued creation does not use the amount that a signed refund has reserved
    | balance 1100; queue 1; refund signed 1; drive; states = short_of_sol
  a queued creation waits if another operation ended after the balance was read
    | refund signed 1; queue 1; ends-in-read 10000; drive; states = upstream_balance_outdated; calls = none
  a queued creation is not prepared while the balance cannot be read
    | queue 1; balance unread; drive; states = upstream_unexpected; prepared = 0
  a queued creation above the day's limit is signed on a later day
    | per-day 2; balance 1000000; queue 5; land; drive; states = signed signed limit_creations_day limit_creations_day limit_creations_day; wait 1m; due; wait 1d;
      drive; states = done done signed signed limit_creations_day; wait 1m; due; wait 1d; drive; states = done done done done signed; wait 1m; due; states = done done done done done
  a creation is counted in the daily limit from when it is signed, and a failed creation is not counted
    | per-day 1; balance 1000000; earlier failed 1ms; queue 1; earlier done 23h59m59s999ms; drive; states = limit_creations_day; wait 10s; drive; states = signed
  a payout reserves its cost when it starts, so it is signed without a read of the balance
    | balance 10000; begin asry:one; balance unread; drive asry:one; state asry:one = signed
`)(createVerbs);
