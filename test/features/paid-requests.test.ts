/** Invoices and listing requests over HTTP: reads while parts of the service are down, and confirms that wait. */

import { describe, expect, it } from 'vitest';
import type { ErrorCode } from '../../src/core/errors.ts';
import { AppError } from '../../src/core/errors.ts';
import type { ConfirmRequest, PaymentConfirmed, RequestView } from '../../src/custody/api.ts';
import { type InvoiceDeps, invoiceRoutes } from '../../src/features/tokens/invoice-routes.ts';
import { type ListingDeps, listingRoutes } from '../../src/features/tokens/listing-routes.ts';
import { Cache } from '../../src/http/cached.ts';
import { createWaiting } from '../../src/http/wait.ts';
import { wallet } from '../kit/addresses.ts';
import { routerOver } from '../kit/router.ts';
import { eachRow } from '../kit/scenes.ts';
import { invoiceDeps, newTokenService, viewOf } from './token-service.ts';

const view = (over: Partial<RequestView> = {}): RequestView => ({
  ...viewOf({ kind: 'token', subject: { decimals: 9, symbol: 'MCAT' }, baseFeeLamports: 9n, client: '' }),
  ...over,
});

type Parts = {
  mirrored?: RequestView;
  databaseDown?: boolean;
  known?: RequestView | null;
  /** Details of the known request, in order; the last one repeats. */
  details?: readonly string[];
  custodianDown?: boolean;
  /** Of the custodian, in order; the last one repeats. */
  answers?: readonly PaymentConfirmed[];
  asked?: ConfirmRequest[];
  clock?: { ms: number };
  /** Times at which the custodian and the chain were read. */
  custodianReads?: number[];
  chainReads?: number[];
};

const next = <T>(items: T[]): T | undefined => (items.length > 1 ? items.shift() : items[0]);

function service(parts: Parts) {
  const { clock = { ms: 0 } } = parts;
  const answers = [...(parts.answers ?? [])];
  const details = [...(parts.details ?? [])];
  const base = invoiceDeps(newTokenService());
  const now = () => clock.ms;
  const sleep = async (ms: number) => {
    clock.ms += ms;
  };
  const tokens = {
    invoice: async () => {
      if (parts.databaseDown) throw new Error('D1_ERROR: down');
      const request = await parts.mirrored;
      return request && { request, bornAt: null };
    },
    ...{ byId: async () => undefined, byMint: async () => undefined, list: async () => [] },
    ...{ listedMints: async () => [], ofCreator: async () => [], listings: async () => [] },
  };
  const newCache = () => new Cache({ now, defer: () => undefined });
  const custody: InvoiceDeps['custody'] = {
    ...base.custody,
    findRequest: async () => {
      parts.custodianReads?.push(now());
      if (parts.custodianDown) throw new AppError('CUSTODIAN_UNAVAILABLE', 'The custodian does not respond.');
      const detail = next(details);
      return detail ? view({ detail }) : (parts.known ?? null);
    },
    confirmPayment: async (request) => {
      parts.asked?.push(request);
      return next(answers) ?? { type: 'refused', refusal: { code: 'NOT_FOUND', message: '' } };
    },
  };
  const deps: InvoiceDeps & ListingDeps = {
    ...base,
    waiting: createWaiting({ memory: newCache(), now, sleep }),
    custody,
    tokens,
    search: { search: async () => ({ tokens: [], next: null }) },
    facts: { memory: { readMany: async () => new Map() }, readAccounts: async () => ({ accounts: [] }) },
    readAccounts: async () => {
      parts.chainReads?.push(now());
      return { accounts: [null, null] };
    },
    memory: newCache(),
    listingFee: 1n,
  };
  const request = routerOver(
    () => ({ tokens: deps }),
    (app) => app.route('/api', invoiceRoutes).route('/api', listingRoutes),
  );
  return async (path: string, body?: unknown, prefer?: string, bookmark?: string) => {
    const headers = {
      'content-type': 'application/json',
      ...(prefer !== undefined && { prefer }),
      ...(bookmark !== undefined && { 'x-data-bookmark': bookmark }),
    };
    const init = body === undefined ? { headers } : { method: 'POST', body: JSON.stringify(body), headers };
    const response = await request(path, init);
    const applied = response.headers.get('preference-applied');
    return { status: response.status, applied, body: (await response.json()) as Record<string, unknown> };
  };
}

const PATH = `/api/invoices/${view().id}`;

describe('reading an invoice', () => {
  const ended = view({ status: 'completed', detail: 'completed' });
  it.each<[string, Parts, string, boolean?]>([
    ['open: as the custodian has it', { mirrored: view(), known: view({ detail: 'seen' }) }, 'seen'],
    [
      'open, the custodian down: from D1',
      { mirrored: view(), custodianDown: true },
      'awaiting_payment',
      true,
    ],
    ['D1 down: as the custodian has it', { databaseDown: true, known: view() }, 'awaiting_payment'],
    ['completed: without the custodian', { mirrored: ended, custodianDown: true }, 'completed'],
  ])('reads an invoice from the right source (%s)', async (_name, parts, detail, stale = false) => {
    expect(await service(parts)(PATH)).toMatchObject({ status: 200, body: { detail, stale } });
  });

  it.each<[string, Parts, number, string]>([
    ['unknown', {}, 404, 'NOT_FOUND'],
    ['a listing request', { known: view({ kind: 'listing' }) }, 404, 'NOT_FOUND'],
    ['not mirrored, the custodian down', { custodianDown: true }, 503, 'CUSTODIAN_UNAVAILABLE'],
    ['both down', { databaseDown: true, custodianDown: true }, 503, 'CUSTODIAN_UNAVAILABLE'],
  ])('reading an invoice returns the right error: %s', async (_name, parts, status, error_code) => {
    expect(await service(parts)(PATH)).toMatchObject({ status, body: { error_code } });
  });
});

