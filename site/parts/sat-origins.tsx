/**
 * Where the sats of the reserve came from. Each inflow is beside the swap that paid for it, or is marked as
 * unexplained.
 * @module
 */
import type { BitcoinTransactions, SwapHistory } from '../../packages/client/src/index.ts';
import { FIGURES_POLL_MS, useQuery } from '../api/query.ts';
import { BitcoinTransaction, SolanaTransaction } from './explorer-links.tsx';
import { amountOf, counted, fromUnixSeconds, sats, sol } from './format.ts';
import { Moment } from './freshness.tsx';
import { Loaded } from './loaded.tsx';
import { Folded, Table } from './table.tsx';

const POLL_MS = 30_000;
/** The most rows that the API returns at once. The Bitcoin list has no more pages. */
const LIMIT = 100;

type Transaction = BitcoinTransactions['transactions'][number];
type Swaps = Pick<SwapHistory, 'transactions' | 'next_cursor'>;

type Origin = {
  readonly transaction: Transaction;
  /** The swaps of this service whose BTC the transaction paid. */
  readonly swaps: Swaps['transactions'];
  /** Sats that those swaps explain. */
  readonly explained: bigint;
  /** Sats of an inflow that no swap explains; null while swaps are not known that could explain them. */
  readonly unexplained: bigint | null;
};

/** @param swaps the newest swaps; null while they are not known */
export function originsOf(transactions: readonly Transaction[], swaps: Swaps | null): readonly Origin[] {
  const oldest = swaps?.transactions.at(-1)?.blockTime ?? null;
  return transactions.map((transaction) => {
    const { txid, blockTime, netSatoshis } = transaction;
    const net = BigInt(netSatoshis);
    const own = (swaps?.transactions ?? []).filter(({ txId }) => txId === txid);
    const paid = own.reduce((sum, { btcSatoshis }) => sum + BigInt(btcSatoshis ?? 0), 0n);
    const explained = net < paid ? (net < 0n ? 0n : net) : paid;
    const rest = net < 0n ? 0n : net - explained;
    const isListed = swaps?.next_cursor === null || (oldest !== null && (blockTime ?? oldest) > oldest);
    return { transaction, swaps: own, explained, unexplained: rest === 0n || isListed ? rest : null };
  });
}

type Sums = {
  readonly explained: bigint;
  readonly unexplained: bigint;
  readonly unknown: bigint;
  /** Sats that left the reserve. */
  readonly sent: bigint;
};

/** Sums of the confirmed transactions: only those are in the balance. */
export function sumsOf(origins: readonly Origin[]): Sums {
  const sums = { explained: 0n, unexplained: 0n, unknown: 0n, sent: 0n };
  for (const { transaction, explained, unexplained } of origins) {
    if (transaction.blockTime === null) continue;
    const net = BigInt(transaction.netSatoshis);
    sums.explained += explained;
    if (net < 0n) sums.sent -= net;
    else if (unexplained === null) sums.unknown += net - explained;
    else sums.unexplained += unexplained;
  }
  return sums;
}

/**
 * Net sats of the balance that no listed transaction explains: the list ends before the oldest ones, one source omits
 * some, or the list is older than the balance. Null while the balance is not known.
 */
export const unlistedOf = (sums: Sums, balance: string | null): bigint | null =>
  balance === null ? null : BigInt(balance) - sums.explained - sums.unexplained - sums.unknown + sums.sent;

const Row = ({ name, atoms, children }: { name: string; atoms: bigint | null; children: string }) => (
  <>
    <dt>{name}</dt>
    <dd>
      <strong class="number">{atoms === null ? 'not known' : amountOf(atoms, 'sat')}</strong>{' '}
      <span class="fine">{children}</span>
    </dd>
  </>
);

