import { describe, expect, it } from 'vitest';
import type { ClaimAnswer, PaymentConfirmed, RequestView } from '../../../src/custody/api.ts';
import { cases } from '../../cases.ts';
import { wallet } from '../../kit/addresses.ts';
import { createRequestSimulation, type RequestSimulation } from './request-simulation.ts';

const PURPOSES = ['invoice', 'second invoice', 'listing', 'claim'] as const;
type Purpose = (typeof PURPOSES)[number];
const PAIRS = PURPOSES.flatMap((first) =>
  PURPOSES.filter((second) => second !== first).map((second) => [first, second] as const),
);
const TRIALS = cases(1_000, 120);
const SECOND = 1_000;

type Answer = PaymentConfirmed | ClaimAnswer | undefined;
const codeOf = (answer: Answer): string =>
  !answer ? 'lost' : answer.type === 'refused' ? answer.refusal.code : answer.type;

/** The purpose for which a caller uses a transaction. */
type Party = { readonly purpose: Purpose; readonly request: RequestView | undefined };

async function party(run: RequestSimulation, purpose: Purpose): Promise<Party> {
  if (purpose === 'claim') return { purpose, request: undefined };
  return { purpose, request: await run.open(purpose === 'listing' ? 'listing' : 'token') };
}

const ask =
  (signature: string, { request }: Party) =>
  (custody: Parameters<Parameters<RequestSimulation['call']>[0]>[0]): Promise<Answer> =>
    request
      ? custody.confirmPayment({ id: request.id, kind: request.kind, signature, client: 'ip', waitMs: 5_000 })
      : custody.claimDeposit({ signature, asset: 'USDC', skipReward: false, client: 'ip' });

/** Two purposes compete for one payment; returns the winner and the result of the other. */
async function trial(seed: number, [first, second]: readonly [Purpose, Purpose]) {
  const run = createRequestSimulation({
    seed,
    crashes: seed % 4,
    replacements: seed % 3 === 0 ? 1 : 0,
    wild: true,
  });
  const { random } = run;
  const parties = [await party(run, first), await party(run, second)];
  const [a, b] = parties.map(({ request }) => request);
  const bound = a && b ? random.pick([[a], [b], [a, b], []]) : [a ?? b].filter((each) => each !== undefined);
  const priced = random.pick([a, b].filter((each) => each !== undefined)) ?? a;
  const usdc = parties.some(({ request }) => !request) ? 50_000_000n : 0n;
  const signature = run.pay({
    payer: wallet(40 + seed),
    lamports: BigInt(priced?.feeLamports ?? 0),
    references: random.chance(0.7) ? bound.map(({ reference }) => reference) : [],
    usdc,
  });
  const start = run.scheduler.now();
  const parallel = random.chance(0.5);
  const final = random.chance(0.5) ? 0 : 4 * SECOND;
  for (const [index, each] of parties.entries()) {
    for (let repeat = 0; repeat < 3; repeat++) {
      const when = parallel ? random.between(0, 300) : index * 6 * SECOND + repeat * 500;
      run.at(start + final + when, ask(signature, each), () => undefined);
    }
  }
  await run.play(start + 20 * SECOND);
  const given: Answer[] = [];
  for (const each of parties) given.push(await run.call(ask(signature, each)));
  return { run, parties, signature, given };
}

const KIND: Record<Purpose, string> = {
  invoice: 'token',
  'second invoice': 'token',
  listing: 'listing',
  claim: 'asry',
};

describe.each(PAIRS)(
  'one transaction for %s and %s, called in any order, with crashes and lost answers of D1',
  (first, second) => {
    it('serves one of them, and the response to the other names it', { tags: ['scaled'] }, async () => {
      const share = Math.ceil(TRIALS / PAIRS.length);
      const pair = PAIRS.findIndex(([a, b]) => a === first && b === second);
      let served = 0;
      for (let n = 0; n < share; n++) {
        const { run, parties, signature, given } = await trial(1 + pair * share + n, [first, second]);
        const where = `seed ${1 + pair * share + n}`;
        const benefits = [
          ...run
            .requests()
            .filter(({ parts }) => parts.some((part) => part.signature === signature))
            .map(({ id }) => id),
          ...(run.claims() > 0 ? ['claim'] : []),
        ];
        expect(benefits.length, where).toBeLessThanOrEqual(1);
        expect(run.landed().length, where).toBeLessThanOrEqual(1);
        expect(run.errors, where).toEqual([]);
        const winner = parties.findIndex(({ request }) => benefits[0] === (request?.id ?? 'claim'));
        if (winner >= 0) {
          served++;
          const loser = given[1 - winner];
          expect(codeOf(loser), where).toBe(
            parties[1 - winner]?.request ? 'PAYMENT_ALREADY_USED' : 'DEPOSIT_ALREADY_USED',
          );
          expect(loser?.type === 'refused' && loser.refusal.details, where).toEqual({
            purpose: KIND[parties[winner]?.purpose ?? 'claim'],
          });
          expect(run.consumerOf(`payment:${signature}`), where).toMatch(
            new RegExp(`^${KIND[parties[winner]?.purpose ?? 'claim']}:`),
          );
        }
        run.release();
      }
      expect(served).toBeGreaterThan(share / 2);
    });
  },
);
