/** One client at its full rate of free calls, while the nodes of the reserve answer 50 requests a second each. */

import { expect, it } from 'vitest';
import { upstreamFailed } from '../../src/core/errors.ts';
import type { CustodianApi } from '../../src/custody/api.ts';
import { FINALITY_WAIT_MS } from '../../src/features/asry/claims.ts';
import { confirmPayment } from '../../src/features/tokens/paid-request.ts';
import { depositSignature, wallet } from '../kit/addresses.ts';
import { simulateCustodian } from '../kit/simulated-custodian.ts';

const SECOND = 1_000;
const NODE_RATE = 50;
const MALLORY = '203.0.113.7';
const clientOf = (n: number): string => `198.51.${n}.1`;

function setUp(nodeRate = Number.POSITIVE_INFINITY) {
  /** Calls to all nodes since this count was last read, and calls to each node in the current second. */
  const nodeCalls = { count: 0, second: 0, inSecond: new Map<string, number>() };
  const run = simulateCustodian({
    onCall(label) {
      const [node = ''] = label.split('.');
      if (!node.startsWith('node-')) return;
      const second = Math.floor(run.scheduler.now() / SECOND);
      if (second !== nodeCalls.second) nodeCalls.inSecond.clear();
      nodeCalls.second = second;
      nodeCalls.count++;
      const calls = (nodeCalls.inSecond.get(node) ?? 0) + 1;
      nodeCalls.inSecond.set(node, calls);
      if (calls > nodeRate) throw upstreamFailed(node, 'rate_limited');
    },
  });

  /** The API's view of the custodian. */
  const verb =
    <R, T>(ask: (custody: CustodianApi, request: R) => Promise<T>) =>
    async (request: R): Promise<T> => {
      const outcome = await run.host.event('call', (custody) => ask(custody, request));
      if (!outcome.ok) throw new Error(String(outcome.error));
      return outcome.value;
    };
  const api = {
    custody: {
      confirmPayment: verb((custody, request: Parameters<CustodianApi['confirmPayment']>[0]) =>
        custody.confirmPayment(request),
      ),
      claimDeposit: verb((custody, request: Parameters<CustodianApi['claimDeposit']>[0]) =>
        custody.claimDeposit(request),
      ),
    },
  };
  /** An invoice, its payment on the chain, and its confirm; true once the token exists. */
  async function buy(n: number): Promise<boolean> {
    const client = clientOf(n);
    const { id, reference, feeLamports } = await run.open('token', client);
    const signature = run.pay(wallet(70_000 + n), BigInt(feeLamports), [reference]);
    const asked = { id, kind: 'token', signature, client } as const;
    return (await confirmPayment(api, asked)).status === 'completed';
  }

  const swap = verb((custody, n: number) =>
    custody.createSwap({ amountLamports: 100_000_000n + BigInt(n), client: clientOf(n) }),
  );

  /** Everything that `work` begins, for at most two minutes. */
  async function finish<T>(work: readonly Promise<T>[]): Promise<PromiseSettledResult<T>[]> {
    let ended: PromiseSettledResult<T>[] | undefined;
    void Promise.allSettled(work).then((results) => {
      ended = results;
    });
    await run.scheduler.run(run.scheduler.now() + 120 * SECOND, () => ended !== undefined);
    if (!ended) throw new Error('some work never ended');
    return ended;
  }

  let invented = 0;
  const confirmInvented = (id: string) =>
    confirmPayment(api, {
      id,
      kind: 'token',
      signature: depositSignature(1_000_000 + ++invented),
      client: MALLORY,
    });
  const claimInvented = () =>
    api.custody.claimDeposit({
      signature: depositSignature(2_000_000 + ++invented),
      asset: 'USDC',
      skipReward: false,
      client: MALLORY,
      waitMs: FINALITY_WAIT_MS,
    });
  return { ...run, nodeCalls, buy, swap, finish, confirmInvented, claimInvented };
}

it('with an invented signature, a confirm makes five calls to each node and a claim makes one', async () => {
  const w = setUp();
  const { id } = await w.open('token', MALLORY);
  await w.pass(5 * SECOND);
  w.nodeCalls.count = 0;
  await w.finish([w.confirmInvented(id)]);
  const ofConfirm = w.nodeCalls.count;
  w.nodeCalls.count = 0;
  await w.finish([w.claimInvented()]);
  // Two nodes, and five polls within 15 seconds.
  expect([ofConfirm, w.nodeCalls.count]).toEqual([10, 2]);
});

it('ten swaps and ten sales complete while another client floods confirms, claims and invoices', async () => {
  const w = setUp(NODE_RATE);
  const { id } = await w.open('token', MALLORY);
  const flood: Promise<unknown>[] = [];
  for (let ms = 0; ms < 60 * SECOND; ms += 100)
    w.scheduler.after(ms, () => {
      flood.push(
        w.confirmInvented(id).catch(() => undefined),
        w.claimInvented().catch(() => undefined),
        w.open('token', MALLORY).catch(() => undefined),
      );
    });
  await w.pass(5 * SECOND);
  const people = Array.from({ length: 10 }, (_, n) => n);
  const sold = people.map((n) => w.buy(n));
  const swapped = people.map(async (n) => (await w.swap(n)).type === 'created');
  const results = await w.finish([...sold, ...swapped]);
  expect(results).toEqual(results.map(() => ({ status: 'fulfilled', value: true })));
});
