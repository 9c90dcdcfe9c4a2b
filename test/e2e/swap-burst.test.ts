/** @module-tag deep */
import { expect, it } from 'vitest';
import { TRANSFER_FEE } from '../../src/chain/solana/transaction.ts';
import { startWorld } from '../world/world.ts';
import { createSwapCaller, until } from './swap-caller.ts';

const CALLERS = 500;
const FULL = 'SWAP_LIMIT_REACHED';
/** Different amounts in centi-SOL, so that only a small gap is left below the cap. */
const amountOf = (caller: number): number => 30 + (caller % 7);
const LAMPORTS = 10_000_000n;
const LARGEST_LAMPORTS = 36n * LAMPORTS;
const CAP_LAMPORTS = 400n * LAMPORTS;

it.each([1, 2, 3])(
  '500 simultaneous creates never exceed the hourly cap and leave less than the largest swap unused (round %i)',
  async (round) => {
    const world = await startWorld({
      cron: false,
      // A blockhash lives for a minute, in which a busy machine sends every swap.
      slotMs: 400,
      blockMs: 300,
      vars: {
        SWAP_MAX_SOL_HOUR: '4',
        SWAP_MAX_UNSETTLED_SOL: '9',
        SWAP_MAX_COST_SOL_DAY: '1',
        ABSR_MINT_ADDRESS: undefined,
      },
    });
    try {
      const caller = createSwapCaller(world);
      const start = await caller.lamports();
      let callers = 0;
      const call = async () => {
        callers += 1;
        const amount = amountOf(callers + round);
        const ip = `${10 + round}.${callers >> 8}.${callers & 255}.1`;
        const { status, body } = await caller.create(amount / 100, { ip });
        return { status, code: body.error_code, lamports: BigInt(amount) * LAMPORTS };
      };
      const answers = await Promise.all(Array.from({ length: CALLERS }, call));
      // A create that failed at a busy upstream frees its place; further creates use it until the cap is
      // reached.
      const isFailed = ({ code }: { code: unknown }): boolean =>
        code === 'PRICE_UNAVAILABLE' || code === 'UPSTREAM_FAILED';
      for (let last = answers; last.some(isFailed) || !last.some(({ code }) => code === FULL); ) {
        expect(callers).toBeLessThan(2 * CALLERS);
        last = await Promise.all(Array.from({ length: 7 }, call));
        answers.push(...last);
      }
      const codes = answers.filter((answer) => !isFailed(answer)).map(({ code }) => code ?? 'made');
      expect([...new Set(codes)].toSorted()).toEqual([FULL, 'made']);
      const made = answers.filter(({ status }) => status === 200);
      const spent = made.reduce((sum, { lamports }) => sum + lamports, 0n);
      await until('all of them landed', () => (caller.payments().length >= made.length ? true : undefined));
      expect(start - (await caller.lamports())).toBe(spent + BigInt(made.length) * TRANSFER_FEE);
      expect(spent).toBeLessThanOrEqual(CAP_LAMPORTS);
      expect(CAP_LAMPORTS - spent).toBeLessThan(LARGEST_LAMPORTS);
    } finally {
      await world.stop();
    }
  },
);
