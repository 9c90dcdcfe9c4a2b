/**
 * The check of the newest proof on a page: what it compares, what it found, and where each finding can be seen.
 * @module
 */
import { useState } from 'hono/jsx';
import type { CurrentProof } from '../../packages/client/src/index.ts';
import type { CheckLine } from '../../src/chain/bitcoin/proof-lines.ts';
import { call, type Failure, failureFrom, readSiteFile, siteUnreached } from '../api/call.ts';
import { PROOF_POLL_MS, useQuery } from '../api/query.ts';
import { PUBLIC_SOURCES, type Sources } from '../build/host-files.ts';
import { CopyButton } from './copyable.tsx';
import { Away, isDemonstration, OnChain, solanaAddressUrl } from './explorer-links.tsx';
import { instant, shortened } from './format.ts';
import { Age } from './freshness.tsx';
import { Failed } from './notice.tsx';

type Checked = {
  readonly proof: CurrentProof | null;
  readonly sources: Sources | null;
  readonly lines: readonly CheckLine[];
};
export type CheckState =
  | { readonly type: 'idle' }
  | ({ readonly type: 'running' } & Checked)
  | ({ readonly type: 'done'; readonly at: string } & Checked)
  | { readonly type: 'failed'; readonly failure: Failure };

const loadVerify = () =>
  import('../verify/evidence.ts').catch(() => {
    throw siteUnreached();
  });

/**
 * Nothing is loaded and no other origin is contacted before `run`. The check needs only the chains once it is loaded:
 * while the service does not respond, it checks the proof that the page has.
 */
export function useProofCheck(): { readonly state: CheckState; run(): Promise<void> } {
  const { value: shown } = useQuery('getProof', {}, PROOF_POLL_MS);
  const [state, setState] = useState<CheckState>({ type: 'idle' });
  return {
    state,
    async run() {
      let checked: Checked = { proof: null, sources: null, lines: [] };
      const show = (change: Partial<Checked>): void => {
        checked = { ...checked, ...change };
        setState({ type: 'running', ...checked });
      };
      show({});
      try {
        const newest = call('getProof', {}).catch((thrown: unknown) => {
          if (shown === null) throw thrown;
          return { value: shown };
        });
        const [{ verify }, { value: proof }, sources] = await Promise.all([
          loadVerify(),
          newest,
          readSiteFile<Sources>('/verify-sources.json'),
        ]);
        show({ proof, sources });
        await verify(proof, sources, (line) => show({ lines: [...checked.lines, line] }));
        setState({ type: 'done', at: new Date().toISOString(), ...checked });
      } catch (thrown) {
        setState({ type: 'failed', failure: failureFrom(thrown) });
      }
    },
  };
}

type Line = {
  readonly name: CheckLine['name'];
  /** The title of a line that is not confirmed yet: a name, not a statement. */
  readonly asked: string;
  readonly title: string;
  /** The title if the evidence contradicts the line. */
  readonly failed: string;
  readonly how: string;
};

const LINES: readonly Line[] = [
  {
    name: 'bitcoin_signature',
    asked: 'Signature of the Bitcoin key',
    title: 'The Bitcoin key signed these figures',
    failed: 'The Bitcoin key did NOT sign these figures',
    how: 'Verified by this page itself',
  },
  {
    name: 'solana_signature',
    asked: 'Signature of the Solana key',
    title: 'The Solana key signed these figures',
    failed: 'The Solana key did NOT sign these figures',
    how: 'Verified by this page itself',
  },
  {
    name: 'reserve',
    asked: 'BTC at the address',
    title: 'The signed BTC is there',
    failed: 'The BTC is NOT as signed',
    how: 'Compared with both Bitcoin explorers',
  },
  {
    name: 'supply',
    asked: 'Sats for every ABSR',
    title: 'Every ABSR is covered',
    failed: 'The ABSR supply is NOT as signed, or not covered',
    how: 'Compared with a Solana node and the explorers',
  },
  {
    name: 'minting',
    asked: 'Who can mint ABSR',
    title: 'Who can mint ABSR',
    failed: 'Keys other than those of the reserve can mint ABSR',
    how: 'Read from the token at a Solana node',
  },
  {
    name: 'freshness',
    asked: 'Age and site of the proof',
    title: 'Signed for this site',
    failed: 'NOT a current proof of this site',
    how: 'Its block is compared with both explorers',
  },
];

/** What explorers that contradict each other show; undefined unless they do. */
export const disputeOf = (lines: readonly CheckLine[]): string | undefined => {
  const text = lines.find(({ result }) => result === 'disputed')?.text;
  return text === undefined
    ? undefined
    : `${text.charAt(0).toUpperCase()}${text.slice(1)}`.replace(/\.?$/, '.');
};

/** The titles of the lines that the evidence contradicts. */
export const failedTitles = (lines: readonly CheckLine[]): readonly string[] =>
  LINES.filter(({ name }) => lines.some((line) => line.name === name && line.result === 'contradicted')).map(
    ({ failed }) => failed,
  );

const RESULTS = {
  confirmed: ['ok', 'true'],
  warned: ['unsure', 'one key'],
  contradicted: ['red', 'NOT true'],
  disputed: ['unsure', 'not decided'],
  unchecked: ['unsure', 'not checked'],
} as const;

/** A page of the explorer whose API is at `base`; a simulated explorer has it too. */
const ExplorerPage = ({ base, path }: { base: string; path: string }) => (
  <Away href={new URL(path, base).href}>{new URL(base).host}</Away>
);

