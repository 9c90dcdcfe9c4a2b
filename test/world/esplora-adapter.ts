import type { BitcoinNode } from './bitcoin-node.ts';
import { esploraAnswer } from './esplora-model.ts';
import type { FaultBook } from './fault-book.ts';
import { startUpstream, type Upstream } from './fault-gate.ts';
import type { RequestCounts } from './request-counts.ts';

/**
 * An Esplora index over the world's node. Faults of its own: `wrongBalance` (by sats), `staleTip` (by blocks: it lacks the
 * tip and the newest transactions).
 */
export const startEsploraAdapter = ({
  name,
  node,
  faults,
  counts,
}: {
  name: string;
  node: BitcoinNode;
  faults: FaultBook;
  counts: RequestCounts;
}): Promise<Upstream> =>
  startUpstream({
    name,
    faults,
    counts,
    openToPages: true,
    handle(request) {
      const by = (kind: string): number => faults.take(name, kind, request.label)?.by ?? 0;
      const { get, byScript, prevout } = node.index;
      const view = { get, byScript, prevout, blockHash: node.blockHash, tip: node.height() - by('staleTip') };
      return esploraAnswer({ ...view, extraSats: by('wrongBalance') }, request);
    },
    label: ({ method, path }) =>
      `${method} ${path
        .replace(/\/address\/[^/]+/, '/address/:address')
        .replace(/[0-9a-f]{64}/gi, ':txid')
        .replace(/\/block-height\/\d+/, '/block-height/:height')}`,
  });
