import { sha256 } from '@noble/hashes/sha2.js';
import { base58, hex } from '@scure/base';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  buildProofMessage,
  type ProofMessage,
  parseProofMessage,
  proofHash,
} from '../../../src/chain/bitcoin/proof-message.ts';
import { deriveAddress } from '../../../src/chain/bitcoin/wif.ts';
import { lamports, sats } from '../../../src/core/amount.ts';
import { rows } from '../../kit/scenes.ts';
import { secretKeys } from './peers.ts';

const EXAMPLE: ProofMessage = {
  service: 'reserve.example',
  bitcoinAddress: 'bc1q9vza2e8x573nczrlzms0wvx3gsqjx7vavgkx0l',
  solanaAddress: '4Nd1mBQtrMJVYVfKf2PJy9NZUZdTAsp7D4xWLs4gDB4T',
  reserveSats: sats(1_250_000n),
  solanaLamports: lamports(3_200_000_000n),
  absr: { mint: 'So11111111111111111111111111111111111111112', atoms: 1_249_000n, decimals: 0 },
  bitcoinTip: { height: 925_123, hash: '00000000000000000001a2b3c4d5e6f708192a3b4c5d6e7f8091a2b3c4d5e6f7' },
  solanaTip: { slot: 381_000_123n, blockhash: 'EkSnNWid2cvwEVnVx9aBqawnmiCNiDgp3gUdkDPTKN1N' },
  time: '2026-11-20T12:00:00.000Z',
  previousProof: null,
};

const TEXT = `Reserve proof: 1
Service: reserve.example
Bitcoin address: bc1q9vza2e8x573nczrlzms0wvx3gsqjx7vavgkx0l
Solana address: 4Nd1mBQtrMJVYVfKf2PJy9NZUZdTAsp7D4xWLs4gDB4T
Reserve sats: 1250000
Solana lamports: 3200000000
ABSR mint: So11111111111111111111111111111111111111112
ABSR supply atoms: 1249000
ABSR decimals: 0
Bitcoin tip height: 925123
Bitcoin tip hash: 00000000000000000001a2b3c4d5e6f708192a3b4c5d6e7f8091a2b3c4d5e6f7
Solana slot: 381000123
Solana blockhash: EkSnNWid2cvwEVnVx9aBqawnmiCNiDgp3gUdkDPTKN1N
Time: 2026-11-20T12:00:00.000Z
Previous proof: none`;

const u64 = fc.bigInt({ min: 0n, max: 2n ** 64n - 1n });
const hash = fc.uint8Array({ minLength: 32, maxLength: 32 }).map((bytes) => hex.encode(bytes));
const solanaKey = fc.uint8Array({ minLength: 32, maxLength: 32 }).map((bytes) => base58.encode(bytes));
const addressType = fc.constantFrom('p2pkh', 'p2sh-p2wpkh', 'p2wpkh', 'p2tr' as const);
const proofs: fc.Arbitrary<ProofMessage> = fc.record({
  service: fc.constantFrom(
    'reserve.example',
    'a',
    '127.0.0.1:8787',
    'xn--bcher-kva.example',
    'a-b.c-d.example:1',
  ),
  bitcoinAddress: fc.tuple(secretKeys, addressType).map(([key, type]) => deriveAddress(key, type)),
  solanaAddress: solanaKey,
  reserveSats: u64.map(sats),
  solanaLamports: u64.map(lamports),
  absr: fc.option(fc.record({ mint: solanaKey, atoms: u64, decimals: fc.integer({ min: 0, max: 255 }) })),
  bitcoinTip: fc.record({ height: fc.integer({ min: 0, max: 0xffffffff }), hash }),
  solanaTip: fc.record({ slot: u64, blockhash: solanaKey }),
  time: fc
    .date({
      min: new Date('0000-01-01T00:00:00Z'),
      max: new Date('9999-12-31T23:59:59.999Z'),
      noInvalidDate: true,
    })
    .map((date) => date.toISOString()),
  previousProof: fc.option(hash),
});

