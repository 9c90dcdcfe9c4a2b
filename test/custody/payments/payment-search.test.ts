/** When the chain is searched for payments, and which payments a search finds. */

import { describe, expect, it } from 'vitest';
import type { TreasuryNode } from '../../../src/custody/payments/context.ts';
import { runDue } from '../../kit/kernel.ts';
import { scenes } from '../../kit/scenes.ts';
import { play } from './payment-scenes.ts';
import { createPaymentWorld } from './payment-world.ts';

const MINUTE = 60_000;

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

  it.each(
    scenes(`
      the search runs within eleven minutes when the cron does not run
        | open a; cron; pay a fee unnamed; next = in 605s; wait-for-next; run; detail a = completed
      a read of an open request causes a run at once, at most once in four seconds
        | open a; cron; ask a = false; wait 4s; ask a = true; ask a = false; pay a fee; next = now; run; detail a = completed; wait 4s; ask a = false
      the cron searches each minute while a request is open, every ten minutes for a day, then hourly
        | open b; pay b fee; searches 1m = 1; open a; searches 40m = 40; searches 1d = 144; searches 1d = 24
      paid creations that wait for money cause no early run, and the end of a creation completes its request
        | set creates never; open a; pay a fee; confirm a a1; run; next = in 1200s; finish a done; detail a = completed
      a started refund causes no early run, and its end records it as paid
        | open a; pay a fee+50000; confirm a a1; run; set refunds never; refund a; next = in 1200s; finish a1:1 done; refunds a = a1 paid
    `),
  )('%s', (_title, steps = '') => play(steps));
});

describe('finding payments', () => {
  it.each(
    scenes(`
      finds a payment with a reference between 3,000 transfers of dust before it and as many after it
        | open b; run; dust 3000; open a; pay a fee; dust 3000; run; detail a = completed
      failed transactions with the reference of a request do not use up its reads
        | open b; run; dust 3000; open a; pay a fee; pay a 1 failed; pay a 1 failed; pay a 1 failed; pay a 1 failed; pay a 1 failed; run; detail a = completed
      after an outage, a request does not expire while its payment is among many unread transactions
        | open a; run; dust 60 1000000; pay a fee unnamed; dust 60 1000000; wait 7h; run; detail a = awaiting_payment; runs 5; paid a = true
      a flooded reference does not delay the payment of another request
        | open a; open b; dust 400 1 to a; run; pay b fee; wait 5s; run; detail b = completed
      a payment three minutes before its request closes buys its product although its reads fail for nearly as long
        | open a; cron; wait 37m; pay a fee; set unreadable yes; seconds 170; set unreadable; seconds 600; detail a = creating; owed a = none
      a payment ten minutes before its request closes buys its product although its reads fail for nearly as long
        | open a; cron; wait 30m; pay a fee; set unreadable yes; seconds 590; set unreadable; seconds 600; detail a = creating; owed a = none
      a payment ten minutes before its request closes buys its product although its reads fail until the request has closed
        | open a; cron; wait 30m; pay a fee; set unreadable yes; seconds 640; set unreadable; seconds 600; detail a = creating; owed a = none
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
});
