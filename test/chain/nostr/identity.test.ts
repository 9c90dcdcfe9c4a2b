import { bech32 } from '@scure/base';
import { expect, it } from 'vitest';
import { identityPubkey } from '../../../src/chain/nostr/identity.ts';

const bech32Text = (prefix: string, length: number): string =>
  bech32.encode(prefix, bech32.toWords(new Uint8Array(length).fill(7)));

// One key in three forms: the examples in the text of NIP-19.
const NPUB = 'npub10elfcs4fr0l0r8af98jlmgdh9c8tcxjvz9qkw038js35mp4dma8qzvjptg';
const PUBKEY = '7e7e9c42a91bfef19fa929e5fda1b72e0ebc1a4c1141673e2794234d86addf4e';
const NSEC = 'nsec1vl029mgpspedva04g90vltkh6fvh240zqtv9k0t9af8935ke9laqsnlfe5';

it('returns the same public key for npub and hex', () => {
  expect(identityPubkey(NPUB)).toBe(PUBKEY);
  expect(identityPubkey(` ${NPUB}\n`)).toBe(PUBKEY);
  expect(identityPubkey(PUBKEY.toUpperCase())).toBe(PUBKEY);
});

it.each([
  '',
  'npub1',
  NPUB.slice(0, -1),
  `${NPUB.slice(0, -1)}q`,
  PUBKEY.slice(2),
  // A secret key is refused, so that none is stored.
  NSEC,
  'nprofile1qqsrhuxx8l9ex335q7he0f09aej04zpazpl0ne2cgukyawd24mayt8gpp4mhxue69uhhytnc9e3k7mgpz4mhxue69uhkg6nzv9ejuumpv34kytnrdaksjlyr9p',
  // Keys of 31 and 33 bytes, each with its true checksum.
  ...['npub', 'nsec'].flatMap((prefix) => [31, 33].map((length) => bech32Text(prefix, length))),
])('does not accept %j as an identity', (text) => {
  expect(identityPubkey(text)).toBeUndefined();
});
