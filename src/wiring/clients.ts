/**
 * Clients that the API and the custodian build in the same way.
 * @module
 */
import type { PriceReport } from '../core/price.ts';
import { ChangeNow } from '../providers/changenow.ts';
import { createEsplora } from '../providers/esplora.ts';
import { createNostrRelays } from '../providers/nostr-relays.ts';
import { createOrca } from '../providers/orca.ts';
import { createPriceVenues } from '../providers/price-venues.ts';
import { fetchFor, type Wired } from './telemetry.ts';

/**
 * Host names, so that readers know which explorers the service reads. A host that is an IP address or occurs twice gets
 * a number.
 */
export function explorerNames(urls: readonly string[]): readonly string[] {
  const hosts = urls.map((url) => new URL(url).hostname);
  return hosts.map((host, index) =>
    /[a-z]$/i.test(host) && hosts.indexOf(host) === hosts.lastIndexOf(host) ? host : `esplora-${index + 1}`,
  );
}

export function clients(config: Wired) {
  const names = explorerNames(config.ESPLORA_API_URLS);
  const esploras = config.ESPLORA_API_URLS.map((baseUrl, index) =>
    createEsplora({
      baseUrl,
      name: names[index] ?? `esplora-${index + 1}`,
      fetch: fetchFor(config, 'ESPLORA_API_URLS'),
    }),
  );
  const venues = createPriceVenues(config.PRICE_API_URLS, fetchFor(config, 'PRICE_API_URLS'));

  /** Reports of the venues that respond, in the order of the venues. */
  async function readPrices(): Promise<PriceReport[]> {
    const reports = await Promise.allSettled(venues.map((venue) => venue.read()));
    return reports.flatMap((report) => (report.status === 'fulfilled' ? [report.value] : []));
  }

  const { CHANGENOW_API_URL, CHANGENOW_API_KEY: apiKey } = config;
  const changenow =
    apiKey === undefined
      ? undefined
      : new ChangeNow({ baseUrl: CHANGENOW_API_URL, apiKey, fetch: fetchFor(config, 'CHANGENOW_API_URL') });
  const orca = createOrca({ baseUrl: config.ORCA_API_URL, fetch: fetchFor(config, 'ORCA_API_URL') });

  return { esploras, venues, readPrices, changenow, orca };
}

export const relaysOf = ({ NOSTR_RELAYS: urls, admission }: Wired) =>
  createNostrRelays({ urls, admission, connect: (url) => new WebSocket(url) });
