import { expect, it } from 'vitest';
import { lamports } from '../../../src/core/amount.ts';
import { HOUR_MS } from '../../../src/core/durations.ts';
import { upstreamFailed } from '../../../src/core/errors.ts';
import type { Watched } from '../../../src/custody/recovery/unexplained-spends.ts';
import type { ChainTransaction, TokenRow } from '../../../src/providers/solana-rpc.ts';
import { RESERVE } from '../../kit/addresses.ts';
import { type CustodianWorld, createCustodianWorld, keyed } from '../../kit/custodian.ts';
import { land } from '../../kit/fake-chain.ts';
import { shownCode } from '../../kit/operator.ts';
import { reserveTransfer, SOL } from '../../kit/sample-operations.ts';

const THIEF = 'thief';
const NEW_RESERVE = 'new reserve';
const [AUTHORITY, SOURCE] = ['multisig of absr', 'source of asry'];

/** A custodian whose nodes list these transactions, checked up to slot 100 before the first is listed. */
async function watched(tokens: Watched = { accounts: [AUTHORITY, SOURCE], mint: 'absr' }) {
  let slot = 100n;
  const w = createCustodianWorld({ watched: tokens });
  w.chain.checkFinality = async () => ({ slot, floor: slot });
  await w.custody.wake();
  return {
    w,
    /** The nodes list it; a quorum shows it unless told otherwise. */
    lands(transaction: ChainTransaction, isShown = true) {
      slot = transaction.slot + 1n;
      const { signature, blockTime } = transaction;
      w.swap.listed.unshift({ signature, slot: transaction.slot, err: null, blockTime });
      if (isShown) w.swap.transactions.set(signature, transaction);
    },
    later: (slots: bigint) => {
      slot += slots;
    },
  };
}

const theft = (over: Partial<ChainTransaction> = {}): ChainTransaction => ({
  ...reserveTransfer('stolen', { slot: 110n }),
  accounts: [RESERVE, THIEF],
  signers: [RESERVE],
  preLamports: [10n * SOL, 0n],
  postLamports: [SOL, 9n * SOL - 5_000n],
  ...over,
});

const row = (account: string, owner: string, atoms: bigint, mint = 'asry'): TokenRow => ({
  account,
  mint,
  owner,
  program: null,
  atoms,
  decimals: 6,
});

/** Without the reserve's key. */
const unsigned = (over: Partial<ChainTransaction>): ChainTransaction =>
  theft({
    accounts: [THIEF, AUTHORITY],
    signers: [THIEF],
    preLamports: [SOL, 0n],
    postLamports: [SOL, 0n],
    ...over,
  });

const solStays = { postLamports: [10n * SOL, 0n] };
const minted = (mint?: string) => ({ preTokens: [], postTokens: [row('other', THIEF, 7n, mint)] });
const mintedAbsr = unsigned(minted('absr'));
const fromSource = unsigned({
  preTokens: [row(SOURCE, 'cold', 50n), row('other', THIEF, 0n)],
  postTokens: [row(SOURCE, 'cold', 20n), row('other', THIEF, 30n)],
});
const ownFee = theft({
  accounts: [THIEF, RESERVE],
  signers: [THIEF, RESERVE],
  preLamports: [SOL, SOL],
  postLamports: [2n * SOL, 0n],
});
const fromReserve = theft({
  ...solStays,
  preTokens: [row('own', RESERVE, 50n)],
  postTokens: [row('own', RESERVE, 20n), row('other', THIEF, 30n)],
});
const asFee = theft({ failed: true, fee: lamports(9n * SOL), postLamports: [SOL, 0n] });

it.each<[string, ChainTransaction, string | null, bigint, string?]>([
  ['SOL leaves', theft(), null, 9n * SOL],
  ['SOL leaves while the thief pays the fee', ownFee, null, SOL],
  ['ASRY leaves', fromReserve, 'asry', 30n],
  ['SOL leaves as the fee of a failure', asFee, null, 9n * SOL, 'nobody'],
  ['tokens are minted', theft({ ...solStays, ...minted() }), 'asry', 7n],
  ['ABSR is minted by other signers of its authority', mintedAbsr, 'absr', 7n],
  ['the owner or a delegate of the account that pays ASRY takes some', fromSource, 'asry', 30n],
])(
  'signing freezes in the first wake after %s without a row, with amount and receiver',
  async (_case, transaction, mint, atoms, receiver = THIEF) => {
    const { w, lands } = await watched();
    lands(transaction);
    await w.custody.wake();
    const moved = [{ mint, atoms: atoms.toString(), receiver: receiver === 'nobody' ? null : receiver }];
    expect(await w.custody.report()).toMatchObject({
      frozen: 'unexplained_spend',
      unexplainedSpends: [{ signature: 'stolen', moved }],
    });
  },
);

