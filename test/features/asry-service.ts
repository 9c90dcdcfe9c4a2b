/**
 * The HTTP routes of claims over a custodian, a chain and a D1 whose results a test sets, with the test's
 * clock.
 */

import { base58 } from '@scure/base';
import { AppError } from '../../src/core/errors.ts';
import { stringifyJson } from '../../src/core/json.ts';
import type { AsryEpochView, ClaimAnswer, ClaimRequest, ClaimView } from '../../src/custody/api.ts';
import { createAsryMirror } from '../../src/features/asry/asry-store.ts';
import { type AsryDeps, asryRoutes } from '../../src/features/asry/routes.ts';
import { Cache } from '../../src/http/cached.ts';
import { openD1 } from '../kit/d1.ts';
import { routerOver } from '../kit/router.ts';

export const SIGNATURE = base58.encode(new Uint8Array(64).fill(7));
export const PAYOUT = base58.encode(new Uint8Array(64).fill(8));
export const SENDER = base58.encode(new Uint8Array(32).fill(9));
export const MINT = base58.encode(new Uint8Array(32).fill(10));
export const NOW = 1_800_000_000_000;

export const view: ClaimView = {
  ...{ signature: SIGNATURE, asset: 'USDC', sender: SENDER, slot: 123n, blockTime: 1_799_999_000, epoch: 3 },
  ...{ creditedAtoms: 100_000_000n, feeBps: 5, feeAtoms: 50_000n, netAtoms: 99_950_000n },
  ...{ entitlementAtoms: 1_109_323_590_079n, remainingAtoms: 0n, claimedAtMs: NOW - 5_000 },
  payouts: [
    {
      ...{ part: 1, status: 'sent', atoms: 1_109_323_590_079n, signature: PAYOUT, reason: null },
      ...{ createdAtMs: NOW - 5_000, paidAtMs: null },
    },
  ],
};

/** This claim with one payout, as D1 holds it. */
export const claimJournal = (payout: object, change: Partial<ClaimView> = {}): string => {
  const started = { part: 1, atoms: '8', reason: null, operationId: null, createdAt: NOW, paidAt: null };
  return stringifyJson({ claim: { ...view, ...change }, payouts: [{ ...started, ...payout }] });
};

export const epoch: AsryEpochView = {
  ...{ number: 3, startsAt: NOW / 1_000 - 1_000, endsAt: NOW / 1_000 + 1_000, claims: 1, decimals: 9 },
  ...{
    capAtoms: 10n ** 15n,
    depthAtoms: 9n * 10n ** 10n,
    depositsAtoms: 99_950_000n,
    price: 250_000_000_000n,
  },
  ...{ entitledAtoms: 1_109_323_590_079n, paidAtoms: 1n },
  ...{ nextUnitMicroAtoms: 11_086_459_000n, nextDollarAtoms: 11_086_335_823n },
};

export const TREASURY = '7dYB1c7akmzEoLwdmh1NXV9gN4zvhc2oWmxJKTGSJ22k';

export type Service = ReturnType<typeof openD1> & {
  clock: number;
  asked: ClaimRequest[];
  /** The custodian's results, one per call; the last one repeats. */
  answers: ClaimAnswer[];
  found: ClaimView | null;
  epochs: AsryEpochView[];
  configured: boolean;
  memory: Cache;
  /** Atoms of the cold account's allowance, or the failure of its read; absent without such an account. */
  allowance?: bigint | Error;
};

export function newService(): Service {
  const service: Service = {
    ...{ clock: NOW, asked: [], found: null, epochs: [epoch], configured: true },
    answers: [{ type: 'claimed', replayed: false, claim: view, part: 1 }],
    memory: new Cache({ now: () => service.clock, defer: () => undefined }),
    ...openD1(),
  };
  return service;
}

const next = <T>(list: readonly T[], index: number): T => {
  const item = list[Math.min(index, list.length - 1)];
  if (item === undefined) throw new Error('the list of results is empty');
  return item;
};

function depsOf(service: Service): AsryDeps {
  async function readAllowance() {
    if (typeof service.allowance === 'bigint') return service.allowance;
    throw service.allowance;
  }
  return {
    custody: {
      findClaim: async () => service.found,
      claimDeposit: async (request) => next(service.answers, service.asked.push(request) - 1),
      listAsryEpochs: async () => service.epochs,
    },
    claims: createAsryMirror(service.d1),
    ...{ contact: undefined, now: () => service.clock, memory: service.memory, treasuryAddress: TREASURY },
    depositMints: { USDC: 'usdc-mint', USDT: 'usdt-mint' },
    ...('allowance' in service && { readAllowance }),
    requireAsry() {
      if (service.configured) return MINT;
      const details = { variables: ['ASRY_MINT_ADDRESS'] };
      throw new AppError('NOT_CONFIGURED', 'ASRY_MINT_ADDRESS', { details });
    },
  };
}

export function asryApp(current: () => Service) {
  return routerOver(
    () => ({ asry: depsOf(current()) }),
    (app) => app.route('/api', asryRoutes),
  );
}
