import type { VenueName } from '../../src/providers/price-venues.ts';

/** Kinds of sources that the service numbers, because they have no host name of their own. */
const KINDS: Readonly<Record<string, string>> = {
  'solana-rpc': 'Solana node',
  'solana-read': 'Solana node for reads',
  'solana-sale': 'Solana node for orders',
  esplora: 'Bitcoin explorer',
  relay: 'Nostr relay',
};

const VENUES: Readonly<Record<VenueName, string>> = {
  hyperliquid: 'Hyperliquid, prices',
  coinbase: 'Coinbase, prices',
  kraken: 'Kraken, prices',
};

const NAMES: Readonly<Record<string, string>> = {
  ...VENUES,
  'near-intents': 'NEAR Intents, the bridge',
  orca: 'Orca, pools',
  changenow: 'ChangeNOW, exchanges',
};

/** A source as a reader knows it: its host, its own name, or its kind with a number. */
export function sourceName(name: string): string {
  const [, kind = '', number = ''] = /^(.+)-(\d+)$/.exec(name) ?? [];
  return NAMES[name] ?? (KINDS[kind] === undefined ? name : `${KINDS[kind]} ${number}`);
}