describe('the message', () => {
  it('the message of a proof has one line per figure, in a fixed order', () => {
    expect(buildProofMessage(EXAMPLE)).toBe(TEXT);
    expect(parseProofMessage(TEXT)).toEqual(EXAMPLE);
  });

  it('the message of a proof has "none" for a missing token and for a missing previous proof', () => {
    const text = buildProofMessage({ ...EXAMPLE, absr: null });
    expect(text).toContain('\nABSR mint: none\nABSR supply atoms: none\nABSR decimals: none\n');
    expect(text.endsWith('\nPrevious proof: none')).toBe(true);
    expect(parseProofMessage(text).absr).toBeNull();
  });

  it('the parser reads back the message of every proof', () => {
    fc.assert(
      fc.property(proofs, (proof) => {
        expect(parseProofMessage(buildProofMessage(proof))).toEqual(proof);
      }),
    );
  });

  it('the message of a proof is printable ASCII, and short enough for off-chain signing by hardware wallets', () => {
    fc.assert(
      fc.property(proofs, (proof) => {
        const message = buildProofMessage(proof);
        expect(message).toMatch(/^[A-Za-z][\n\x20-\x7e]*$/);
        expect(message.split('\n').every((line) => /^[A-Za-z][A-Za-z ]*: \S+$/.test(line))).toBe(true);
        expect(message.length).toBeLessThanOrEqual(1212);
      }),
    );
  });

  it('a proof is not a Solana transaction: its first byte requires more signatures than a transaction can have', () => {
    const first = buildProofMessage(EXAMPLE).charCodeAt(0);
    expect(first).toBeLessThan(0x80); // a legacy message, whose first byte counts the signatures
    expect(first * 64).toBeGreaterThan(1232); // the size limit of a packet
  });
});

/** Fields, and values that each must not have. */
const WRONG = rows<[field: string, ...values: unknown[]]>(`
  service             | "" | Reserve.example | reserve.example/path | https://reserve.example | reserve.example:0
    | "reserve.example\\nReserve sats: 9" | r\u0435serve.example
  bitcoinAddress      | mipcBbFg9gMiCh81Kj8tqqdgoZub1ZJRfn | ${EXAMPLE.bitcoinAddress.toUpperCase()}
  solanaAddress       | ${EXAMPLE.bitcoinAddress} | ""
  reserveSats         | -1n | ${2n ** 64n}n
  solanaLamports      | -1n
  absr.mint           | none
  absr.atoms          | -1n
  absr.decimals       | 1.5 | 256
  bitcoinTip.height   | -1 | ${2 ** 32} | 1e999
  bitcoinTip.hash     | "${EXAMPLE.bitcoinTip.hash.toUpperCase()}" | ""
  solanaTip.slot      | -1n
  solanaTip.blockhash | I0Ol
  time                | "2026-11-20" | "2026-11-20T12:00:00Z" | "2026-11-20T13:00:00.000+01:00"
    | "2026-02-30T12:00:00.000Z" | +012026-11-20T12:00:00.000Z
  previousProof       | none | ab
`).flatMap(([field, ...values]) => values.map((value) => [field, value] as const));

it.each([...WRONG, ['bitcoinTip.height', Number.NaN]] as const)(
  'the builder refuses a wrong %s: %s',
  (field, value) => {
    const [outer = '', inner] = field.split('.');
    const changed = inner === undefined ? value : { ...Reflect.get(EXAMPLE, outer), [inner]: value };
    const refused = new RangeError(`proof message: ${field}`);
    expect(() => buildProofMessage({ ...EXAMPLE, [outer]: changed })).toThrow(refused);
  },
);

