/** Strangers at their full rate of free calls, while the nodes of the reserve answer 50 requests a second each. */

import { expect, it } from 'vitest';
import { refusalError, upstreamFailed } from '../../src/core/errors.ts';
import type { CustodianApi } from '../../src/custody/api.ts';
import { FINALITY_WAIT_MS } from '../../src/features/asry/claims.ts';
import { confirmPayment } from '../../src/features/payments/paid-request.ts';
import { depositSignature, wallet } from '../kit/addresses.ts';
import { simulateCustodian } from '../kit/simulated-custodian.ts';

const SECOND = 1_000;
const NODE_RATE = 50;
/** What callers may use of a node in a second. */
const CALLERS = NODE_RATE / 4;
const MALLORY = '203.0.113.7';
const clientOf = (n: number): string => `198.51.${n}.1`;
/** One of 200 networks. */
const strangerOf = (n: number): string => `10.${n % 200}.0.1`;

/** @param hanging one of three nodes, which responds to no call. Without it, there are two nodes. */
function setUp(hanging?: string) {
  /** Calls to each node in each second. */
  const perSecond = new Map<string, number>();
  /** Work that was counted as failed. */
  const failures: unknown[] = [];
  const run = simulateCustodian({
    nodeRate: NODE_RATE,
    nodeCount: hanging ? 3 : 2,
    deps: (deps) => ({
      ...deps,
      log(line) {
        if (line.event === 'work_failed') failures.push(line);
        deps.log(line);
      },
    }),
    onCall(label) {
      const [node = ''] = label.split('.');
      if (!node.startsWith('node-')) return undefined;
      const second = `${node} ${Math.floor(run.scheduler.now() / SECOND)}`;
      perSecond.set(second, (perSecond.get(second) ?? 0) + 1);
      return node === hanging ? timeOut(node) : undefined;
    },
  });
  async function timeOut(node: string): Promise<void> {
    await run.scheduler.sleep(8 * SECOND);
    throw upstreamFailed(node, 'timeout');
  }
  /** Calls to all nodes since the last call of this function. */
  function takeCalls(): { readonly all: number; readonly most: number } {
    const counts = [...perSecond.values()];
    perSecond.clear();
    return { all: counts.reduce((sum, count) => sum + count, 0), most: Math.max(0, ...counts) };
  }

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

  /** Repeats a call as a client does that is refused for a limit or that must wait. */
  async function patiently<T>(ask: () => Promise<T>): Promise<T> {
    for (let tries = 0; ; tries++) {
      try {
        return await ask();
      } catch (error) {
        if (tries > 20) throw error;
        await run.scheduler.sleep(2 * SECOND);
      }
    }
  }

  /** A request, its payment on the chain, and its confirm; true once the token or the listing exists. */
  async function buy(n: number): Promise<boolean> {
    const client = clientOf(n);
    const kind = n % 2 === 0 ? 'token' : 'listing';
    const { id, reference, feeLamports } = await patiently(() => run.open(kind, client, run.ask));
    const signature = run.pay(wallet(70_000 + n), BigInt(feeLamports), [reference]);
    const confirmed = await patiently(() => confirmPayment(api, { id, kind, signature, client }));
    return confirmed.status === 'completed';
  }

  const swap = verb((custody, n: number) =>
    custody.createSwap({ amountLamports: 100_000_000n + BigInt(n), client: clientOf(n) }),
  );

  const deposit = (n: number, hasAccount: boolean): string => run.deposit(wallet(80_000 + n), hasAccount);

  async function claim(signature: string, client: string): Promise<void> {
    const asked = { signature, asset: 'USDC', skipReward: false, client, waitMs: FINALITY_WAIT_MS } as const;
    const answer = await api.custody.claimDeposit(asked);
    if (answer.type === 'refused') throw refusalError(answer.refusal);
  }

  /** A deposit and its claim; true once the reward is on its way. A stranger may have claimed it for its sender. */
  async function earn(n: number): Promise<boolean> {
    const signature = deposit(n, true);
    const found = verb((custody, of: string) => custody.findClaim(of));
    return patiently(async () => {
      const refused = await claim(signature, clientOf(n)).catch((error: unknown) => error);
      const view = await found(signature);
      if (!view) throw refused;
      return view.payouts[0]?.status !== 'owed';
    });
  }

  /** Everything that `work` begins, for at most three minutes. */
  async function finish<T>(work: readonly Promise<T>[]): Promise<PromiseSettledResult<T>[]> {
    let ended: PromiseSettledResult<T>[] | undefined;
    void Promise.allSettled(work).then((results) => {
      ended = results;
    });
    await run.scheduler.run(run.scheduler.now() + 180 * SECOND, () => ended !== undefined);
    if (!ended) throw new Error('some work never ended');
    return ended;
  }

  let invented = 0;
  const confirmInvented = (id: string, client: string) =>
    confirmPayment(api, { id, kind: 'token', signature: depositSignature(1_000_000 + ++invented), client });
  const claimInvented = (client: string) => claim(depositSignature(2_000_000 + ++invented), client);

  /** Calls `act` at an even pace. */
  function repeatedly(seconds: number, perSecond: number, act: (n: number) => unknown): void {
    for (let n = 0; n < seconds * perSecond; n++)
      run.scheduler.after((n * SECOND) / perSecond, () => {
        void Promise.resolve(act(n)).catch(() => undefined);
      });
  }
  return {
    ...run,
    api,
    failures,
    takeCalls,
    buy,
    swap,
    earn,
    deposit,
    claim,
    finish,
    confirmInvented,
    claimInvented,
    repeatedly,
  };
}

