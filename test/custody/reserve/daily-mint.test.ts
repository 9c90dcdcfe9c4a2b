import { describe, expect, it } from 'vitest';
import { parseProofMessage } from '../../../src/chain/bitcoin/proof-message.ts';
import { DAY_MS } from '../../../src/core/durations.ts';
import { RESERVE_WIF } from './bitcoin-model.ts';
import { createReserveService, SOL } from './reserve-service.ts';

const MIDNIGHT = Date.UTC(2026, 4, 10);
const DUE = MIDNIGHT + 5 * 60_000;
const DAY = '2026-05-10';
const FUNDED = 50_000n;

/** The service at its first mint's time, with a settled reserve of 50,000 sats. @param p.wif if it signs proofs */
function start({ at = DUE, wif, ...p }: { lamports?: bigint; at?: number; wif?: string } = {}) {
  const service = createReserveService({ at, mints: true, ...p, ...(wif && { proof: { wif } }) });
  const { clock, bitcoin, custody } = service;
  const mine = (blocks: number): void => {
    for (let block = 0; block < blocks; block++) bitcoin.mine();
  };
  bitcoin.move(FUNDED);
  mine(6);
  return {
    ...service,
    mine,
    until: (time: number) => service.pass(time - clock.now),
    wake: () => custody.wake(),
    wait: (ms: number) => service.pass(ms),
    report: async () => (await custody.report()).mint,
  };
}

describe('a day', () => {
  it('a day mints the difference of reserve and supply once for any number of cron ticks, and reports it', async () => {
    const w = start();
    await Promise.all([w.wake(), w.wake(), w.wake()]);
    expect(await w.report()).toEqual({ day: DAY, state: 'waiting', reason: null, ok: true });
    await w.wait(60_000);
    await w.wake();
    await w.wait(60_000);
    expect([w.mints(), w.memos]).toEqual([[FUNDED * 100n], [null]]);
    expect(await w.report()).toEqual({ day: DAY, state: 'minted', reason: null, ok: true });
    expect(await w.custody.listMints(10)).toMatchObject([
      {
        day: DAY,
        state: 'done',
        mintAtoms: '5000000',
        reserveSats: '50000',
        supplyAtoms: '0',
        signature: expect.any(String),
      },
    ]);
  });

  it('income after the daily mint is minted on the next day, together with income of missed days', async () => {
    const w = start();
    await w.wake();
    await w.wait(60_000);
    w.bitcoin.move(700n);
    w.mine(3);
    await w.wake();
    await w.until(DUE + 4 * DAY_MS);
    expect(w.mints()).toHaveLength(1);
    await w.wake();
    await w.wait(60_000);
    expect(w.mints()).toEqual([FUNDED * 100n, 700n * 100n]);
  });

  it('a mint names the newest proof in its memo, and a new proof includes the mint within a minute', async () => {
    const w = start({ at: DUE - 60_000, wif: RESERVE_WIF });
    const newest = async () => {
      const answer = await w.custody.proof();
      if (answer.type === 'refused') throw new Error(answer.refusal.message);
      return { hash: answer.proof.hash, ...parseProofMessage(answer.proof.message) };
    };
    await w.wake();
    const before = await newest();
    await w.until(DUE);
    await w.wake();
    await w.wait(60_000);
    expect([w.mints(), w.memos]).toEqual([[FUNDED * 100n], [`proof:${before.hash}`]]);
    await w.wake();
    const after = await newest();
    expect([before.absr?.atoms, after.absr?.atoms]).toEqual([0n, FUNDED * 100n]);
    expect(after.previousProof).toBe(before.hash);
    // No further one follows before its hour.
    await w.wait(60_000);
    await w.wake();
    expect((await newest()).hash).toBe(after.hash);
  });

  it('no mint is planned before five past midnight', async () => {
    const w = start({ at: DUE - 1 });
    await w.wake();
    expect(await w.report()).toEqual({ day: DAY, state: 'scheduled', reason: null, ok: true });
    expect(await w.custody.listMints(10)).toEqual([]);
  });

  it('a day on which there is nothing to mint ends without an alarm', async () => {
    const w = start();
    await w.wake();
    await w.wait(DAY_MS);
    await w.wake();
    await w.wait(60_000);
    expect(await w.report()).toEqual({
      day: '2026-05-11',
      state: 'none',
      reason: 'nothing_to_mint',
      ok: true,
    });
    expect(w.mints()).toHaveLength(1);
  });

  it('a day with more tokens than sats mints nothing and alerts the operator', async () => {
    const w = start();
    await w.wake();
    await w.wait(60_000);
    w.bitcoin.move(-1n);
    w.mine(1);
    await w.until(DUE + DAY_MS);
    await w.wake();
    expect(await w.report()).toMatchObject({ state: 'failed', reason: 'supply_above_reserve', ok: false });
    expect((await w.custody.listMints(1))[0]).toMatchObject({
      reserveSats: '49999',
      supplyAtoms: '5000000',
    });
  });
});