const Summary = ({ sums, unlisted }: { sums: Sums; unlisted: bigint | null }) => (
  <dl class="facts">
    <Row name="From swaps" atoms={sums.explained}>
      each belongs to a listed swap, with the SOL that was paid for it
    </Row>
    <Row name="Unexplained" atoms={sums.unexplained}>
      not from a swap: the chain shows the sending address, but not who sent them or why
    </Row>
    {sums.unknown === 0n ? null : (
      <Row name="Not known" atoms={sums.unknown}>
        from swaps that are older than this list, or that cannot be read at the moment
      </Row>
    )}
    {sums.sent === 0n ? null : (
      <Row name="Sent away" atoms={sums.sent}>
        spent with the reserve's Bitcoin key; the service has no code that does this
      </Row>
    )}
    {unlisted === 0n ? null : (
      <Row name="Not listed" atoms={unlisted}>
        in transactions that are missing here, such as older ones
      </Row>
    )}
  </dl>
);

const Came = ({ origin: { transaction, swaps, unexplained } }: { origin: Origin }) => {
  if (transaction.netSatoshis.startsWith('-')) return <span class="mark warn">sent away</span>;
  return (
    <span>
      {swaps.map(({ signature, amountLamports }) => (
        <>
          <a href={`/swap?swap=${encodeURIComponent(signature)}`}>swap of {sol(amountLamports)} SOL</a>{' '}
        </>
      ))}
      {unexplained === 0n ? null : unexplained === null ? (
        'not known'
      ) : (
        <span class="mark warn">
          {swaps.length === 0 ? 'unexplained' : `${sats(unexplained.toString())} unexplained`}
        </span>
      )}
    </span>
  );
};

const Origins = ({ origins }: { origins: readonly Origin[] }) => (
  <Table
    label="Bitcoin transactions of the reserve, with their swaps"
    columns={[
      { name: 'When' },
      { name: 'Sats', right: true },
      { name: 'Came from' },
      { name: 'SOL paid on Solana' },
      { name: 'BTC arrived on Bitcoin' },
    ]}
    rows={origins.map((origin) => {
      const { blockTime, netSatoshis, txid } = origin.transaction;
      return [
        blockTime === null ? 'not confirmed' : <Moment iso={fromUnixSeconds(blockTime)} />,
        `${netSatoshis.startsWith('-') ? '' : '+'}${sats(netSatoshis)}`,
        <Came origin={origin} />,
        origin.swaps.length === 0 ? (
          'none'
        ) : (
          <span>
            {origin.swaps.map(({ signature }) => (
              <>
                <SolanaTransaction signature={signature} />{' '}
              </>
            ))}
          </span>
        ),
        <BitcoinTransaction txid={txid} />,
      ];
    })}
    empty="No transaction yet."
  />
);

/** @property isWhole whether the listed transactions add up to the balance */
type ListedSums = Sums & { readonly isWhole: boolean };

/**
 * Sums of the listed transactions; null while they are awaited, undefined if they cannot be read.
 * @param balance sats of the reserve; null while they are not known
 */
export function useSums(balance: string | null): ListedSums | null | undefined {
  const swaps = useQuery('listSwaps', { limit: LIMIT }, POLL_MS);
  const received = useQuery('listBitcoinTransactions', { limit: LIMIT }, POLL_MS);
  if (received.failure || swaps.failure) return undefined;
  if (received.value === null || swaps.value === null) return null;
  const sums = sumsOf(originsOf(received.value.transactions, swaps.value));
  return { ...sums, isWhole: unlistedOf(sums, balance) === 0n };
}

export function SatOrigins() {
  const swaps = useQuery('listSwaps', { limit: LIMIT }, POLL_MS).value;
  const reserves = useQuery('getReserves', {}, FIGURES_POLL_MS).value;
  return (
    <Loaded
      query={useQuery('listBitcoinTransactions', { limit: LIMIT }, POLL_MS)}
      waiting="Reading the Bitcoin chain."
      show={({ transactions }) => {
        const origins = originsOf(transactions, swaps);
        const sums = sumsOf(origins);
        return (
          <div class="stack">
            <Summary sums={sums} unlisted={unlistedOf(sums, reserves?.bitcoin?.balanceSatoshis ?? null)} />
            <Folded summary={`Show ${counted(transactions.length, 'transaction')}`}>
              <Origins origins={origins} />
            </Folded>
          </div>
        );
      }}
    />
  );
}
