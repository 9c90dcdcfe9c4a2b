import type { ProofHistory, Reserves } from '../../packages/client/src/index.ts';
import { FIGURES_POLL_MS, useAnswer } from '../api/use-answer.ts';
import { CopyBlock, Identifier } from './copyable.tsx';
import {
  Away,
  BitcoinTransaction,
  bitcoinAddressUrl,
  SolanaTransaction,
  solanaAddressUrl,
} from './explorer-links.tsx';
import { btc, fromUnixSeconds, sats, shortened, sol, units, usd } from './format.ts';
import { AsOf, Moment } from './freshness.tsx';
import { Failed, Waiting } from './notice.tsx';
import { Table } from './table.tsx';

const POLL_MS = 30_000;

export function Wallets() {
  const reserves = useAnswer('getReserves', {}, FIGURES_POLL_MS);
  const summary = useAnswer('getAbsrSummary', {}, FIGURES_POLL_MS);
  const treasury = useAnswer('getTreasury', {});
  if (reserves.value === null)
    return reserves.failure === null ? (
      <div class="card">
        <Waiting what="Reading both chains." />
      </div>
    ) : (
      <Failed failure={reserves.failure} retry={reserves.refresh} />
    );
  const { bitcoin, solana } = reserves.value;
  return (
    <>
      <div class="columns">
        <div class="stack">
          <h2 class="minor">
            <span class="dot btc" aria-hidden="true" />
            Bitcoin reserve
          </h2>
          <p class="tile-value number">
            {bitcoin.balanceSatoshis === null ? 'unknown' : `${sats(bitcoin.balanceSatoshis)} sats`}
          </p>
          <dl class="facts">
            <dt>In BTC</dt>
            <dd>{bitcoin.balanceSatoshis === null ? 'unknown' : btc(bitcoin.balanceSatoshis)}</dd>
            <dt>Worth about</dt>
            <dd>{worthText(bitcoin.balanceSatoshis, summary.value?.btcPriceUsd ?? null)}</dd>
            <dt>Unconfirmed</dt>
            <dd>
              {bitcoin.pendingSatoshis === null
                ? 'unknown'
                : `${sats(bitcoin.pendingSatoshis)} sats, not counted`}
            </dd>
            <dt>Sources</dt>
            <dd>
              <Agreement bitcoin={bitcoin} />
            </dd>
            <dt>Counted for ABSR</dt>
            <dd>yes{bitcoin.watchOnly ? '; the key is kept offline' : ''}</dd>
            <dt>Address</dt>
            <dd>
              {bitcoin.address === null ? (
                'not configured'
              ) : (
                <WalletAddress
                  address={bitcoin.address}
                  url={bitcoinAddressUrl(bitcoin.address)}
                  label="Bitcoin address"
                />
              )}
            </dd>
          </dl>
        </div>
        <div class="stack">
          <h2 class="minor">
            <span class="dot sol" aria-hidden="true" />
            Solana reserve
          </h2>
          <p class="tile-value number">
            {solana.balanceLamports === null ? 'unknown' : `${sol(solana.balanceLamports)} SOL`}
          </p>
          <dl class="facts">
            <dt>Finalized at slot</dt>
            <dd>{solana.slot === null ? 'unknown' : units(solana.slot, 0)}</dd>
            <dt>Used for</dt>
            <dd>swaps into BTC, network fees</dd>
            <dt>Counted for ABSR</dt>
            <dd>no</dd>
            <dt>Address</dt>
            <dd>
              {solana.address === null ? (
                'not configured'
              ) : (
                <WalletAddress
                  address={solana.address}
                  url={solanaAddressUrl(solana.address)}
                  label="Solana address"
                />
              )}
            </dd>
            {treasury.value === null ? null : (
              <>
                <dt>Treasury</dt>
                <dd>
                  <WalletAddress
                    address={treasury.value.treasury_address}
                    url={solanaAddressUrl(treasury.value.treasury_address)}
                    label="treasury address"
                  />
                  <span class="fine">receives fees, deposits and minted ABSR</span>
                </dd>
              </>
            )}
          </dl>
        </div>
      </div>
      <AsOf at={reserves.value.as_of} stale={reserves.value.stale} away={reserves.failure !== null} />
    </>
  );
}

/** @param price USD for 1 BTC */
export const worthText = (satoshis: string | null, price: number | null): string =>
  satoshis === null || price === null ? 'price unknown' : usd((Number(satoshis) / 1e8) * price);

export function Agreement({ bitcoin }: { bitcoin: Pick<Reserves['bitcoin'], 'agreed' | 'sources'> }) {
  const known = bitcoin.sources.filter(({ balanceSatoshis }) => balanceSatoshis !== null).length;
  if (known === 0) return <span class="mark bad">none responds</span>;
  if (bitcoin.agreed === null) return <span class="mark warn">only one responds</span>;
  return bitcoin.agreed ? (
    <span class="mark good">{`${known} agree`}</span>
  ) : (
    <span class="mark bad">they differ, the lower is shown</span>
  );
}

