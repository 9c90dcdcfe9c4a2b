import { expect } from 'vitest';
import { lamports } from '../../../src/core/amount.ts';
import { DAY_MS } from '../../../src/core/durations.ts';
import { AppError, upstreamFailed } from '../../../src/core/errors.ts';
import { frozenReason } from '../../../src/custody/kernel/journal-integrity.ts';
import type { NodeView } from '../../../src/custody/kernel/observation.ts';
import type { Prepared, Settled } from '../../../src/custody/kernel/operation.ts';
import { parseReason, reasonText } from '../../../src/custody/kernel/reason.ts';
import { land } from '../../kit/fake-chain.ts';
import { createKernel, type KernelRig, pending, ready } from '../../kit/kernel.ts';
import {
  closed,
  deathProof,
  FEE,
  NOW,
  outstanding,
  planned,
  SIGNED_AT,
  SOL,
  settling,
  signed,
  statusOf,
  view,
} from '../../kit/sample-operations.ts';
import { msOf, playScenes } from '../../kit/scenes.ts';

const ROWS = { signed, settling, outstanding } as const;
const VIEWS: Readonly<Record<string, () => NodeView[]>> = {
  processed: () => [view({ status: statusOf('processed') })],
  dead: () => [deathProof()],
  pruned: () => [deathProof({ firstAvailableSlot: 901n })],
  none: () => [],
};
const PREPARED: Readonly<Record<string, () => Promise<Prepared>>> = {
  declined: async () => ({ ok: false, reason: 'quote_recipient' }),
  found: async () => ({ ok: false, found: { mint: 'm' } }),
  timeout: () => Promise.reject(upstreamFailed('near-intents', 'timeout')),
  defect: () => Promise.reject(new TypeError('x')),
  'no-reason': () => Promise.reject(new AppError('NOT_FOUND', 'x')),
};
const USED: Readonly<Record<string, (w: KernelRig) => unknown>> = {
  'the-deposit-address': (w) => w.journal.useOnce('deposit:a', 'swap:other', NOW),
  'the-cost-of-the-day': (w) => w.add(settling({ id: 'swap:before', cost: lamports(91n), signing: null })),
  // Whenever they were requested.
  'the-hour': (w) => {
    const before = settling({ createdAt: NOW - 2 * DAY_MS, signedAt: NOW - 1, signing: null });
    for (let at = 0; at < 4; at++) w.add({ ...before, id: `swap:before-${at}`, unsettled: lamports(0n) });
  },
};
const memberOf = (change: string): [string, unknown] => {
  const [name = '', text = ''] = change.split('=');
  return [name, name === 'reason' ? parseReason(text) : text];
};
const LANDINGS: Readonly<Record<string, () => null>> = {
  absent: () => null,
  unread: () => {
    throw upstreamFailed('solana-rpc-1', 'timeout');
  },
};
const paid: Settled = {
  settlement: { state: 'complete', outcome: { btcTxid: 't', btcVout: 0, btcSats: '124500' } },
  once: ['output:t:0'],
};

/** Its members cannot be read, as after a defect in a module. */
const THROWING: Settled = {
  ...pending,
  get once(): string[] {
    throw new TypeError('a defect');
  },
};

