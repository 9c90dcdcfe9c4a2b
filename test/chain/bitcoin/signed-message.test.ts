import { base64 } from '@scure/base';
import { Address, OutScript, TEST_NETWORK } from '@scure/btc-signer';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decodeAddress, type KeyAddressType } from '../../../src/chain/bitcoin/address.ts';
import { type MessageInput, signMessage, verifyMessage } from '../../../src/chain/bitcoin/signed-message.ts';
import { deriveAddress } from '../../../src/chain/bitcoin/wif.ts';
import { cases } from '../../cases.ts';
import { askPeers, wifOf, withoutPrefix } from './peers.ts';

const TYPES: KeyAddressType[] = ['p2pkh', 'p2sh-p2wpkh', 'p2wpkh', 'p2tr'];
const SCHEMES = {
  p2pkh: 'bip137-p2pkh',
  'p2sh-p2wpkh': 'bip137-p2sh-p2wpkh',
  p2wpkh: 'bip322-simple',
  p2tr: 'bip322-simple',
} as const;

const MESSAGE = [
  'Reserve proof: 1',
  'Service: reserve.example',
  'Reserve sats: 1250000',
  'Note: caf\u00e9',
  'Time: 2026-11-20T12:00:00.000Z',
].join('\n');
const secretKey = new Uint8Array(32).fill(21);
const otherKey = new Uint8Array(32).fill(22);
const wif = wifOf({ secretKey, compressed: true });

const signedBy = (key: Uint8Array, type: KeyAddressType, message = MESSAGE): MessageInput => {
  const address = deriveAddress(key, type);
  return {
    address,
    message,
    signature: signMessage({ wif: wifOf({ secretKey: key, compressed: true }), address, message }).signature,
  };
};

it.each(TYPES)('refuses to sign for an address of the type %s that the key does not control', (type) => {
  const address = deriveAddress(otherKey, type);
  expect(() => signMessage({ wif, address, message: MESSAGE })).toThrow(RangeError);
});

it.each(['p2wpkh', 'p2tr'] as const)(
  '%s: a BIP-322 signature is returned both with the prefix smp and without it',
  (type) => {
    const address = deriveAddress(secretKey, type);
    const { signature, signatureUnprefixed } = signMessage({ wif, address, message: MESSAGE });
    expect(signature).toBe(`smp${signatureUnprefixed}`);
    const bare = { address, message: MESSAGE, signature: signatureUnprefixed ?? '' };
    expect(verifyMessage(bare)).toEqual({ verdict: 'valid', scheme: 'bip322-simple' });
  },
);

it.each(['p2pkh', 'p2sh-p2wpkh'] as const)(
  '%s: a BIP-137 signature is returned in one spelling only',
  (type) => {
    const address = deriveAddress(secretKey, type);
    expect(signMessage({ wif, address, message: MESSAGE })).not.toHaveProperty('signatureUnprefixed');
  },
);

it('an uncompressed key signs for its own P2PKH address, from its WIF', () => {
  const address = deriveAddress(secretKey, 'p2pkh', false);
  const wif = wifOf({ secretKey, compressed: false });
  const signed = signMessage({ wif, address, message: MESSAGE });
  const input = { address, message: MESSAGE, signature: signed.signature };
  expect(verifyMessage(input)).toEqual({ verdict: 'valid', scheme: 'bip137-p2pkh' });
  expect(askPeers(input)).toEqual({ 'bip322-js': true, 'bitcoinjs-message': true });
  // The WIF states that its owner uses only the uncompressed form.
  const compressed = deriveAddress(secretKey, 'p2pkh');
  expect(() => signMessage({ wif, address: compressed, message: MESSAGE })).toThrow(RangeError);
});

/** The body's last character before any padding, away from stray bits; replaced by its neighbour in the alphabet. */
function changeOneCharacter(signature: string): string {
  const at = signature.length - 20;
  return signature.slice(0, at) + (signature[at] === 'A' ? 'B' : 'A') + signature.slice(at + 1);
}

type Tamper = (signed: MessageInput, type: KeyAddressType) => MessageInput;
const elsewhere = (type: KeyAddressType): KeyAddressType => (type === 'p2wpkh' ? 'p2tr' : 'p2wpkh');
const edit = (change: (message: string) => string): Tamper => {
  return (signed) => ({ ...signed, message: change(signed.message) });
};

const at =
  (address: (type: KeyAddressType) => string): Tamper =>
  (signed, type) => ({ ...signed, address: address(type) });
const resign =
  (change: (signature: string, type: KeyAddressType) => string): Tamper =>
  (signed, type) => ({ ...signed, signature: change(signed.signature, type) });

/** Each is refused by this verifier and by every independent one. */
const TAMPERED: [string, Tamper][] = [
  ['one character of the message', edit((text) => text.replace('1250000', '1250001'))],
  ['a look-alike letter (Cyrillic e)', edit((text) => text.replace('reserve.', 'res\u0435rve.'))],
  ['the same accent in decomposed Unicode', edit((text) => text.normalize('NFD'))],
  ['line ends of Windows', edit((text) => text.replaceAll('\n', '\r\n'))],
  ['the address of another key', at((type) => deriveAddress(otherKey, type))],
  ['another type of address of the same key', at((type) => deriveAddress(secretKey, elsewhere(type)))],
  ['one character of the signature', resign(changeOneCharacter)],
  ['the signature of another key', resign((_own, type) => signedBy(otherKey, type).signature)],
  ['the signature of another type', resign((_own, type) => signedBy(secretKey, elsewhere(type)).signature)],
  ['no signature', resign(() => '')],
];

