import { type Child, useEffect, useState } from 'hono/jsx';
import type { Token } from '../../packages/client/src/index.ts';
import { call, type Failure, failureFrom } from '../api/call.ts';
import { FIGURES_POLL_MS, useQuery } from '../api/query.ts';
import { fromAddressBar, toAddressBar } from './address-bar.ts';
import { shortened } from './format.ts';
import { Loaded } from './loaded.tsx';
import { Failed } from './notice.tsx';
import { OwnPicture } from './own-picture.tsx';
import { OfficialMark, Supply, TokenBadges } from './token-badges.tsx';
import { Foreign, OfficialPicture, tintOf } from './token-text.tsx';
import { tokenUrl } from './token-url.ts';

/** A token in the gallery: its picture, what its creator says of it, and what its rights are. */
export const TokenTile = ({ token }: { token: Token }) => (
  <li class="token-tile">
    <span class={`band ${tintOf(token.symbol)}`}>
      <OwnPicture symbol={token.symbol} seed={token.mint_address} image={token.image} />
    </span>
    <span class="who">
      <a href={tokenUrl(token.mint_address)}>
        <Foreign text={token.name} />
      </a>{' '}
      <span class="fine">
        <Foreign text={token.symbol} />
      </span>
    </span>
    {token.description === '' ? null : (
      <span class="says">
        <Foreign text={token.description} />
      </span>
    )}
    <TokenBadges token={token} />
    <span class="fine number">
      Supply <Supply amount={token.supply_ui} />
      <br />
      Mint <code title={token.mint_address}>{shortened(token.mint_address, 4)}</code>
    </span>
  </li>
);

const OFFICIAL = [
  ['ABSR', 'absrMint', 'Counts the sats of the reserve'],
  ['ASRY', 'asryMint', 'Thanks those who fund the service'],
] as const;

type OfficialRow = {
  readonly asset: 'ABSR' | 'ASRY';
  /** Null until it is read. */
  readonly mint: string | null;
  readonly purpose: string;
};

/** The tokens of the service itself, unless the search is for others. */
function useOfficial(query: string): readonly OfficialRow[] {
  const { value, failure } = useQuery('getAbsrSummary', {}, FIGURES_POLL_MS);
  const isAwaited = value === null && failure === null;
  return OFFICIAL.flatMap(([asset, member, purpose]) => {
    const mint = value?.[member] ?? null;
    const isFound = asset.toLowerCase().includes(query.toLowerCase()) || mint?.startsWith(query);
    return isFound && (isAwaited || mint) ? [{ asset, mint, purpose }] : [];
  });
}

const OfficialRows = ({ rows }: { rows: readonly OfficialRow[] }) =>
  rows.length === 0 ? null : (
    <>
      <h2 class="minor">Tokens of this reserve</h2>
      <ul class="token-rows">
        {rows.map(({ asset, mint, purpose }) => (
          <li class="token-row">
            <OfficialPicture asset={asset} />
            <span class="who">
              {mint === null ? asset : <a href={tokenUrl(mint)}>{asset}</a>}{' '}
              <span class="badges">
                <OfficialMark asset={asset} />
              </span>
            </span>
            <span class="supply fine number">
              {purpose}
              <br />
              Mint{' '}
              {mint === null ? (
                <span class="skeleton" aria-hidden="true" />
              ) : (
                <code title={mint}>{shortened(mint)}</code>
              )}
            </span>
          </li>
        ))}
      </ul>
    </>
  );

const NO_TOKEN = 'No token has been created yet. Yours could be the first.';
const NEWEST_POLL_MS = 15_000;
const SEARCH_DELAY_MS = 250;
/** Longest query that the service accepts. */
const MAX_QUERY = 64;
let typing: ReturnType<typeof setTimeout> | undefined;

type Page = { readonly of: string; readonly tokens: Token[]; readonly next: string | null };

/** Further pages of a search. */
function useMore(asked: string) {
  const [more, setMore] = useState<Page | null>(null);
  const [failure, setFailure] = useState<Failure | null>(null);
  const extra = more?.of === asked ? more : null;
  return {
    extra,
    failure,
    async read(cursor: string): Promise<void> {
      setFailure(null);
      try {
        const { value } = await call('searchTokens', { q: asked, cursor });
        const tokens = [...(extra?.tokens ?? []), ...value.tokens];
        setMore({ of: asked, tokens, next: value.next_cursor });
      } catch (thrown) {
        setFailure(failureFrom(thrown));
      }
    },
  };
}