const WalletAddress = ({ address, url, label }: { address: string; url: string; label: string }) => (
  <span class="stacked">
    <Identifier text={address} label={label} ends={8} />
    <Away href={url}>Open in an explorer</Away>
  </span>
);

export function SignedMessage() {
  const proof = useAnswer('getProof', {});
  if (proof.value === null)
    return proof.failure === null ? (
      <div class="card">
        <Waiting what="Fetching the proof." />
      </div>
    ) : (
      <Failed failure={proof.failure} retry={proof.refresh} />
    );
  const { message, bitcoin, solana, exclusions, timestamp, stale, as_of } = proof.value;
  return (
    <>
      <div class="card stack">
        <CopyBlock text={message} label="the signed message" />
        <dl class="facts">
          <dt>Signed</dt>
          <dd>
            <Moment iso={timestamp} />
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
      <AsOf at={as_of} stale={stale} away={proof.failure !== null} />
    </>
  );
}

export function ProofArchive() {
  const history = useAnswer('listProofs', { limit: 20 });
  if (history.value === null)
    return history.failure === null ? (
      <div class="card">
        <Waiting what="Reading the archive." />
      </div>
    ) : (
      <Failed failure={history.failure} retry={history.refresh} />
    );
  return <ArchiveTable proofs={history.value.proofs} />;
}

const dayOf = (timestamp: string): string => timestamp.slice(0, 10);

/** The archive returns a day's last proof, so only that row has a link. */
export function ArchiveTable({ proofs }: Pick<ProofHistory, 'proofs'>) {
  const days = proofs.map(({ timestamp }) => dayOf(timestamp));
  return (
    <Table
      label="Signed proofs, newest first"
      columns={[
        { name: 'Signed' },
        { name: 'Reserve, sats', right: true },
        { name: 'ABSR supply', right: true },
        { name: 'Bitcoin block', right: true },
        { name: 'Hash' },
      ]}
      rows={proofs.map(({ timestamp, hash, figures }, at) => [
        days.indexOf(dayOf(timestamp)) === at ? (
          <a href={`/api/proof/${encodeURIComponent(dayOf(timestamp))}`}>
            <Moment iso={timestamp} />
          </a>
        ) : (
          <Moment iso={timestamp} />
        ),
        sats(figures.reserveSatoshis),
        figures.absrSupplyAtoms === null
          ? 'no token'
          : units(figures.absrSupplyAtoms, figures.absrDecimals ?? 0),
        units(String(figures.bitcoinTipHeight), 0),
        <code title={hash}>{shortened(hash)}</code>,
      ])}
      empty="No proof has been signed yet."
    />
  );
}

export function ChainTransactions() {
  const bitcoin = useAnswer('listBitcoinTransactions', {}, POLL_MS);
  const solana = useAnswer('listSolanaTransactions', {}, POLL_MS);
  return (
    <div class="columns">
      <div class="stack">
        <h3>Bitcoin</h3>
        {bitcoin.value === null ? (
          bitcoin.failure === null ? (
            <Waiting what="Reading the Bitcoin chain." />
          ) : (
            <Failed failure={bitcoin.failure} retry={bitcoin.refresh} />
          )
        ) : (
          <>
            <Table
              label="Bitcoin transactions of the reserve"
              columns={[{ name: 'When' }, { name: 'Sats', right: true }, { name: 'Transaction' }]}
              rows={bitcoin.value.transactions
                .slice(0, 12)
                .map((tx) => [
                  tx.blockTime === null ? 'not confirmed' : <Moment iso={fromUnixSeconds(tx.blockTime)} />,
                  `${tx.netSatoshis.startsWith('-') ? '' : '+'}${sats(tx.netSatoshis)}`,
                  <BitcoinTransaction txid={tx.txid} />,
                ])}
              empty="No transaction yet."
            />
            <AsOf at={bitcoin.value.as_of} stale={bitcoin.value.stale} away={bitcoin.failure !== null} />
          </>
        )}
      </div>
      <div class="stack">
        <h3>Solana</h3>
        {solana.value === null ? (
          solana.failure === null ? (
            <Waiting what="Reading the Solana chain." />
          ) : (
            <Failed failure={solana.failure} retry={solana.refresh} />
          )
        ) : (
          <>
            <Table
              label="Solana transactions of the reserve"
              columns={[{ name: 'When' }, { name: 'Outcome' }, { name: 'Transaction' }]}
              rows={solana.value.transactions
                .slice(0, 12)
                .map((tx) => [
                  tx.blockTime === null ? 'unknown' : <Moment iso={fromUnixSeconds(tx.blockTime)} />,
                  tx.err === null ? 'succeeded' : 'failed',
                  <SolanaTransaction signature={tx.signature} />,
                ])}
              empty="No transaction yet."
            />
            <AsOf at={solana.value.as_of} stale={solana.value.stale} away={solana.failure !== null} />
          </>
        )}
      </div>
    </div>
  );
}