describe.each(TYPES)('tampered, %s', (type) => {
  const signed = signedBy(secretKey, type);

  it('an unchanged signature has the scheme of its type, and our verifier and all peer libraries accept it', () => {
    const { address, message, signature } = signed;
    expect(signMessage({ wif, address, message })).toMatchObject({ scheme: SCHEMES[type], signature });
    expect(verifyMessage(signed)).toEqual({ verdict: 'valid', scheme: SCHEMES[type] });
    expect(Object.values(askPeers(signed))).not.toContain(false);
  });

  it.each(TAMPERED)('our verifier and the peers refuse a tampered signature: %s', (_name, tamper) => {
    const input = tamper(signed, type);
    expect(input).not.toEqual(signed);
    expect(verifyMessage(input).verdict).not.toBe('valid');
    expect(Object.values(askPeers(input))).not.toContain(true);
  });
});

/** The same key's address as testnet writes it: the same script, so the same signature. */
const onTestnet = (address: string): string =>
  Address(TEST_NETWORK).encode(OutScript.decode(decodeAddress(address).scriptPubKey));

/** Some peers accept these as the original signature. One signature must have one spelling here. */
const STRICTER: [string, Tamper][] = [
  ['a line end after the base64', (signed) => ({ ...signed, signature: `${signed.signature}\n` })],
  ['a space before the base64', (signed) => ({ ...signed, signature: ` ${signed.signature}` })],
  ['no padding', (signed) => ({ ...signed, signature: unpadded(signed.signature) })],
  ['the prefix in capitals', (signed) => ({ ...signed, signature: `SMP${withoutPrefix(signed.signature)}` })],
  ['the prefix twice', (signed) => ({ ...signed, signature: `smpsmp${withoutPrefix(signed.signature)}` })],
  ['the address of another network', (signed) => ({ ...signed, address: onTestnet(signed.address) })],
  ['a space around the address', (signed) => ({ ...signed, address: ` ${signed.address}` })],
  ['half a surrogate pair in the message', (signed) => ({ ...signed, message: `${signed.message}\ud83d` })],
];

/** Taproot's 66 bytes need no padding, so unneeded padding is added there. */
const unpadded = (signature: string): string =>
  signature.endsWith('=') ? signature.replace(/=+$/, '') : `${signature}=`;

describe.each(TYPES)('stricter than the peers, %s', (type) => {
  it.each(STRICTER)('our verifier refuses a signature that peer libraries accept: %s', (_name, tamper) => {
    const signed = signedBy(secretKey, type);
    expect(tamper(signed, type)).not.toEqual(signed);
    expect(verifyMessage(tamper(signed, type)).verdict).toBeOneOf(['invalid', 'unsupported']);
  });
});

it('the verdict names the scheme that was tried and the reason', () => {
  const signed = signedBy(secretKey, 'p2wpkh');
  const verdictOf = (type: KeyAddressType) =>
    verifyMessage({ ...signedBy(secretKey, type), message: 'other' });
  const mismatch = { verdict: 'invalid', scheme: 'bip322-simple', reason: 'the signature does not match' };
  expect(verdictOf('p2wpkh')).toEqual(mismatch);
  const reason = 'the signature is for another key or message';
  expect(verdictOf('p2pkh')).toEqual({ verdict: 'invalid', scheme: 'bip137-p2pkh', reason });
  const unread = { verdict: 'invalid', scheme: null, reason: 'not a Bitcoin mainnet address' };
  expect(verifyMessage({ ...signed, address: 'nowhere' })).toEqual(unread);
});

it('the verdict is unsupported, not invalid, for a P2WSH address and for a proof-of-funds signature', () => {
  const p2wsh = 'bc1qrp33g0q5c5txsp9arysrx4k6zdkfs4nce4xj0gdcccefvpysxf3qccfmv3';
  const signed = signedBy(secretKey, 'p2wpkh');
  expect(verifyMessage({ ...signed, address: p2wsh }).verdict).toBe('unsupported');
  expect(() => signMessage({ wif, address: p2wsh, message: MESSAGE })).toThrow(RangeError);
  expect(verifyMessage({ ...signed, signature: `pof${withoutPrefix(signed.signature)}` })).toMatchObject({
    verdict: 'unsupported',
    scheme: 'bip322-proof-of-funds',
  });
});

it('verification never throws and never gives "valid", whatever three strings it gets', {
  tags: ['scaled'],
}, () => {
  const text = fc.string({ unit: 'binary' });
  const near = fc.constantFrom(...TYPES.map((type) => signedBy(secretKey, type)));
  const signature = fc.oneof(
    text,
    fc
      .tuple(fc.constantFrom('', 'smp', 'ful', 'pof'), fc.uint8Array({ maxLength: 120 }))
      .map(([prefix, bytes]) => prefix + base64.encode(bytes)),
  );
  fc.assert(
    fc.property(near, text, signature, fc.boolean(), (signed, address, random, own) => {
      const input = { ...signed, signature: random, ...(own ? {} : { address }) };
      expect(verifyMessage(input).verdict).not.toBe('valid');
    }),
    { numRuns: cases(500, 100) },
  );
});
