import type { AbsrSummary, CurrentProof, Reserves } from '../../packages/client/src/index.ts';
import { FIGURES_POLL_MS, type Query, useQuery } from '../api/query.ts';
import { CopyBlock, Identifier } from './copyable.tsx';
import { bitcoinSources } from './coverage.tsx';
import { bitcoinAddressUrl, OnChain, SolanaTransaction, solanaAddressUrl } from './explorer-links.tsx';
import { amountOf, btc, fromUnixSeconds, sol, units, worthText } from './format.ts';
import { Moment } from './freshness.tsx';
import { Loaded } from './loaded.tsx';
import { proofRhythm } from './rhythm.ts';
import { Table } from './table.tsx';

const POLL_MS = 30_000;
const SHOWN_TRANSACTIONS = 12;

export function Wallets() {
  const reserves = useQuery('getReserves', {}, FIGURES_POLL_MS);
  const summary = useQuery('getAbsrSummary', {}, FIGURES_POLL_MS);
  const treasury = useQuery('getTreasury', {}).value?.treasury_address ?? null;
  return (
    <Loaded
      query={reserves}
      waiting="Reading both chains."
      card
      show={({ bitcoin, solana }) => (
        <div class="columns">
          <BitcoinWallet bitcoin={bitcoin} summary={summary} />
          <SolanaWallet solana={solana} treasury={treasury} />
        </div>
      )}
    />
  );
}

const BitcoinWallet = ({
  bitcoin,
  summary,
}: {
  bitcoin: Reserves['bitcoin'];
  summary: Query<AbsrSummary>;
}) => (
  <div class="stack">
    <h2 class="minor">
      <span class="dot btc" aria-hidden="true" />
      Bitcoin reserve
    </h2>
    <p class="tile-value number">
      {bitcoin.balanceSatoshis === null ? 'unknown' : amountOf(bitcoin.balanceSatoshis, 'sat')}
    </p>
    <dl class="facts">
      <dt>In BTC</dt>
      <dd>
        {bitcoin.balanceSatoshis === null ? 'unknown' : btc(bitcoin.balanceSatoshis)}, about{' '}
        {worthText(bitcoin.balanceSatoshis, summary.value?.btcPriceUsd ?? null)}
      </dd>
      <dt>Unconfirmed</dt>
      <dd>
        {bitcoin.pendingSatoshis === null
          ? 'unknown'
          : `${amountOf(bitcoin.pendingSatoshis, 'sat')}, not counted`}
      </dd>
      <dt>Sources</dt>
      <dd>
        <Agreement bitcoin={bitcoin} />
      </dd>
      {bitcoin.watchOnly ? (
        <>
          <dt>Key</dt>
          <dd>kept offline</dd>
        </>
      ) : null}
      <dt>Address</dt>
      <dd>
        {bitcoin.address === null ? (
          'not configured'
        ) : (
          <WalletAddress
            address={bitcoin.address}
            url={bitcoinAddressUrl(bitcoin.address)}
            label="Bitcoin address"
            explorer="mempool.space"
          />
        )}
      </dd>
    </dl>
  </div>
);

const SolanaWallet = ({ solana, treasury }: { solana: Reserves['solana']; treasury: string | null }) => (
  <div class="stack">
    <h2 class="minor">
      <span class="dot sol" aria-hidden="true" />
      Solana reserve
    </h2>
    <p class="tile-value number">
      {solana.balanceLamports === null ? 'unknown' : `${sol(solana.balanceLamports)} SOL`}
    </p>
    <dl class="facts">
      <dt>Final at slot</dt>
      <dd>{solana.slot === null ? 'unknown' : units(solana.slot, 0)}</dd>
      <dt>Used for</dt>
      <dd>
        swaps for BTC, the accounts of new tokens and of ASRY receivers, refunds, and network fees; it does
        not back ABSR
      </dd>
      <dt>Address</dt>
      <dd>
        {solana.address === null ? (
          'not configured'
        ) : (
          <WalletAddress
            address={solana.address}
            url={solanaAddressUrl(solana.address)}
            label="Solana address"
            explorer="Solana Explorer"
          />
        )}
      </dd>
      {treasury === null ? null : (
        <>
          <dt>Treasury</dt>
          <dd>
            <WalletAddress
              address={treasury}
              url={solanaAddressUrl(treasury)}
              label="treasury address"
              explorer="Solana Explorer"
            />
            <span class="fine">receives fees, payments for ASRY, and minted ABSR</span>
          </dd>
        </>
      )}
    </dl>
  </div>
);

/** Whether the sources of the balance agree; a single source confirms nothing. */
const Agreement = ({ bitcoin }: { bitcoin: Reserves['bitcoin'] }) => (
  <span class={`mark ${bitcoin.agreed ? 'good' : bitcoin.agreed === null ? 'warn' : 'bad'}`}>
    {bitcoinSources(bitcoin)}
  </span>
);

const WalletAddress = ({
  address,
  url,
  label,
  explorer,
}: {
  address: string;
  url: string;
  label: string;
  explorer: string;
}) => (
  <span class="stacked">
    <Identifier text={address} label={label} ends={8} />
    <OnChain href={url}>See it on {explorer}</OnChain>
  </span>
);

export const SignedMessage = () => (
  <Loaded
    query={useQuery('getProof', {})}
    waiting="Reading the proof."
    card
    show={(proof) => <Signed proof={proof} />}
  />
);

const Signed = ({ proof: { message, bitcoin, solana, exclusions, timestamp } }: { proof: CurrentProof }) => (
  <div class="card stack">
    <CopyBlock text={message} label="the signed message" />
    <dl class="facts">
      <dt>Signed</dt>
      <dd>
        <Moment iso={timestamp} />, {proofRhythm(bitcoin.offline)}
      </dd>
      <dt>Bitcoin signature</dt>
      <dd>
        <Identifier text={bitcoin.signature} label="Bitcoin signature" ends={10} />{' '}
        <span class="fine">{bitcoin.scheme}</span>
      </dd>
      <dt>Solana signature</dt>
      <dd>
        <Identifier text={solana.signature} label="Solana signature" ends={10} />{' '}
        <span class="fine">{solana.scheme}</span>
      </dd>
      <dt>Not counted</dt>
      <dd>
        <ul>
          {exclusions.map((line) => (
            <li>{line}</li>
          ))}
        </ul>
      </dd>
    </dl>
  </div>
);

export const SolanaTransactions = () => (
  <Loaded
    query={useQuery('listSolanaTransactions', {}, POLL_MS)}
    waiting="Reading the Solana chain."
    show={({ transactions }) => (
      <Table
        label="Solana transactions of the reserve"
        columns={[{ name: 'When' }, { name: 'Outcome' }, { name: 'Transaction' }]}
        rows={transactions
          .slice(0, SHOWN_TRANSACTIONS)
          .map((tx) => [
            tx.blockTime === null ? 'unknown' : <Moment iso={fromUnixSeconds(tx.blockTime)} />,
            tx.err === null ? 'succeeded' : 'failed',
            <SolanaTransaction signature={tx.signature} />,
          ])}
        empty="No transaction yet."
      />
    )}
  />
);