/** What is searched: the typed text a moment later. It is in the page's URL, so that a reload or a link finds it again. */
function useSearch(): { readonly text: string; readonly asked: string; type(text: string): void } {
  const [text, setText] = useState('');
  const [asked, setAsked] = useState('');
  useEffect(() => {
    const query = fromAddressBar('q')?.slice(0, MAX_QUERY) ?? '';
    setText(query);
    setAsked(query.trim());
  }, []);
  const type = (typedText: string): void => {
    setText(typedText);
    clearTimeout(typing);
    typing = setTimeout(() => {
      const query = typedText.trim().slice(0, MAX_QUERY);
      toAddressBar('q', query === '' ? null : query);
      setAsked(query);
    }, SEARCH_DELAY_MS);
  };
  return { text, asked, type };
}

export function TokenBrowser() {
  const { text, asked, type } = useSearch();
  const official = useOfficial(asked);
  const [creator, setCreator] = useState<string | null>(null);
  useEffect(() => setCreator(fromAddressBar('creator')), []);
  return (
    <>
      <div class="field half">
        <label class="by-script" for="token-search">
          Search by name, symbol or address
        </label>
        <input
          class="by-script"
          id="token-search"
          type="search"
          autocomplete="off"
          spellcheck={false}
          maxlength={MAX_QUERY}
          value={text}
          aria-describedby="token-search-hint"
          onInput={(event: Event) => type(event.target instanceof HTMLInputElement ? event.target.value : '')}
        />
        <span class="hint" id="token-search-hint">
          Anyone can create or list a token, and choose its name. A listing is not a recommendation: only the
          mint address identifies a token.
        </span>
      </div>
      {creator === null || asked !== '' ? null : (
        <p class="row">
          <span>
            Created by <code title={creator}>{shortened(creator, 8)}</code>
          </span>
          <button
            type="button"
            class="quiet small"
            onClick={() => {
              toAddressBar('creator', null);
              setCreator(null);
            }}
          >
            Show all tokens
          </button>
        </p>
      )}
      {creator === null || asked !== '' ? <OfficialRows rows={official} /> : null}
      {asked === '' ? (
        <Listed creator={creator} />
      ) : (
        <Found asked={asked} hasOfficial={official.length > 0} />
      )}
    </>
  );
}

const Listed = ({ creator }: { creator: string | null }) => (
  <Loaded
    query={useQuery('listTokens', creator === null ? {} : { creator }, NEWEST_POLL_MS)}
    waiting="Reading the newest tokens."
    card
    hasAge={false}
    show={({ tokens }) => (
      <TokenRows
        tokens={tokens}
        title={<h2 class="minor">Tokens of others, newest first</h2>}
        empty={creator === null ? NO_TOKEN : 'No listed token of this creator.'}
      />
    )}
  />
);

function Found({ asked, hasOfficial }: { asked: string; hasOfficial: boolean }) {
  const more = useMore(asked);
  return (
    <Loaded
      query={useQuery('searchTokens', { q: asked })}
      waiting="Searching."
      card
      hasAge={false}
      show={({ tokens: first, next_cursor: firstNext }) => {
        const tokens = [...first, ...(more.extra?.tokens ?? [])];
        const next = more.extra ? more.extra.next : firstNext;
        return (
          <>
            <TokenRows
              tokens={tokens}
              title={
                <p class="fine" role="status">
                  {tokens.length}
                  {next === null ? '' : ' or more'} found, best matches first
                </p>
              }
              empty={hasOfficial ? null : 'No listed token matches. Only listed tokens are found by search.'}
            />
            <Failed failure={more.failure} />
            {next === null ? null : (
              <button type="button" class="quiet start" onClick={() => more.read(next)}>
                Show more
              </button>
            )}
          </>
        );
      }}
    />
  );
}

type TokenRowsProps = {
  readonly tokens: readonly Token[];
  readonly title: Child;
  /** What is said if there is no token; null if another part shows one. */
  readonly empty: string | null;
};

const TokenRows = ({ tokens, title, empty }: TokenRowsProps) =>
  tokens.length === 0 ? (
    empty === null ? null : (
      <p class="empty" role="status">
        {empty}
      </p>
    )
  ) : (
    <>
      {title}
      <ul class="gallery">
        {tokens.map((token) => (
          <TokenTile token={token} />
        ))}
      </ul>
    </>
  );
