import { expect, it } from 'vitest';
import { readConfig } from '../../src/config.ts';

// One key in three forms, from the text of NIP-19.
const NPUB = 'npub10elfcs4fr0l0r8af98jlmgdh9c8tcxjvz9qkw038js35mp4dma8qzvjptg';
const PUBKEY = '7e7e9c42a91bfef19fa929e5fda1b72e0ebc1a4c1141673e2794234d86addf4e';
const NSEC = 'nsec1vl029mgpspedva04g90vltkh6fvh240zqtv9k0t9af8935ke9laqsnlfe5';
const SECRET = '67dea2ed018072d675f5415ecfaed7d2597555e202d85b3d65ea4e58d2d92ffa';

it('npub and nsec are both the identity, and nothing secret of an nsec is kept', () => {
  expect(readConfig({ NOSTR_NPUB: NPUB }).NOSTR_NPUB).toBe(PUBKEY);
  const config = readConfig({ NOSTR_NSEC: NSEC });
  expect(config.NOSTR_NSEC).toBe(PUBKEY);
  expect(readConfig({ NOSTR_NPUB: NSEC }).NOSTR_NPUB).toBe(PUBKEY);
  const kept = Object.values(config).map(String).join(' ');
  expect(kept).not.toContain(NSEC);
  expect(kept).not.toContain(SECRET);
});

it('an invalid identity counts as missing and is named', () => {
  const config = readConfig({ NOSTR_NPUB: 'npub1broken', NOSTR_NSEC: '' });
  expect(config.NOSTR_NPUB).toBeUndefined();
  expect(config.NOSTR_NSEC).toBeUndefined();
  expect(config.invalid).toEqual(['NOSTR_NPUB']);
});

it('relays are a list of WebSocket URLs, by default those that Clawstr reads', () => {
  expect(readConfig({}).NOSTR_RELAYS).toHaveLength(4);
  const config = readConfig({ NOSTR_RELAYS: 'wss://a.test, ws://127.0.0.1:7000\nwss://b.test/path' });
  expect(config.NOSTR_RELAYS).toEqual(['wss://a.test', 'ws://127.0.0.1:7000', 'wss://b.test/path']);
  for (const wrong of ['https://a.test', 'wss://a.test,nope', ','])
    expect(readConfig({ NOSTR_RELAYS: wrong }).invalid).toEqual(['NOSTR_RELAYS']);
});

it('an invalid default pool counts as missing', () => {
  const config = readConfig({ POOL_DEFAULT_ADDRESS: '../../admin' });
  expect(config.POOL_DEFAULT_ADDRESS).toBeUndefined();
  expect(config.invalid).toEqual(['POOL_DEFAULT_ADDRESS']);
});
