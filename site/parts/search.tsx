/**
 * One search over pages, tokens and operations, in a dialog above the page.
 * @module
 */
import { useEffect, useState } from 'hono/jsx';
import { render } from 'hono/jsx/dom';
import type { Token } from '../../packages/client/src/index.ts';
import { call, readSiteFile } from '../api/call.ts';
import { shortened } from './format.ts';
import { GROUPS } from './places.ts';
import { Foreign } from './token-text.tsx';
import { tokenUrl } from './token-url.ts';

/** An operation of the API, as the build writes it to /operations.json. */
export type FoundOperation = {
  readonly id: string;
  readonly method: string;
  readonly path: string;
  readonly summary: string;
};

type Hit = {
  readonly kind: 'Page' | 'Token' | 'Operation';
  readonly url: string;
  readonly name: string;
  readonly about: string;
};

const MAX_HITS = 6;
const TYPING_MS = 200;

const PAGES: readonly Hit[] = GROUPS.flatMap(([, , places]) =>
  places.map(([url, name, about]): Hit => ({ kind: 'Page', url, name, about })),
);

const operationHit = ({ id, method, path, summary }: FoundOperation): Hit => ({
  kind: 'Operation',
  url: `/docs#${id}`,
  name: `${method.toUpperCase()} ${path}`,
  about: summary,
});

const tokenHit = (token: Token): Hit => ({
  kind: 'Token',
  url: tokenUrl(token.mint_address),
  name: token.name,
  about: `${token.symbol}, ${shortened(token.mint_address)}`,
});

const matching = (hits: readonly Hit[], words: readonly string[]): Hit[] =>
  hits
    .filter(({ name, about }) => {
      const text = `${name} ${about}`.toLowerCase();
      return words.every((word) => text.includes(word));
    })
    .slice(0, MAX_HITS);

/** Tokens whose name, symbol or address matches, after a pause in typing. A failed search finds none. */
function useTokens(text: string): readonly Hit[] {
  const [found, setFound] = useState<{ readonly of: string; readonly hits: readonly Hit[] }>({
    of: '',
    hits: [],
  });
  const wanted = text.trim().slice(0, 64);
  useEffect(() => {
    if (wanted === '') return;
    const ended = new AbortController();
    const timer = setTimeout(async () => {
      const hits = await call('searchTokens', { q: wanted }, { signal: ended.signal }).then(
        ({ value }) => value.tokens.slice(0, MAX_HITS).map(tokenHit),
        () => [],
      );
      if (!ended.signal.aborted) setFound({ of: wanted, hits });
    }, TYPING_MS);
    return () => {
      ended.abort();
      clearTimeout(timer);
    };
  }, [wanted]);
  return found.of === wanted ? found.hits : [];
}

function useOperations(): readonly Hit[] {
  const [hits, setHits] = useState<readonly Hit[]>([]);
  useEffect(() => {
    readSiteFile<FoundOperation[]>('/operations.json').then(
      (operations) => setHits(operations.map(operationHit)),
      () => undefined,
    );
  }, []);
  return hits;
}

function Search({ close }: { close: () => void }) {
  const [text, setText] = useState('');
  const [chosen, setChosen] = useState(0);
  const tokens = useTokens(text);
  const operations = useOperations();
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  const hits =
    words.length === 0 ? [...PAGES] : [...matching(PAGES, words), ...tokens, ...matching(operations, words)];
  const current = Math.min(chosen, hits.length - 1);
  const move = (event: KeyboardEvent): void => {
    const step = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0;
    if (step !== 0 && hits.length > 0) {
      event.preventDefault();
      setChosen((current + step + hits.length) % hits.length);
    }
    const hit = hits[current];
    if (event.key === 'Enter' && hit !== undefined) {
      event.preventDefault();
      close();
      location.assign(hit.url);
    }
  };
  return (
    <div class="stack">
      <label class="unseen" for="search-text">
        Search pages, tokens and operations
      </label>
      <input
        id="search-text"
        type="search"
        role="combobox"
        autocomplete="off"
        spellcheck={false}
        placeholder="Search pages, tokens and operations"
        aria-expanded="true"
        aria-controls="search-hits"
        aria-activedescendant={hits.length === 0 ? undefined : `search-hit-${current}`}
        value={text}
        onInput={(event: Event) => {
          if (event.target instanceof HTMLInputElement) setText(event.target.value);
          setChosen(0);
        }}
        onKeyDown={move}
      />
      <div id="search-hits" role="listbox" aria-label="Results" class="hits">
        {hits.map((hit, index) => (
          <a
            role="option"
            id={`search-hit-${index}`}
            aria-selected={index === current ? 'true' : 'false'}
            tabindex={-1}
            href={hit.url}
            onClick={close}
          >
            <span>
              <Foreign text={hit.name} />
              <span class="fine">
                <Foreign text={hit.about} />
              </span>
            </span>
            <span class="mark">{hit.kind}</span>
          </a>
        ))}
      </div>
      {hits.length === 0 ? (
        <p class="fine">Nothing matches. Tokens are found by name, symbol or address.</p>
      ) : null}
    </div>
  );
}

let dialog: HTMLDialogElement | null = null;

/** Opens the search above the page; Escape or a click beside it closes it. */
export function openSearch(): void {
  if (dialog?.open) return;
  const opened = document.createElement('dialog');
  opened.className = 'search-dialog';
  opened.setAttribute('aria-label', 'Search');
  opened.addEventListener('click', ({ target }) => target === opened && opened.close());
  opened.addEventListener('close', () => opened.remove());
  document.body.appendChild(opened);
  dialog = opened;
  render(<Search close={() => opened.close()} />, opened);
  opened.showModal();
  opened.querySelector('input')?.focus();
}