/** Plays steps with the executor. Facts are those of the first row unless a step names another. */
function createVerbs() {
  let settled: () => Promise<Settled> = async () => pending;
  let prepared = 0;
  let prepare: () => Promise<Prepared> = async () => ready();
  let canBook = true;
  const booked: string[] = [];
  const asked: string[] = [];
  let throwing = '';
  const w = createKernel({
    async settle({ id }) {
      asked.push(id);
      return id === throwing ? THROWING : settled();
    },
    onEnd({ id, state }) {
      w.journal.setMeta('written', id);
      if (!canBook) throw new Error('broken');
      booked.push(`${id} ${state}`);
    },
    prepare: () => {
      prepared += 1;
      return prepare();
    },
  });
  return {
    /** @param change `kind=asry`, `reason=held_unproven`, `state=melting` of an intent */
    plan: (id: string, ...change: string[]) =>
      w.add(planned({ id, ...Object.fromEntries(change.map((each) => memberOf(each))) })),
    close: (id: string) => w.add(closed({ id, dueAt: NOW })),
    prepares: (how: string) => {
      prepare = PREPARED[how] ?? prepare;
    },
    /** Signing stops while the next quote is read. */
    'stops-in-quote': (by: string) => {
      prepare = async () => {
        w.state.stopped = by;
        return ready();
      };
    },
    /** Another instance takes over while the next quote is read. */
    'replaced-in-quote'() {
      prepare = async () => {
        w.storage.replaced = true;
        return ready();
      };
    },
    revive: () => Object.assign(w.storage, { replaced: false }),
    /** Another call changes the row while its first quote is read. */
    'changed-in-quote'() {
      prepare = async () => {
        prepare = async () => ready();
        w.journal.update(w.row(), { ...w.row(), plan: { isTouched: true } }, NOW);
        return ready();
      };
    },
    'disk-full': () => Object.assign(w.storage, { sync: () => Promise.reject(new Error('disk full')) }),
    /** Whether the module can record outcomes from now on. */
    books: (can: string) => {
      canBook = can === 'again';
    },
    booked: () => booked.join(', ') || 'none',
    written: () => w.journal.getMeta('written') ?? 'nothing',
    touched: () => w.row().plan.isTouched,
    /** What other operations have used of the day before this one is signed. */
    uses: (what: string) => USED[what]?.(w),
    prepared: () => prepared,
    signature: (id?: string) => w.row(id).signing?.signature ?? 'none',
    /** @param id `swap:one` by default @param detail of a row whose bytes were not sent yet */
    add: (state: keyof typeof ROWS, looks: string, id = 'swap:one', detail?: string) =>
      w.add(
        ROWS[state]({
          ...(id !== 'swap:one' && { id, signing: null }),
          ...(detail && { detail }),
          ...{ looks: Number(looks), dueAt: NOW },
        }),
      ),
    stop: (why: string) => Object.assign(w.state, { stopped: why }),
    refuse: () => Object.assign(w.chain, { accepts: false }),
    views: (name: string) => Object.assign(w.chain, { nextViews: VIEWS[name] }),
    /** @param more lamports that the transaction took beyond what was set aside */
    land: (more = '0') => land(w.chain, { debit: lamports(SOL + FEE + BigInt(more)) }),
    landing: (how: string) => Object.assign(w.chain, { nextLanding: LANDINGS[how] }),
    settle(how: string) {
      settled = async () => {
        if (how === 'never') await new Promise(() => undefined);
        if (how === 'unread') throw upstreamFailed('near-intents', 'timeout');
        return how === 'paid' ? paid : pending;
      };
    },
    'settle-throws': (id: string) => {
      throwing = id;
    },
    /** An operation that settles, and is due this many milliseconds from now. */
    'add-due': (id: string, ms: string) =>
      void w.add(settling({ id, signing: null, dueAt: w.clock.now + Number(ms) })),
    /** The operations whose settlement was read, in order. */
    asked: () => asked.join(' '),
    unverified: () => Object.assign(w.state, { isVerified: false }),
    drive: (limit = '5') => w.executor.driveDue(Number(limit)),
    /** Runs due operations and does not wait for those that a slow upstream holds. */
    async 'begin-due'(limit: string) {
      void w.executor.driveDue(Number(limit));
      await new Promise((resolve) => setImmediate(resolve));
    },
    'drive-one': (id: string) => w.executor.drive(id),
    /** Runs an operation and does not wait for it. */
    begin: (id: string) => void w.executor.drive(id),
    finish: (id: string) => w.executor.finish(id, 25_000),
    'due-now': () => w.tools.agenda.due('operation', 5).join(' ') || 'none',
    'drive-fails': () =>
      w.executor.drive('swap:one').then(
        () => 'no',
        ({ message }) => message,
      ),
    /** The timer and two callers at once. */
    'drive-at-once': () =>
      Promise.all([w.executor.drive('swap:one'), w.executor.drive('swap:one'), w.executor.driveDue(5)]),
    wait: (length: string) => Object.assign(w.clock, { now: w.clock.now + msOf(length) }),
    row: (id?: string) => `${w.row(id).state} ${w.row(id).detail} after ${w.row(id).looks} looks`,
    held: (id?: string) => `${w.row(id).reserved} reserved, ${w.row(id).unsettled} unsettled`,
    reason: (id?: string) => reasonText(w.row(id).reason),
    room: () => (/^\d{13}$/.test(String(w.row().outcome.availableAt)) ? 'known' : 'unknown'),
    outcome: (id?: string) => JSON.stringify(w.row(id).outcome),
    due: (id?: string) => `${((w.row(id).dueAt ?? 0) - w.clock.now) / 1_000}s`,
    sent: () => w.chain.sent.join() || 'nothing',
    order: () => w.order.join(', ') || 'nothing',
    signing() {
      const { signature, wire, ...at } = w.row().signing ?? {};
      expect(at).toEqual(SIGNED_AT);
      return `${signature} of ${w.journal.bySignature(String(signature))?.id} as ${wire} for ${w.row().cost}`;
    },
    signs: () => w.order.filter((step) => step === 'sign').length,
    logged: (event: string) => w.logged.filter((each) => each === event).length,
    frozen: () => frozenReason(w.journal) ?? 'no',
    used: (name: string) => w.journal.userOf(name),
  };
}

