import { expect, it } from 'vitest';
import { createCustodianWorld } from '../../kit/custodian.ts';
import { NOW } from '../../kit/sample-operations.ts';

const MINUTE = 60_000;

it('the report shows since when every swap is refused, and nothing once swaps begin again', async () => {
  const w = createCustodianWorld();
  await w.custody.wake();
  expect((await w.custody.report()).swapsRefused).toBeNull();
  await w.custody.ops({ name: 'pause' });
  await w.custody.wake();
  w.clock.now += 10 * MINUTE;
  await w.custody.wake();
  expect((await w.custody.report()).swapsRefused).toEqual({ code: 'SWAPS_PAUSED', sinceMs: NOW });
  await w.custody.ops({ name: 'resume' });
  await w.custody.wake();
  expect((await w.custody.report()).swapsRefused).toBeNull();
});

it('price venues that do not respond refuse every swap until they respond again', async () => {
  const w = createCustodianWorld();
  const { prices } = w.swap;
  w.swap.prices = [];
  await w.custody.wake();
  expect((await w.custody.report()).swapsRefused).toMatchObject({ sinceMs: NOW });
  w.swap.prices = prices;
  w.clock.now += 10 * MINUTE;
  await w.custody.wake();
  expect((await w.custody.report()).swapsRefused).toBeNull();
});
