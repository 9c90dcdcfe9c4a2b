/** Scenes of claims as text: deposits, options of the simulation, and steps. */
import { expect } from 'vitest';
import type { ClaimAnswer, ClaimRequest, ClaimView } from '../../../src/custody/api.ts';
import type { OpsCommand } from '../../../src/custody/operator-api.ts';
import { depositSignature, wallet } from '../../kit/addresses.ts';
import { msOf, playSteps } from '../../kit/scenes.ts';
import { createAsrySimulation, type SimulatedDeposit, type SimulationOptions } from './claim-simulation.ts';

export const DOLLAR = 1_000_000n;
let number = 0;
/** A new deposit by a new sender; a minute after the first epoch's start. */
export const deposit = (atoms: bigint, more: Partial<SimulatedDeposit> = {}): SimulatedDeposit => {
  number += 1;
  const [signature, sender] = [depositSignature(50_000 + number), wallet(50_000 + number)];
  return { signature, sender, asset: 'USDC', atoms, at: 60, ...more };
};

/** Words such as `at:0` by their names; words without a colon are true. */
export const wordsOf = (words: readonly string[]): Record<string, string | undefined> =>
  Object.fromEntries(words.map((word) => [word.split(':')[0], word.slice(word.indexOf(':') + 1)]));

/** `a 20, b 0.5 USDT at:-1 by:a`: dollars, then asset, seconds from the start of the first epoch, and sender. */
function depositsOf(text: string): Map<string, SimulatedDeposit> {
  const found = new Map<string, SimulatedDeposit>();
  for (const each of text.split(',')) {
    const [name = '', dollars = '', ...more] = each.trim().split(' ');
    const { USDT, at, by } = wordsOf(more);
    const sender = found.get(by ?? '')?.sender;
    const one = deposit(BigInt(Math.round(Number(dollars) * 1e6)), {
      ...(USDT && { asset: 'USDT' }),
      ...(at && { at: Number(at) }),
      ...(sender && { sender }),
    });
    found.set(name, one);
  }
  return found;
}

/** `opened:no rentDay:0 cap:0`: members of the simulation's options, or of the reward's parameters. */
function optionsOf(text: string): Partial<SimulationOptions> {
  const { opened, maxAgeSeconds, epochSeconds, cap, price, ...sums } = wordsOf(
    text.split(' ').filter(Boolean),
  );
  return {
    ...(opened && { opened: opened === 'yes' }),
    program: {
      ...(maxAgeSeconds && { maxAgeSeconds: Number(maxAgeSeconds) }),
      ...(epochSeconds && { epochSeconds: Number(epochSeconds) }),
      ...(cap && { cap: BigInt(cap) }),
      ...(price && { price: BigInt(price) }),
    },
    ...Object.fromEntries(Object.entries(sums).map(([name, sum]) => [name, BigInt(sum ?? 0)])),
  };
}

type PayoutView = ClaimView['payouts'][number];
const orNone = (texts: readonly unknown[] = []): string => (texts.length === 0 ? 'none' : texts.join(', '));
/** A payout is pending until a quorum of nodes has seen the blockhash, then sent. */
const shown = ({ status, reason, paidAtMs }: PayoutView): string =>
  status === 'owed' ? `owed ${reason}` : paidAtMs === null ? 'on its way' : 'paid';