describe('while something is wrong', () => {
  it('a Bitcoin index with false data stops the mint until it is repaired on the same day', async () => {
    const w = start();
    w.indexes[1].set({ kind: 'wrong', by: 1n });
    await w.wake();
    await w.wait(3 * 3_600_000);
    expect(w.mints()).toEqual([]);
    expect(await w.report()).toEqual({
      day: DAY,
      state: 'waiting',
      reason: 'upstream_sources_disagree',
      ok: false,
    });
    w.indexes[1].set(null);
    await w.wait(120_000);
    expect(w.mints()).toEqual([FUNDED * 100n]);
  });

  it('a day that ends without agreement of the sources has no mint; the next mint includes its income', async () => {
    const w = start();
    w.indexes[0].set({ kind: 'down' });
    await w.wake();
    await w.until(MIDNIGHT + DAY_MS + 60_000);
    w.indexes[0].set(null);
    await w.until(DUE + DAY_MS);
    expect(w.mints()).toEqual([]);
    await w.wake();
    await w.wait(60_000);
    expect(w.mints()).toEqual([FUNDED * 100n]);
    const [, first] = await w.custody.listMints(2);
    expect(first).toMatchObject({ day: DAY, state: 'failed', reason: 'day_over' });
  });

  it('a mint that landed after midnight is the only one of that day', async () => {
    const w = start({ at: MIDNIGHT + DAY_MS - 400 });
    await w.wake();
    await w.until(DUE + DAY_MS);
    expect(w.mints()).toHaveLength(1);
    w.bitcoin.move(10n);
    w.mine(3);
    await w.wake();
    await w.wait(60_000);
    expect(w.mints()).toHaveLength(1);
    expect(await w.report()).toMatchObject({ state: 'none', reason: 'minted_today', ok: true });
  });

  it('a node that does not yet show the last mint stops the next mint', async () => {
    const w = start({ at: MIDNIGHT + DAY_MS - 3_600_000 });
    await w.wake();
    await w.until(DUE + DAY_MS);
    w.bitcoin.move(10n);
    w.mine(3);
    w.solana.lagOfSecondNode = 100_000n;
    await w.wake();
    expect(await w.report()).toMatchObject({
      state: 'waiting',
      reason: 'upstream_supply_outdated',
      ok: false,
    });
    w.solana.lagOfSecondNode = 0n;
    await w.wait(120_000);
    expect(w.mints()).toEqual([FUNDED * 100n, 1_000n]);
  });

  it('a mint without SOL for the fees reports the reason, and starts once SOL is added', async () => {
    const w = start({ lamports: 1_000_000n });
    await w.wake();
    expect(await w.report()).toEqual({
      day: DAY,
      state: 'scheduled',
      reason: 'INSUFFICIENT_BALANCE',
      ok: false,
    });
    w.solana.lamports += SOL;
    await w.wait(60_000);
    await w.wake();
    await w.wait(60_000);
    expect(w.mints()).toEqual([FUNDED * 100n]);
    expect((await w.report())?.ok).toBe(true);
  });
});

describe('the dry run', () => {
  it("the dry run shows every source's figures and the possible mint, and mints nothing", async () => {
    const w = start();
    w.bitcoin.move(500n);
    w.mine(1);
    const preview = await w.custody.previewMint();
    expect(preview).toMatchObject({
      day: DAY,
      verdict: 'mint',
      reason: null,
      mintAtoms: '5000000',
      reserveSats: '50000',
      supplyAtoms: '0',
      decimals: 2,
      depth: 3,
      indexes: [
        { name: 'one', confirmedSats: '50500', youngTransactions: 1 },
        { name: 'two', confirmedSats: '50500', youngTransactions: 1 },
      ],
      nodes: [{ name: 'rpc-1', supplyAtoms: '0' }, { name: 'rpc-2' }],
    });
    expect(await w.custody.listMints(10)).toEqual([]);
  });

  it('the dry run shows why the mint waits, and whether the mint of the day is done', async () => {
    const w = start();
    w.indexes[0].set({ kind: 'stale' });
    w.mine(3);
    expect(await w.custody.previewMint()).toMatchObject({
      verdict: 'wait',
      reason: 'tips_apart',
      mintAtoms: null,
    });
    w.indexes[0].set(null);
    await w.wake();
    await w.wait(60_000);
    expect(await w.custody.previewMint()).toMatchObject({
      verdict: 'none',
      reason: 'minted_today',
    });
  });
});
