import { useEffect, useState } from 'hono/jsx';
import type { Token } from '../../packages/client/src/index.ts';
import { POWER_WORDS } from '../../src/chain/solana/token-powers.ts';
import { useQuery } from '../api/query.ts';
import { fromAddressBar } from './address-bar.ts';
import { CopyButton, Identifier } from './copyable.tsx';
import { Away, orbUrl, SolanaTransaction, solanaAddressUrl, solscanUrl } from './explorer-links.tsx';
import { counted, grouped } from './format.ts';
import { AsOf, Moment } from './freshness.tsx';
import { ListingRequest } from './listing-request.tsx';
import { Loaded } from './loaded.tsx';
import { Notice } from './notice.tsx';
import { isImageUrl } from './token-draft.ts';
import { TokenBadges } from './token-list.tsx';
import { TokenPicture } from './token-picture.tsx';
import { Foreign } from './token-text.tsx';
import { tokenUrl } from './token-url.ts';

/** Holder of an authority on the chain: an address, none, or currently unreadable. */
const Authority = ({
  address,
  asOf,
  label,
}: {
  address: string | null;
  asOf: string | null;
  label: string;
}) => {
  if (asOf === null) return <span>could not be read</span>;
  return address === null ? <span>none</span> : <Identifier text={address} label={label} ends={8} />;
};

const UNREADABLE = 'The rights over this token could not be read from the chain.';

/** The meaning of the rights over a token for its holders. Only a mint that gives nobody a power is described as safe. */
export function holderFacts({ powers, update_authority: editor }: Token): string[] {
  if (!powers) return [UNREADABLE];
  const canRename = 'One address can change the name, symbol and picture.';
  if (powers.length > 0)
    return [...powers.map((power) => POWER_WORDS[power][1]), ...(editor === null ? [] : [canRename])];
  return [
    'The supply is fixed: no key can create more.',
    'No key can freeze your tokens.',
    editor === null ? 'Name, symbol and picture can never change.' : canRename,
  ];
}

/** Copies the address of this page. A prerendered page has no origin yet. */
function ShareLink({ mint }: { mint: string }) {
  const [origin, setOrigin] = useState('');
  useEffect(() => setOrigin(location.origin), []);
  return <CopyButton text={origin + tokenUrl(mint)} label="link of this page" name="Copy link" />;
}

export function TokenFacts({ token }: { token: Token }) {
  return (
    <>
      <div class="token-head">
        <TokenPicture
          symbol={token.symbol}
          url={token.image !== null && isImageUrl(token.image) ? token.image : null}
        />
        <div>
          <h1>
            <Foreign text={token.name} />
          </h1>
          <p class="row">
            <span class="soft">
              <Foreign text={token.symbol} />
            </span>
            <TokenBadges token={token} />
            <ShareLink mint={token.mint_address} />
          </p>
        </div>
      </div>
      {token.warning === null ? null : (
        <Notice kind="warn" title="The name or symbol resembles a well-known token.">
          <p>A creator may choose any name. Compare the mint address before you trust it.</p>
        </Notice>
      )}
      {token.description === '' ? null : (
        <p class="prose">
          <Foreign text={token.description} />
        </p>
      )}
      <div class="split">
        <div class="card stack">
          <dl class="facts">
            <dt>Mint address</dt>
            <dd>
              <Identifier text={token.mint_address} label="mint address" ends={10} />
            </dd>
            <dt>Supply</dt>
            <dd>
              {grouped(token.supply_ui)} <Foreign text={token.symbol} />, {counted(token.decimals, 'decimal')}
            </dd>
            <dt>Creator</dt>
            <dd>
              {token.creator_address === null ? (
                'not known'
              ) : (
                <Identifier text={token.creator_address} label="creator" ends={8} />
              )}
            </dd>
            <dt>May mint more</dt>
            <dd>
              <Authority address={token.mint_authority} asOf={token.as_of} label="mint authority" />
            </dd>
            <dt>May freeze accounts</dt>
            <dd>
              <Authority address={token.freeze_authority} asOf={token.as_of} label="freeze authority" />
            </dd>
            <dt>May change the name</dt>
            <dd>
              <Authority address={token.update_authority} asOf={token.as_of} label="update authority" />
            </dd>
            <dt>Created</dt>
            <dd>
              <Moment iso={token.created_at} />
            </dd>
            <dt>Listed</dt>
            <dd>{token.listed_at === null ? 'not yet' : <Moment iso={token.listed_at} />}</dd>
            <dt>Metadata</dt>
            <dd>{token.uri === null ? 'none' : <Away href={token.uri}>JSON that wallets read</Away>}</dd>
            <dt>Picture</dt>
            <dd>{token.image === null ? 'none' : <Away href={token.image}>Open it at its own site</Away>}</dd>
            <dt>Explorers</dt>
            <dd class="row">
              <Away href={solanaAddressUrl(token.mint_address)}>Solana Explorer</Away>
              <Away href={solscanUrl(token.mint_address)}>Solscan</Away>
              <Away href={orbUrl(token.mint_address)}>Orb</Away>
            </dd>
          </dl>
          <AsOf at={token.as_of} />
        </div>
        <div class="stack">
          <h2 class="minor">For holders</h2>
          <ul class="holders">
            {holderFacts(token).map((fact) => (
              <li>{fact}</li>
            ))}
          </ul>
          {token.creator_address === null ? null : (
            <p>
              <a href={`/tokens?creator=${token.creator_address}`}>Tokens of this creator</a>
            </p>
          )}
        </div>
      </div>
    </>
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
  const listings = useQuery('listListings', token.value ? { token_id: token.value.id } : null);
  if (id === null)
    return (
      <Notice kind="warn" title="No token is named in the address.">
        <p>
          <a href="/tokens">Find one in the list</a>
        </p>
      </Notice>
    );
  const paid = listings.value?.listings.find(({ status }) => status === 'confirmed')?.payment_tx_signature;
  return (
    <Loaded
      query={token}
      waiting="Reading the token."
      hasAge={false}
      show={(value) => (
        <>
          <TokenFacts token={value} />
          <Listing token={value} payment={paid ?? null} />
        </>
      )}
    />
  );
}

/** @param payment signature of the listing's payment */
const Listing = ({ token, payment }: { token: Token; payment: string | null }) => (
  <section>
    <h2>Listing</h2>
    {token.listed_at === null ? (
      <div class="card">
        <ListingRequest tokenId={token.id} />
      </div>
    ) : (
      <p>
        Found by search.{' '}
        {payment === null ? null : (
          <span>
            Paid by <SolanaTransaction signature={payment} />
          </span>
        )}
      </p>
    )}
    <p class="fine">
      A listed token is paid for and found by search. Listing is not an endorsement, and wallets may still
      show the token as unverified.
    </p>
  </section>
);
