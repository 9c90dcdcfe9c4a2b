/**
 * One inexpensive request to every upstream, for the status. None of them has a side effect or a fee. The bridge's
 * probe is not a quote, because the quota of quotes is small.
 * @module
 */
import { AppError, failureReason, upstreamFailed } from '../core/errors.ts';
import type { NodeProbe } from '../custody/operator-api.ts';
import { atPriority } from '../providers/admission.ts';
import { relayName } from '../providers/nostr-relays.ts';
import type { SolanaNode, SolanaRpc } from '../providers/solana-rpc.ts';
import { type clients, relaysOf } from './clients.ts';
import { nearIntentsOf } from './swap-route.ts';
import type { Wired } from './telemetry.ts';

export type UpstreamProbe = {
  readonly name: string;
  /** Whether money depends on this upstream. */
  readonly needed: boolean;
  /** @throws when the response is not as expected */
  ask(): Promise<unknown>;
};

/** An invented deposit address. */
const NO_ADDRESS = '1'.repeat(32);
const SOL_TO_BTC = { from: { ticker: 'sol', network: 'sol' }, to: { ticker: 'btc', network: 'btc' } };
const ONE_COMMENT = { kinds: [1111], limit: 1 };

export type UpstreamProbed = {
  readonly name: string;
  readonly ok: boolean;
  readonly needed: boolean;
  /** Milliseconds. */
  readonly ms: number;
  readonly failure: string | null;
};

type Upstreams = ReturnType<typeof clients> & { readonly config: Wired; readonly rpc: SolanaRpc };

export function upstreamProbes({
  config,
  rpc,
  esploras,
  venues,
  orca,
  changenow,
}: Upstreams): UpstreamProbe[] {
  const pool = config.POOL_ADDRESSES?.default;
  return [
    ...rpc.nodes.map((node) => useful(node.name, () => node.epochInfo('finalized'))),
    ...esploras.map((esplora) => needed(esplora.name, () => esplora.tipHeight())),
    ...venues.map((venue) => needed(venue.name, () => venue.read())),
    needed('near-intents', () => known(nearIntentsOf(config).status(NO_ADDRESS))),
    ...(pool === undefined ? [] : [useful('orca', () => readPool(orca, pool))]),
    ...(changenow ? [useful('changenow', () => changenow.range(SOL_TO_BTC))] : []),
    ...relays(config),
  ];
}

const needed = (name: string, ask: UpstreamProbe['ask']): UpstreamProbe => ({ name, needed: true, ask });
const useful = (name: string, ask: UpstreamProbe['ask']): UpstreamProbe => ({ name, needed: false, ask });

/** A not-found response to an invented id proves that the upstream works. */
async function known(answer: Promise<unknown>): Promise<void> {
  await answer.catch((error: unknown) => {
    const reason = error instanceof AppError ? error.details?.reason : undefined;
    if (!['deposit_unknown', 'status_400', 'status_404'].includes(String(reason))) throw error;
  });
}

async function readPool(orca: Upstreams['orca'], address: string): Promise<void> {
  const { status } = await orca.pool(address);
  if (status !== 200) throw upstreamFailed('orca', `status_${status}`);
}

function relays(config: Wired): UpstreamProbe[] {
  if (config.invalid.includes('NOSTR_RELAYS')) return [];
  const { urls, open } = relaysOf(config);
  return urls.map((url, at) =>
    useful(relayName(at), async () => {
      const session = open(url);
      try {
        const { end } = await session.query(ONE_COMMENT);
        if (end !== 'eose') throw upstreamFailed('relay', end);
      } finally {
        session.close();
      }
    }),
  );
}

/** Probes one of the custodian's nodes. Only the custodian calls this. @param now Unix ms */
export async function probeNode(node: SolanaNode, now: () => number): Promise<NodeProbe> {
  const began = now();
  const read = atPriority('probe', () => node.epochInfo('finalized'));
  const { slot, failure } = await read.then(
    (info) => ({ slot: String(info.slot), failure: null }),
    (error: unknown) => ({ slot: null, failure: failureReason(error) }),
  );
  return { name: node.name, ms: now() - began, failure, slot };
}
