import { type Child, useState } from 'hono/jsx';
import type { Listing, TokenRecord } from '../../packages/client/src/index.ts';
import { useQuery } from '../api/query.ts';
import { fromAddressBar } from './address-bar.ts';
import { Identifier } from './copyable.tsx';
import { minterText } from './coverage.tsx';
import { Away, SolanaTransaction } from './explorer-links.tsx';
import { counted, sol } from './format.ts';
import { AsOf, Moment } from './freshness.tsx';
import { ListingRequest } from './listing-request.tsx';
import { Loaded } from './loaded.tsx';
import { Notice } from './notice.tsx';
import { AbsrHolders } from './official-mints.tsx';
import { ownPath } from './own-picture.tsx';
import { useTrade } from './pool-price.tsx';
import { Folded } from './table.tsx';
import { kindOf } from './token-badges.tsx';
import { TokenAddress, TokenCard } from './token-card.tsx';
import { HowToGet } from './token-get.tsx';

type Held = { readonly name: string; readonly address: string | null; readonly label: string };

/** Rights that an address holds. Rights that nobody holds or that could not be read are in the list for holders. */
function heldRights({ mint_authority, freeze_authority, update_authority }: TokenRecord): Held[] {
  return [
    { name: 'May mint more', address: mint_authority, label: 'mint authority' },
    { name: 'May freeze', address: freeze_authority, label: 'freeze authority' },
    { name: 'May rename', address: update_authority, label: 'update authority' },
  ].filter(({ address }) => address !== null);
}

const Rights = ({ token }: { token: TokenRecord }) => {
  const held = heldRights(token);
  const { official } = token;
  if (held.length === 0) return null;
  return (
    <dl class="facts">
      {held.map(({ name, address, label }) => (
        <>
          <dt>{name}</dt>
          <dd>
            <span class="stacked">
              <Identifier text={address ?? ''} label={label} />
              {label === 'mint authority' && official?.minter ? (
                <span class="fine">{minterText(official.minter)}</span>
              ) : null}
            </span>
          </dd>
        </>
      ))}
    </dl>
  );
};

const Picture = ({ image }: Pick<TokenRecord, 'image'>) => {
  if (image === null) return <span>none</span>;
  const path = ownPath(image);
  return path === null ? <Away href={image}>Open it at its own site</Away> : <a href={path}>Open it</a>;
};

/** @param isPriced whether the page shows a price in place of the time of creation */
const Creation = ({ token, isPriced }: { token: TokenRecord; isPriced: boolean }) => (
  <>
    <dt>Creator</dt>
    <dd>
      {token.creator_address === null ? (
        'not known'
      ) : (
        <span class="stacked">
          <Identifier text={token.creator_address} label="creator" />
          <a href={`/tokens?creator=${token.creator_address}`}>Tokens of this creator</a>
        </span>
      )}
    </dd>
    <dt>Kind</dt>
    <dd>
      {kindOf(token)}, {counted(token.decimals, 'decimal')}
    </dd>
    {isPriced && token.created_at !== null ? (
      <>
        <dt>Created</dt>
        <dd>
          <Moment iso={token.created_at} />
        </dd>
      </>
    ) : null}
    <dt>Metadata</dt>
    <dd>{token.uri === null ? 'none' : <Away href={token.uri}>JSON that wallets read</Away>}</dd>
    <dt>Picture</dt>
    <dd>
      <Picture image={token.image} />
    </dd>
  </>
);

type TokenFactsProps = {
  readonly token: TokenRecord;
  /** What is known of its listing. */
  readonly children?: Child;
};

export function TokenFacts({ token, children }: TokenFactsProps) {
  const trade = useTrade(token.mint_address);
  return (
    <div class="split">
      <div class="stack">
        <TokenCard token={token} trade={trade}>
          <HowToGet token={token} trade={trade} />
        </TokenCard>
      </div>
      <div class="stack facts-beside">
        <TokenAddress token={token} />
        <Rights token={token} />
        {token.official === null ? (
          <Folded summary="Creator, kind and links">
            <dl class="facts">
              <Creation token={token} isPriced={trade.type === 'pool'} />
            </dl>
          </Folded>
        ) : null}
        <AsOf at={token.as_of} stale={token.stale} />
        {token.official?.asset === 'ABSR' ? <AbsrHolders /> : null}
        {children}
      </div>
    </div>
  );
}

/** Undefined while the page is prerendered, null if the address names no token. */
const tokenInAddress = (): string | null | undefined =>
  typeof location === 'undefined'
    ? undefined
    : location.pathname.split('/')[2]?.slice(0, 200) || fromAddressBar('id');

/** @param shown the id that the Worker renders; a browser has it in its address */
export function TokenDetail({ id: shown }: { id?: string | undefined }) {
  const [id] = useState(shown ?? tokenInAddress());
  const token = useQuery('getToken', id ? { id } : null);
  const tokenId = token.value?.id ?? null;
  const listings = useQuery('listListings', tokenId === null ? null : { token_id: tokenId });
  if (id === null)
    return (
      <Notice kind="warn" title="The address does not name a token.">
        <p>
          <a href="/tokens">Find one in the list</a>
        </p>
      </Notice>
    );
  const listing = listings.value?.listings.find(({ status }) => status === 'confirmed');
  return (
    <Loaded
      query={token}
      waiting="Reading the token."
      hasAge={false}
      show={(value) => (
        <TokenFacts token={value}>
          {value.id === null ? null : (
            <Standing tokenId={value.id} listedAt={value.listed_at} listing={listing ?? null} />
          )}
        </TokenFacts>
      )}
    />
  );
}

type StandingProps = {
  readonly tokenId: number;
  readonly listedAt: string | null;
  /** The paid request; null while it is not known. */
  readonly listing: Listing | null;
};

/** What was paid for a listing, and when: a token that was created here is listed with its creation. */
const Paid = ({ at, listing }: { at: string; listing: Listing | null }) => (
  <p>
    <strong>Listed</strong> on <Moment iso={at} />
    {listing === null ? null : (
      <>
        {listing.fee_lamports === 0
          ? ', as part of its creation'
          : `: paid ${sol(String(listing.fee_lamports))} SOL`}
        {listing.payment_tx_signature === null ? null : (
          <>
            {' '}
            (<SolanaTransaction signature={listing.payment_tx_signature} />)
          </>
        )}
      </>
    )}
    . This is no recommendation: anyone can buy a listing, and wallets may show the token as unverified.
  </p>
);

const Standing = ({ tokenId, listedAt, listing }: StandingProps) => (
  <section>
    <h2 class="minor">Listing</h2>
    {listedAt === null ? (
      <>
        <p>Not listed: the search of this site does not find it. A listing is not a recommendation.</p>
        <div class="card">
          <ListingRequest tokenId={tokenId} />
        </div>
      </>
    ) : (
      <Paid at={listedAt} listing={listing} />
    )}
  </section>
);
