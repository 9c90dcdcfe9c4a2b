import { beforeEach, describe, expect, it } from 'vitest';
import { AppError } from '../../src/core/errors.ts';
import type { SwapRoom } from '../../src/custody/api.ts';
import { eachScene } from '../kit/scenes.ts';
import { newService, openRoom, type Service, SOL, swapApp } from './swap-service.ts';

let service: Service;
beforeEach(() => {
  service = newService();
});
const call = swapApp(() => service);
const read = async (path: string) => {
  const response = await call(path);
  return { status: response.status, headers: response.headers, body: await response.json() };
};
const TOO_SMALL = {
  ...({ code: 'AMOUNT_TOO_SMALL', message: 'The smallest swap is 0.25 SOL now.' } as const),
  details: { reason: 'amount_too_low', minAmountLamports: '250000000', minimumSource: 'bridge' },
};
const PAUSED = {
  ...({ code: 'SWAPS_PAUSED', message: 'Swaps are paused.', retryAfterSeconds: 300 } as const),
  details: { reason: 'operator' },
};

describe('an estimate', () => {
  it('an estimate has the fields of the contract, and states that a create call would be accepted', async () => {
    const { status, headers, body } = await read('/api/swap/estimate?amountSol=0.5');
    expect([status, headers.get('cache-control')]).toEqual([200, 'no-store']);
    expect(body).toEqual({
      ...{
        amountSol: 0.5,
        amountLamports: '500000000',
        estimatedBtcSats: 62_187,
        estimatedSatoshis: '62187',
      },
      ...{ minimumSatoshis: '61875', etaSeconds: 465, creatable: true, source: 'near-intents' },
      ...{ minAmountLamports: null, minimumSource: null, as_of: '2026-09-21T14:13:20.000Z', stale: false },
    });
    expect(service.estimated).toEqual([{ amountLamports: SOL / 2n, client: 'local' }]);
  });

  it('an estimate shows the error body that a create call would return', async () => {
    if (service.estimate.type === 'quoted') service.estimate = { ...service.estimate, refusal: PAUSED };
    service.answer = { type: 'refused', replayed: false, refusal: PAUSED };
    const headers = { 'content-type': 'application/json' };
    const created = await call('/api/swap/create', { method: 'POST', body: '{"amountSol":0.5}', headers });
    const { request_id: _id, ...problem } = (await created.json()) as Record<string, unknown>;
    const { status, body } = await read('/api/swap/estimate?amountSol=0.5');
    expect([status, body]).toMatchObject([200, { creatable: false, ...problem, estimatedBtcSats: 62_187 }]);
  });

  it('an estimate without figures shows the error that a create call would return, with creatable: false', async () => {
    service.estimate = { type: 'unquoted', refusal: TOO_SMALL, isOfCreate: true };
    const { code: error_code, message: error, details } = TOO_SMALL;
    const body = { creatable: false, error_code, error, details };
    expect(await read('/api/swap/estimate?amountSol=0.1')).toMatchObject({ status: 400, body });
  });

  it('a used-up share of estimates does not affect create calls', async () => {
    const refusal = { code: 'RATE_LIMITED', message: 'x', retryAfterSeconds: 7 } as const;
    service.estimate = { type: 'unquoted', refusal, isOfCreate: false };
    const { status, body } = await read('/api/swap/estimate?amountSol=0.1');
    expect([status, body]).toMatchObject([429, { error_code: 'RATE_LIMITED', retry_after_s: 7 }]);
    expect(body).not.toHaveProperty('creatable');
  });

  it('a refusal of the bridge is not a failed upstream', async () => {
    const refusal = { code: 'QUOTE_REFUSED', status: 503, message: 'x', retryAfterSeconds: 60 } as const;
    service.estimate = { type: 'unquoted', refusal, isOfCreate: true };
    expect(await read('/api/swap/estimate?amountSol=1')).toMatchObject({ status: 503 });
  });

  const invalid = ['', '=', '=0', '=-1', '=0.0009', '=1e-9', '=abc', '=1,5', '=%201', `=${'9'.repeat(999)}`];
  it.each(invalid.map((text) => (text === '' ? '' : `?amountSol${text}`)))(
    'an estimate with the query %.40j returns 400',
    async (query) => {
      expect(await read(`/api/swap/estimate${query}`)).toMatchObject({ status: 400 });
      expect(service.estimated).toEqual([]);
    },
  );
});

describe('the bounds of a swap', () => {
  const bounds = (room: () => Promise<SwapRoom>) => {
    service.room = room;
    return read('/api/swap/min');
  };

  it('the bounds of a swap show the smallest swap with its source, and the time of the oldest figure', async () => {
    expect((await read('/api/swap/min')).body).toEqual({
      ...{ minAmountSol: 0.25, minAmountLamports: '250000000', minimumSource: 'cost' },
      ...{ balanceSol: 10, balanceLamports: '10000000000', maxAmountSol: 2, maxAmountLamports: '2000000000' },
      ...{ available: true, reason: null, nextAvailableAt: null },
      ...{ as_of: '2026-09-21T14:13:10.000Z', stale: false },
    });
  });

  /** The refusals are those of the custodian and of its last read of the minimum, which is 0.25 SOL. */
  eachScene(`
    10000000000 | 250000000 |                    |                    | available
    10000000000 | 249999999 |                    |                    | SWAP_LIMIT_REACHED
    10000000000 | 0         | SWAP_LIMIT_REACHED |                    | SWAP_LIMIT_REACHED
    null        | 0         | UPSTREAM_FAILED    |                    | UPSTREAM_FAILED
    10000000000 | 250000000 |                    | QUOTE_REFUSED      | QUOTE_REFUSED, stale
    10000000000 | 250000000 |                    | QUOTE_BUDGET_SPENT | available, stale
  `)('with a balance of %s, a maximum of %s, the refusals "%s" and "%s", a swap is: %s', async (...scene) => {
    const [balance = '', maximum = '', refused, outdated, shown] = scene;
    const nextAvailableAt = '2026-11-20T11:00:00.000Z';
    const refusalOf = (code?: string) => (code ? { code, message: 'x', details: { nextAvailableAt } } : null);
    const room = {
      balanceLamports: balance === 'null' ? null : BigInt(balance),
      ...{ maximumLamports: BigInt(maximum), refusal: refusalOf(refused) },
      minimum: { ...openRoom.minimum, refusal: refusalOf(outdated) },
    } as SwapRoom;
    const { body } = (await bounds(async () => room)) as { body: Record<string, unknown> };
    const sol = { balanceSol: balance === 'null' ? null : 10, maxAmountSol: Number(maximum) / 1e9 };
    const next = refused ? nextAvailableAt : null;
    expect(body).toMatchObject({ ...sol, minAmountSol: 0.25, nextAvailableAt: next });
    const isAvailable = body.available === true && body.reason === null;
    expect([isAvailable ? 'available' : body.reason, body.stale && 'stale'].filter(Boolean).join(', ')).toBe(
      shown,
    );
  });

  const unread = async () => ({ ...openRoom, minimum: { type: 'unknown', refusal: PAUSED } as const });
  it.each<[string, () => Promise<SwapRoom>]>([
    ['the minimum was never read', unread],
    ['the custodian fails', () => Promise.reject(new AppError('CUSTODIAN_UNAVAILABLE', 'x'))],
  ])('the bounds of a swap are an error, never a default, while %s', async (_name, room) => {
    expect(await bounds(room)).toMatchObject({ status: 503 });
  });
});
