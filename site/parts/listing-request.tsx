import { useEffect } from 'hono/jsx';
import type { ListingRequested } from '../../packages/client/src/index.ts';
import { call } from '../api/call.ts';
import { announceChange, useQuery } from '../api/query.ts';
import { useAttempt } from '../api/use-attempt.ts';
import { Field, Form } from './field.tsx';
import { Failed, Notice, Waiting } from './notice.tsx';
import { PaymentCard } from './payment-card.tsx';
import { CONFIRM_WAIT_SECONDS, SentPayment, useSentPayment } from './sent-payment.tsx';
import { useDraft } from './use-draft.ts';

const POLL_MS = 2000;

function Awaited({ request }: { request: ListingRequested }) {
  const token = useQuery(
    'getToken',
    { id: String(request.token_id) },
    POLL_MS,
    ({ listed_at: listedAt }) => listedAt !== null,
  );
  const [sent, setSent] = useSentPayment(request.listing_request_id);
  const confirm = async (signature: string) => {
    const named = { listing_request_id: request.listing_request_id, tx_signature: signature };
    await call('confirmListing', named, { wait: CONFIRM_WAIT_SECONDS });
    token.refresh();
  };
  const isListed = token.value !== null && token.value.listed_at !== null;
  useEffect(() => {
    if (isListed) announceChange();
  }, [isListed]);
  if (isListed)
    return (
      <Notice kind="good">
        <p>
          <strong>The token is listed.</strong> <a href={`/token?id=${request.token_id}`}>Open its page</a>
        </p>
      </Notice>
    );
  if (sent !== null) return <SentPayment signature={sent} confirm={confirm} showAgain={() => setSent('')} />;
  return (
    <>
      <PaymentCard payment={request} sent={setSent} />
      <Waiting
        what="Waiting for the payment. It is found automatically, within about a minute after it is final."
        usualSeconds={null}
      />
    </>
  );
}

type Draft = { readonly mint: string; readonly request: ListingRequested | null };

/** Requests the listing of an existing token; the request survives a reload. */
export function ListingRequest({ tokenId }: { tokenId?: number }) {
  const [draft, setDraft] = useDraft<Draft>(`listing-${tokenId ?? 'any'}`, { mint: '', request: null });
  const { mint, request } = draft;
  const { busy, failure, attempt } = useAttempt<'request'>();
  const ask = () =>
    attempt('request', async () => {
      const body = tokenId === undefined ? { mint_address: mint.trim() } : { token_id: tokenId };
      const { value } = await call('requestListing', body);
      setDraft({ mint, request: value });
    });
  if (request !== null)
    return (
      <div class="stack">
        <Awaited request={request} />
        <button type="button" class="quiet small start" onClick={() => setDraft({ mint: '', request: null })}>
          Another request
        </button>
      </div>
    );
  return (
    <Form label="Request a listing" submit={ask}>
      {tokenId === undefined ? (
        <Field
          id="listing-mint"
          label="Mint address of the token"
          value={mint}
          set={(text) => setDraft({ mint: text, request: null })}
          hint="Name and symbol are read from the chain."
        />
      ) : null}
      <button
        type="submit"
        class="start"
        disabled={busy !== null || (tokenId === undefined && mint.trim() === '')}
      >
        Request listing
      </button>
      {busy === null ? null : <Waiting what="Reading the token from the chain." />}
      {failure === null ? null : <Failed failure={failure} />}
    </Form>
  );
}
