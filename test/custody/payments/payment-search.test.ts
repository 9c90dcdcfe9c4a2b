/** When the chain is searched for payments, and which payments a search finds. */

import { describe, expect, it } from 'vitest';
import type { TreasuryNode } from '../../../src/custody/payments/context.ts';
import { runDue } from '../../kit/kernel.ts';
import { scenes } from '../../kit/scenes.ts';
import { play } from './payment-scenes.ts';
import { createPaymentWorld, fee } from './payment-world.ts';

const MINUTE = 60_000;
const MINUTES_OF_A_DAY = 24 * 60;

describe('the time of the next search', () => {
  it('plans no search between cron runs for requests that are neither paid nor read', async () => {
    const world = createPaymentWorld();
    expect(world.nextSearchAt()).toBeUndefined();
    world.open();
    for (let minute = 0; minute < 2 * 60; minute++) {
      await world.payments.onCron();
      if (minute % 7 === 0) for (let n = 0; n < 10; n++) world.open();
      world.state.now += MINUTE;
      expect(world.nextSearchAt()).toBeGreaterThan(world.state.now + 5 * MINUTE);
    }
  });

  it('the search runs within eleven minutes when the cron does not run', async () => {
    const world = createPaymentWorld();
    const request = world.open();
    await world.payments.onCron();
    world.pay(fee(request));
    const at = world.nextSearchAt() ?? 0;
    expect(at).toBeGreaterThan(world.state.now);
    expect(at).toBeLessThan(world.state.now + 11 * MINUTE);
    world.state.now = at;
    await world.payments.run();
    expect(world.payments.find(request.id)?.status).toBe('completed');
  });

  it('a read of an open request causes a run at once, at most once in four seconds', async () => {
    const world = createPaymentWorld();
    const request = world.open();
    await world.payments.onCron();
    expect(world.payments.askFor(request.id)).toBe(false);
    world.state.now += 4_000;
    expect(world.payments.askFor(request.id)).toBe(true);
    expect(world.payments.askFor(request.id)).toBe(false);
    world.pay(fee(request), [request.reference]);
    expect(world.nextSearchAt()).toBeLessThanOrEqual(world.state.now);
    await world.payments.run();
    expect(world.payments.find(request.id)?.status).toBe('completed');
    world.state.now += 4_000;
    expect(world.payments.askFor(request.id)).toBe(false);
  });

  it('the cron searches each minute while a request is open, every ten minutes for a day, then hourly', async () => {
    const world = createPaymentWorld();
    world.openPaid();
    const searches = async (minutes: number): Promise<number> => {
      let count = 0;
      for (let minute = 0; minute < minutes; minute++) {
        world.state.now += MINUTE;
        const { lists } = world.state;
        await world.payments.onCron();
        if (world.state.lists > lists) count++;
      }
      return count;
    };
    expect(await searches(1)).toBe(1);
    world.open();
    expect(await searches(40)).toBe(40);
    expect(await searches(MINUTES_OF_A_DAY)).toBeLessThanOrEqual(MINUTES_OF_A_DAY / 10 + 1);
    expect(await searches(MINUTES_OF_A_DAY)).toBe(24);
  });

  it('paid creations that wait for money cause no early run, and the end of a creation completes its request', async () => {
    const world = createPaymentWorld({ creates: 'never' });
    const request = world.open();
    await world.confirm(request.id, world.pay(fee(request), [request.reference]));
    await world.payments.run();
    expect(world.nextSearchAt()).toBeGreaterThan(world.state.now + MINUTE);
    world.finish(`token:${request.id}`, 'done');
    expect(world.payments.find(request.id)?.status).toBe('completed');
  });

  it('a started refund causes no early run, and its end records it as paid', async () => {
    const world = createPaymentWorld();
    const request = world.open();
    const paid = world.pay(fee(request) + 50_000n, [request.reference]);
    await world.confirm(request.id, paid);
    await world.payments.run();
    world.state.refunds = 'never';
    await world.payments.commands.refund(request.id);
    expect(world.nextSearchAt()).toBeGreaterThan(world.state.now + MINUTE);
    world.finish(`refund:${paid}:1`, 'done');
    expect(world.payments.find(request.id)?.refunds).toMatchObject([{ status: 'paid' }]);
  });
});

