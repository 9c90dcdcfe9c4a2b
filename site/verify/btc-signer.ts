/**
 * The parts of `@scure/btc-signer` that the check of a proof uses. The build replaces the library with this module,
 * because the whole library would be a quarter of what the page loads. A test compares the two.
 * @module
 */
import { schnorr, secp256k1 } from '@noble/curves/secp256k1.js';
import { bytesToNumberBE, numberToBytesBE } from '@noble/curves/utils.js';
import { ripemd160 } from '@noble/hashes/legacy.js';
import { sha256 } from '@noble/hashes/sha2.js';
import { concatBytes } from '@noble/hashes/utils.js';
import { bech32, bech32m, createBase58check } from '@scure/base';

type Bytes = Uint8Array;

export const equalBytes = (a: Bytes, b: Bytes): boolean =>
  a.length === b.length && a.every((byte, at) => byte === b[at]);
export const sha256x2 = (...parts: Bytes[]): Bytes => sha256(sha256(concatBytes(...parts)));
export const hash160 = (bytes: Bytes): Bytes => ripemd160(sha256(bytes));

/** Little-endian. */
function uint(value: number | bigint, size: number): Bytes {
  const bytes = new Uint8Array(size);
  for (let rest = BigInt.asUintN(8 * size, BigInt(value)), at = 0; at < size; rest >>= 8n, at++)
    bytes[at] = Number(rest & 0xffn);
  return bytes;
}

