/** A Bitcoin chain that a test mines, as two indexes with their real clients show it with every kind of failure. */
import { type ReserveView, reserveViews } from '../../../src/custody/reserve/reserve-views.ts';
import { createEsplora } from '../../../src/providers/esplora.ts';
import { createBitcoinChain } from '../../kit/bitcoin-chain.ts';
import { text, transport } from '../../kit/transport.ts';
import { esploraAnswer } from '../../world/esplora-model.ts';

/** The P2WPKH address of BIP-173's examples, whose secret key is 1. */
export const RESERVE_BTC = 'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4';
export const RESERVE_WIF = 'KwDiBf89QgGbjEhKnhXJuH7LrciVrZi3qYjgd9M7rFU73sVHnoWn';

type IndexFault =
  | { readonly kind: 'down' }
  | { readonly kind: 'stale' }
  /** Counts this number of sats that do not exist. */
  | { readonly kind: 'wrong'; readonly by: bigint };

export function createBitcoinModel() {
  // The clock counts blocks.
  let now = 0;
  let onCall: () => void = () => undefined;
  const chain = createBitcoinChain({ blockMs: 1, timeOf: (block) => block * 600_000 });

  function index(name: string) {
    let fault: IndexFault | null = null;
    let staleAt = 0;
    const fetch = transport((request) => {
      if (fault?.kind === 'down') return text(500, 'down');
      const view = chain.viewAt(
        fault?.kind === 'stale' ? staleAt : now,
        fault?.kind === 'wrong' ? fault.by : 0n,
      );
      return esploraAnswer(view, request);
    });
    return {
      set(next: IndexFault | null): void {
        fault = next;
        staleAt = now;
      },
      client: createEsplora({ baseUrl: `https://${name}.test`, name, fetch }),
    };
  }
  const indexes = [index('one'), index('two')] as const;
  const sources = {
    indexes: indexes.map(({ client }) => client),
    nodes: [],
    bitcoinAddress: RESERVE_BTC,
    solanaAddress: '',
    absrMint: null,
  };

  return {
    indexes,
    height: () => chain.heightAt(now),
    views(depth: number): Promise<ReserveView[]> {
      for (const _index of indexes) onCall();
      return reserveViews(sources, depth, (work) => work);
    },
    mine: (): void => void now++,
    /** An unconfirmed transaction that changes the reserve by this number of sats. */
    move(net: bigint): void {
      if (net < 0n) chain.spend(RESERVE_BTC, -net, now, now + 1);
      else chain.add({ outputs: [{ address: RESERVE_BTC, value: net }], seenAt: now, confirmedAt: now + 1 });
    },
    /** Called before every view of an index, because the chain may change between two. */
    set onCall(listener: () => void) {
      onCall = listener;
    },
  };
}