it.each([
  ['an empty text', ''],
  ['another text', 'I own this address'],
  ['another version', TEXT.replace('proof: 1', 'proof: 2')],
  ['a line end after it', `${TEXT}\n`],
  ['line ends of Windows', TEXT.replaceAll('\n', '\r\n')],
  ['a space before it', ` ${TEXT}`],
  ['a space after a value', TEXT.replace('1250000\n', '1250000 \n')],
  ['two spaces after a colon', TEXT.replace('sats: ', 'sats:  ')],
  ['a line missing', TEXT.replace(/Solana slot: .*\n/, '')],
  ['a line twice', TEXT.replace(/(Reserve sats: .*\n)/, '$1$1')],
  ['a figure given twice, the last one true', TEXT.replace(/(Reserve sats: .*\n)/, 'Reserve sats: 9\n$1')],
  ['a line more', `${TEXT}\nNote: hello`],
  ['two lines swapped', TEXT.replace(/(Reserve sats: .*\n)(Solana lamports: .*\n)/, '$2$1')],
  ['a leading zero', TEXT.replace('sats: 1250000', 'sats: 01250000')],
  ['a sign', TEXT.replace('sats: 1250000', 'sats: +1250000')],
  ['a fraction', TEXT.replace('sats: 1250000', 'sats: 1250000.0')],
  ['hexadecimal', TEXT.replace('sats: 1250000', 'sats: 0x1312d0')],
  ['no value', TEXT.replace('sats: 1250000', 'sats: ')],
  ['digits of another script', TEXT.replace('sats: 1250000', 'sats: 125000\u0660')],
  ['a number above u64', TEXT.replace('sats: 1250000', 'sats: 18446744073709551616')],
  ['a thousand digits', TEXT.replace('sats: 1250000', `sats: ${'9'.repeat(1000)}`)],
  ['a supply without its mint', TEXT.replace(/ABSR mint: .*/, 'ABSR mint: none')],
  ['a mint without its supply', TEXT.replace(/ABSR supply atoms: .*/, 'ABSR supply atoms: none')],
  ['a look-alike name', TEXT.replace('Service', 'Servi\u0441e')],
])('the parser refuses %s', (_name, changed) => {
  expect(changed).not.toBe(TEXT);
  expect(() => parseProofMessage(changed)).toThrow(RangeError);
});

it('the parser refuses the message, or reads a different proof, after any one character is changed', () => {
  fc.assert(
    fc.property(fc.nat({ max: TEXT.length - 1 }), fc.integer({ min: 10, max: 126 }), (at, code) => {
      const changed = TEXT.slice(0, at) + String.fromCharCode(code) + TEXT.slice(at + 1);
      fc.pre(changed !== TEXT);
      let parsed: ProofMessage | undefined;
      try {
        parsed = parseProofMessage(changed);
      } catch (error) {
        expect(error).toBeInstanceOf(RangeError);
      }
      expect(parsed).not.toEqual(EXAMPLE);
    }),
    { numRuns: 500 },
  );
});

describe('the hash that the next proof names', () => {
  const signatures = { bitcoin: 'AkcwRAIg+/==', solana: '5VERv8NMvzbJMEkV8xnrLkEaWRtSz9CosKDYjCJjBRnb' };

  it('the hash in the next proof is the sha256 of the message and its two labelled signature lines', () => {
    const preimage = `${TEXT}\nBitcoin signature: AkcwRAIg+/==\nSolana signature: ${signatures.solana}`;
    expect(proofHash(TEXT, signatures)).toBe(hex.encode(sha256(new TextEncoder().encode(preimage))));
    expect(buildProofMessage({ ...EXAMPLE, previousProof: proofHash(TEXT, signatures) })).toContain(
      `\nPrevious proof: ${proofHash(TEXT, signatures)}`,
    );
  });

  it('the hash changes with the message, with either signature, and when the signatures are swapped or missing', () => {
    const { bitcoin, solana } = signatures;
    const all = [
      proofHash(TEXT, signatures),
      proofHash(`${TEXT} `, signatures),
      proofHash(TEXT, { bitcoin: solana, solana: bitcoin }),
      proofHash(TEXT, { bitcoin, solana: null }),
      proofHash(TEXT, { bitcoin: null, solana }),
      proofHash(TEXT, { bitcoin: null, solana: null }),
      proofHash(TEXT, { bitcoin: `smp${bitcoin}`, solana }),
    ];
    expect(new Set(all).size).toBe(all.length);
  });

  it.each(['', 'none', 'ab cd', 'ab\ncd', 'ab\n', 'abé'])(
    'the hash function refuses %j as a signature',
    (signature) => {
      expect(() => proofHash(TEXT, { bitcoin: signature, solana: null })).toThrow(RangeError);
      expect(() => proofHash(TEXT, { bitcoin: null, solana: signature })).toThrow(RangeError);
    },
  );
});
