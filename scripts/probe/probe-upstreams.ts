/** Reads every upstream once and reports whether the service can use the results. */
import type { NostrEvent } from 'nostr-tools/pure';
import type { Config } from '../../src/config.ts';
import { formatAmount, lamports, SOL_DECIMALS } from '../../src/core/amount.ts';
import { AppError } from '../../src/core/errors.ts';
import { agreePrices, fairSats, MAX_DIVERGENCE_BPS, type PriceReport } from '../../src/core/price.ts';
import { createNostrRelays } from '../../src/providers/nostr-relays.ts';
import { clients } from '../../src/wiring/clients.ts';
import { nearIntentsOf, type Reserve, swapRoute } from '../../src/wiring/swap-route.ts';

export type Line = { readonly ok: boolean; readonly name: string; readonly text: string };

const ASKED = lamports(500_000_000n);
const MAX_TIP_DISTANCE = 2;
/** Slots: about a minute. */
const MAX_LAG = 150n;
const COMMENTS = { kinds: [1111], limit: 3 };

const good = (name: string, text: string): Line => ({ ok: true, name, text });
const bad = (name: string, text: string): Line => ({ ok: false, name, text });

/** Only our own error texts: a message of the platform may quote a URL that contains a key. */
const why = (error: unknown): string =>
  error instanceof AppError ? String(error.details?.reason ?? error.code) : 'no answer';

type Asked<T> = { readonly name: string; readonly value?: T; readonly line: Line };

async function each<S extends { readonly name: string }, T>(
  sources: readonly S[],
  read: (source: S) => Promise<T>,
  say: (value: T) => string,
): Promise<Asked<T>[]> {
  return Promise.all(
    sources.map(async (source) => {
      const { name } = source;
      try {
        const value = await read(source);
        return { name, value, line: good(name, say(value)) };
      } catch (error) {
        return { name, line: bad(name, `does not answer (${why(error)})`) };
      }
    }),
  );
}

const values = <T>(answers: readonly Asked<T>[]): T[] =>
  answers.flatMap(({ value }) => (value === undefined ? [] : [value]));

/** @param onEvent called for each verified event of a relay */
export async function probeUpstreams(
  config: Config,
  reserve: Reserve,
  onEvent: (relay: string, event: NostrEvent) => void,
): Promise<Line[]> {
  const { rpc, esploras, venues } = clients(config);
  const [nodes, explorers, prices, relays] = await Promise.all([
    each(
      rpc.nodes,
      (node) => node.epochInfo('finalized'),
      ({ slot }) => `slot ${slot}`,
    ),
    each(
      esploras,
      async (source) => ({
        tip: await source.tipHeight(),
        confirmed: (await source.balance(reserve.bitcoinAddress)).confirmed,
      }),
      ({ tip, confirmed }) => `block ${tip}, ${confirmed} sats at the reserve`,
    ),
    each(
      venues,
      (venue) => venue.read(),
      ({ btcUsd, solUsd }) => `BTC ${formatAmount(btcUsd, 6)}, SOL ${formatAmount(solUsd, 6)} USD`,
    ),
    lookAtRelays(config.NOSTR_RELAYS, onEvent),
    readMore(config, rpc, reserve),
  ]);
  // After the prices, because the quote is compared with them.
  const agreed = agreePrices(values(prices), MAX_DIVERGENCE_BPS);
  const quote = await lookAtRoute(config, reserve, agreed.ok ? agreed.price : undefined);
  return [
    quote,
    ...prices.map(({ line }) => line),
    agreed.ok ? good('prices', 'agree within 1 %') : bad('prices', 'no two venues agree within 1 %'),
    ...explorers.map(({ line }) => line),
    agreement(values(explorers)),
    ...nodes.map(({ line }) => line),
    lag(values(nodes).map(({ slot }) => slot)),
    ...relays,
  ];
}

function agreement(views: readonly { readonly tip: number; readonly confirmed: bigint }[]): Line {
  if (views.length < 2) return bad('explorers', 'fewer than two answer: nothing would be minted');
  const tips = views.map(({ tip }) => tip);
  const apart = Math.max(...tips) - Math.min(...tips);
  if (apart > MAX_TIP_DISTANCE) return bad('explorers', `${apart} blocks apart`);
  return new Set(views.map(({ confirmed }) => confirmed)).size === 1
    ? good('explorers', 'show the same balance')
    : bad('explorers', 'show different balances');
}

function lag(slots: readonly bigint[]): Line {
  if (slots.length === 0) return bad('nodes', 'none answers');
  const sorted = [...slots].sort((a, b) => (a < b ? -1 : 1));
  const apart = (sorted.at(-1) ?? 0n) - (sorted[0] ?? 0n);
  return apart > MAX_LAG ? bad('nodes', `${apart} slots apart`) : good('nodes', `within ${apart} slots`);
}

/** One dry quote. It must pass the same checks as a real one, the pinned key of 1Click included. */
async function lookAtRoute(config: Config, reserve: Reserve, price: PriceReport | undefined): Promise<Line> {
  const route = swapRoute(config, reserve);
  const name = `route ${route.name}`;
  try {
    const verdict = await route.quote({ amount: ASKED, dry: true });
    if (!verdict.ok)
      return bad(
        name,
        verdict.reason === 'quote_signature'
          ? 'the quote is not signed by the pinned key: no swap would pass'
          : `the quote does not pass our checks (${verdict.reason})`,
      );
    const { expectedSats, minimumSats, etaSeconds } = verdict.quote;
    const fair = price && fairSats(ASKED, price);
    const cost = fair ? `, ${((fair - expectedSats) * 10_000n) / fair} bps below the market` : '';
    const eta = etaSeconds === null ? '' : `, ${etaSeconds} s`;
    const asked = `${formatAmount(ASKED, SOL_DECIMALS)} SOL`;
    return good(
      name,
      `${asked} for ${expectedSats} sats, ${minimumSats} at least${cost}${eta}; every check passes`,
    );
  } catch (error) {
    return bad(name, `gives no quote (${why(error)})`);
  }
}

/**
 * Reads responses that no check above uses, so that their shapes are compared. A failure shows in the shapes.
 */
async function readMore(
  config: Config,
  rpc: ReturnType<typeof clients>['rpc'],
  reserve: Reserve,
): Promise<void> {
  const newest = async () => {
    const [found] = await rpc.first((node) =>
      node.signaturesFor(reserve.solanaAddress, { limit: 1, commitment: 'finalized' }),
    );
    if (found) await rpc.first((node) => node.transaction(found.signature, 'finalized'));
  };
  // An address that 1Click does not know: the shape of its 404.
  const status = nearIntentsOf(config).status(reserve.solanaAddress);
  await Promise.allSettled([fetch(`${config.NEAR_INTENTS_API_URL}/v0/tokens`), newest(), status]);
}

async function lookAtRelays(
  urls: readonly string[],
  onEvent: (relay: string, event: NostrEvent) => void,
): Promise<Line[]> {
  const relays = createNostrRelays({ urls, connect: (url) => new WebSocket(url) });
  return Promise.all(
    relays.urls.map(async (url) => {
      const session = relays.open(url);
      const { events, end } = await session.query(COMMENTS);
      session.close();
      for (const event of events) onEvent(url, event);
      const name = `relay ${new URL(url).host}`;
      return end === 'eose' ? good(name, `${events.length} verified comments`) : bad(name, `ended: ${end}`);
    }),
  );
}

/** The request that was sent to every relay, for the fixture. */
export const RELAY_REQUEST = JSON.stringify(['REQ', 'probe', COMMENTS]);
