import { useEffect, useState } from 'hono/jsx';
import type { Token } from '../../packages/client/src/index.ts';
import { call, type Failure, failureFrom } from '../api/call.ts';
import { useAnswer } from '../api/use-answer.ts';
import { fromAddressBar, toAddressBar } from './address-bar.ts';
import { Basins } from './canal.tsx';
import { grouped, instant, shortened } from './format.ts';
import { Failed, Waiting } from './notice.tsx';
import { Foreign, Initial } from './token-text.tsx';

export const TokenBadges = ({ token }: { token: Token }) => (
  <span class="badges">
    {token.listed_at === null ? <span class="mark">not listed</span> : <span class="mark good">listed</span>}
    {token.as_of === null ? null : (
      <>
        {token.mint_authority === null ? (
          <span class="mark good">supply fixed</span>
        ) : (
          <span class="mark warn">can mint more</span>
        )}
        {token.freeze_authority === null ? null : <span class="mark bad">can freeze accounts</span>}
      </>
    )}
    <span class="mark">{token.token_program === 'token-2022' ? 'Token-2022' : 'SPL token'}</span>
    {token.warning === null ? null : <span class="mark warn">well-known name</span>}
  </span>
);

export const TokenRow = ({ token }: { token: Token }) => (
  <li class="token-row">
    <Initial symbol={token.symbol} />
    <span class="who">
      <a href={`/token?id=${token.id}`}>
        <Foreign text={token.name} />
      </a>{' '}
      <span class="fine">
        <Foreign text={token.symbol} />
      </span>
      <TokenBadges token={token} />
    </span>
    <span class="supply fine number">
      Supply {grouped(token.supply_ui)}
      <br />
      Mint <code title={token.mint_address}>{shortened(token.mint_address)}</code>,{' '}
      {instant(token.created_at)}
    </span>
  </li>
);

const SEARCH_DELAY_MS = 250;
let typing: ReturnType<typeof setTimeout> | undefined;

export function TokenBrowser() {
  const [text, setText] = useState('');
  const [asked, setAsked] = useState('');
  const [more, setMore] = useState<{
    readonly of: string;
    readonly tokens: Token[];
    readonly next: string | null;
  } | null>(null);
  const [failure, setFailure] = useState<Failure | null>(null);
  const [creator, setCreator] = useState<string | null>(null);
  useEffect(() => setCreator(fromAddressBar('creator')), []);
  const newest = useAnswer('listTokens', creator === null ? {} : { creator }, 15_000);
  const found = useAnswer('searchTokens', asked === '' ? null : { q: asked });

  const type = (typedText: string): void => {
    setText(typedText);
    clearTimeout(typing);
    typing = setTimeout(() => setAsked(typedText.trim().slice(0, 64)), SEARCH_DELAY_MS);
  };
  const extra = more?.of === asked ? more : null;
  const cursor = extra ? extra.next : (found.value?.next_cursor ?? null);
  const next = async (): Promise<void> => {
    setFailure(null);
    try {
      const { value } = await call('searchTokens', { q: asked, cursor: cursor ?? '' });
      setMore({ of: asked, tokens: [...(extra?.tokens ?? []), ...value.tokens], next: value.next_cursor });
    } catch (thrown) {
      setFailure(failureFrom(thrown));
    }
  };
  const searching = asked !== '';
  const answer = searching ? found : newest;
  const tokens = [...(answer.value?.tokens ?? []), ...(searching ? (extra?.tokens ?? []) : [])];
  return (
    <>
      <div class="field search">
        <label for="token-search">Search by name, symbol or address</label>
        <input
          id="token-search"
          type="search"
          autocomplete="off"
          spellcheck={false}
          maxlength={64}
          value={text}
          onInput={(event: Event) => type(event.target instanceof HTMLInputElement ? event.target.value : '')}
        />
      </div>
      {creator === null || searching ? null : (
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
      {answer.failure === null ? null : <Failed failure={answer.failure} retry={answer.refresh} />}
      {answer.value === null ? (
        answer.failure === null ? (
          <div class="card">
            <Waiting what={searching ? 'Searching.' : 'Reading the newest tokens.'} />
          </div>
        ) : null
      ) : tokens.length === 0 ? (
        <div class="empty" role="status">
          <Basins waters={[['plain', 0]]} />
          <p>
            {searching
              ? 'No listed token matches. Only listed tokens are found by search.'
              : creator === null
                ? 'No token has been created yet. Yours could be the first.'
                : 'No listed token of this creator.'}
          </p>
        </div>
      ) : (
        <>
          <p class="fine" role="status">
            {searching
              ? `${tokens.length}${cursor === null ? '' : ' or more'} found, best matches first`
              : 'Newest first'}
          </p>
          <ul class="token-rows">
            {tokens.map((token) => (
              <TokenRow token={token} />
            ))}
          </ul>
        </>
      )}
      {failure === null ? null : <Failed failure={failure} />}
      {searching && cursor !== null ? (
        <button type="button" class="quiet start" onClick={next}>
          More
        </button>
      ) : null}
    </>
  );
}
