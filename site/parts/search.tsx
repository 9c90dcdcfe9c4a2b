/**
 * One search over pages, tokens and operations, in a dialog above the page.
 * @module
 */
import { useEffect, useState } from 'hono/jsx';
import { render } from 'hono/jsx/dom';
import { call, failureFrom, readSiteFile } from '../api/call.ts';
import {
  type Hit,
  MAX_HITS,
  matching,
  namedHits,
  type OwnAddresses,
  PAGE_HITS,
  tokenHit,
} from './search-hits.ts';
import { Foreign } from './token-text.tsx';

/** An operation of the API, as the build writes it to /operations.json. */
export type FoundOperation = {
  readonly id: string;
  readonly method: string;
  readonly path: string;
  readonly summary: string;
};

const TYPING_MS = 200;
/** A search without a response after this time has failed, and the dialog says so. */
const LIMIT = { timeoutMs: 9_000 };
/** Longest search text that the service accepts. */
const MAX_TEXT = 64;

const operationHit = ({ id, method, path, summary }: FoundOperation): Hit => ({
  kind: 'Operation',
  url: `/docs#${id}`,
  name: `${method.toUpperCase()} ${path}`,
  about: summary,
});

type Found = { readonly of: string; readonly hits: readonly Hit[]; readonly hasFailed: boolean };
const NOTHING: Found = { of: '', hits: [], hasFailed: false };

/** Tokens whose name, symbol or address matches, after a pause in typing. */
function useTokens(wanted: string): Found {
  const [found, setFound] = useState<Found>(NOTHING);
  useEffect(() => {
    if (wanted === '' || wanted.length > MAX_TEXT) return;
    const ended = new AbortController();
    const timer = setTimeout(async () => {
      const read = call('searchTokens', { q: wanted }, { signal: ended.signal, ...LIMIT });
      const result = await read.then(
        ({ value }) => ({ hits: value.tokens.slice(0, MAX_HITS).map(tokenHit), hasFailed: false }),
        () => ({ hits: [], hasFailed: true }),
      );
      if (!ended.signal.aborted) setFound({ of: wanted, ...result });
    }, TYPING_MS);
    return () => {
      ended.abort();
      clearTimeout(timer);
    };
  }, [wanted]);
  return found.of === wanted ? found : NOTHING;
}

type Own = { readonly own: OwnAddresses | null; readonly hasFailed: boolean };

/** Read once, when the dialog opens; until it is read, an address of the service is treated like any other. */
function useOwnAddresses(): Own {
  const [own, setOwn] = useState<OwnAddresses | null>(null);
  const [hasFailed, setFailed] = useState(false);
  useEffect(() => {
    const read = async (): Promise<void> => {
      const [reserves, summary] = await Promise.all([
        call('getReserves', {}, LIMIT),
        call('getAbsrSummary', {}, LIMIT),
      ]);
      const { bitcoin, solana } = reserves.value;
      const { absrMint = null, asryMint = null } = summary.value;
      setOwn({ bitcoin: bitcoin.address, solana: solana.address, absrMint, asryMint, treasury: null });
      const { value } = await call('getTreasury', {}, LIMIT);
      setOwn((known) => known && { ...known, treasury: value.treasury_address });
    };
    read().catch((thrown: unknown) => setFailed(failureFrom(thrown).isOutage));
  }, []);
  return { own, hasFailed };
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

const hitId = (index: number): string => `search-hit-${index}`;

const HitList = ({ hits, current, close }: { hits: readonly Hit[]; current: number; close: () => void }) => (
  <div id="search-hits" role="listbox" aria-label="Results" class="hits">
    {hits.map((hit, index) => (
      <a
        role="option"
        id={hitId(index)}
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
        <span class="badges">
          {hit.warning ? <span class="mark warn">{hit.warning}</span> : null}
          <span class="mark">{hit.kind}</span>
        </span>
      </a>
    ))}
  </div>
);

/** What the text names by its form first, then pages, tokens, and operations. */
function useHits(text: string): { readonly hits: readonly Hit[]; readonly hasFailed: boolean } {
  const wanted = text.trim();
  const tokens = useTokens(wanted);
  const operations = useOperations();
  const { own, hasFailed } = useOwnAddresses();
  if (wanted === '') return { hits: PAGE_HITS, hasFailed };
  const words = wanted.toLowerCase().split(/\s+/);
  const hits = [
    // Leaves out the guess for an address whose token was found.
    ...namedHits(wanted, own).filter(({ url }) => tokens.hits.every((token) => token.url !== url)),
    ...matching(PAGE_HITS, words),
    ...tokens.hits,
    ...matching(operations, words),
  ];
  return { hits, hasFailed: hasFailed || tokens.hasFailed };
}

const LABEL = 'Search pages, tokens, addresses and operations';
const HINT = 'Name, symbol or address';

function Search({ close }: { close: () => void }) {
  const [text, setText] = useState('');
  const [chosen, setChosen] = useState(0);
  const { hits, hasFailed } = useHits(text);
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
        {LABEL}
      </label>
      <input
        id="search-text"
        type="search"
        role="combobox"
        autocomplete="off"
        spellcheck={false}
        placeholder={HINT}
        aria-expanded="true"
        aria-controls="search-hits"
        aria-activedescendant={hits.length === 0 ? undefined : hitId(current)}
        value={text}
        onInput={(event: Event) => {
          if (event.target instanceof HTMLInputElement) setText(event.target.value);
          setChosen(0);
        }}
        onKeyDown={move}
      />
      <HitList hits={hits} current={current} close={close} />
      <p class="fine" role="status">
        {hasFailed
          ? 'The API does not respond: tokens and addresses of the service may be missing.'
          : hits.length === 0
            ? 'No match. Tokens are found by name, symbol or address.'
            : ''}
      </p>
    </div>
  );
}

let dialog: HTMLDialogElement | null = null;

/** Opens the search above the page; Escape or a click outside closes it. */
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
