import { describe, expect, it } from 'vitest';
import { lamports } from '../../src/core/amount.ts';
import type { Journal } from '../../src/custody/kernel/journal.ts';
import type { Kind } from '../../src/custody/kernel/operation.ts';
import { KEY_ROTATED, reasonText } from '../../src/custody/kernel/reason.ts';
import { type AbsrPorts, DailyMint } from '../../src/custody/reserve/daily-mint.ts';
import { wallet } from '../kit/addresses.ts';
import { createCustodianWorld } from '../kit/custodian.ts';
import { land } from '../kit/fake-chain.ts';
import { createKernel, createTools } from '../kit/kernel.ts';
import {
  deathProof,
  FEE,
  planned,
  SOL,
  signed,
  signingOf,
  statusOf,
  view,
} from '../kit/sample-operations.ts';
import { eachScene, msOf, playScenes } from '../kit/scenes.ts';
import { createSqliteStorage } from '../kit/sqlite-storage.ts';
import { CLAIM, createStoredClaims, DEPOSIT } from './asry/stored-claims.ts';
import { playCustody } from './custody-scenes.ts';
import { createPaymentWorld } from './payments/payment-world.ts';

const OLD = wallet(77);

/** An operation of this kind that an earlier key has begun. */
function createVerbs(kind: Kind) {
  const w = createKernel();
  const id = `${kind}:one`;
  return {
    old: (state: 'planned' | 'signed', looks = '0') =>
      w.add({ planned, signed }[state]({ id, kind, signer: OLD, looks: Number(looks) })),
    land: () => land(w.chain),
    views: (what: 'expiry' | 'failure') =>
      Object.assign(w.chain, {
        nextViews: () => [what === 'expiry' ? deathProof() : view({ status: statusOf('finalized', true) })],
      }),
    wait: (length: string) => Object.assign(w.clock, { now: w.clock.now + msOf(length) }),
    drive: () => w.executor.drive(id),
    state: () => w.row(id).state,
    reason: () => reasonText(w.row(id).reason),
    holds: () => `${w.row(id).amount} moved, ${w.row(id).reserved} reserved, ${w.row(id).dueAt} due`,
    signature: () => w.row(id).signing?.signature ?? 'none',
    signs: () => w.order.filter((step) => step === 'sign').length,
    sent: () => w.chain.sent.join() || 'nothing',
    'looked-up': () => [...w.chain.signers].map((signer) => (signer === OLD ? 'old' : signer)).join(),
  };
}

describe.each(['swap', 'token', 'asry', 'absr', 'refund'])('an operation of the kind %s', (kind) => {
  // A swap also settles, and keeps the signature of an attempt that has ended.
  const [landed, kept] = kind === 'swap' ? ['settling', 'signature-one'] : ['done', 'none'];
  playScenes(`
    a planned operation of an earlier key ends without a signature
      | old planned; drive; state = failed; reason = key_rotated; signature = none; holds = 0 moved, 0 reserved, null due; signs = 0; sent = nothing
    a signed operation of an earlier key is sent until it lands
      | land; old signed; drive; wait 1m; drive; state = ${landed}; looked-up = old; sent = wire-one; signs = 0
    an operation of an earlier key ends without another signature once a quorum proves its expiry
      | old signed 1; drive; state = signed; views expiry; wait 1m; drive; state = failed; signature = ${kept}; signs = 0
    an operation of an earlier key is not signed again after a failure that a quorum shows
      | views failure; old signed 1; drive; wait 1m; drive; state = failed; signs = 0
  `)(() => createVerbs(kind));
});

it("an operation of an earlier key reserves nothing of the new key's balance, but counts against every limit", async () => {
  const w = createKernel();
  const intent = { amount: lamports(SOL), reserved: lamports(SOL + FEE) };
  w.chain.nextBalance = async (slot) => ({ lamports: lamports(2n * SOL), slot });
  const old = (number: number) =>
    w.add(
      signed({
        id: `swap:old-${number}`,
        signer: OLD,
        signing: signingOf(`old-${number}`),
        cost: lamports(0n),
      }),
    );
  for (const number of [1, 2]) old(number);
  expect(await w.begin('swap:new', intent)).toMatchObject({ type: 'begun' });
  w.chain.nextBalance = async (slot) => ({ lamports: lamports(100n * SOL), slot });
  for (const number of [3, 4, 5, 6]) old(number);
  expect(await w.begin('swap:other', intent)).toMatchObject({
    type: 'refused',
    why: { code: 'LIMIT_REACHED' },
  });
});

