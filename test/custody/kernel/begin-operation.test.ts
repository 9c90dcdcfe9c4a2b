import { lamports } from '../../../src/core/amount.ts';
import { upstreamFailed } from '../../../src/core/errors.ts';
import { beginOperation, queueOperation } from '../../../src/custody/kernel/begin-operation.ts';
import { createKernel } from '../../kit/kernel.ts';
import { done, FEE, NOW, SOL } from '../../kit/sample-operations.ts';
import { playScenes } from '../../kit/scenes.ts';

const ONE_SOL = lamports(SOL);

/** A day allows refunds of 1 SOL, one lamport of rent and no creation. */
function createVerbs() {
  const w = createKernel({}, { refunds_day: SOL, rent_day: 1n, creations_day: 0n });
  const state = { isDeclined: false, isFull: false, decided: 0 };
  const slots: bigint[] = [];
  const { nextBalance } = w.chain;
  const intentOf = (amount: string) => ({
    ...{ amount: lamports(BigInt(amount)), reserved: lamports(BigInt(amount) + FEE), plan: { to: 'x' } },
    store() {
      w.journal.setMeta('module', `${w.journal.getMeta('module') ?? ''}row`);
      if (state.isFull) throw new Error('disk full');
    },
  });
  async function begin(id: string, amount = '0') {
    const begun = await beginOperation(w.tools, id.slice(0, id.indexOf(':')), id, () => {
      state.decided++;
      if (state.isDeclined) return { ok: false, declined: 'no' };
      return { ok: true, intent: intentOf(amount) };
    });
    if (begun.type === 'declined') return `declined ${begun.declined}`;
    if (begun.type !== 'refused') return begun.type;
    const { code, limit, used, available, reason, upstream } = { ...begun.why } as Record<string, unknown>;
    const facts = [code, (limit as { name: string } | undefined)?.name, used, available, reason, upstream];
    return facts.filter((fact) => fact !== undefined && fact !== null).join(' ');
  }
  return {
    begin,
    'begin-at-once': async (count: string, id: string) =>
      (await Promise.all(Array.from({ length: Number(count) }, () => begin(id)))).toSorted().join(' '),
    'begin-fails': (id: string) => begin(id).catch(({ message }) => message),
    queue: (id: string) =>
      w.storage.transaction(() => queueOperation(w.tools, 'token', id, intentOf(`${SOL}`))),
    stop: (why: string) => Object.assign(w.state, { stopped: why }),
    resume: () => Object.assign(w.state, { stopped: undefined }),
    /** The module objects. */
    declines: () => Object.assign(state, { isDeclined: true }),
    'disk-full': () => Object.assign(state, { isFull: true }),
    unreadable: () =>
      Object.assign(w.chain, { nextBalance: () => Promise.reject(upstreamFailed('solana-rpc', 'timeout')) }),
    /** The balance is 1 SOL, less than a refund of 1 SOL and its fee. */
    low: () => Object.assign(w.chain, { nextBalance: async (slot: bigint) => ({ lamports: ONE_SOL, slot }) }),
    outdated: (slot: string) =>
      Object.assign(w.chain, { nextBalance: async () => ({ lamports: ONE_SOL, slot: BigInt(slot) }) }),
    /** An earlier operation has moved as much, and ended in a slot. */
    ended: (kind: string, amount: string, slot = '1') =>
      w.add(done({ kind, amount: lamports(BigInt(amount)), releasedSlot: BigInt(slot) })),
    /** An operation that is signed now ends, in slot 500, while the balance is read for the first time. */
    'ends-in-read'() {
      const paying = w.add(done({ state: 'signed', dueAt: NOW, releasedSlot: null }));
      w.chain.nextBalance = async (slot) => {
        if (slots.push(slot) === 1) w.journal.update(paying, { ...paying, releasedSlot: 500n }, NOW);
        return nextBalance(slot);
      };
    },
    decided: () => state.decided,
    stored: () => w.journal.getMeta('module') ?? 'nothing',
    row: (id: string) => `${w.row(id).state}, ${w.row(id).reserved} reserved, to ${w.row(id).plan.to}`,
    due: (id: string) => w.row(id).dueAt === NOW,
    operations: () => w.journal.latest(9).length,
    calls: () => [...new Set(w.order)].join(', ') || 'none',
    slots: () => slots.join(' '),
    reads: () => w.chain.reads.balance,
  };
}

playScenes(`
  beginOperation stores one operation per id, for any number and timing of calls, and does not run it
    | begin-at-once 3 asry:one = begun known known; stop operator; begin asry:one = known; decided = 1; stored = row; row asry:one = planned, 5900 reserved, to x; due asry:one = true; calls = sync planned
  beginOperation returns the module's refusal without storing an intent
    | declines; begin asry:one = declined no; operations = 0; calls = none
  beginOperation does not store an intent if the module fails to write its own rows
    | disk-full; begin-fails asry:one = disk full; operations = 0; stored = nothing
  reads the balance again if the reservation of another operation ends during the read
    | ends-in-read; begin asry:one = begun; slots = 0 500
  refuses an operation after three reads of an outdated balance
    | ended swap 0 500; outdated 499; begin asry:one = UNREADABLE balance_outdated; reads = 3
  when several reasons apply, a refusal gives a stop before every later reason
    | ended refund ${SOL}; declines; unreadable; stop operator; begin refund:a:1 ${SOL} = STOPPED operator; operations = 1
  when several reasons apply, a refusal gives an unreadable balance before every later reason
    | ended refund ${SOL}; declines; unreadable; begin refund:a:1 ${SOL} = UNREADABLE timeout solana-rpc; operations = 1
  when several reasons apply, a refusal gives the module's objection before every later reason
    | ended refund ${SOL}; low; declines; begin refund:a:1 ${SOL} = declined no; operations = 1
  when several reasons apply, a refusal gives a low balance before every later reason
    | ended refund ${SOL}; low; begin refund:a:1 ${SOL} = INSUFFICIENT_BALANCE ${SOL}; operations = 1
  a refusal gives a limit if only that applies
    | ended refund ${SOL}; begin refund:a:1 ${SOL} = LIMIT_REACHED refunds_day ${SOL}; operations = 1
  a refused operation can start once its reason no longer applies
    | stop operator; begin refund:a:1 ${SOL} = STOPPED operator; resume; begin refund:a:1 ${SOL} = begun
  a payout that costs no rent starts even if the rent limit was lowered below its current use
    | ended asry 5; begin asry:one 1 = LIMIT_REACHED rent_day 5; begin asry:one = begun
  queueOperation stores an intent and the rows of its module without checking limits, pause or balance
    | stop operator; queue token:one; row token:one = planned, 1000005900 reserved, to x; stored = row; reads = 0
`)(createVerbs);
