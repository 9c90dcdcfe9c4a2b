import { useState } from 'hono/jsx';
import type { ListingRequested } from '../../packages/client/src/index.ts';
import { call } from '../api/call.ts';
import { useAttempt } from '../api/use-attempt.ts';
import { Field, Form } from './field.tsx';
import { later } from './later.tsx';
import { Failed, Waiting } from './notice.tsx';
import { ListingPrice, PriceOrder } from './token-price.tsx';
import { useDraft } from './use-draft.ts';

const ListingOrder = later(async () => (await import('./listing-order.tsx')).ListingOrder);
const AlreadyListed = later(async () => (await import('./listing-order.tsx')).AlreadyListed);

type Draft = { readonly mint: string; readonly request: ListingRequested | null };

/** A request that closed this long ago is not shown any more. */
const KEPT_MS = 24 * 3_600_000;

const isKept = ({ expires_at: at }: ListingRequested): boolean => Date.parse(at) + KEPT_MS > Date.now();

/** Requests the listing of an existing token; the request survives a closed tab. */
export function ListingRequest({ tokenId }: { tokenId?: number }) {
  const initial: Draft = { mint: '', request: null };
  const [draft, setDraft] = useDraft(`listing-${tokenId ?? 'any'}`, initial, 'browser');
  const { mint } = draft;
  const [listed, setListed] = useState<number | null>(null);
  const request = draft.request !== null && isKept(draft.request) ? draft.request : null;
  const { busy, failure, attempt } = useAttempt<'request'>();
  const ask = () =>
    attempt('request', async () => {
      const body = tokenId === undefined ? { mint_address: mint.trim() } : { token_id: tokenId };
      const { value } = await call('requestListing', body);
      const isListed = value.status === 'confirmed';
      setListed(isListed ? value.token_id : null);
      if (!isListed) setDraft({ mint, request: value });
    });
  if (request !== null)
    return (
      <div class="stack">
        <ListingOrder request={request} />
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
          set={(text) => {
            setDraft({ mint: text, request: null });
            setListed(null);
          }}
          hint="Name and symbol are read from the chain."
          paste
        />
      ) : null}
      <ListingPrice />
      <button type="submit" disabled={busy !== null || (tokenId === undefined && mint.trim() === '')}>
        Request listing
      </button>
      <PriceOrder />
      {busy === null ? null : <Waiting what="Reading the token from the chain." />}
      <Failed failure={failure} />
      {listed === null ? null : <AlreadyListed id={listed} />}
    </Form>
  );
}
