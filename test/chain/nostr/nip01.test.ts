import { schnorr } from '@noble/curves/secp256k1.js';
import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, hexToBytes, utf8ToBytes } from '@noble/hashes/utils.js';
import { finalizeEvent, generateSecretKey } from 'nostr-tools/pure';
import { describe, expect, it } from 'vitest';
import {
  closeText,
  hasTrueId,
  isAuthentic,
  matches,
  type NostrEvent,
  readEvent,
  readRelayMessage,
  requestText,
} from '../../../src/chain/nostr/nip01.ts';

const secret = generateSecretKey();

/** Signed here according to the NIP, without the library that the code under test uses. */
function signed(fields: Partial<NostrEvent> = {}): NostrEvent {
  const pubkey = bytesToHex(schnorr.getPublicKey(secret));
  const body = {
    created_at: 1_700_000_000,
    kind: 1111,
    tags: [['l', 'ai', 'agent']],
    content: 'hé\n"',
    ...fields,
  };
  const canonical = JSON.stringify([0, pubkey, body.created_at, body.kind, body.tags, body.content]);
  const id = bytesToHex(sha256(utf8ToBytes(canonical)));
  return { ...body, pubkey, id, sig: bytesToHex(schnorr.sign(hexToBytes(id), secret)) };
}

describe('an event', () => {
  it('signed by the rules of the NIP is authentic', () => {
    expect(isAuthentic(signed())).toBe(true);
    expect(isAuthentic(signed({ content: '', tags: [] }))).toBe(true);
  });

  const good = signed();
  it.each([
    ['content', { content: 'other' }],
    ['tags', { tags: [] }],
    ['time', { created_at: good.created_at + 1 }],
    ['kind', { kind: 1 }],
    ['author', { pubkey: bytesToHex(schnorr.getPublicKey(generateSecretKey())) }],
    ['id', { id: 'a'.repeat(64) }],
    ['signature', { sig: signed({ content: 'x' }).sig }],
  ])('with another %s is not', (_name, change) => {
    expect(isAuthentic({ ...good, ...change })).toBe(false);
  });

  it('distinguishes a true id with a wrong signature from a false id', () => {
    expect(hasTrueId({ ...good, sig: '0'.repeat(128) })).toBe(true);
    expect(hasTrueId({ ...good, content: 'other' })).toBe(false);
  });

  it('is checked again although another library has marked it as verified', () => {
    const marked = finalizeEvent({ kind: 1111, created_at: 1, tags: [], content: 'a' }, secret);
    expect(isAuthentic({ ...marked, content: 'b' })).toBe(false);
  });

  it('is read without the members that no event has', () => {
    expect(readEvent(JSON.parse(JSON.stringify({ ...good, relay: 'x' })))).toEqual(good);
  });

  it.each([
    ['nothing', null],
    ['text', 'event'],
    ['an upper-case id', { ...good, id: good.id.toUpperCase() }],
    ['a short signature', { ...good, sig: good.sig.slice(2) }],
    ['no author', { ...good, pubkey: undefined }],
    ['a time with a fraction', { ...good, created_at: 1.5 }],
    ['a time before 1970', { ...good, created_at: -1 }],
    ['a time beyond exact integers', { ...good, created_at: 2 ** 53 }],
    ['a kind above 65535', { ...good, kind: 65_536 }],
    ['content that is not text', { ...good, content: 1 }],
    ['tags that are not a list', { ...good, tags: {} }],
    ['a tag with a number', { ...good, tags: [['l', 1]] }],
  ])('is not read from %s', (_name, value) => {
    expect(readEvent(value)).toBeUndefined();
  });
});

describe('a filter', () => {
  const event = signed();
  const filter = { kinds: [1111], limit: 10 };

  it('has inclusive bounds of time', () => {
    expect(matches({ ...filter, since: event.created_at, until: event.created_at }, event)).toBe(true);
    expect(matches({ ...filter, until: event.created_at - 1 }, event)).toBe(false);
    expect(matches({ ...filter, since: event.created_at + 1 }, event)).toBe(false);
  });

  it('needs every member, and one value of each', () => {
    expect(matches({ ...filter, '#l': ['x', 'ai'], authors: [event.pubkey] }, event)).toBe(true);
    expect(matches({ ...filter, '#l': ['x'] }, event)).toBe(false);
    expect(matches({ ...filter, authors: ['0'.repeat(64)] }, event)).toBe(false);
    expect(matches({ kinds: [1], limit: 10 }, event)).toBe(false);
  });
});

describe('a message of a relay', () => {
  it.each([
    ['["EVENT","s1",{"id":1}]', { type: 'event', subscription: 's1', event: { id: 1 } }],
    ['["EOSE","s1"]', { type: 'eose', subscription: 's1' }],
    ['["CLOSED","s1","error: no"]', { type: 'closed', subscription: 's1', reason: 'error: no' }],
    ['["CLOSED","s1"]', { type: 'closed', subscription: 's1', reason: '' }],
  ])('%s is understood', (text, message) => {
    expect(readRelayMessage(text)).toEqual(message);
  });

  it.each([
    '',
    'no json {',
    'null',
    '{}',
    '[]',
    '["EVENT"]',
    '["EOSE",1]',
    '["NOTICE","hi"]',
    '["OK","id",true,""]',
  ])('%j is ignored', (text) => {
    expect(readRelayMessage(text)).toBeUndefined();
  });

  it('is opened and closed in the form of the NIP', () => {
    expect(requestText('s1', { kinds: [1111], limit: 5 })).toBe('["REQ","s1",{"kinds":[1111],"limit":5}]');
    expect(closeText('s1')).toBe('["CLOSE","s1"]');
  });
});
