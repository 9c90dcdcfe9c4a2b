/**
 * One search over pages, tokens and operations, in a dialog above the page.
 * @module
 */
import { useEffect, useState } from 'hono/jsx';
import { render } from 'hono/jsx/dom';
import type { Answer, CallOptions, Input, OperationName } from '../../packages/client/src/index.ts';
import { call, failureFrom, readSiteFile } from '../api/call.ts';
import {
  type Hit,
  MAX_HITS,
  matching,
  namedHits,
  noMatchText,
  type OwnAddresses,
  ownHits,
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

type Result = { readonly hits: readonly Hit[]; readonly hasFailed: boolean };
type Found = Result & { readonly of: string };
const NOTHING: Found = { of: '', hits: [], hasFailed: false };

/** Codes of a service that has responded, and has nothing of this name. */
const ABSENT = ['NOT_FOUND', 'INVALID_INPUT', 'NOT_CONFIGURED'];

/** Null if the service has no such thing. @throws CallFailed for any other failure */
const readOrNull = <Name extends OperationName>(
  name: Name,
  input: Input<Name>,
  options: CallOptions = {},
): Promise<Answer<Name> | null> =>
  call(name, input, { ...options, ...LIMIT }).then(
    ({ value }) => value,
    (thrown: unknown) => {
      if (ABSENT.includes(failureFrom(thrown).code)) return null;
      throw thrown;
    },
  );

/** What the API finds for a text. */
async function readFound(wanted: string, signal: AbortSignal): Promise<Result> {
  const read = <Name extends OperationName>(name: Name, input: Input<Name>) =>
    readOrNull(name, input, { signal });
  const searched = async (): Promise<readonly Hit[]> => {
    const found = wanted.length > MAX_TEXT ? null : await read('searchTokens', { q: wanted });
    return found === null ? [] : found.tokens.slice(0, MAX_HITS).map(tokenHit);
  };
  const results = await Promise.allSettled([namedHits(wanted, read), searched()]);
  return {
    hits: results.flatMap((result) => (result.status === 'fulfilled' ? result.value : [])),
    hasFailed: results.some(({ status }) => status === 'rejected'),
  };
}

/** What the API finds for a text after a pause in typing; null until then. */
function useFound(wanted: string): Found | null {
  const [found, setFound] = useState<Found>(NOTHING);
  useEffect(() => {
    if (wanted === '') return;
    const ended = new AbortController();
    const timer = setTimeout(async () => {
      const result = await readFound(wanted, ended.signal);
      if (!ended.signal.aborted) setFound({ of: wanted, ...result });
    }, TYPING_MS);
    return () => {
      ended.abort();
      clearTimeout(timer);
    };
  }, [wanted]);
  return found.of === wanted ? found : null;
}

type Own = { readonly own: OwnAddresses | null; readonly hasFailed: boolean };

/** Read once, when the dialog opens; until it is read, an address of the service is treated like any other. */
function useOwnAddresses(): Own {
  const [own, setOwn] = useState<OwnAddresses | null>(null);
  const [hasFailed, setFailed] = useState(false);
  useEffect(() => {
    const read = async (): Promise<void> => {
      const [reserves, summary, treasury] = await Promise.all([
        call('getReserves', {}, LIMIT),
        call('getAbsrSummary', {}, LIMIT),
        readOrNull('getTreasury', {}),
      ]);
      const { bitcoin, solana } = reserves.value;
      const { absrMint = null, asryMint = null } = summary.value;
      setOwn({
        ...{ bitcoin: bitcoin.address, solana: solana.address, absrMint, asryMint },
        treasury: treasury?.treasury_address ?? null,
      });
    };
    read().catch(() => setFailed(true));
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

type Hits = { readonly hits: readonly Hit[]; readonly state: string };

/** The service's own addresses first, then pages, what the API finds, and operations. */
function useHits(text: string): Hits {
  const wanted = text.trim();
  const found = useFound(wanted);
  const operations = useOperations();
  const { own, hasFailed } = useOwnAddresses();
  const words = wanted.toLowerCase().split(/\s+/);
  const hits =
    wanted === ''
      ? PAGE_HITS
      : [
          ...ownHits(wanted, own),
          ...matching(PAGE_HITS, words),
          ...(found?.hits ?? []),
          ...matching(operations, words),
        ].filter(({ url }, index, all) => all.findIndex((other) => other.url === url) === index);
  if (hasFailed || found?.hasFailed)
    return { hits, state: 'The API does not respond: tokens and addresses of the service may be missing.' };
  if (hits.length > 0) return { hits, state: '' };
  return { hits, state: found === null || own === null ? 'Searching.' : noMatchText(wanted) };
}

const LABEL = 'Search pages, tokens, addresses and operations';
const HINT = 'Name, symbol or address';

function Search({ close }: { close: () => void }) {
  const [text, setText] = useState('');
  const [chosen, setChosen] = useState(0);
  const { hits, state } = useHits(text);
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
        {state}
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
