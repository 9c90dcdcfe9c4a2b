import { expect, it } from 'vitest';
import { readConfig } from '../../src/config.ts';
import { VENUE_NAMES } from '../../src/providers/price-venues.ts';

// One key in three forms, from the text of NIP-19.
const NPUB = 'npub10elfcs4fr0l0r8af98jlmgdh9c8tcxjvz9qkw038js35mp4dma8qzvjptg';
const PUBKEY = '7e7e9c42a91bfef19fa929e5fda1b72e0ebc1a4c1141673e2794234d86addf4e';
const NSEC = 'nsec1vl029mgpspedva04g90vltkh6fvh240zqtv9k0t9af8935ke9laqsnlfe5';
const POOL = 'So11111111111111111111111111111111111111112';

it('accepts an npub as the Nostr identity and refuses a secret key', () => {
  expect(readConfig({ NOSTR_NPUB: NPUB }).NOSTR_NPUB).toBe(PUBKEY);
  const config = readConfig({ NOSTR_NPUB: NSEC });
  expect([config.NOSTR_NPUB, config.invalid]).toEqual([undefined, ['NOSTR_NPUB']]);
});

it('accepts a list of WebSocket URLs as relays; the default is four relays', () => {
  expect(readConfig({}).NOSTR_RELAYS).toHaveLength(4);
  const config = readConfig({ NOSTR_RELAYS: 'wss://a.test, ws://127.0.0.1:7000\nwss://b.test/path' });
  expect(config.NOSTR_RELAYS).toEqual(['wss://a.test', 'ws://127.0.0.1:7000', 'wss://b.test/path']);
  for (const wrong of ['https://a.test', 'wss://a.test,nope', ','])
    expect(readConfig({ NOSTR_RELAYS: wrong }).invalid).toEqual(['NOSTR_RELAYS']);
});

it.each([
  ['a value that is no address', 'default=../../admin'],
  ['an unknown name', `other=${POOL}`],
  ['a name twice', `default=${POOL},default=${POOL}`],
  ['a value without a name', POOL],
])('treats a pool list with %s as missing', (_what, list) => {
  const config = readConfig({ POOL_ADDRESSES: list });
  expect([config.POOL_ADDRESSES, config.invalid]).toEqual([undefined, ['POOL_ADDRESSES']]);
});

it('keeps the configured order of price venues and allows a list with fewer than all venues', () => {
  expect(Object.keys(readConfig({}).PRICE_API_URLS)).toEqual(VENUE_NAMES);
  const list = 'kraken=https://k.test/x=1, coinbase=https://c.test/';
  expect(Object.entries(readConfig({ PRICE_API_URLS: list }).PRICE_API_URLS)).toEqual([
    ['kraken', 'https://k.test/x=1'],
    ['coinbase', 'https://c.test'],
  ]);
});
