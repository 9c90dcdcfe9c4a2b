import { useEffect } from 'hono/jsx';
import type { ListingRequested } from '../../packages/client/src/index.ts';
import { call } from '../api/call.ts';
import { announceChange, useQuery } from '../api/query.ts';
import { Notice, Waiting } from './notice.tsx';
import { OrderPayment } from './order-payment.tsx';
import { forgetPayment } from './own-payment.ts';
import { solPayment } from './payment-card.tsx';
import { Foreign } from './token-text.tsx';
import { tokenUrl } from './token-url.ts';

const POLL_MS = 2000;

/** The payment of a listing, until the token is listed. */
export function ListingOrder({ request }: { request: ListingRequested }) {
  const token = useQuery(
    'getToken',
    { id: String(request.token_id) },
    POLL_MS,
    ({ listed_at: listedAt }) => listedAt !== null,
  );
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
  if (isListed)
    return (
      <Notice kind="good">
        <p>
          <strong>The token is listed.</strong> <a href={tokenUrl(request.token_id)}>Open its page</a>
        </p>
      </Notice>
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
        payment={solPayment(request, <a href="/trust#operator">Contact the operator about it.</a>)}
        reported={null}
        confirm={confirm}
      />
      <Waiting
        what="Waiting for the payment. It is found automatically, within about a minute after it is final."
        usualSeconds={null}
      />
    </>
  );
}