/** Runs the steps. After ` = `, a step has what it returns; of a refusal, its code and any of its details. */
export async function playClaims(deposits: string, options: string, steps: string): Promise<void> {
  const named = depositsOf(deposits);
  const answers = new Map<string, ClaimAnswer | undefined>();
  let failing = 0;
  let attempts = 0;
  let down = 0;
  /** The first nodes fail. */
  const see = (node: number): undefined => {
    if (node < down) throw new Error('down');
  };
  const all = { deposits: [...named.values()], failing: () => failing, see, ...optionsOf(options) };
  const run = createAsrySimulation(all);
  const of = (name: string): SimulatedDeposit => {
    const found = named.get(name);
    if (!found) throw new Error(`no deposit ${name}`);
    return found;
  };
  const claimOf = (name: string) => {
    const answer = answers.get(name);
    return answer?.type === 'refused' ? answer.claim : answer?.claim;
  };
  /** Words: `asset:X`, `expects:ATOMS`, `micro:USD`, `skip`, `key:HASH-BODY`, `times:N`. */
  async function claim(name: string, ...words: string[]): Promise<string> {
    const { asset, expects, micro, skip, key, times = '1' } = wordsOf(words);
    const [keyHash = '', bodyHash = ''] = key?.split('-') ?? [];
    const request: Partial<ClaimRequest> & { signature: string } = {
      signature: of(name).signature,
      asset: (asset as 'USDC' | undefined) ?? of(name).asset,
      skipReward: skip !== undefined,
      ...(expects && { expectedAtoms: BigInt(expects) }),
      ...(micro && { rewardMicroUsd: BigInt(micro) }),
      ...(key && { key: { keyHash, bodyHash } }),
    };
    for (let call = 0; call < Number(times); call++) answers.set(name, await run.ask(request));
    const answer = answers.get(name);
    if (answer?.type === 'claimed' && answer.replayed) return 'claimed again';
    if (answer?.type !== 'refused') return answer?.type ?? 'lost';
    const { code, details = {} } = answer.refusal;
    return [code, ...Object.entries(details).map((fact) => fact.join(':'))].join(' ');
  }
  const verbs = {
    claim,
    take: (name: string, purpose: string) => run.take(`payment:${of(name).signature}`, purpose),
    wait: (time: string) => run.pass(msOf(time)),
    skip: (time: string) => run.skip(msOf(time)),
    fail: (share: string) => {
      failing = Number(share);
    },
    'nodes-down': (count: string) => {
      down = Number(count);
    },
    price: (atoms: string) => run.reconfigure({ price: BigInt(atoms) }),
    epochs: () => run.epochViews(),
    open: (name: string) => run.openAccount(of(name).sender),
    close: (name: string) => run.closeAccount(of(name).sender),
    fund: (atoms: string) => run.setReserveAtoms(BigInt(atoms)),
    credit: (lamports: string) => run.credit(BigInt(lamports)),
    ops: (name: string) => run.ops(name as OpsCommand['name']),
    claims: () => run.claims().length,
    left: (name: string) => claimOf(name)?.remainingAtoms,
    part: (name: string) => orNone(claimOf(name)?.payouts.slice(-1).map(shown)),
    last: (name: string) => claimOf(name)?.payouts.at(-1)?.atoms,
    consumer: (name: string) => run.usedBy(`payment:${of(name).signature}`),
    /** The deposits whose senders were paid, once for each payment. */
    landed() {
      const paid = run.landed().map(({ memo }) => memo?.split(':')[1]);
      return orNone(
        [...named].flatMap(([name, { signature }]) =>
          paid.flatMap((each) => (each === signature ? name : [])),
        ),
      );
    },
    /** Whether the payments to a sender add up to the whole reward. */
    whole(name: string) {
      const { signature } = of(name);
      const sum = run
        .landed()
        .reduce((all, { atoms, memo }) => (memo?.includes(signature) ? all + atoms : all), 0n);
      return sum === claimOf(name)?.entitlementAtoms;
    },
    opens: () => orNone(run.landed().map(({ createsAccount }) => (createsAccount ? 'yes' : 'no'))),
    /** Whether an operation was signed since the last look. */
    attempts() {
      const before = attempts;
      attempts = run.operations().filter(({ signing }) => signing !== null).length;
      return attempts === before ? 'as before' : 'more';
    },
    /** What payouts that failed on the chain have cost. */
    costs: () =>
      orNone(run.operations().flatMap(({ detail, cost }) => (detail === 'rejected' ? [cost] : []))),
    payouts: () => orNone(run.payouts().map(({ state }) => state)),
    /** Net atoms of earlier deposits in the epoch. */
    in: () => orNone(run.claims().map(({ epoch }) => epoch)),
    before: () => orNone(run.claims().map(({ before }) => before)),
  };
  await playSteps(steps, verbs, (actual, expected, step) => {
    const [code = '', ...facts] = actual.split(' ');
    const outcome = [code, ...facts.filter((fact) => expected.split(' ').includes(fact))].join(' ');
    expect(step.startsWith('claim ') ? outcome : actual, step).toBe(expected);
  });
}