/** A swap that an earlier key has sent and that settles. */
const OLD_SWAP = `add settling id=swap:old signer=${OLD} signing=old`;

eachScene(`
  a change of the key leaves the journal verified and does not freeze signing
    | ${OLD_SWAP}; wake; frozen = null; list = swap:old
  a swap of the earlier key settles to its own address, and a new swap has the new key
    | ${OLD_SWAP}; refund; wake; searched; pass 1m; searched = old; swap new = created; signer swap:key-new = new; signer swap:old = old
  the caller of a swap that was planned with the earlier key is told to create a new swap
    | planned-with-old-key a; swap a = SWAPS_PAUSED reason:key_rotated; signatures = 0
`)('%s', (_title, steps = '') => {
  const w = createCustodianWorld();
  const { historyOf } = w.swap;
  const searched = new Set<string>();
  const nameOf = (address = '') => ({ [OLD]: 'old', [w.deps.signer.address]: 'new' })[address] ?? address;
  Object.assign(w.swap, {
    historyOf(address: string) {
      searched.add(nameOf(address));
      return historyOf(address);
    },
  });
  return playCustody(steps, w, {
    refund: () =>
      Object.assign(w.bridge, { nextReport: () => ({ state: 'refunded', amount: lamports(SOL) }) }),
    'planned-with-old-key': (name: string) =>
      w.add(planned({ id: `swap:key-${name}`, signer: OLD, plan: { bodyHash: `body-${SOL}` } })),
    /** Whose history was searched since the last look. */
    searched() {
      const names = [...searched].join(', ');
      searched.clear();
      return names;
    },
    signer: (id: string) => nameOf(w.journal.get(id)?.signer),
  });
});

describe('work whose operation ended because its key was rotated', () => {
  /** Ends a planned operation as the executor of the new key does. */
  function rotate(journal: Journal, id: string, now: number): void {
    const operation = journal.get(id);
    if (!operation) throw new Error(`no ${id}`);
    const ended = { state: 'failed', reason: KEY_ROTATED, reserved: lamports(0n), dueAt: null } as const;
    journal.update(operation, { ...operation, ...ended }, now);
  }

  it('after a rotation, a paid invoice gets one token through a new creation, and no refund is owed', async () => {
    const w = createPaymentWorld({ creates: 'never' });
    const { request } = w.openPaid();
    await w.payments.run();
    rotate(w.journal, `token:${request.id}`, w.state.now);
    await w.payments.run();
    expect(w.journal.get(`token:${request.id}:2`)).toMatchObject({
      state: 'planned',
      plan: { invoiceId: request.id },
    });
    expect(w.payments.find(request.id)).toMatchObject({ status: 'pending', refunds: [] });
    w.state.creates = 'done';
    await w.payments.run();
    expect(w.payments.find(request.id)).toMatchObject({ status: 'completed', refunds: [] });
    expect(w.journal.get(`token:${request.id}:3`)).toBeUndefined();
  });

  it('after a rotation, a reward is owed again, and the next operation pays it', async () => {
    const w = createStoredClaims();
    await w.claim(CLAIM);
    rotate(w.journal, `asry:${DEPOSIT.signature}:1`, w.state.now);
    await w.run();
    w.state.now += 60_000;
    await w.run();
    expect(w.journal.get(`asry:${DEPOSIT.signature}:2`)?.state).toBe('planned');
    expect(w.journal.get(`asry:${DEPOSIT.signature}:3`)).toBeUndefined();
  });

  it('after a rotation, the day still gets one mint, through a new operation', async () => {
    const now = Date.UTC(2026, 0, 2, 12);
    const tools = createTools(createSqliteStorage(), () => now);
    const mints = new DailyMint(tools, { mint: 'mint' } as AbsrPorts);
    await mints.onCron();
    rotate(tools.journal, 'absr:2026-01-02', now);
    expect(mints.report()).toMatchObject({ state: 'scheduled', ok: true });
    for (let ticks = 0; ticks < 3; ticks++) await mints.onCron();
    expect(mints.history(9)).toMatchObject([
      { day: '2026-01-02', state: 'planned' },
      { day: '2026-01-02', state: 'failed', reason: 'key_rotated' },
    ]);
  });
});
