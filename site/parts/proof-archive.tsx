import { useState } from 'hono/jsx';
import { failureFrom } from '../api/call.ts';
import { allProofs } from '../api/proofs.ts';
import { useQuery } from '../api/query.ts';
import { useAttempt } from '../api/use-attempt.ts';
import type { ArchivedProof, ChainResult } from '../verify/history.ts';
import { count, instant, sats, shortened, units } from './format.ts';
import { Moment } from './freshness.tsx';
import { Loaded } from './loaded.tsx';
import { Failed, Waiting } from './notice.tsx';
import { Table } from './table.tsx';

const SHOWN = 5;

const load = () => import('../verify/history.ts');

/** All proofs, page by page, each with its own check, and a check of the whole chain. */
export function ProofArchive() {
  const [cursor, setCursor] = useState<string | null>(null);
  return (
    <>
      <ChainCheck />
      <Loaded
        query={useQuery('listProofs', { limit: SHOWN, ...(cursor === null ? {} : { cursor }) })}
        waiting="Reading the archive."
        card
        show={({ proofs, next_cursor: next }) => (
          <>
            <ArchiveTable proofs={proofs} />
            <p class="row">
              {next === null ? null : (
                <button type="button" class="quiet" onClick={() => setCursor(next)}>
                  Older proofs
                </button>
              )}
              {cursor === null ? null : (
                <button type="button" class="quiet" onClick={() => setCursor(null)}>
                  Newest proofs
                </button>
              )}
            </p>
          </>
        )}
      />
    </>
  );
}

function ChainCheck() {
  const [checked, setChecked] = useState(0);
  const [result, setResult] = useState<ChainResult | null>(null);
  const [kept, setKept] = useState<readonly ArchivedProof[]>([]);
  const { busy, failure, attempt } = useAttempt<'chain'>();
  const run = () =>
    attempt('chain', async () => {
      setChecked(0);
      setResult(null);
      const { checkChain } = await load();
      const read: ArchivedProof[] = [];
      const keeping = async function* () {
        for await (const proof of allProofs({})) {
          read.push(proof);
          yield proof;
        }
      };
      setResult(await checkChain(keeping(), setChecked));
      setKept(read);
    });
  return (
    <div class="stack">
      <p class="row">
        <button type="button" class="quiet" disabled={busy !== null} onClick={run}>
          Check the chain of all proofs
        </button>
        {kept.length === 0 ? null : (
          <button type="button" class="quiet" onClick={() => save(kept)}>
            Keep a copy
          </button>
        )}
      </p>
      {busy === null ? null : (
        <Waiting what={`Reading and checking every proof: ${count(checked)} so far.`} usualSeconds={null} />
      )}
      <Failed failure={failure} retry={run} />
      <div role="status">{result === null ? null : <ChainVerdict result={result} />}</div>
    </div>
  );
}

export function ChainVerdict({ result }: { result: ChainResult }) {
  if (result.type === 'empty') return <p class="empty">No proof has been signed yet.</p>;
  if (result.type === 'linked')
    return (
      <div class="notice good">
        <p>
          <strong>
            {result.count === 1
              ? 'The only proof is intact.'
              : `All ${count(result.count)} proofs form one chain.`}
          </strong>{' '}
          It begins on {instant(result.first)}. Each proof contains the hash of the one before it.
        </p>
      </div>
    );
  return (
    <div class="notice bad">
      <p>
        <strong>The chain is broken at the proof of {instant(result.at)}.</strong> Reason: {result.why}. Do
        not rely on this site's figures.
      </p>
    </div>
  );
}

/** Offers all proofs as a file, against which a later archive can be compared. */
function save(proofs: readonly ArchivedProof[]): void {
  const file = URL.createObjectURL(new Blob([JSON.stringify(proofs)], { type: 'application/json' }));
  const link = document.createElement('a');
  link.href = file;
  link.download = `proofs-${proofs[0]?.timestamp.slice(0, 10) ?? ''}.json`;
  link.click();
  setTimeout(() => URL.revokeObjectURL(file));
}

type RowState = 'unchecked' | 'checking' | 'good' | { readonly fault: string };

/** Checks both signatures and the hash of one proof. */
function RowCheck({ proof }: { proof: ArchivedProof }) {
  const [state, setState] = useState<RowState>('unchecked');
  const run = async (): Promise<void> => {
    setState('checking');
    try {
      const fault = await (await load()).proofFault(proof);
      setState(fault === null ? 'good' : { fault });
    } catch (thrown) {
      setState({ fault: failureFrom(thrown).text });
    }
  };
  if (state === 'good') return <span class="mark good">Bitcoin and Solana keys signed it</span>;
  if (typeof state === 'object')
    return (
      <span>
        <span class="mark bad">not as signed</span> {state.fault}
      </span>
    );
  return (
    <button
      type="button"
      class="quiet small"
      aria-label={`Check the proof of ${instant(proof.timestamp)}`}
      disabled={state === 'checking'}
      onClick={run}
    >
      Check
    </button>
  );
}

/** The newest proof that was signed before the next millisecond. */
const proofPath = (timestamp: string): string => {
  const before = new Date(Date.parse(timestamp) + 1).toISOString();
  return `/api/proof/history?${new URLSearchParams({ limit: '1', before })}`;
};

export function ArchiveTable({ proofs }: { proofs: readonly ArchivedProof[] }) {
  return (
    <Table
      label="Signed proofs, newest first"
      columns={[
        { name: 'Signed' },
        { name: 'Reserve, sats', right: true },
        { name: 'ABSR supply', right: true },
        { name: 'Bitcoin block', right: true },
        { name: 'Hash' },
        { name: 'Check' },
      ]}
      rows={proofs.map((proof) => {
        const { timestamp, hash, figures } = proof;
        return [
          <a href={proofPath(timestamp)}>
            <Moment iso={timestamp} />
          </a>,
          sats(figures.reserveSatoshis),
          figures.absrSupplyAtoms === null
            ? 'no token'
            : units(figures.absrSupplyAtoms, figures.absrDecimals ?? 0),
          units(String(figures.bitcoinTipHeight), 0),
          <code title={hash}>{shortened(hash)}</code>,
          <RowCheck proof={proof} />,
        ];
      })}
      empty="No proof has been signed yet."
    />
  );
}
