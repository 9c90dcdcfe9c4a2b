import { useEffect } from 'hono/jsx';
import type { Listing, ListingRequested } from '../../packages/client/src/index.ts';
import { call } from '../api/call.ts';
import { announceChange, useQuery } from '../api/query.ts';
import { Notice, Waiting } from './notice.tsx';
import { OrderPayment } from './order-payment.tsx';
import { forgetPayment } from './own-payment.ts';
import { solPayment } from './payment-card.tsx';
import { Refunds } from './refunds.tsx';
import { Foreign } from './token-text.tsx';
import { tokenUrl } from './token-url.ts';

const POLL_MS = 2000;
const OVER = ['expired', 'refund_due'];

/** What the request itself shows; null while it is not read. A listing that another request paid for is not its own. */
function useOwnListing({ token_id, listing_request_id: id }: ListingRequested): Listing | null {
  const { value } = useQuery('listListings', { token_id }, POLL_MS);
  return value?.listings.find((listing) => listing.listing_request_id === id) ?? null;
}

const Listed = ({ id }: { id: number }) => (
  <Notice kind="good">
    <p>
      <strong>The token is listed.</strong> <a href={tokenUrl(id)}>Open its page</a>
    </p>
  </Notice>
);

/** Nothing was ordered. */
export const AlreadyListed = ({ id }: { id: number }) => (
  <Notice kind="good">
    <p role="status">
      <strong>This token is already listed. No payment is needed.</strong>{' '}
      <a href={tokenUrl(id)}>Open its page</a>
    </p>
  </Notice>
);

const Expired = () => (
  <Notice kind="warn" title="The request has expired.">
    <p>Do not pay it any more. A new request is free.</p>
  </Notice>
);

/** The payment of a listing, until the token is listed or the request is over. */
export function ListingOrder({ request }: { request: ListingRequested }) {
  const token = useQuery(
    'getToken',
    { id: String(request.token_id) },
    POLL_MS,
    ({ listed_at: listedAt }) => listedAt !== null,
  );
  const own = useOwnListing(request);
  const confirm = async (signature: string) => {
    const named = { listing_request_id: request.listing_request_id, tx_signature: signature };
    await call('confirmListing', named);
    token.refresh();
  };
  const isListed = token.value !== null && token.value.listed_at !== null;
  useEffect(() => {
    if (!isListed) return;
    announceChange();
    forgetPayment(request.listing_request_id);
  }, [isListed]);
  const refunds = <Refunds refunds={own?.refunds ?? []} />;
  if (isListed || (own !== null && OVER.includes(own.detail)))
    return (
      <>
        {isListed ? <Listed id={request.token_id} /> : <Expired />}
        {refunds}
      </>
    );
  return (
    <>
      {token.value === null ? null : (
        <p>
          The listing of{' '}
          <strong>
            <Foreign text={token.value.name} />
          </strong>
        </p>
      )}
      <OrderPayment
        id={request.listing_request_id}
        payment={solPayment(request)}
        reported={null}
        confirm={confirm}
      />
      {refunds}
      <Waiting what="Waiting for the payment. It is found automatically." usualSeconds={null} />
    </>
  );
}
