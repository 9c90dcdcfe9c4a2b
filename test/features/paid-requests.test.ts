/** Invoices and listing requests over HTTP: what is told of one while parts of the service are down, and whose ids count. */
import { requestId } from 'hono/request-id';
import { describe, expect, it } from 'vitest';
import { ERRORS } from '../../src/app.ts';
import { AppError } from '../../src/core/errors.ts';
import type { RequestView } from '../../src/custody/api.ts';
import { type InvoiceDeps, invoiceRoutes } from '../../src/features/tokens/invoice-routes.ts';
import { type ListingDeps, listingRoutes } from '../../src/features/tokens/listing-routes.ts';
import { asAppError, problemResponse } from '../../src/http/problem.ts';
import { newRouter } from '../../src/http/router.ts';
import { invoiceDeps, newTokenService, viewOf } from './token-service.ts';

const view = (over: Partial<RequestView> = {}): RequestView => ({
  ...viewOf({ kind: 'token', subject: { decimals: 9, symbol: 'MCAT' }, baseFeeLamports: 9n, client: '' }),
  ...over,
});

type Parts = {
  mirrored?: RequestView;
  databaseDown?: boolean;
  known?: RequestView | null;
  custodianDown?: boolean;
  confirmed?: RequestView;
};

function service(parts: Parts) {
  const base = invoiceDeps(newTokenService());
  const tokens = {
    invoice: async () => {
      if (parts.databaseDown) throw new Error('D1_ERROR: down');
      return parts.mirrored;
    },
    byId: async () => undefined,
    byMint: async () => undefined,
    list: async () => [],
    ofCreator: async () => [],
    listings: async () => [],
  };
  const custody: InvoiceDeps['custody'] = {
    ...base.custody,
    findRequest: async () => {
      if (parts.custodianDown) throw new AppError('CUSTODIAN_UNAVAILABLE', 'The custodian does not answer.');
      return parts.known ?? null;
    },
    confirmPayment: async () => ({ type: 'confirmed', request: parts.confirmed ?? view() }),
  };
  const deps: InvoiceDeps & ListingDeps = {
    ...base,
    custody,
    tokens,
    search: { search: async () => ({ tokens: [], next: null }) },
    tokenFacts: async () => new Map(),
    readAccounts: async () => ({ accounts: [] }),
    listingFee: 1n,
  };
  const app = newRouter<InvoiceDeps & ListingDeps>();
  app.use(requestId());
  app.use(async (c, next) => {
    c.set('deps', deps);
    await next();
  });
  app.route('/api', invoiceRoutes);
  app.route('/api', listingRoutes);
  app.onError((error, c) => problemResponse(c, asAppError(error), ERRORS));
  const env = { LIMITER: { limit: async () => ({ success: true }) } };
  return async (path: string, body?: unknown) => {
    const headers = { 'content-type': 'application/json' };
    const init = body === undefined ? {} : { method: 'POST', body: JSON.stringify(body), headers };
    const response = await app.request(`https://sluice.test${path}`, init, env);
    return { status: response.status, body: (await response.json()) as Record<string, unknown> };
  };
}

const PATH = `/api/invoices/${view().id}`;

describe('an invoice that is looked up', () => {
  it.each<[string, Parts, number, string]>([
    ['open: as the custodian has it', { mirrored: view(), known: view({ detail: 'seen' }) }, 200, 'seen'],
    [
      'open, the custodian down: as the mirror has it',
      { mirrored: view(), custodianDown: true },
      200,
      'awaiting_payment',
    ],
    [
      'the database down: as the custodian has it',
      { databaseDown: true, known: view() },
      200,
      'awaiting_payment',
    ],
    [
      'completed: without the custodian',
      { mirrored: view({ status: 'completed', detail: 'completed' }), custodianDown: true },
      200,
      'completed',
    ],
  ])('%s', async (_name, parts, status, detail) => {
    const answer = await service(parts)(PATH);
    expect(answer).toMatchObject({ status, body: { detail } });
  });

  it.each<[string, Parts, number, string]>([
    ['known to nobody', {}, 404, 'NOT_FOUND'],
    ['a listing request', { known: view({ kind: 'listing' }) }, 404, 'NOT_FOUND'],
    ['not mirrored, the custodian down', { custodianDown: true }, 503, 'CUSTODIAN_UNAVAILABLE'],
    ['both down', { databaseDown: true, custodianDown: true }, 503, 'CUSTODIAN_UNAVAILABLE'],
  ])('%s: an error, and never the wrong one', async (_name, parts, status, error_code) => {
    expect(await service(parts)(PATH)).toMatchObject({ status, body: { error_code } });
  });
});

describe('a payment that is pointed at', () => {
  const done = {
    status: 'completed',
    tokenId: 7,
    mintAddress: 'mint',
    subject: { decimals: 9, tokenId: 7 },
  } as const;

  it.each([
    ['/api/invoices/confirm', { invoice_id: 'a', tx_signature: 'b' }, 'token'],
    ['/api/invoices/confirm', { invoiceId: 'a', txSignature: 'b' }, 'token'],
    ['/api/listings/confirm', { listing_request_id: 'a', tx_signature: 'b' }, 'listing'],
    ['/api/listings/confirm', { listingRequestId: 'a', txSignature: 'b' }, 'listing'],
  ] as const)('%s takes %j, for a %s only', async (path, body, kind) => {
    const other = kind === 'token' ? 'listing' : 'token';
    expect(await service({ confirmed: view({ ...done, kind }) })(path, body)).toMatchObject({
      status: 200,
      body: { ok: true },
    });
    expect(await service({ confirmed: view({ ...done, kind: other }) })(path, body)).toMatchObject({
      status: 404,
      body: { error_code: 'NOT_FOUND' },
    });
    expect(await service({})(path, {})).toMatchObject({ status: 400, body: { error_code: 'INVALID_INPUT' } });
  });
});