it.each<[string, ChainTransaction, boolean]>([
  ['that no quorum shows', theft(), false],
  ['that the reserve did not sign', theft({ accounts: [THIEF, RESERVE], signers: [THIEF] }), true],
  [
    'that moves ABSR of others',
    unsigned({ preTokens: [row('a', 'b', 7n, 'absr')], postTokens: [row('c', 'd', 7n, 'absr')] }),
    true,
  ],
  ['that adds ASRY', unsigned({ preTokens: [], postTokens: [row(SOURCE, 'cold', 5n)] }), true],
  ['that failed for a fee like ours', theft({ failed: true, fee: lamports(14_000n) }), true],
])('a listed transaction %s freezes nothing', async (_case, transaction, isShown) => {
  const { w, lands, later } = await watched();
  lands(transaction, isShown);
  await w.custody.wake();
  later(5_000n);
  await w.custody.wake();
  expect((await w.custody.report()).frozen).toBeNull();
});

it.each(['that no quorum shows', 'whose form this release does not read'])(
  'a transaction %s is failing work after three minutes, and freezes signing when it is read at last',
  async (what) => {
    const { w, lands, later } = await watched();
    lands(theft(), false);
    const { transaction } = w.swap;
    if (what.includes('form')) w.swap.transaction = () => Promise.reject(upstreamFailed('rpc', 'rpc_-32015'));
    for (let minute = 0; minute < 12; minute++) {
      await w.custody.wake();
      later(300n);
    }
    const { failing } = await w.custody.operatorView();
    expect(failing).toMatchObject([{ work: 'spend', id: '110 stolen', failures: 12 }]);
    w.swap.transaction = transaction;
    w.swap.transactions.set('stolen', theft());
    await w.custody.wake();
    expect((await w.custody.report()).frozen).toBe('unexplained_spend');
    expect((await w.custody.operatorView()).failing).toEqual([]);
  },
);

/** A wake each minute, while dust of others names the reserve. @returns the minute in which signing freezes */
async function minuteOfFreeze(
  dust: number,
): Promise<{ readonly minute: number | undefined; readonly w: CustodianWorld }> {
  const { w, lands, later } = await watched();
  for (let at = 0; at < dust; at++) lands(theft({ signature: `dust-${at}`, signers: [THIEF] }));
  lands(theft({ slot: 111n }));
  for (let minute = 0; minute < 12; minute++) {
    await w.custody.wake();
    if ((await w.custody.report()).frozen) return { minute, w };
    w.clock.now += 60_000;
    later(150n);
  }
  return { minute: undefined, w };
}

it('a spend behind 500 dust transactions of one slot freezes signing within ten minutes', async () => {
  const { minute, w } = await minuteOfFreeze(500);
  expect(minute).toBeLessThan(10);
  expect(w.logged).not.toContain('spends_unread');
});

it('a theft freezes signing within ten minutes while two lists are flooded with as many entries', async () => {
  const { w, lands, later } = await watched();
  const dust = Array.from({ length: 480 }, (_, at) => theft({ signature: `dust-${at}`, signers: [THIEF] }));
  for (const transaction of dust.slice(0, 300)) lands(transaction);
  lands(theft({ slot: 110n }));
  for (const transaction of dust.slice(300)) lands(transaction);
  for (let minute = 0; minute < 10 && !(await w.custody.report()).frozen; minute++) {
    await w.custody.wake();
    w.clock.now += 60_000;
    later(150n);
  }
  expect((await w.custody.report()).frozen).toBe('unexplained_spend');
});

