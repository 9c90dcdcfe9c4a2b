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
import { eachResult, eachRow, eachScene } from '../kit/scenes.ts';
import { invoiceDeps, newTokenService, viewOf } from './token-service.ts';

const view = (over: Partial<RequestView> = {}): RequestView => ({
  ...viewOf({ kind: 'token', subject: { decimals: 9, symbol: 'MCAT' }, baseFeeLamports: 9n, client: '' }),
  ...over,
});

type Parts = {
  d1?: RequestView | 'down' | undefined;
  /** What the custodian finds, in order; the last one repeats. */
  custodian?: readonly (RequestView | null)[] | 'down';
  /** What it responds to a confirm call. */
  confirmed?: PaymentConfirmed;
  asked?: ConfirmRequest[];
  clock?: { ms: number };
  /** Times at which the custodian and the chain were read. */
  custodianReads?: number[];
  chainReads?: number[];
};

function service(parts: Parts) {
  const { d1, custodian = [], clock = { ms: 0 } } = parts;
  const found = custodian === 'down' ? [] : [...custodian];
  const base = invoiceDeps(newTokenService());
  const now = () => clock.ms;
  const sleep = async (ms: number) => {
    clock.ms += ms;
  };
  const tokens = {
    invoice: async () => {
      if (d1 === 'down') throw new Error('D1_ERROR: down');
      return d1 && { request: d1, bornAt: null };
    },
    ...{ byId: async () => undefined, byMint: async () => undefined, list: async () => [] },
    ...{ listedMints: async () => [], ofCreator: async () => [], listings: async () => [] },
  };
  const newCache = () => new Cache({ now, defer: () => undefined });
  const custody: InvoiceDeps['custody'] = {
    ...base.custody,
    findRequest: async () => {
      parts.custodianReads?.push(now());
      if (custodian === 'down')
        throw new AppError('CUSTODIAN_UNAVAILABLE', 'The custodian does not respond.');
      return (found.length > 1 ? found.shift() : found[0]) ?? null;
    },
    confirmPayment: async (request) => {
      parts.asked?.push(request);
      return parts.confirmed ?? { type: 'refused', refusal: { code: 'NOT_FOUND', message: '' } };
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

const STATES: Readonly<Record<string, RequestView | 'down'>> = {
  open: view(),
  seen: view({ detail: 'seen' }),
  completed: view({ status: 'completed', detail: 'completed' }),
  'a listing request': view({ kind: 'listing' }),
  down: 'down',
};
eachScene(`
  open      | seen              | seen
  open      | down              | awaiting_payment stale
  down      | open              | awaiting_payment
  completed | down              | completed
  unknown   | unknown           | 404 NOT_FOUND
  unknown   | a listing request | 404 NOT_FOUND
  unknown   | down              | 503 CUSTODIAN_UNAVAILABLE
  down      | down              | 503 CUSTODIAN_UNAVAILABLE
`)('an invoice is read from D1 (%s) and the custodian (%s) as %s', async (d1 = '', custodian = '', shown) => {
  const known = STATES[custodian];
  const parts = { d1: STATES[d1], custodian: known === 'down' ? known : known ? [known] : [] } as const;
  const { status, body } = await service(parts)(PATH);
  const state = status === 200 ? [body.detail, body.stale && 'stale'] : [status, body.error_code];
  expect(state.filter(Boolean).join(' ')).toBe(shown);
});

it('reads an unknown invoice from the custodian, and an unknown mint from the chain, once a minute', async () => {
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

const inOrder = (details: readonly string[]) => details.map((detail) => view({ detail }));

it.each([undefined, 'wait=0', 'respond-async'])(
  'a repeated read with the bookmark of a change returns the newest state with the preference %s',
  async (prefer) => {
    const ask = service({ custodian: inOrder(['awaiting_payment', 'seen']) });
    await ask(PATH);
    expect(await ask(PATH, undefined, prefer, '00000001-a')).toMatchObject({ body: { detail: 'seen' } });
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
  const answer = await service({ custodian: inOrder(states), clock })(PATH, undefined, 'wait=20');
  expect(answer).toMatchObject({ status: 200, applied: 'wait=20', body: { detail } });
  expect(clock.ms).toBe(ms);
});

describe('confirming a payment', () => {
  it.each([
    ['/api/invoices/confirm', { invoice_id: 'a', tx_signature: 'b' }, 'token', { token_id: 7 }],
    ['/api/invoices/confirm', { invoiceId: 'a', txSignature: 'b' }, 'token', { status: 'completed' }],
    ['/api/listings/confirm', { listing_request_id: 'a', tx_signature: 'b' }, 'listing', {}],
    ['/api/listings/confirm', { listingRequestId: 'a', txSignature: 'b' }, 'listing', {}],
  ] as const)('%s lets the custodian wait 25 s for %j, the payment of a %s request', async (...row) => {
    const [path, body, kind, shown] = row;
    const asked: ConfirmRequest[] = [];
    const done = { status: 'completed', tokenId: 7, mintAddress: 'mint' } as const;
    const request = view({ ...done, kind, subject: { decimals: 9, tokenId: 7 } });
    const answer = await service({ asked, confirmed: { type: 'confirmed', request } })(path, body);
    expect(answer).toMatchObject({ status: 200, body: { ok: true, ...shown } });
    expect(asked).toMatchObject([{ id: 'a', signature: 'b', kind, waitMs: 25_000 }]);
    expect(await service({})(path, {})).toMatchObject({ status: 400, body: { error_code: 'INVALID_INPUT' } });
  });

  eachResult(`
    404 | NOT_FOUND
    409 | PAYMENT_ALREADY_USED | PAYMENT_NOT_BOUND | PAYMENT_INCOMPLETE | REFUND_DUE | PAYMENT_NOT_FINAL | INVOICE_IN_PROGRESS
  `)(
    'a confirm call is made once, whatever wait is preferred, and returns the refusal %s with %s',
    async (...row) => {
      const [code, status] = row;
      const asked: ConfirmRequest[] = [];
      const confirmed = { type: 'refused', refusal: { code: code as ErrorCode, message: '' } } as const;
      const body = { invoice_id: 'a', tx_signature: 'b' };
      const answer = await service({ confirmed, asked })('/api/invoices/confirm', body, 'wait=9');
      expect(answer).toMatchObject({ status: Number(status), applied: null, body: { error_code: code } });
      expect(asked).toHaveLength(1);
    },
  );
});
