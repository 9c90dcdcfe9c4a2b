import { useState } from 'hono/jsx';
import type { CheckLine } from '../../src/chain/bitcoin/proof-lines.ts';
import { call, type Failure, failureFrom, readSiteFile } from '../api/call.ts';
import type { Sources } from '../build/host-files.ts';
import { CopyButton } from './copyable.tsx';
import { instant } from './format.ts';
import { Failed, Waiting } from './notice.tsx';

const LINES: readonly { readonly name: CheckLine['name']; readonly title: string; readonly how: string }[] = [
  {
    name: 'bitcoin_signature',
    title: 'The Bitcoin key has signed',
    how: 'to be checked by the code of this page',
  },
  {
    name: 'solana_signature',
    title: 'The Solana key has signed',
    how: 'to be checked by the code of this page',
  },
  { name: 'reserve', title: 'The sats are there', how: 'to be compared with two public Bitcoin explorers' },
  { name: 'supply', title: 'Every ABSR is covered', how: 'supply to be read from a public Solana node' },
  {
    name: 'freshness',
    title: 'The proof is fresh, and of this site',
    how: 'its block must be in the chain of both explorers',
  },
];

type State =
  | { readonly type: 'idle' }
  | { readonly type: 'running'; readonly doing: string }
  | { readonly type: 'failed'; readonly failure: Failure }
  | { readonly type: 'done'; readonly lines: readonly CheckLine[]; readonly at: string };

/** The check and its Bitcoin library are larger than the page, so both load when the visitor starts it. */
export function VerifyPanel() {
  const [state, setState] = useState<State>({ type: 'idle' });
  const run = async (): Promise<void> => {
    const report = (doing: string): void => setState({ type: 'running', doing });
    report('Fetching the newest proof.');
    try {
      const [{ verify }, proof, sources] = await Promise.all([
        import('../verify/evidence.ts'),
        call('getProof', {}),
        readSiteFile<Sources>('/verify-sources.json'),
      ]);
      const lines = await verify(proof.value, sources, report);
      setState({ type: 'done', lines, at: new Date().toISOString() });
    } catch (thrown) {
      setState({ type: 'failed', failure: failureFrom(thrown) });
    }
  };
  const lines = state.type === 'done' ? state.lines : [];
  const green = lines.length > 0 && lines.every(({ ok }) => ok);
  return (
    <div class="card stack verify">
      <div class="row">
        <button type="button" onClick={run} disabled={state.type === 'running'}>
          {state.type === 'done' ? 'Check again' : 'Check with public explorers'}
        </button>
        <span class="fine">
          Your browser contacts the explorers directly. They see your network address, as any site does.
        </span>
      </div>
      {state.type === 'running' ? <Waiting what={state.doing} /> : null}
      {state.type === 'failed' ? <Failed failure={state.failure} retry={run} /> : null}
      <ol class="checks" aria-label="What is verified">
        {LINES.map(({ name, title, how }) => {
          const line = lines.find((one) => one.name === name);
          return (
            <li class={line === undefined ? 'open' : line.ok ? 'ok' : 'red'} data-check={name}>
              <span class="sign" aria-hidden="true" />
              <span>
                <strong>{title}</strong>
                <span class="unseen">
                  {line === undefined ? ': not checked yet' : line.ok ? ': true' : ': NOT true'}
                </span>
                <span class="detail">{line?.text ?? how}</span>
              </span>
            </li>
          );
        })}
      </ol>
      <div role="status">
        {state.type !== 'done' ? null : (
          <div class={`notice ${green ? 'good' : 'bad'}`}>
            <p>
              <strong>
                {green
                  ? 'All five checks pass.'
                  : `${lines.filter(({ ok }) => !ok).length} of five checks fail.`}
              </strong>{' '}
              Checked {instant(state.at)}.{' '}
              <CopyButton
                label="result of the checks"
                name="Copy result"
                text={lines.map((line) => `${line.ok ? 'ok ' : 'RED'} ${line.name}: ${line.text}`).join('\n')}
              />
            </p>
            {green ? null : (
              <p>
                A source that does not respond counts as red, so try again first. If a line stays red, do not
                rely on the figures of this site.
              </p>
            )}
          </div>
        )}
      </div>
    </div>
  );
}
