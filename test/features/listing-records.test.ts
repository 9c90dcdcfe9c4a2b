import { expect, it } from 'vitest';
import type { RequestView } from '../../src/custody/api.ts';
import { type ListingDeps, listingRoutes } from '../../src/features/tokens/listing-routes.ts';
import { routerOver } from '../kit/router.ts';
import { viewOf } from './token-service.ts';

it('a listing record shows the state of its request, what arrived, and what is owed back', async () => {
  const subject = { mint: 'm', tokenId: 7, symbol: 'X' };
  const view: RequestView = {
    ...viewOf({ kind: 'listing', subject, baseFeeLamports: 9n, client: '' }),
    detail: 'refund_due',
    receivedLamports: '50000000',
    refunds: [
      {
        ...{ signature: 's', lamports: '50000000', payer: 'p', reason: 'late' },
        ...{ status: 'paid', refundSignature: 'r' },
      },
    ],
  };
  const deps = { tokens: { tokens: { listings: async () => [view] } } } as unknown as { tokens: ListingDeps };
  const ask = routerOver(
    () => deps,
    (app) => app.route('/api', listingRoutes),
  );
  const { listings } = (await (await ask('/api/listings?token_id=7')).json()) as { listings: object[] };
  expect(listings).toMatchObject([
    {
      ...{ status: 'pending', detail: 'refund_due', received_lamports: '50000000' },
      refunds: [{ signature: 's', lamports: '50000000', status: 'paid', refund_signature: 'r' }],
    },
  ]);
});
