/** Work that is due at a time far ahead, because the clock was set back. */
import { expect, it } from 'vitest';
import { dueTime } from '../../src/core/due-time.ts';
import { createBalanceReader } from '../../src/custody/kernel/begin-operation.ts';
import { NOW } from '../kit/sample-operations.ts';
import { createPaymentWorld } from './payments/payment-world.ts';

const DAY_MS = 86_400_000;
const MINUTE = 60_000;

it('a stored time is replaced by the current time only if it lies further ahead than the longest wait', () => {
  const times = [-DAY_MS, 0, 5_000, 5_001, DAY_MS].map((ms) => dueTime(NOW + ms, 5_000, NOW) - NOW);
  expect(times).toEqual([-DAY_MS, 0, 5_000, 0, 0]);
});

it('the timer and the cron search for payments at once after the clock was set back', async () => {
  const world = createPaymentWorld();
  const { id, reference, feeLamports } = world.open();
  await world.payments.onCron();
  world.pay(BigInt(feeLamports), [reference]);
  world.state.now -= DAY_MS;
  expect(world.nextSearchAt()).toBe(world.state.now);
  await world.payments.onCron();
  expect(world.payments.find(id)?.receivedLamports).toBe(feeLamports);
});

it('a read of a request after the clock was set back checks its payment reference early', async () => {
  const world = createPaymentWorld();
  const { id } = world.open();
  await world.payments.onCron();
  world.state.now -= DAY_MS;
  expect(world.payments.askFor(id)).toBe(true);
});

it('after the clock was set back by a day, requests expire only after the chain is read again', async () => {
  const world = createPaymentWorld();
  world.state.now += DAY_MS;
  world.open();
  await world.payments.onCron();
  world.state.now -= DAY_MS;
  const [node] = world.ports.nodes;
  if (!node) throw new Error('no node');
  const { signaturesFor } = node;
  Object.assign(node, { signaturesFor: () => Promise.reject(new Error('the node is down')) });
  const { id } = world.open();
  world.state.now += 41 * MINUTE;
  await world.payments.onCron();
  expect(world.payments.find(id)?.detail).toBe('awaiting_payment');
  Object.assign(node, { signaturesFor });
  world.state.now += MINUTE;
  await world.payments.onCron();
  expect(world.payments.find(id)?.detail).toBe('expired');
});

it('a balance that was read before the clock was set back is read again', async () => {
  const clock = { now: NOW };
  let reads = 0;
  const balance = async () => ({ lamports: BigInt(++reads) as never, slot: 1n });
  const read = createBalanceReader({ balance }, () => clock.now);
  await read(1n);
  clock.now += 999;
  await read(1n);
  expect(reads).toBe(1);
  clock.now -= DAY_MS;
  expect((await read(1n)).lamports).toBe(2n);
});