const HELD = `${SOL + FEE} reserved, ${SOL} unsettled`;
playScenes(`
  signs a transaction, stores it, makes it durable, and only then sends it
    | plan swap:one; drive; order = sign, sync signed, send; row = signed sent after 1 looks; signing = signature 1 of swap:one as wire 3 for 10; held = ${HELD}; used deposit:a = swap:one
  an instance that is replaced during the preparation neither stores nor sends a transaction
    | plan swap:one; replaced-in-quote; drive-fails = this instance was replaced; sent = nothing; revive; row = planned planned after 0 looks
  sends signed bytes only once they are durable
    | plan swap:one; disk-full; drive; sent = nothing; logged work_failed = 1
  an outcome that cannot be recorded leaves the operation unchanged, and a later run records it once
    | prepares found; plan token:one kind=token; plan swap:one; books not; drive; row token:one = planned planned after 0 looks; written = nothing; books again; drive; booked = none; wait 2s; drive; drive; booked = swap:one done, token:one done; row token:one = done done after 0 looks
  concurrent callers for one operation share one run and one signature
    | plan swap:one; drive-at-once; signs = 1; sent = wire 3
  a row that another call changed while it was signed is not overwritten; the signature is discarded
    | plan swap:one; changed-in-quote; drive; signs = 2; row = signed sent after 1 looks; touched = true; sent = wire 3
  after a crash, a signed row sends its stored bytes and never signs new bytes
    | add signed 0 swap:one signed; drive; sent = wire-one; signs = 0
  after a crash, a signed row sends its stored bytes even while signing is stopped
    | stop operator; add signed 0 swap:one signed; drive; sent = wire-one; signs = 0
  after a crash, a signed row is checked on the chain even when no node confirmed the send
    | refuse; land; add signed 0 swap:one signed; drive; row = signed signed after 1 looks; wait 2s; drive; row = settling settling after 1 looks
  the operator is alerted once when too few nodes keep the history since an attempt was signed, and nothing is signed
    | add signed 1; views pruned; drive; wait 2s; drive; wait 2s; drive; held = ${HELD}; logged history_too_short = 1; signs = 0
  the same signed bytes are sent again while no node has seen them
    | add signed 1; drive; wait 2s; drive; wait 2s; drive; sent = wire-one,wire-one,wire-one; held = ${HELD}
  a signed transaction is no longer sent once a node has seen it
    | add signed 1; views processed; drive; sent = nothing; row = signed landed after 2 looks
  a transaction is resent when no node can report its status, because a node may still forward it
    | add signed 1; views none; drive; sent = wire-one; row = signed sent after 2 looks
  a provably expired attempt is not sent again
    | add signed 1; views dead; drive; sent = nothing; row = failed expired after 1 looks; reason = expired
  an operation stays signed while its final transaction is not yet returned by any node
    | add signed 1; land; landing unread; drive; row = signed landed after 2 looks; held = ${HELD}; landing absent; wait 2s; drive; row = signed landed after 3 looks; held = ${HELD}; sent = nothing
  settlement starts at once when the transaction has landed
    | add signed 1; land; drive; row = settling settling after 1 looks; held = 0 reserved, ${SOL} unsettled; frozen = no
  a landed transaction that took one lamport more than was set aside stops signing, and is recorded
    | add signed 1; land 1; drive; frozen = unexpected_debit; row = settling settling after 1 looks
  settling uses up the Bitcoin output and updates the row
    | settle paid; add settling 0; drive; held = 0 reserved, 0 unsettled; outcome = {"btcTxid":"t","btcVout":0,"btcSats":"124500"}; used output:t:0 = swap:one
  if one Bitcoin output could pay two swaps at the same time, only one of them is done
    | settle paid; add settling 0; add settling 0 swap:two; drive; held = 0 reserved, 0 unsettled; held swap:two = 0 reserved, ${SOL} unsettled; outcome swap:two = {}; used output:t:0 = swap:one
  a settlement waits while an upstream fails
    | settle unread; add settling 0; drive; row = settling settling after 1 looks; held = 0 reserved, ${SOL} unsettled; logged settle_failed = 1
  an operation whose outcome is already on the chain ends without a signature
    | prepares found; plan asry:1 kind=asry; drive; row asry:1 = done done after 0 looks; outcome asry:1 = {"mint":"m"}; signature asry:1 = none; signs = 0
  a swap ends unsigned if its kind declines
    | prepares declined; plan swap:one; drive; reason = quote_recipient; held = 0 reserved, 0 unsettled; signature = none
  a swap ends unsigned if an upstream fails in its preparation
    | prepares timeout; plan swap:one; drive; reason = upstream_timeout; held = 0 reserved, 0 unsettled; signature = none
  a swap ends unsigned if our own code throws in its preparation
    | prepares defect; plan swap:one; drive; reason = upstream_unexpected; held = 0 reserved, 0 unsettled; signature = none
  a swap ends unsigned if an error in its preparation has no reason
    | prepares no-reason; plan swap:one; drive; reason = upstream_NOT_FOUND; held = 0 reserved, 0 unsettled; signature = none
  a swap ends unsigned if another swap has the same deposit address
    | uses the-deposit-address; plan swap:one; drive; reason = quote_reused; used deposit:a = swap:other; outcome = {}; held = 0 reserved, 0 unsettled; sent = nothing
  a swap ends unsigned if its cost exceeds what is left of the day's limit
    | uses the-cost-of-the-day; plan swap:one; drive; reason = limit_cost_day; used deposit:a = undefined; room = known; held = 0 reserved, 0 unsettled; sent = nothing
  a swap ends unsigned if the swaps signed in the last hour fill the limit
    | uses the-hour; plan swap:one; drive; reason = limit_hour; used deposit:a = undefined; room = known; held = 0 reserved, 0 unsettled; sent = nothing
  if signing is stopped before the preparation, no upstream is called
    | stop disabled; plan swap:one; drive; reason = stopped_disabled; prepared = 0
  if signing is stopped during the read of the quote, nothing is signed
    | stops-in-quote unexpected_debit; plan swap:one; drive; reason = stopped_unexpected_debit; signature = none; sent = nothing
  a payout stays planned while signing is stopped, and is tried later
    | stop operator; plan asry:1 kind=asry; drive; row asry:1 = planned planned after 1 looks; reason asry:1 = stopped_operator; held asry:1 = ${SOL + FEE} reserved, 0 unsettled
  an operation of an unknown kind is left unchanged, checked rarely, and reported to the operator
    | plan swap:x kind=melt; drive; row swap:x = planned planned after 0 looks; reason swap:x = held_unknown_state; due swap:x = 3600s; logged operation_held = 1; signs = 0
  an operation in an unknown state is left unchanged, checked rarely, and reported to the operator
    | plan swap:x state=melting; drive; reason swap:x = held_unknown_state; due swap:x = 3600s; logged operation_held = 1; signs = 0
  an intent that is held is left unchanged, checked rarely, and reported to the operator
    | plan swap:x reason=held_unproven; drive; held swap:x = ${SOL + FEE} reserved, 0 unsettled; reason swap:x = held_unproven; due swap:x = 3600s; logged operation_held = 1; signs = 0
  a closed row that is due by mistake is left unchanged, checked rarely, and reported to the operator
    | close swap:x; drive; reason swap:x = quote_signature; due swap:x = 3600s; logged operation_held = 1; signs = 0
  a failed swap with money outstanding is checked once an hour and may still be paid
    | add outstanding 0; drive; held = 0 reserved, ${SOL} unsettled; due = 3600s; settle paid; wait 1h; drive; row = failed late after 1 looks; held = 0 reserved, 0 unsettled; used output:t:0 = swap:one
  a call that waits for the end of an operation returns at once while the journal is not verified
    | add signed 1; unverified; finish swap:one; row = signed sent after 1 looks; sent = nothing
  no operation runs while the journal is not verified
    | add signed 1; unverified; drive; row = signed sent after 1 looks; sent = nothing
  runs a limited number of due operations at a time, the longest overdue first, none before its time
    | add-due swap:1 -1; add-due swap:2 -2; add-due swap:3 -3; add-due swap:4 -4; add-due swap:later 1; drive 3; asked = swap:4 swap:3 swap:2; drive; asked = swap:4 swap:3 swap:2 swap:1
  starts no more operations than the limit of a run, whatever others are still running
    | add-due swap:slow1 -1; add-due swap:slow2 -1; settle never; begin swap:slow1; begin swap:slow2; settle pending; add-due swap:1 -11; add-due swap:2 -12; add-due swap:3 -13; add-due swap:4 -14; add-due swap:5 -15;
      drive 3; asked = swap:slow1 swap:slow2 swap:5 swap:4 swap:3
  operations that already run take no place from those that wait
    | add-due swap:slow1 -20; add-due swap:slow2 -20; settle never; begin swap:slow1; begin swap:slow2; settle pending; add-due swap:1 -11; add-due swap:2 -12; add-due swap:3 -13; add-due swap:4 -14;
      begin-due 3; asked = swap:slow1 swap:slow2 swap:4 swap:3 swap:2
  ignores the id of an operation that does not exist
    | drive-one swap:nobody; order = nothing
  an operation that throws is logged, is retried later, and does not block the others
    | add-due swap:bad -1; add-due swap:good 0; settle-throws swap:bad; drive; logged work_failed = 1; due-now = none; row swap:good = settling settling after 1 looks
`)(createVerbs);