describe('finding payments', () => {
  it('finds a payment with a reference below 3,000 transfers of dust that came after it', async () => {
    const world = createPaymentWorld();
    world.open();
    await world.payments.run();
    const { request } = world.openPaid();
    for (let n = 0; n < 3_000; n++) world.pay(1n);
    await world.payments.run();
    expect(world.payments.find(request.id)?.status).toBe('completed');
  });

  it('after an outage, a request does not expire while its payment is among many unread transactions', async () => {
    const world = createPaymentWorld();
    const request = world.open();
    await world.payments.run();
    const others = (count: number) => {
      for (let n = 0; n < count; n++) world.pay(1_000_000n + BigInt(n));
    };
    others(60);
    world.pay(fee(request));
    others(60);
    world.state.now += 7 * 60 * MINUTE;
    await world.payments.run();
    expect(world.payments.find(request.id)?.detail).toBe('awaiting_payment');
    for (let runs = 0; runs < 5; runs++) {
      world.state.now += MINUTE;
      await world.payments.run();
    }
    expect(world.payments.find(request.id)?.paidAt).not.toBeNull();
  });

  it.each(
    scenes(`
      a late payment is owed back even if no other request is open
        | open a; wait 42m; run; pay a fee; wait 10m; cron; owed a = late fee
      a second payment is owed back within an hour, a month after the last request closed
        | open a; pay a fee; run; wait 30d; cron; pay a fee; wait 60m; cron; owed a = late fee
    `),
  )('%s', (_title, steps = '') => play(steps));

  it('checks 500 open references in turn within 30 runs, with at most 26 list calls in each run', async () => {
    const world = createPaymentWorld();
    const asked = new Set<string>();
    const node = world.ports.nodes[0];
    if (!node) throw new Error('no node');
    const { signaturesFor } = node;
    Object.assign(node, {
      signaturesFor: (...[of, page]: Parameters<typeof signaturesFor>) => {
        asked.add(of);
        return signaturesFor(of, page);
      },
    });
    const requests = Array.from({ length: 500 }, () => world.open());
    for (let minute = 0; minute < 30; minute++) {
      world.state.now += MINUTE;
      const before = world.state.lists;
      await world.payments.onCron();
      expect(world.state.lists - before).toBeLessThanOrEqual(26);
    }
    expect(requests.filter(({ reference }) => !asked.has(reference))).toEqual([]);
  });

  it('a closed request expires even while one of three nodes endlessly invents transactions', async () => {
    const world = createPaymentWorld();
    const nodes = world.ports.nodes as TreasuryNode[];
    const [honest] = nodes;
    if (!honest) throw new Error('no node');
    let invented = 0;
    const invent = () => ({ signature: `invented-${invented++}`, slot: 1n, err: null, blockTime: null });
    const signaturesFor = async () => Array.from({ length: 100 }, invent);
    nodes.push({ ...honest, name: 'honest' }, { ...honest, name: 'liar', signaturesFor });
    const request = world.open();
    for (let minute = 0; minute < 45; minute++) {
      world.state.now += MINUTE;
      await world.payments.run();
    }
    expect(world.payments.find(request.id)?.detail).toBe('expired');
  });

  it('at most eight transactions that could not be read are read again at once', async () => {
    const world = createPaymentWorld();
    const row = { source: 'node', state: 'waiting', finalAt: 0, firstAt: 0 } as const;
    for (let n = 0; n < 9; n++) {
      world.context.treasury.putUnread({ ...row, signature: `s${n}` });
      world.context.agenda.plan('unread', `s${n}`, 0);
    }
    await runDue(world.payments, world.context.agenda);
    expect(world.state.reads).toBe(8);
  });

  it('a flooded reference does not delay the payment of another request', async () => {
    const world = createPaymentWorld();
    const [flooded, other] = [world.open(), world.open()];
    for (let n = 0; n < 400; n++) world.pay(1n, [flooded.reference]);
    await world.payments.run();
    world.pay(fee(other), [other.reference]);
    world.state.now += 5_000;
    await world.payments.run();
    expect(world.payments.find(other.id)?.status).toBe('completed');
  });
});

it.each([
  [180, 170],
  [600, 590],
  [600, 640],
])(
  'a payment %i seconds before its request closes buys although its reads fail for %i seconds',
  async (before, outage) => {
    const { open, pay, payments, context, state } = createPaymentWorld();
    const request = open();
    await payments.onCron();
    const closesAt = context.requests.get(request.id)?.closesAt ?? 0;
    const pass = async (seconds: number) => {
      for (let second = 0; second < seconds; second++) {
        state.now += 1_000;
        await runDue(payments, context.agenda);
        if (Math.floor(state.now / 1_000) % 60 === 0) await payments.onCron();
      }
    };
    state.now = closesAt - before * 1_000;
    pay(BigInt(request.feeLamports), [request.reference]);
    state.unreadable = true;
    await pass(outage);
    state.unreadable = false;
    await pass(600);
    expect(payments.find(request.id)).toMatchObject({ detail: 'creating', refunds: [] });
  },
);
