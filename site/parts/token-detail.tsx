import { useEffect, useState } from 'hono/jsx';
import type { TokenRecord } from '../../packages/client/src/index.ts';
import { powerWords } from '../../src/chain/solana/token-powers.ts';
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
import { ListedMark, TokenBadges } from './token-list.tsx';
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

type HeldToken = Pick<TokenRecord, 'powers' | 'update_authority'>;

/** The meaning of the rights over a token for its holders. Only a mint that gives nobody a power is described as safe. */
export function holderFacts({ powers, update_authority: editor }: HeldToken): string[] {
  if (!powers) return [UNREADABLE];
  const canRename = 'One address can change the name, symbol and picture.';
  if (powers.length > 0)
    return [...powers.map((power) => powerWords(power)[1]), ...(editor === null ? [] : [canRename])];
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

/** The chain has no name for this token that may be shown. */
const NAMELESS = 'Token without a name';

const Standing = ({ token: { official, listed_at: listedAt } }: { token: TokenRecord }) =>
  official === null ? (
    <ListedMark at={listedAt} />
  ) : (
    <span class="mark good">official {official.asset} of this reserve</span>
  );

const MINTERS: Readonly<Record<string, string>> = {
  nobody: 'Nobody can mint more.',
  reserve: 'Only the key of the reserve can mint more.',
  two_keys: 'Minting needs the keys of the reserve and of its witness.',
};
const OTHER_MINTER = 'An address that is not of the reserve can mint more.';

/** Who can mint an official token. */
const Minter = ({ official }: Pick<TokenRecord, 'official'>) =>
  official?.minter ? <span class="fine">{MINTERS[official.minter] ?? OTHER_MINTER}</span> : null;

export function TokenFacts({ token }: { token: TokenRecord }) {
  return (
    <>
      <div class="token-head">
        <TokenPicture
          symbol={token.symbol}
          url={token.image !== null && isImageUrl(token.image) ? token.image : null}
        />
        <div>
          <h1>
            <Foreign text={token.name === '' ? NAMELESS : token.name} />
          </h1>
          <p class="row">
            <span class="soft">
              <Foreign text={token.symbol} />
            </span>
            <TokenBadges token={token} standing={<Standing token={token} />} />
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
              <Authority address={token.mint_authority} asOf={token.as_of} label="mint authority" />{' '}
              <Minter official={token.official} />
            </dd>
            <dt>May freeze accounts</dt>
            <dd>
              <Authority address={token.freeze_authority} asOf={token.as_of} label="freeze authority" />
            </dd>
            <dt>May change the name</dt>
            <dd>
              <Authority address={token.update_authority} asOf={token.as_of} label="update authority" />
            </dd>
            <Times token={token} />
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