it('a transaction whose token balances no quorum shows is read until one shows them', async () => {
  const { w, lands, later } = await watched();
  lands({ ...mintedAbsr, preTokens: null, postTokens: null });
  for (let minute = 0; minute < 12; minute++) {
    await w.custody.wake();
    later(300n);
  }
  expect((await w.custody.operatorView()).failing).toMatchObject([{ work: 'spend', id: '110 stolen' }]);
  w.swap.transactions.set('stolen', mintedAbsr);
  await w.custody.wake();
  expect((await w.custody.report()).frozen).toBe('unexplained_spend');
});

it('a transaction without token balances does not wait if no tokens are watched', async () => {
  const { w, lands } = await watched({ accounts: [] });
  lands(unsigned({ preTokens: null, postTokens: null }));
  for (let minute = 0; minute < 4; minute++) await w.custody.wake();
  expect((await w.custody.operatorView()).failing).toEqual([]);
});

it('a theft freezes signing when a quorum shows it after more invented transactions than can wait', async () => {
  const { w, lands, later } = await watched();
  for (let at = 0; at < 30; at++) lands(theft({ signature: `invented-${at}` }), false);
  lands(theft({ slot: 111n }), false);
  for (let minute = 0; minute < 4; minute++) {
    await w.custody.wake();
    later(150n);
  }
  w.swap.transactions.set('stolen', theft({ slot: 111n }));
  await w.custody.wake();
  expect((await w.custody.report()).frozen).toBe('unexplained_spend');
});

it.each([600, 20_000])(
  '%i dust transactions raise an alarm, because a spend may hide among them, and the check goes on',
  async (dust) => {
    const { w } = await minuteOfFreeze(dust);
    expect(w.logged).not.toContain('work_failed');
    const { recent } = await w.custody.operatorView();
    expect(recent).toEqual([{ event: 'spends_unread', about: '' }]);
    w.clock.now += 2 * HOUR_MS;
    expect((await w.custody.operatorView()).recent).toEqual([]);
  },
);

it.each([
  ['freezes signing if the finalized slot advances', 40n, 'unexplained_spend', false],
  ['raises an alarm if the nodes of a quorum show one slot for an hour', 0n, null, true],
])('a theft after 900 transactions of strangers in 45 minutes %s', async (_title, slots, frozen, isAlarm) => {
  let finalized = 100n;
  const { w, lands } = await watched({ accounts: [], mint: 'absr' });
  w.chain.checkFinality = async () => ({ slot: finalized, floor: finalized });
  const dust = { accounts: ['stranger', RESERVE], signers: ['stranger'], preLamports: [SOL, 0n] };
  let slot = 100n;
  const minute = async () => {
    finalized += slots;
    w.clock.now += 60_000;
    await w.custody.wake();
  };
  for (let sent = 0; sent < 900; sent++) {
    slot += 2n;
    lands(theft({ ...dust, signature: `dust-${sent}`, slot, postLamports: [SOL - 5_001n, 1n] }));
    if (sent % 20 === 19) await minute();
  }
  lands(theft({ slot: slot + 1n }));
  for (let minutes = 0; minutes < 60; minutes++) await minute();
  expect((await w.custody.report()).frozen).toBe(frozen);
  expect(w.logged.includes('spends_unread')).toBe(isAlarm);
});

/** Types the command unfreeze, and again with the code that it shows. */
async function confirmed({ custody }: CustodianWorld) {
  const { message } = await custody.ops({ name: 'unfreeze' });
  return custody.ops({ name: 'unfreeze', id: shownCode(message) });
}

it('unfreeze shows what it would acknowledge, and its code confirms no spend that is found later', async () => {
  const { w, lands } = await watched();
  lands(theft());
  await w.custody.wake();
  const seen = await w.custody.ops({ name: 'unfreeze' });
  expect(seen).toMatchObject({ ok: true, rows: [{ signature: 'stolen' }] });
  lands(theft({ signature: 'second', slot: 120n }));
  await w.custody.wake();
  expect(await w.custody.ops({ name: 'unfreeze', id: shownCode(seen.message) })).toMatchObject({
    ok: false,
    rows: [{ signature: 'stolen' }, { signature: 'second' }],
  });
  expect((await w.custody.report()).frozen).toBe('unexplained_spend');
  expect(await confirmed(w)).toMatchObject({ ok: true });
  expect((await w.custody.report()).frozen).toBeNull();
});

