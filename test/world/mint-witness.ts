import { Buffer } from 'node:buffer';
import { text } from '../kit/transport.ts';
import type { BitcoinNode } from './bitcoin-node.ts';
import { startEsploraAdapter } from './esplora-adapter.ts';
import type { FaultBook } from './fault-book.ts';
import { startUpstream, type Upstream } from './fault-gate.ts';
import type { RequestCounts } from './request-counts.ts';
import { startRpcFront } from './rpc-front.ts';
import type { SolanaLedger } from './solana-ledger.ts';

/** The names of the witness and of its own sources, as faults and counts use them. */
export const WITNESS_UPSTREAMS = [
  'witness',
  'witnessRpc1',
  'witnessRpc2',
  'witnessEsplora1',
  'witnessEsplora2',
] as const;

export type WitnessUpstreams = Readonly<Record<(typeof WITNESS_UPSTREAMS)[number], Upstream>>;

/**
 * The address at which the service calls the witness, and the nodes and indexes that only the witness reads.
 * @param target where the witness's Worker listens; null while it is down
 */
export async function startWitnessUpstreams(options: {
  readonly ledger: SolanaLedger;
  readonly bitcoin: BitcoinNode;
  readonly faults: FaultBook;
  readonly counts: RequestCounts;
  readonly target: () => string | null;
}): Promise<WitnessUpstreams> {
  const { ledger, bitcoin: node, target, ...shared } = options;
  const [witness, witnessRpc1, witnessRpc2, witnessEsplora1, witnessEsplora2] = await Promise.all([
    startUpstream({
      name: 'witness',
      ...shared,
      async handle({ method, path, body }) {
        const origin = target();
        if (origin === null) return text(502, 'The witness is down.');
        const init = method === 'GET' ? { method } : { method, body: Buffer.from(body) };
        const response = await fetch(`${origin}${path}`, init);
        return {
          status: response.status,
          headers: { 'content-type': response.headers.get('content-type') ?? 'text/plain' },
          body: await response.text(),
        };
      },
    }),
    startRpcFront({ name: 'witnessRpc1', ledger, ...shared }),
    startRpcFront({ name: 'witnessRpc2', ledger, ...shared }),
    startEsploraAdapter({ name: 'witnessEsplora1', node, ...shared }),
    startEsploraAdapter({ name: 'witnessEsplora2', node, ...shared }),
  ]);
  return { witness, witnessRpc1, witnessRpc2, witnessEsplora1, witnessEsplora2 };
}