/** The work of 25 people, which must complete. The longest time of each kind of work, in milliseconds. */
async function people(w: ReturnType<typeof setUp>): Promise<Readonly<Record<string, number>>> {
  const startedAt = w.scheduler.now();
  const longest: Record<string, number> = {};
  const each = (kind: string, count: number, act: (n: number) => Promise<boolean>) =>
    Array.from({ length: count }, async (_, n) => {
      const done = await act(n);
      longest[kind] = Math.max(longest[kind] ?? 0, w.scheduler.now() - startedAt);
      return done;
    });
  const results = await w.finish([
    ...each('sale', 10, w.buy),
    ...each('swap', 10, async (n) => (await w.swap(n)).type === 'created'),
    ...each('reward', 5, w.earn),
  ]);
  expect(results).toEqual(results.map(() => ({ status: 'fulfilled', value: true })));
  return longest;
}

it('a confirm call with an invented signature makes five calls to each node, and a claim makes one', async () => {
  const w = setUp();
  const { id } = await w.open('token', MALLORY);
  await w.pass(5 * SECOND);
  w.takeCalls();
  await w.finish([w.confirmInvented(id, MALLORY)]);
  const ofConfirm = w.takeCalls().all;
  await w.finish([w.claimInvented(MALLORY)]);
  // Two nodes, and five polls within 15 seconds.
  expect([ofConfirm, w.takeCalls().all]).toEqual([10, 2]);
});

it('repeats of a known confirm call, claim and lookup within 30 seconds do not call a node', async () => {
  const w = setUp();
  w.setReserveAtoms(0n);
  const { id, reference, feeLamports } = await w.open('token', clientOf(1));
  const paid = w.pay(wallet(70_000), BigInt(feeLamports), [reference]);
  const unrelated = w.pay(wallet(70_001), 30_000n, []);
  // Its reward stays owed, because the reserve has none.
  const deposit = w.deposit(1, true);
  await w.pass(15 * SECOND);
  const ask = (by: string) =>
    w.finish<unknown>([
      ...[paid, unrelated].map((signature) =>
        confirmPayment(w.api, { id, kind: 'token', signature, client: by }),
      ),
      w.claim(deposit, by),
      w.claim(deposit, by),
    ]);
  const first = await ask(clientOf(1));
  expect(first[0]).toMatchObject({ status: 'fulfilled', value: { status: 'completed' } });
  // The first repeat of an owed claim reads the accounts of its recipient.
  await ask(clientOf(2));
  await w.pass(SECOND);
  w.takeCalls();
  for (let n = 0; n < 20; n++) expect((await ask(strangerOf(n)))[0]).toEqual(first[0]);
  expect(w.takeCalls().all).toBe(0);
});

/** One of many free calls. @param id an open invoice @param n number of the call */
type Flood = (w: ReturnType<typeof setUp>, id: string, n: number) => unknown;

/** Names somebody else's transaction to a claim call and to a confirm call in turn. */
const nameOf =
  (
    signatureOf: (w: ReturnType<typeof setUp>, n: number) => string | undefined,
    clientOf = strangerOf,
  ): Flood =>
  (w, id, n) => {
    const signature = signatureOf(w, n);
    if (signature === undefined) return;
    if (n % 2 === 0) return w.claim(signature, clientOf(n));
    return confirmPayment(w.api, { id, kind: 'token', signature, client: clientOf(n) });
  };
