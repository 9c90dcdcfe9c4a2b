import { expect } from 'vitest';
import { readConfig } from '../src/config.ts';
import { eachScene } from './kit/scenes.ts';

// One key in three forms, from the text of NIP-19.
const NPUB = 'npub10elfcs4fr0l0r8af98jlmgdh9c8tcxjvz9qkw038js35mp4dma8qzvjptg';
const PUBKEY = '7e7e9c42a91bfef19fa929e5fda1b72e0ebc1a4c1141673e2794234d86addf4e';
const NSEC = 'nsec1vl029mgpspedva04g90vltkh6fvh240zqtv9k0t9af8935ke9laqsnlfe5';
const POOL = 'So11111111111111111111111111111111111111112';

eachScene(`
  NOSTR_NPUB     | ${NPUB}                                           | "${PUBKEY}"
  NOSTR_NPUB     | ${NSEC}                                           | refused
  NOSTR_RELAYS   | wss://a.test, ws://127.0.0.1:7000 wss://b.test/p  | ["wss://a.test","ws://127.0.0.1:7000","wss://b.test/p"]
  NOSTR_RELAYS   | https://a.test                                    | refused
  NOSTR_RELAYS   | wss://a.test,nope                                 | refused
  NOSTR_RELAYS   | ,                                                 | refused
  POOL_ADDRESSES | default=${POOL}                                   | {"default":"${POOL}"}
  POOL_ADDRESSES | default=../../admin                               | refused
  POOL_ADDRESSES | other=${POOL}                                     | refused
  POOL_ADDRESSES | default=${POOL},default=${POOL}                   | refused
  POOL_ADDRESSES | ${POOL}                                           | refused
  PRICE_API_URLS | kraken=https://k.test/x=1, coinbase=https://c.test/ | {"kraken":"https://k.test/x=1","coinbase":"https://c.test"}
`)('the setting %s = %s is read as %s', (name = '', text, read) => {
  const config = readConfig({ [name]: text });
  if (read !== 'refused') return expect(JSON.stringify(Reflect.get(config, name))).toBe(read);
  expect([config.invalid, Reflect.get(config, name)]).toEqual([[name], Reflect.get(readConfig({}), name)]);
});