/** Reads from the front, and refuses to read beyond the end. */
class Reader {
  readonly #bytes: Bytes;
  #at = 0;
  constructor(bytes: Bytes) {
    this.#bytes = bytes;
  }
  take(size: number): Bytes {
    if (size > this.#bytes.length - this.#at) throw new RangeError('the bytes end too early');
    this.#at += size;
    return this.#bytes.slice(this.#at - size, this.#at);
  }
  uint(size: number): bigint {
    return this.take(size).reduceRight((value, byte) => (value << 8n) | BigInt(byte), 0n);
  }
  /** A CompactSize in its shortest form. */
  size(): number {
    const first = Number(this.uint(1));
    if (first < 0xfd) return first;
    const value = this.uint({ 253: 2, 254: 4, 255: 8 }[first] ?? 8);
    if (CompactSize.encode(value)[0] !== first) throw new RangeError('a length is not in its shortest form');
    return Number(value);
  }
  vector(): Bytes {
    return this.take(this.size());
  }
  list<T>(read: () => T): T[] {
    const items: T[] = [];
    for (let left = this.size(); left > 0; left--) items.push(read());
    return items;
  }
  /** Takes these bytes if they come next. */
  skip(expected: Bytes): boolean {
    const found = equalBytes(this.#bytes.subarray(this.#at, this.#at + expected.length), expected);
    if (found) this.#at += expected.length;
    return found;
  }
  get isAtEnd(): boolean {
    return this.#at === this.#bytes.length;
  }
  end(): void {
    if (!this.isAtEnd) throw new RangeError('bytes are left over');
  }
}

export const CompactSize = {
  encode(value: bigint): Bytes {
    if (value < 0xfdn) return uint(value, 1);
    if (value <= 0xffffn) return concatBytes(Uint8Array.of(0xfd), uint(value, 2));
    if (value <= 0xffffffffn) return concatBytes(Uint8Array.of(0xfe), uint(value, 4));
    return concatBytes(Uint8Array.of(0xff), uint(value, 8));
  },
};
const sized = (count: number): Bytes => CompactSize.encode(BigInt(count));
const vector = (bytes: Bytes): Bytes => concatBytes(sized(bytes.length), bytes);

const encodeWitness = (items: readonly Bytes[]): Bytes =>
  concatBytes(sized(items.length), ...items.map(vector));
const readWitness = (reader: Reader): Bytes[] => reader.list(() => reader.vector());

export const RawWitness = {
  encode: encodeWitness,
  decode(bytes: Bytes): Bytes[] {
    const reader = new Reader(bytes);
    const items = readWitness(reader);
    reader.end();
    return items;
  },
};

type Input = { txid: Bytes; index: number; finalScriptSig: Bytes; sequence: number };
type Output = { amount: bigint; script: Bytes };
type Transaction = {
  version: number;
  segwitFlag: boolean;
  inputs: Input[];
  outputs: Output[];
  witnesses?: Bytes[][] | undefined;
  lockTime: number;
};

const SEGWIT = Uint8Array.of(0, 1);

/** Transactions of BIP-144; a txid is in display order, which is the reverse of the wire's. */
export const RawTx = {
  encode: ({ version, segwitFlag, inputs, outputs, witnesses = [], lockTime }: Transaction): Bytes =>
    concatBytes(
      uint(version, 4),
      ...(segwitFlag ? [SEGWIT] : []),
      sized(inputs.length),
      ...inputs.flatMap(({ txid, index, finalScriptSig, sequence }) => [
        txid.toReversed(),
        uint(index, 4),
        vector(finalScriptSig),
        uint(sequence, 4),
      ]),
      sized(outputs.length),
      ...outputs.flatMap(({ amount, script }) => [uint(amount, 8), vector(script)]),
      ...(segwitFlag ? witnesses.map(encodeWitness) : []),
      uint(lockTime, 4),
    ),
  decode(bytes: Bytes): Transaction {
    const reader = new Reader(bytes);
    const version = Number(BigInt.asIntN(32, reader.uint(4)));
    const segwitFlag = reader.skip(SEGWIT);
    const inputs = reader.list(() => ({
      txid: reader.take(32).reverse(),
      index: Number(reader.uint(4)),
      finalScriptSig: reader.vector(),
      sequence: Number(reader.uint(4)),
    }));
    const outputs = reader.list(() => ({ amount: reader.uint(8), script: reader.vector() }));
    const witnesses = segwitFlag ? inputs.map(() => readWitness(reader)) : undefined;
    const lockTime = Number(reader.uint(4));
    reader.end();
    if (witnesses?.every(({ length }) => length === 0)) throw new RangeError('no input has a witness');
    return { version, segwitFlag, inputs, outputs, ...(witnesses && { witnesses }), lockTime };
  },
};

/** Opcodes from this one on push no bytes. */
const PUSHDATA1 = 0x4c;
const NO_PUSH = 0x4f;

/** Scripts of pushes; any other opcode is decoded as its number. */
export const Script = {
  encode: (items: readonly Bytes[]): Bytes =>
    concatBytes(
      ...items.flatMap((item) => {
        if (item.length < PUSHDATA1) return [Uint8Array.of(item.length), item];
        const size = item.length <= 0xff ? 1 : item.length <= 0xffff ? 2 : 4;
        const opcode = PUSHDATA1 + Math.log2(size);
        return [Uint8Array.of(opcode), uint(item.length, size), item];
      }),
    ),
  decode(bytes: Bytes): (Bytes | number)[] {
    const reader = new Reader(bytes);
    const items: (Bytes | number)[] = [];
    while (!reader.isAtEnd) {
      const opcode = Number(reader.uint(1));
      if (opcode === 0 || opcode >= NO_PUSH) items.push(opcode);
      else
        items.push(reader.take(opcode < PUSHDATA1 ? opcode : Number(reader.uint(2 ** (opcode - PUSHDATA1)))));
    }
    return items;
  },
};

type Hashed = { readonly type: 'pkh' | 'sh' | 'wpkh' | 'wsh'; readonly hash: Bytes };
type KnownScript = Hashed | { readonly type: 'tr'; readonly pubkey: Bytes };

/** The bytes before and after the hash or key of each kind of script. */
const TEMPLATES = [
  ['pkh', 20, [0x76, 0xa9, 20], [0x88, 0xac]],
  ['sh', 20, [0xa9, 20], [0x87]],
  ['wpkh', 20, [0, 20], []],
  ['wsh', 32, [0, 32], []],
  ['tr', 32, [0x51, 32], []],
] as const;

/** Whether it is the x coordinate of a point of the curve. */
function isPoint(x: Bytes): boolean {
  try {
    schnorr.utils.lift_x(bytesToNumberBE(x));
    return true;
  } catch {
    return false;
  }
}

function typed(type: (typeof TEMPLATES)[number][0], content: Bytes): KnownScript {
  if (type !== 'tr') return { type, hash: content };
  if (!isPoint(content)) throw new RangeError('not a point of the curve');
  return { type, pubkey: content };
}
const contentOf = (script: KnownScript): Bytes => (script.type === 'tr' ? script.pubkey : script.hash);

export const OutScript = {
  encode(script: KnownScript): Bytes {
    const [, , before, after] = TEMPLATES.find(([type]) => type === script.type) ?? TEMPLATES[0];
    return concatBytes(Uint8Array.from(before), contentOf(script), Uint8Array.from(after));
  },
  decode(bytes: Bytes): KnownScript {
    for (const [type, size, before] of TEMPLATES) {
      const content = bytes.slice(before.length, before.length + size);
      if (content.length !== size) continue;
      const script = { type, hash: content, pubkey: content } as KnownScript;
      if (equalBytes(OutScript.encode(script), bytes)) return typed(type, content);
    }
    throw new RangeError('not a known script');
  },
};

const base58check = createBase58check(sha256);
const VERSIONS = { pkh: 0, sh: 5 } as const;
const PREFIX = 'bc';

function decodeWitnessAddress(text: string): KnownScript {
  const version = bech32.decodeUnsafe(text)?.words[0] === 0 ? 0 : 1;
  const coder = version === 0 ? bech32 : bech32m;
  const { prefix, words } = coder.decode(text as `${string}1${string}`);
  const program = coder.fromWords(words.slice(1));
  if (prefix !== PREFIX || words[0] !== version) throw new RangeError('not a known witness version');
  if (version === 1 && program.length === 32) return typed('tr', program);
  if (version === 0 && (program.length === 20 || program.length === 32))
    return typed(program.length === 20 ? 'wpkh' : 'wsh', program);
  throw new RangeError('not a known witness program');
}

/** Addresses of mainnet. */
export const Address = () => ({
  decode(text: string): KnownScript {
    if (text.toLowerCase().startsWith(`${PREFIX}1`)) return decodeWitnessAddress(text);
    const bytes = base58check.decode(text);
    const type = bytes[0] === VERSIONS.pkh ? 'pkh' : bytes[0] === VERSIONS.sh ? 'sh' : null;
    if (type === null || bytes.length !== 21) throw new RangeError('not an address of mainnet');
    return typed(type, bytes.slice(1));
  },
  encode(script: KnownScript): string {
    const content = contentOf(script);
    if (script.type === 'pkh' || script.type === 'sh')
      return base58check.encode(concatBytes(Uint8Array.of(VERSIONS[script.type]), content));
    const [coder, version] = script.type === 'tr' ? [bech32m, 1] : [bech32, 0];
    return coder.encode(PREFIX, [version, ...coder.toWords(content)]);
  },
});

const checkedKey = (publicKey: Bytes, isCompressed?: boolean): Bytes => {
  if (!secp256k1.utils.isValidPublicKey(publicKey, isCompressed)) throw new RangeError('not a public key');
  return publicKey;
};
const scriptOf = (script: KnownScript) => ({ script: OutScript.encode(script) });

export const p2pkh = (publicKey: Bytes) => scriptOf({ type: 'pkh', hash: hash160(checkedKey(publicKey)) });
export const p2wpkh = (publicKey: Bytes) =>
  scriptOf({ type: 'wpkh', hash: hash160(checkedKey(publicKey, true)) });
export const p2sh = ({ script }: { readonly script: Bytes }) =>
  scriptOf({ type: 'sh', hash: hash160(script) });

/** BIP-341, with no script tree. */
const tweakOf = (x: Bytes): bigint => bytesToNumberBE(schnorr.utils.taggedHash('TapTweak', x));

export function p2tr(x: Bytes) {
  const point = schnorr.utils.lift_x(bytesToNumberBE(x));
  const tweaked = point.add(secp256k1.Point.BASE.multiply(tweakOf(x)));
  return scriptOf({ type: 'tr', pubkey: schnorr.utils.pointToBytes(tweaked) });
}

export function taprootTweakPrivKey(secretKey: Bytes): Bytes {
  const { Fn, BASE } = secp256k1.Point;
  const secret = bytesToNumberBE(secretKey);
  const point = BASE.multiply(secret);
  const even = point.y % 2n === 0n ? secret : Fn.neg(secret);
  return numberToBytesBE(Fn.add(even, tweakOf(schnorr.utils.pointToBytes(point))), 32);
}