const newest = (w: ReturnType<typeof setUp>, at: number) =>
  w.ledger.entries.at(-1 - at)?.transaction.signature;

const FLOODS: Readonly<Record<string, Flood>> = {
  'confirms of invented signatures': (w, id, n) => w.confirmInvented(id, strangerOf(n)),
  'claims of invented signatures': (w, _, n) => w.claimInvented(strangerOf(n)),
  'reads of an open invoice': (w, id) => w.ask((custody) => custody.findRequest(id)),
  'new invoices': (w, _, n) => w.open('token', strangerOf(n), w.ask),
  'estimates of new amounts': (w, _, n) =>
    w.ask((custody) =>
      custody.estimateSwap({ amountLamports: 50_000_000n + BigInt(n), client: strangerOf(n) }),
    ),
  'reads of the bounds of a swap': (w) => w.ask((custody) => custody.swapRoom()),
  'confirms and claims of transactions of others': nameOf(
    ({ ledger }, n) => ledger.entries[n % ledger.entries.length]?.transaction.signature,
  ),
  'confirms and claims of transactions that have just landed': nameOf((w, n) => {
    w.credit(BigInt(1_000 + n));
    return newest(w, n % 300);
  }),
  'confirms and claims of the newest transactions by one network': nameOf(
    (w, n) => newest(w, n % 30),
    () => MALLORY,
  ),
  'confirms and claims of small payments to the treasury': nameOf((w, n) => {
    const paid = [...w.truth.payments.keys()];
    return n % 8 === 0 ? w.pay(wallet(60_000), 20_000n + BigInt(n), []) : paid[n % paid.length];
  }),
};

it.each(
  Object.entries(FLOODS).flatMap(
    ([name, act]) =>
      [
        [name, 'two prompt nodes', undefined, act],
        [name, 'one hanging node of three', 'node-1', act],
      ] as const,
  ),
)(
  'ten swaps, ten sales and five rewards complete within twice their time alone during a flood of %s, with %s',
  { tags: ['deep'], timeout: 120_000 },
  async (_name, _nodes, hanging, act) => {
    const quiet = setUp(hanging);
    await quiet.pass(10 * SECOND);
    const alone = await people(quiet);
    const w = setUp(hanging);
    const { id } = await w.open('token', MALLORY);
    for (let n = 0; n < 400; n++) w.credit(BigInt(n + 1));
    await w.pass(10 * SECOND);
    w.repeatedly(60, 40, (n) => act(w, id, n));
    await w.pass(20 * SECOND);
    for (const [kind, ms] of Object.entries(await people(w)))
      expect([kind, ms <= 2 * (alone[kind] ?? 0), ms]).toEqual([kind, true, ms]);
  },
);

it("1,200 dust payments with references and 600 repeated claims a minute leave the service three quarters of each node's rate", {
  tags: ['deep'],
  timeout: 120_000,
}, async () => {
  const w = setUp();
  const { id } = await w.open('token', MALLORY);
  // Without an account of its owner, and with nothing to open one, a reward stays owed.
  w.setReserveAtoms(0n);
  const owed = Array.from({ length: 50 }, (_, n) => w.deposit(n, false));
  await w.pass(10 * SECOND);
  for (const [n, signature] of owed.entries()) await w.finish([w.claim(signature, clientOf(n))]);
  await w.pass(60 * SECOND);
  w.takeCalls();
  await w.pass(60 * SECOND);
  const quiet = w.takeCalls();
  w.repeatedly(60, 20, (n) => {
    const signature = w.pay(wallet(60_000), 20_000n + BigInt(n), []);
    w.repeatedly(6, 1, () => confirmPayment(w.api, { id, kind: 'token', signature, client: strangerOf(n) }));
  });
  w.repeatedly(60, 10, (n) => w.claim(owed[n % owed.length] ?? '', strangerOf(n)));
  await w.pass(60 * SECOND);
  const flooded = w.takeCalls();
  // Of both nodes; the own work of one second is at most that of the busiest quiet one.
  expect(flooded.all - quiet.all).toBeLessThanOrEqual(2 * 60 * CALLERS);
  expect(flooded.most).toBeLessThanOrEqual(CALLERS + quiet.most);
  expect(w.happened).not.toHaveProperty('requests that node-1 refused for its rate');
  // A search that waits for its share of the calls has not failed.
  expect(w.failures).toEqual([]);
});