it('an acknowledged spend does not freeze signing again, but the next unexplained one does', async () => {
  const { w, lands } = await watched();
  lands(theft());
  await w.custody.wake();
  await confirmed(w);
  await w.custody.wake();
  expect(await w.custody.report()).toMatchObject({ frozen: null, paused: 'operator', unexplainedSpends: [] });
  lands(theft({ signature: 'second', slot: 120n }));
  await w.custody.wake();
  expect((await w.custody.report()).unexplainedSpends.map(({ signature }) => signature)).toEqual(['second']);
});

/** Signs a swap of this name, whose transaction takes more than the swap reserves. */
async function overspend({ w, later }: Awaited<ReturnType<typeof watched>>, name: string): Promise<void> {
  await w.custody.createSwap(keyed(name));
  land(w.chain, { debit: lamports(5n * SOL) });
  later(1_000n);
}

it('the code of an unexpected debit does not confirm a later debit', async () => {
  const scene = await watched();
  const { w } = scene;
  await overspend(scene, 'first');
  await w.pass(2 * 60_000);
  const seen = await w.custody.ops({ name: 'unfreeze' });
  expect(seen.rows).toMatchObject([{ moved: expect.stringContaining('5000000000 lamports') }]);
  const code = shownCode(seen.message);
  expect(await w.custody.ops({ name: 'unfreeze', id: code })).toMatchObject({ ok: true });
  await w.custody.ops({ name: 'resume' });
  await overspend(scene, 'second');
  await w.pass(2 * 60_000);
  const later = await w.custody.ops({ name: 'unfreeze', id: code });
  expect(later).toMatchObject({ ok: false, rows: [{}] });
  expect(later.rows).not.toEqual(seen.rows);
  expect((await w.custody.report()).frozen).toBe('unexpected_debit');
});

it('an unexpected debit during a freeze hides no found spend, and a change of the key does not end it', async () => {
  const scene = await watched();
  const { w, lands } = scene;
  await w.custody.createSwap(keyed('first'));
  lands(theft());
  await w.custody.wake();
  const seen = await w.custody.ops({ name: 'unfreeze' });
  land(w.chain, { debit: lamports(5n * SOL) });
  await w.pass(2 * 60_000);
  expect(await w.custody.report()).toMatchObject({
    frozen: 'unexplained_spend',
    unexplainedSpends: [{ signature: 'stolen' }],
  });
  const next = await w.custody.ops({ name: 'unfreeze', id: shownCode(seen.message) });
  const moved = expect.stringContaining('5000000000');
  expect(next).toMatchObject({ ok: false, rows: [{ moved }, { signature: 'stolen' }] });
  const rotated = rotate(w);
  await rotated.custody.wake();
  expect((await rotated.custody.report()).frozen).toBe('unexplained_spend');
  await confirmed(rotated);
  expect((await rotated.custody.report()).frozen).toBeNull();
});

/** The same storage with another key of the reserve. */
const rotate = ({ storage }: CustodianWorld) =>
  createCustodianWorld({ signer: { address: NEW_RESERVE, sign: async () => new Uint8Array(64) } }, storage);

it.each<[string, ChainTransaction]>([
  ['the delegate of the account that pays ASRY', fromSource],
  ['other signers of the mint authority', mintedAbsr],
])(
  "a freeze by a spend of %s stays after a change of the reserve's key, until the operator ends it",
  async (_whose, transaction) => {
    const { w, lands } = await watched();
    lands(theft());
    lands({ ...transaction, signature: 'of another key', slot: 111n });
    await w.custody.wake();
    const rotated = rotate(w);
    for (let minute = 0; minute < 2; minute++) await rotated.custody.wake();
    const { frozen, unexplainedSpends } = await rotated.custody.report();
    expect([frozen, unexplainedSpends.map(({ signedByReserve }) => signedByReserve)]).toEqual([
      'unexplained_spend',
      [true, false],
    ]);
    await confirmed(rotated);
    expect((await rotated.custody.report()).frozen).toBeNull();
  },
);

it('a freeze by spends of an earlier key ends when the key changes, and signing waits for the operator', async () => {
  const { w, lands } = await watched();
  lands(theft());
  await w.custody.wake();
  expect(await w.start().report()).toMatchObject({ frozen: 'unexplained_spend' });
  const rotated = rotate(w);
  expect(await rotated.custody.report()).toMatchObject({
    frozen: null,
    paused: 'operator',
    unexplainedSpends: [],
  });
});
