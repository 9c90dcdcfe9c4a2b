/** How many files a reader of a verb meets: those of `src` of which a function runs before the custodian responds. */
import { Session } from 'node:inspector/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Custodian } from '../../src/custody/custodian.ts';
import { wallet } from '../kit/addresses.ts';
import { simulateCustodian } from '../kit/simulated-custodian.ts';

type Simulated = ReturnType<typeof simulateCustodian>;

const session = new Session();
beforeAll(async () => {
  session.connect();
  await session.post('Debugger.enable');
  await session.post('Profiler.enable');
  await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
});
afterAll(async () => {
  await session.post('Profiler.stopPreciseCoverage');
  session.disconnect();
});

/** Vitest reads each export through a function like this, so the use of a constant runs one. */
const EXPORTED = /^\(\) => \{ try \{ return \w+ \} catch \{\} \}$/;

/** What composes the object, and the clients of its upstreams, whose calls wait in `admission`. */
const BELOW = /^(?:wiring|bridges|providers(?!\/admission))\//;

/** Files of the custodian of which a function has run since the last call. */
async function filesEntered(): Promise<string[]> {
  const { result } = await session.post('Profiler.takePreciseCoverage');
  const files: string[] = [];
  for (const { url, scriptId, functions } of result) {
    const [, file] = /(?<!node_modules.*)\/src\/(.*)$/.exec(url) ?? [];
    if (file === undefined || BELOW.test(file)) continue;
    const { scriptSource } = await session.post('Debugger.getScriptSource', { scriptId });
    const hasRun = functions.some(({ ranges: [whole] }) =>
      Boolean(whole?.count && !EXPORTED.test(scriptSource.slice(whole.startOffset, whole.endOffset))),
    );
    if (hasRun) files.push(file);
  }
  return files;
}

const VERBS = {
  create: async () => (custody: Custodian) =>
    custody.createSwap({ amountLamports: 500_000_000n, client: 'ip' }),
  async confirm(w: Simulated) {
    const { id, reference, feeLamports } = await w.open('token');
    const signature = w.pay(wallet(1), BigInt(feeLamports), [reference]);
    return (custody: Custodian) =>
      custody.confirmPayment({ id, kind: 'token', signature, client: 'ip', waitMs: 20_000 });
  },
  async claim(w: Simulated) {
    const signature = w.deposit(wallet(2), true);
    return (custody: Custodian) =>
      custody.claimDeposit({ signature, asset: 'USDC', skipReward: false, client: 'ip', waitMs: 20_000 });
  },
};

// The ceilings may only fall.
it.each([
  ['create', 33],
  ['confirm', 40],
  ['claim', 39],
] as const)('a %s runs through at most %i files of the custodian', async (verb, ceiling) => {
  const w = simulateCustodian({});
  const work = await VERBS[verb](w);
  await w.pass(200);
  // Opens the object.
  await w.call((custody) => custody.signingState());
  await filesEntered();
  await w.call<unknown>(work);
  expect((await filesEntered()).length).toBeLessThanOrEqual(ceiling);
});
