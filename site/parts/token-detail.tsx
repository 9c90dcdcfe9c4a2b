import { useState } from 'hono/jsx';
import type { TokenRecord } from '../../packages/client/src/index.ts';
import { FIGURES_POLL_MS, useQuery } from '../api/query.ts';
import { fromAddressBar } from './address-bar.ts';
import { Identifier } from './copyable.tsx';
import { coverageKind, coverageOf, coverageText } from './coverage.tsx';
import { Away, orbUrl, SolanaTransaction, solanaAddressUrl, solscanUrl } from './explorer-links.tsx';
import { AsOf, Moment } from './freshness.tsx';
import { ListingRequest } from './listing-request.tsx';
import { Loaded } from './loaded.tsx';
import { Notice } from './notice.tsx';
import { PoolPrice } from './pool-price.tsx';
import { ShareButton } from './share-button.tsx';
import { Folded } from './table.tsx';
import { tokenUrl } from './token-url.ts';
import { SupplyTile, TokenView } from './token-view.tsx';

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
  return address === null ? <span>nobody</span> : <Identifier text={address} label={label} />;
};

const MINTERS: Readonly<Record<string, string>> = {
  nobody: 'Nobody can mint more.',
  reserve: 'Only the key of the reserve can mint more.',
  two_keys: 'Minting needs the keys of the reserve and of its witness.',
};
const OTHER_MINTER = 'An address other than the reserve can mint more.';

/** Who can mint an official token. */
const Minter = ({ official }: Pick<TokenRecord, 'official'>) =>
  official?.minter ? <span class="fine">{MINTERS[official.minter] ?? OTHER_MINTER}</span> : null;

/** Whether each ABSR is covered, and where a visitor checks it. */
function Coverage() {
  const summary = useQuery('getAbsrSummary', {}, FIGURES_POLL_MS);
  const covered = coverageOf(summary);
  if (summary.value === null && summary.failure === null) return null;
  return (
    <>
      <p class={`verdict-line ${coverageKind(covered)}`}>
        <strong>{coverageText(covered)}</strong>
      </p>
      <a class="button start" href="/reserves#verify">
        Check it yourself
      </a>
    </>
  );
}

/** What an official token is for. */
const Purpose = ({ official }: Pick<TokenRecord, 'official'>) => {
  if (official?.asset === 'ABSR')
    return (
      <>
        <Coverage />
        <p>
          The service mints one for each sat of the reserve, so that programs on Solana can read them.{' '}
          <a href="/trust#redemption">Sluice redeems none</a>.
        </p>
      </>
    );
  if (official?.asset === 'ASRY')
    return (
      <p>
        It rewards those who fund the service: <a href="/asry">how to earn it</a>. It is no claim on the
        reserve.
      </p>
    );
  return null;
};

/** Wallets list a token by its mint address; each wallet shows a token automatically once it holds some of it. */
function AddToWallet({ mint }: { mint: string }) {
  const [isCopied, setCopied] = useState<boolean | null>(null);
  const copy = (): Promise<void> =>
    navigator.clipboard.writeText(mint).then(
      () => setCopied(true),
      () => setCopied(false),
    );
  return (
    <>
      <button type="button" class="quiet" onClick={copy}>
        Add to wallet
      </button>
      <span class="fine" role="status">
        {isCopied === null
          ? ''
          : `${isCopied ? 'The mint address is copied' : 'Copy the mint address below'}. Paste it into the token search of your wallet. A token that you hold appears by itself.`}
      </span>
    </>
  );
}

const Rights = ({ token: { as_of: at, ...token } }: { token: TokenRecord }) => (
  <>
    <dt>May mint more</dt>
    <dd>
      <span class="stacked">
        <Authority address={token.mint_authority} asOf={at} label="mint authority" />
        <Minter official={token.official} />
      </span>
    </dd>
    <dt>May freeze</dt>
    <dd>
      <Authority address={token.freeze_authority} asOf={at} label="freeze authority" />
    </dd>
    <dt>May rename</dt>
    <dd>
      <Authority address={token.update_authority} asOf={at} label="update authority" />
    </dd>
  </>
);

/** No request created an official token, and it needs no listing. */
const Times = ({ token: { created_at: created, listed_at: listed } }: { token: TokenRecord }) =>
  created === null ? null : (
    <>
      <dt>Created</dt>
      <dd>
        <Moment iso={created} />
      </dd>
      <dt>Listed</dt>
      <dd>{listed === null ? 'not yet' : <Moment iso={listed} />}</dd>
    </>
  );

/** No request created an official token, so nothing is known of its creator. */
const Creation = ({ token }: { token: TokenRecord }) => (
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
    <Times token={token} />
    <dt>Metadata</dt>
    <dd>{token.uri === null ? 'none' : <Away href={token.uri}>JSON that wallets read</Away>}</dd>
    <dt>Picture</dt>
    <dd>{token.image === null ? 'none' : <Away href={token.image}>Open it at its own site</Away>}</dd>
  </>
);

const Origin = ({ token }: { token: TokenRecord }) => (
  <dl class="facts">
    {token.official === null ? <Creation token={token} /> : null}
    <dt>Explorers</dt>
    <dd class="row">
      <Away href={solanaAddressUrl(token.mint_address)}>Solana Explorer</Away>
      <Away href={solscanUrl(token.mint_address)}>Solscan</Away>
      <Away href={orbUrl(token.mint_address)}>Orb</Away>
    </dd>
  </dl>
);

export const TokenFacts = ({ token }: { token: TokenRecord }) => (
  <div class="split">
    <div class="stack">
      <TokenView token={token}>
        <div class="tiles">
          <SupplyTile supply={token.supply_ui} decimals={token.decimals} />
          <PoolPrice mint={token.mint_address} />
        </div>
        <Purpose official={token.official} />
        <p class="row">
          <ShareButton path={tokenUrl(token.mint_address)} title={token.name} />
          <AddToWallet mint={token.mint_address} />
        </p>
      </TokenView>
    </div>
    <div class="stack">
      <dl class="facts">
        <dt>Mint address</dt>
        <dd>
          <Identifier text={token.mint_address} label="mint address" />
        </dd>
        <Rights token={token} />
      </dl>
      <AsOf at={token.as_of} stale={token.stale} />
      <Folded summary="Creator, dates and links">
        <Origin token={token} />
      </Folded>
    </div>
  </div>
);

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
          {value.id === null ? null : (
            <Listing tokenId={value.id} listedAt={value.listed_at} payment={paid ?? null} />
          )}
        </>
      )}
    />
  );
}

/** @param payment signature of the listing's payment */
const Listing = ({
  tokenId,
  listedAt,
  payment,
}: {
  tokenId: number;
  listedAt: string | null;
  payment: string | null;
}) => (
  <section>
    <h2>Listing</h2>
    {listedAt === null ? (
      <div class="card">
        <ListingRequest tokenId={tokenId} />
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