/** Where a visitor can see the compared figure without this page. */
function evidenceOf(name: CheckLine['name'], { bitcoin, figures }: CurrentProof, { explorers }: Sources) {
  switch (name) {
    case 'bitcoin_signature':
    case 'solana_signature':
      return [];
    case 'reserve':
      return explorers.map((base) => (
        <ExplorerPage base={base} path={`/address/${encodeURIComponent(bitcoin.address)}`} />
      ));
    case 'supply':
    case 'minting':
      return figures.absrMint === null
        ? []
        : [<OnChain href={solanaAddressUrl(figures.absrMint)}>explorer.solana.com</OnChain>];
    case 'freshness':
      return explorers.map((base) => (
        <ExplorerPage base={base} path={`/block/${encodeURIComponent(figures.bitcoinTipHash)}`} />
      ));
  }
}

/** The finding for a reader: times and addresses are shortened unless something is wrong with one. */
const plain = ({ text, result }: CheckLine): string =>
  result === 'contradicted'
    ? text
    : text
        .replace(/\b[0-9A-Za-z]{26,}\b/g, (address) => shortened(address))
        .replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, instant);

const isSignature = (name: CheckLine['name']): boolean => name.endsWith('_signature');

/** Each check with its finding; those that wait for a source show what they compare. */
export function CheckList({ state }: { state: CheckState }) {
  const { lines, proof, sources } =
    state.type === 'running' || state.type === 'done' ? state : { lines: [], proof: null, sources: null };
  return (
    <ol class="checks" aria-label="What is checked">
      {LINES.map(({ name, asked, title, failed, how }) => {
        const line = lines.find((one) => one.name === name);
        const [kind, said] = line === undefined ? ['open', 'not checked yet'] : RESULTS[line.result];
        return (
          <li class={line === undefined && state.type === 'running' ? 'open busy' : kind} data-check={name}>
            <span class="sign" aria-hidden="true" />
            <span>
              <strong>
                {line?.result === 'contradicted' ? (
                  failed
                ) : line === undefined || line.result === 'unchecked' || line.result === 'disputed' ? (
                  asked
                ) : name === 'freshness' && proof !== null ? (
                  <>
                    Signed <Age iso={proof.timestamp} />, for this site
                  </>
                ) : (
                  title
                )}
              </strong>
              <span class="unseen">: {said}</span>
              <span class="detail">
                {line === undefined ? `${how}.` : `${how}: ${plain(line)}`}
                {line === undefined || proof === null || sources === null ? null : (
                  <span class="evidence">
                    {isSignature(name) ? <a href="/reserves#signed">What was signed</a> : null}
                    {evidenceOf(name, proof, sources)}
                  </span>
                )}
              </span>
            </span>
          </li>
        );
      })}
    </ol>
  );
}

const count = (lines: readonly CheckLine[], result: CheckLine['result']): number =>
  lines.filter((line) => line.result === result).length;

const WORDS = ['No', 'One', 'Two', 'Three', 'Four', 'Five', 'Six'];
const checks = (amount: number): string => `${WORDS[amount] ?? amount} check${amount === 1 ? '' : 's'}`;

/** The result of all checks together. */
function verdictOf(
  lines: readonly CheckLine[],
): readonly [kind: 'good' | 'warn' | 'bad', text: string, next: string] {
  const contradicted = count(lines, 'contradicted');
  if (contradicted > 0)
    return [
      'bad',
      `${checks(contradicted)} of six failed: ${failedTitles(lines).join('; ')}.`,
      "Do not rely on this site's figures.",
    ];
  const dispute = disputeOf(lines);
  if (dispute !== undefined)
    return ['warn', dispute, 'Ask a third explorer, or check again later: one of the two is wrong or late.'];
  const unchecked = count(lines, 'unchecked');
  if (unchecked > 0)
    return [
      'warn',
      'No source contradicts the proof.',
      `${checks(unchecked)} could not be made, because a source could not be reached. Try again later.`,
    ];
  if (count(lines, 'warned') > 0)
    return ['good', 'All six checks pass.', "One key can mint ABSR: the operator's Solana key."];
  return ['good', 'All six checks pass.', ''];
}

/** The check comes from the service; what it compares does not. */
const NotLoaded = ({ retry }: { retry: () => void }) => (
  <div class="notice bad" role="alert">
    <p>
      <strong>This service does not respond, so its check cannot be loaded.</strong> The chains do not depend
      on it: the explorers above show the BTC and the supply.
    </p>
    <button type="button" class="quiet" onClick={retry}>
      Try again
    </button>
  </div>
);

export function CheckVerdict({ state, retry }: { state: CheckState; retry: () => void }) {
  if (state.type === 'failed')
    return state.failure.isOutage && state.failure.requestId === null ? (
      <NotLoaded retry={retry} />
    ) : (
      <Failed failure={state.failure} retry={retry} />
    );
  if (state.type !== 'done') return null;
  const [kind, text, next] = verdictOf(state.lines);
  return (
    <div class={`notice ${kind}`}>
      <p>
        <strong>{text}</strong> {next} Checked {instant(state.at)}
        {isDemonstration() ? ', against the simulated chains of this demonstration' : ''}.
      </p>
      <CopyButton
        label="result of the checks"
        name="Copy result"
        text={state.lines.map((line) => `${line.result} ${line.name}: ${line.text}`).join('\n')}
      />
    </div>
  );
}

const EXPLORERS = PUBLIC_SOURCES.explorers.map((url) => new URL(url).host).join(', ');

/** Who is asked, and what they learn. */
export const CheckNote = () => (
  <span class="fine by-script">
    Your browser asks {isDemonstration() ? 'two simulated explorers' : EXPLORERS} and a Solana node, which see
    your IP address.
  </span>
);
