/** A Bitcoin chain of transactions that affect the reserve, and indexes over it with every kind of failure. */
import { sats } from '../../../src/core/amount.ts';
import { upstreamFailed } from '../../../src/core/errors.ts';
import type { BitcoinIndex } from '../../../src/custody/reserve/reserve-views.ts';
import type { BitcoinTx } from '../../../src/providers/esplora.ts';

/** The P2WPKH address of BIP-173's examples, whose secret key is 1. */
export const RESERVE_BTC = 'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4';
export const RESERVE_WIF = 'KwDiBf89QgGbjEhKnhXJuH7LrciVrZi3qYjgd9M7rFU73sVHnoWn';
const OTHER = 'bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq';
const PAGE = 25;

type Block = { readonly height: number; readonly hash: string; readonly time: number };
type Row = { readonly txid: string; readonly net: bigint; readonly block: Block | null };

/** The chain at one moment; immutable: a later state is a new object. */
type Shown = {
  readonly tip: Block;
  readonly pending: readonly Row[];
  /** Newest first. */
  readonly confirmed: readonly Row[];
  readonly reserve: bigint;
};

export type IndexFault =
  | { readonly kind: 'down' }
  | { readonly kind: 'stale' }
  /** Counts this number of sats that do not exist. */
  | { readonly kind: 'wrong'; readonly by: bigint };

export type BitcoinModel = ReturnType<typeof createBitcoinModel>;

export function createBitcoinModel() {
  let made = 0;
  const hashOf = (): string => (++made).toString(16).padStart(64, '0');
  const chain: Block[] = [{ height: 800_000, hash: hashOf(), time: 0 }];
  let pending: readonly Row[] = [];
  let confirmed: readonly Row[] = [];
  let reserve = 0n;
  let onCall: () => void = () => undefined;

  const sum = (rows: readonly Row[]): bigint => rows.reduce((total, row) => total + row.net, 0n);
  const tip = (): Block => chain.at(-1) as Block;
  const shown = (): Shown => ({ tip: tip(), pending, confirmed, reserve });

  function mine(now: number): void {
    const block = { height: tip().height + 1, hash: hashOf(), time: Math.floor(now / 1_000) };
    chain.push(block);
    confirmed = [...pending.map((row) => ({ ...row, block })), ...confirmed];
    reserve += sum(pending);
    pending = [];
  }

  /** Adds an unconfirmed transaction that changes the reserve by this number of sats; returns its txid. */
  function move(net: bigint): string {
    const txid = hashOf();
    pending = [{ txid, net, block: null }, ...pending];
    return txid;
  }

  function index(name: string) {
    let fault: IndexFault | null = null;
    let frozen: Shown | null = null;

    function view(): Shown {
      onCall();
      if (fault?.kind === 'down') throw upstreamFailed(name, 'unreachable');
      return frozen ?? shown();
    }

    const source: BitcoinIndex = {
      name,
      tipHash: async () => view().tip.hash,
      tipHeight: async () => view().tip.height,
      async balance() {
        const seen = view();
        const extra = fault?.kind === 'wrong' ? fault.by : 0n;
        return {
          confirmed: sats(seen.reserve + extra),
          confirmedTxs: seen.confirmed.length,
          pendingDelta: sats(sum(seen.pending)),
          pendingSpent: sats(-sum(seen.pending.filter((row) => row.net < 0n))),
          pendingTxs: seen.pending.length,
        };
      },
      async chainTxs(_address, last) {
        const list = view().confirmed;
        const from = last === undefined ? 0 : list.findIndex((row) => row.txid === last) + 1;
        return list.slice(from, from + PAGE).map(shownTx);
      },
    };
    return Object.assign(source, {
      set(next: IndexFault | null): void {
        fault = next;
        frozen = next?.kind === 'stale' ? shown() : null;
      },
    });
  }

  return {
    mine,
    move,
    index,
    height: () => tip().height,
    /** Called before every response of an index, because the chain may change during a read. */
    set onCall(listener: () => void) {
      onCall = listener;
    },
  };
}

function shownTx({ txid, net, block }: Row): BitcoinTx {
  const value = sats(net < 0n ? -net : net);
  const paid = (address: string) => [{ address, value }];
  return {
    txid,
    inputs: paid(net < 0n ? RESERVE_BTC : OTHER),
    outputs: paid(net < 0n ? OTHER : RESERVE_BTC),
    block: block && { height: block.height, time: block.time },
  };
}
