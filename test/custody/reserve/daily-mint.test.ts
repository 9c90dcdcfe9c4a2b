import { expect, it } from 'vitest';
import { parseProofMessage } from '../../../src/chain/bitcoin/proof-message.ts';
import { msOf, scenes } from '../../kit/scenes.ts';
import { RESERVE_WIF } from './bitcoin-model.ts';
import { MIDNIGHT, playReserve } from './reserve-scenes.ts';
import { createReserveService } from './reserve-service.ts';

const DUE = MIDNIGHT + 5 * 60_000;
const DAY = '2026-05-10';
const FUNDED = 50_000n;

/** The service at its first mint's time, with a settled reserve of 50,000 sats. @param p.wif if it signs proofs */
function start({ at = DUE, wif }: { at?: number; wif?: string } = {}) {
  const service = createReserveService({ at, mints: true, ...(wif && { proof: { wif } }) });
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
  };
}

it.each(
  scenes(`
    a day mints the difference of reserve and supply once for any number of cron ticks, and reports it
      | 5m | wake 3; report = 2026-05-10 waiting null ok; wait 1m; wake; wait 1m; mints = 5000000; memos = null; report = 2026-05-10 minted null ok;
        day = 2026-05-10 done null; figures = 5000000 for 50000 sats and 0 atoms
    income after the daily mint is minted on the next day, together with income of missed days
      | 5m | wake; wait 1m; income 700; mine 3; wake; until 4d5m; mints = 5000000; wake; wait 1m; mints = 5000000, 70000
    no mint is planned before five past midnight
      | 4m59s999ms | wake; report = 2026-05-10 scheduled null ok; day = none
    a day on which there is nothing to mint ends without an alarm
      | 5m | wake; wait 1d; wake; wait 1m; report = 2026-05-11 none nothing_to_mint ok; mints = 5000000
    a day with more tokens than sats mints nothing and alerts the operator
      | 5m | wake; wait 1m; income -1; mine 1; until 1d5m; wake; report = 2026-05-11 failed supply_above_reserve alarm; figures = null for 49999 sats and 5000000 atoms
    a Bitcoin index with false data stops the mint until it is repaired on the same day
      | 5m | index 1 wrong; wake; wait 3h; mints = none; report = 2026-05-10 waiting upstream_sources_disagree alarm; index 1 ok; wait 2m; mints = 5000000
    a day that ends without agreement of the sources has no mint; the next mint includes its income
      | 5m | index 0 down; wake; until 1d1m; index 0 ok; until 1d5m; mints = none; wake; wait 1m; mints = 5000000; day 1 = 2026-05-10 failed day_over
    a mint that landed after midnight is the only mint of that day
      | 23h59m59s600ms | wake; until 1d5m; mints = 5000000; income 10; mine 3; wake; wait 1m; mints = 5000000; report = 2026-05-11 none minted_today ok
    a node that does not yet show the last mint stops the next mint
      | 23h | wake; until 1d5m; income 10; mine 3; lag 100000; wake; report = 2026-05-11 waiting upstream_supply_outdated alarm; lag 0; wait 2m; mints = 5000000, 1000
    a mint without SOL for the fees reports the reason, and starts once SOL is added
      | 5m | sol -9999000000; wake; report = 2026-05-10 scheduled INSUFFICIENT_BALANCE alarm; sol 1000000000; wait 1m; wake; wait 1m; mints = 5000000; report = 2026-05-10 minted null ok
    the dry run shows why the mint waits, and whether the mint of the day is done
      | 5m | index 0 stale; mine 3; preview = wait tips_apart null; index 0 ok; wake; wait 1m; preview = none minted_today null
  `),
)('%s', (_title, at = '', steps = '') => playReserve(steps, start({ at: MIDNIGHT + msOf(at) })));

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

it("the dry run shows every source's figures and the possible mint, without minting", async () => {
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