it('asks the custodian once a minute for an unknown invoice, and the chain for an unknown mint', async () => {
  const custodianReads: number[] = [];
  const chainReads: number[] = [];
  const clock = { ms: 0 };
  const get = service({ custodianReads, chainReads, clock });
  for (const [path, body, error_code] of [
    [PATH, undefined, 'NOT_FOUND'],
    ['/api/listings/request', { mint_address: wallet(1) }, 'NOT_A_MINT'],
  ] as const)
    for (const at of [0, 30_000, 59_999, 60_000]) {
      clock.ms = at;
      expect((await get(path, body)).body).toMatchObject({ error_code });
    }
  expect(custodianReads).toEqual([0, 60_000]);
  expect(chainReads).toEqual([0, 60_000]);
});

const details = ['awaiting_payment', 'seen'];
const detailOf = async (answer: ReturnType<ReturnType<typeof service>>) => (await answer).body.detail;

it.each([undefined, 'wait=0', 'respond-async'])(
  'a repeated read with the bookmark of a change returns the newest state with the preference %s',
  async (prefer) => {
    const ask = service({ details });
    await ask(PATH);
    expect(await detailOf(ask(PATH, undefined, prefer, '00000001-a'))).toBe('seen');
  },
);

eachRow<[details: string[], shown: string, ms: number]>(`
  ["awaiting_payment", "awaiting_payment", "awaiting_payment", "seen", "paid"] | seen             | 3000
  ["awaiting_payment"]                                                         | awaiting_payment | 20000
  ["completed"]                                                                | completed        | 0
  ["expired"]                                                                  | expired          | 0
  ["refund_due"]                                                               | refund_due       | 0
`)('a wait of 20 s for an invoice in the states %j shows %s after %i ms', async (states, detail, ms) => {
  const clock = { ms: 0 };
  const answer = await service({ details: states, clock })(PATH, undefined, 'wait=20');
  expect(answer).toMatchObject({ status: 200, applied: 'wait=20', body: { detail } });
  expect(clock.ms).toBe(ms);
});

describe('confirming a payment', () => {
  const subject = { decimals: 9, tokenId: 7 };
  const done = { status: 'completed', tokenId: 7, mintAddress: 'mint', subject } as const;

  it.each([
    ['/api/invoices/confirm', { invoice_id: 'a', tx_signature: 'b' }, 'token'],
    ['/api/invoices/confirm', { invoiceId: 'a', txSignature: 'b' }, 'token'],
    ['/api/listings/confirm', { listing_request_id: 'a', tx_signature: 'b' }, 'listing'],
    ['/api/listings/confirm', { listingRequestId: 'a', txSignature: 'b' }, 'listing'],
  ] as const)('%s accepts %j and passes it on as the payment of a %s request', async (path, body, kind) => {
    const asked: ConfirmRequest[] = [];
    const answers = [{ type: 'confirmed', request: view({ ...done, kind }) } as const];
    expect(await service({ asked, answers })(path, body)).toMatchObject({ status: 200, body: { ok: true } });
    expect(asked).toMatchObject([{ id: 'a', signature: 'b', kind }]);
    expect(await service({})(path, {})).toMatchObject({ status: 400, body: { error_code: 'INVALID_INPUT' } });
  });

  const refused = (code: ErrorCode): PaymentConfirmed => ({
    type: 'refused',
    refusal: { code, message: '' },
  });
  const completed: PaymentConfirmed = { type: 'confirmed', request: view({ ...done }) };
  const BODY = { invoice_id: 'a', tx_signature: 'b' };

  it('a confirm call returns the token, and lets the custodian wait for 25 seconds', async () => {
    const asked: ConfirmRequest[] = [];
    expect(await service({ answers: [completed], asked })('/api/invoices/confirm', BODY)).toMatchObject({
      status: 200,
      body: { status: 'completed', token_id: 7 },
    });
    expect(asked.map(({ waitMs }) => waitMs)).toEqual([25_000]);
  });

  it('a confirm call ignores a preference to wait', async () => {
    const call = service({ answers: [refused('INVOICE_IN_PROGRESS')] });
    const answer = await call('/api/invoices/confirm', BODY, 'wait=9');
    expect(answer).toMatchObject({ status: 409, applied: null });
  });

  const codes = [
    ...(['PAYMENT_ALREADY_USED', 'PAYMENT_NOT_BOUND', 'PAYMENT_INCOMPLETE', 'REFUND_DUE'] as const),
    ...(['NOT_FOUND', 'PAYMENT_NOT_FINAL', 'INVOICE_IN_PROGRESS'] as const),
  ];
  it.each(codes)(
    'a confirm call asks the custodian once, and returns its refusal %s with its status',
    async (code) => {
      const asked: ConfirmRequest[] = [];
      const { status, body } = await service({ answers: [refused(code)], asked })(
        '/api/invoices/confirm',
        BODY,
      );
      const expected = [code === 'NOT_FOUND' ? 404 : 409, code, 1];
      expect([status, body.error_code, asked.length]).toEqual(expected);
    },
  );
});
