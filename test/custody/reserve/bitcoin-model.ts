/** A Bitcoin chain of changes of the reserve, as two indexes show it with every kind of failure. */
import { sats } from '../../../src/core/amount.ts';
import type { ReserveView } from '../../../src/custody/reserve/reserve-views.ts';

/** The P2WPKH address of BIP-173's examples, whose secret key is 1. */
export const RESERVE_BTC = 'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4';
export const RESERVE_WIF = 'KwDiBf89QgGbjEhKnhXJuH7LrciVrZi3qYjgd9M7rFU73sVHnoWn';

type IndexFault =
  | { readonly kind: 'down' }
  | { readonly kind: 'stale' }
  /** Counts this number of sats that do not exist. */
  | { readonly kind: 'wrong'; readonly by: bigint };

const FIRST_HEIGHT = 800_000;

export function createBitcoinModel() {
  /** The change of the reserve in each block, in sats; the last one is unconfirmed. */
  const changes = [0n];
  let onCall: () => void = () => undefined;
  const height = (): number => FIRST_HEIGHT + changes.length - 1;

  function index(source: string) {
    let fault: IndexFault | null = null;
    let staleAt = 0;
    return {
      set(next: IndexFault | null): void {
        fault = next;
        staleAt = height();
      },
      /** Nothing while the index is down. */
      view(depth: number): ReserveView[] {
        onCall();
        if (fault?.kind === 'down') return [];
        const tip = fault?.kind === 'stale' ? staleAt : height();
        const blocks = changes.slice(0, tip - FIRST_HEIGHT);
        const pending = changes.at(-1) ?? 0n;
        const sum = blocks.reduce((total, net) => total + net, fault?.kind === 'wrong' ? fault.by : 0n);
        const young = blocks.map((net, at) => ({ height: FIRST_HEIGHT + 1 + at, net: sats(net) }));
        return [
          {
            source,
            tip: { height: tip, hash: tip.toString(16).padStart(64, '0') },
            confirmed: sats(sum),
            pendingSpent: sats(pending < 0n ? -pending : 0n),
            young: young.filter(({ height, net }) => net !== 0n && depth > 0 && height >= tip - depth),
          },
        ];
      },
    };
  }
  const indexes = [index('one'), index('two')] as const;

  return {
    indexes,
    height,
    views: async (depth: number) => indexes.flatMap((each) => each.view(depth)),
    mine: (): void => void changes.push(0n),
    /** An unconfirmed transaction that changes the reserve by this number of sats. */
    move(net: bigint): void {
      changes.push((changes.pop() ?? 0n) + net);
    },
    /** Called before every response of an index, because the chain may change during a read. */
    set onCall(listener: () => void) {
      onCall = listener;
    },
  };
}
