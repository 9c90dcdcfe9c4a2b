import { expect, it } from 'vitest';
import { cases } from '../../cases.ts';
import { wallet } from '../../kit/addresses.ts';
import { createRequestSimulation } from '../payments/request-simulation.ts';

const SECOND = 1_000;
const RUNS = cases(200, 30);

it('a creation ends in one mint and one token after a crash, a replacement and a deployment at any step', {
  tags: ['scaled'],
}, async () => {
  let crashes = 0;
  for (let seed = 20_000; seed < 20_000 + RUNS; seed++) {
    const run = createRequestSimulation({
      seed,
      crashes: 1 + (seed % 6),
      replacements: seed % 3,
      wild: seed % 4 > 0,
    });
    const request = await run.open('token');
    const signature = run.pay({
      payer: wallet(52),
      lamports: BigInt(request.feeLamports),
      references: [request.reference],
    });
    const start = run.scheduler.now();
    for (let call = 0; call < 5; call++) {
      const when = start + run.random.between(0, 30 * SECOND);
      run.at(
        when,
        (custody) =>
          custody.confirmPayment({ id: request.id, kind: 'token', signature, client: 'ip', waitMs: 5_000 }),
        () => undefined,
      );
    }
    for (let deploy = 0; deploy < 2; deploy++)
      run.scheduler.at(start + run.random.between(0, 20 * SECOND), () => run.host.restart('deploy'));
    await run.play(start + 40 * SECOND);
    const where = `seed ${seed}`;
    expect(run.errors, where).toEqual([]);
    // The response to an earlier attempt may have been lost; its request then exists without a caller.
    const row = run.requests().find(({ id }) => id === request.id);
    expect([row?.state, row?.paymentSignature, row?.received], where).toEqual([
      'completed',
      signature,
      request.feeLamports,
    ]);
    expect(
      run.landed().map(({ order }) => order.intent),
      where,
    ).toEqual([`mint:${request.mintAddress}`]);
    expect(await run.mirrored('tokens'), where).toMatchObject([
      { token_id: 1, mint_address: request.mintAddress },
    ]);
    const invoices = await run.mirrored('invoices');
    expect(
      invoices.find(({ id }) => id === request.id),
      where,
    ).toMatchObject({ status: 'completed' });
    expect(await run.mirrored('listings'), where).toMatchObject([{ id: request.id, status: 'confirmed' }]);
    expect(run.refunds(), where).toEqual([]);
    crashes += run.host.happened.crashes ?? 0;
    run.release();
  }
  expect(crashes).toBeGreaterThan(RUNS / 2);
});
