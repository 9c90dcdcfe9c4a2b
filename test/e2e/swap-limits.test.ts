/** @module-tag deep */
import { describe, expect, it, test } from 'vitest';
import { TRANSFER_FEE } from '../../src/chain/solana/transaction.ts';
import { startWorld, type World, type WorldOptions } from '../world/world.ts';
import { type Body, createSwapCaller, type SwapCaller, until } from './swap-caller.ts';

const SOL = 1_000_000_000n;
const AMOUNT = 0.3;
const AMOUNT_LAMPORTS = 300_000_000n;
/** A blockhash lives for 30 s, in which a busy machine sends every swap. */
const QUICK: WorldOptions = { cron: false, slotMs: 200, blockMs: 300, settleDelayMs: 300 };

async function inWorld<T>(
  options: WorldOptions,
  work: (world: World, caller: SwapCaller) => Promise<T>,
): Promise<T> {
  const world = await startWorld({ ...QUICK, ...options });
  try {
    return await work(world, createSwapCaller(world));
  } finally {
    await world.stop();
  }
}

const times = <T>(count: number, make: (index: number) => T): T[] =>
  Array.from({ length: count }, (_, i) => make(i));

describe.concurrent('the limits of swaps', () => {
  const refusal = (limit: string) => ({
    status: 503,
    body: { error_code: 'SWAP_LIMIT_REACHED', action: 'retry_later', retryable: true, details: { limit } },
  });
  const rows: [string, WorldOptions, number, { status: number; body: Body }][] = [
    [
      'balance, floor and network fee',
      // Four amounts, four fees and the floor, to the lamport; a fifth would need one lamport more than there is.
      { reserveLamports: 5n * (AMOUNT_LAMPORTS + TRANSFER_FEE) + SOL / 10n - 1n },
      4,
      {
        status: 400,
        body: { error_code: 'INSUFFICIENT_BALANCE', action: 'top_up_wallet', retryable: false },
      },
    ],
    ['the hour', { vars: { SWAP_MAX_SOL_HOUR: '0.9' } }, 3, refusal('hour')],
    ['the day', { vars: { SWAP_MAX_SOL_DAY: '0.6' } }, 2, refusal('day')],
    [
      'what is unsettled',
      { settleDelayMs: 600_000, vars: { SWAP_MAX_UNSETTLED_SOL: '0.95' } },
      3,
      refusal('unsettled'),
    ],
    [
      'the cost of a day',
      // A little under 0.005 each. The other caps leave all 20 to this one.
      { vars: { SWAP_MAX_COST_SOL_DAY: '0.012', SWAP_MAX_SOL_HOUR: '6', SWAP_MAX_UNSETTLED_SOL: '6' } },
      2,
      refusal('cost_day'),
    ],
  ];

  it.each(rows)(
    '20 simultaneous creates without a key never spend more than %s',
    async (_limit, options, most, refused) => {
      await inWorld(options, async (_world, caller) => {
        const start = await caller.lamports();
        const answers = await Promise.all(times(20, (i) => caller.create(AMOUNT, { ip: `10.${i}.0.1` })));
        const made = answers.filter(({ status }) => status === 200);
        expect(made).toHaveLength(most);
        for (const { status, body, headers } of answers.filter((answer) => answer.status !== 200)) {
          expect({ status, body }).toMatchObject(refused);
          if (status !== 503) continue;
          expect(headers.get('retry-after')).toBe(String(body.retry_after_s));
          expect(Number(body.retry_after_s)).toBeGreaterThan(0);
          const { nextAvailableAt } = body.details as Body;
          if (nextAvailableAt !== undefined)
            expect(Date.parse(String(nextAvailableAt))).toBeGreaterThan(Date.now() - 60_000);
        }
        const landed = made.map(({ body }) => String(body.id)).sort();
        await until('all of them landed', () => (caller.payments().length >= most ? true : undefined));
        expect(
          caller
            .payments()
            .map(({ signature }) => signature)
            .sort(),
        ).toEqual(landed);
        expect(start - (await caller.lamports())).toBe(BigInt(most) * (AMOUNT_LAMPORTS + TRANSFER_FEE));
        expect(await caller.lamports()).toBeGreaterThanOrEqual(SOL / 10n);
      });
    },
  );

  test('20 simultaneous creates from one address succeed only up to its hourly limit', async () => {
    await inWorld({}, async (_world, caller) => {
      const answers = await Promise.all(times(20, () => caller.create(AMOUNT, { ip: '198.51.100.7' })));
      const refused = answers.filter(({ status }) => status !== 200);
      expect(answers.length - refused.length).toBe(6);
      for (const { status, body, headers } of refused) {
        expect([status, body.error_code]).toEqual([429, 'RATE_LIMITED']);
        expect(body.details).toEqual({ limit: 'creates_per_client_hour' });
        expect(Number(headers.get('retry-after'))).toBeGreaterThan(3_000);
      }
      const other = await caller.create(AMOUNT, { ip: '198.51.100.8' });
      expect(other.status).toBe(200);
    });
  });

  test('no swap passes when its limits cannot be read', async () => {
    const vars = {
      SWAP_MAX_SOL: '2 SOL',
      SWAP_MAX_SOL_HOUR: '4,0',
      SWAP_MAX_SOL_DAY: 'ten',
      SWAP_MAX_UNSETTLED_SOL: '-1',
      SWAP_MAX_COST_SOL_DAY: '1e-1',
      RESERVE_FLOOR_SOL: 'none',
      SWAP_MAX_COST_BPS: '2%',
    };
    await inWorld({ vars }, async (_world, caller) => {
      const { status, body } = await caller.create(9.9);
      expect([status, body.error_code]).toEqual([503, 'NOT_CONFIGURED']);
      const { variables } = body.details as { variables: string[] };
      expect(variables.toSorted()).toEqual(Object.keys(vars).toSorted());
      const { body: ready } = await caller.get('/api/ready');
      for (const name of Object.keys(vars)) expect(JSON.stringify(ready.checks)).toContain(name);
      expect(caller.payments()).toEqual([]);
    });
  });
});
