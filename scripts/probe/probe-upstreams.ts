/** Reads every upstream once: the checks of the doctor, the relays, and calls of which only the shapes are compared. */
import type { NostrEvent } from 'nostr-tools/pure';
import type { Config } from '../../src/config.ts';
import { createNostrRelays } from '../../src/providers/nostr-relays.ts';
import { createSolanaRpc } from '../../src/providers/solana-rpc.ts';
import { nearIntentsOf, type Reserve } from '../../src/wiring/swap-route.ts';
import { checkSources } from '../doctor/check-upstreams.ts';
import { type Finding, problemIf } from '../doctor/finding.ts';

const COMMENTS = { kinds: [1111], limit: 3 };

/** @param onEvent called for each verified event of a relay */
export async function probeUpstreams(
  config: Config,
  reserve: Reserve,
  onEvent: (relay: string, event: NostrEvent) => void,
): Promise<Finding[]> {
  const found = await Promise.all([
    checkSources(config, reserve.solanaAddress, reserve.bitcoinAddress),
    checkRelays(config.NOSTR_RELAYS, onEvent),
    readMore(config, reserve),
  ]);
  return found.flat();
}

/**
 * Reads responses that no check of the doctor uses, so that their shapes are compared. A failure appears as a
 * different shape.
 */
async function readMore(config: Config, reserve: Reserve): Promise<Finding[]> {
  const rpc = createSolanaRpc({ urls: config.SOLANA_RPC_URL, fetch });
  const newest = async () => {
    const [found] = await rpc.first((node) =>
      node.signaturesFor(reserve.solanaAddress, { limit: 1, commitment: 'finalized' }),
    );
    if (found) await rpc.first((node) => node.transaction(found.signature, 'finalized'));
  };
  // An address that 1Click does not know: the shape of its 404.
  const status = nearIntentsOf(config).status(reserve.solanaAddress);
  await Promise.allSettled([fetch(`${config.NEAR_INTENTS_API_URL}/v0/tokens`), newest(), status]);
  return [];
}

async function checkRelays(
  urls: readonly string[],
  onEvent: (relay: string, event: NostrEvent) => void,
): Promise<Finding[]> {
  const relays = createNostrRelays({ urls, connect: (url) => new WebSocket(url) });
  const found = relays.urls.map(async (url) => {
    const session = relays.open(url);
    const { events, end } = await session.query(COMMENTS);
    session.close();
    for (const event of events) onEvent(url, event);
    return problemIf(
      end !== 'eose',
      'relay-unreachable',
      `${new URL(url).host} ended its response with: ${end}.`,
      'Check NOSTR_RELAYS.',
    );
  });
  return (await Promise.all(found)).flat();
}

/** The request that was sent to every relay, for the fixture. */
export const RELAY_REQUEST = JSON.stringify(['REQ', 'probe', COMMENTS]);
