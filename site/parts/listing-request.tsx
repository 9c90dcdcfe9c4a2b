import { useState } from 'hono/jsx';
import type { ListingRequested, TokenView } from '../api/answers.ts';
import { call } from '../api/call.ts';
import { useAnswer } from '../api/use-answer.ts';
import { useAttempt } from '../api/use-attempt.ts';
import { Field, Form } from './field.tsx';
import { Failed, Notice, Waiting } from './notice.tsx';
import { PaymentCard } from './payment-card.tsx';

const POLL_MS = 2000;

function Awaited({ request }: { request: ListingRequested }) {
  const token = useAnswer<TokenView>(
    `/api/tokens/${request.token_id}`,
    POLL_MS,
    ({ listed_at: listedAt }) => listedAt !== null,
  );
  if (token.value?.listed_at)
    return (
      <Notice kind="good">
        <p>
          <strong>It is listed.</strong> <a href={`/token?id=${request.token_id}`}>To its page</a>
        </p>
      </Notice>
    );
  return (
    <>
      <PaymentCard payment={request} />
      <Waiting
        what="Waiting for the payment. It is found by itself, seconds after it is final."
        usualSeconds={null}
      />
    </>
  );
}

/** Asks for the listing of a token that exists already. */
export function ListingRequest({ tokenId }: { tokenId?: number }) {
  const [mint, setMint] = useState('');
  const [request, setRequest] = useState<ListingRequested | null>(null);
  const { busy, failure, attempt } = useAttempt<'ask'>();
  const ask = () =>
    attempt('ask', async () => {
      const body = tokenId === undefined ? { mint_address: mint.trim() } : { token_id: tokenId };
      setRequest((await call<ListingRequested>('/api/listings/request', { body })).value);
    });
  if (request !== null) return <Awaited request={request} />;
  return (
    <Form label="Ask for a listing" submit={ask}>
      {tokenId === undefined ? (
        <Field
          id="listing-mint"
          label="Mint address of the token"
          value={mint}
          set={setMint}
          hint="Name and symbol are read from the chain."
        />
      ) : null}
      <button
        type="submit"
        class="start"
        disabled={busy !== null || (tokenId === undefined && mint.trim() === '')}
      >
        Ask for the listing
      </button>
      {busy === null ? null : <Waiting what="Reading the token from the chain." />}
      {failure === null ? null : <Failed failure={failure} />}
    </Form>
  );
}
