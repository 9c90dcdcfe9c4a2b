/**
 * A program for the test chain that moves tokens by a call of its own (CPI), as routers and vaults do: it hands its
 * instruction data to the token program over its first three accounts, which are a source, a destination and the
 * authority. Written in sBPF v0 here, since no compiler for it is at hand.
 * @see https://github.com/anza-xyz/sbpf doc/bytecode.md, elf.rs
 */

/** Where the loader puts the input, each account with 10,240 spare bytes; the token accounts hold 165. */
const FLAGS = { signer: 1, writable: 2 };
const KEY = 8;
const OWNER = 40;
const LAMPORTS = 72;
const DATA_LENGTH = 80;
const DATA = 88;
const SPARE = 10_240;
const spanOf = (dataLength: number): number => Math.ceil((DATA + dataLength + SPARE) / 8) * 8 + 8;

const SOURCE = 8;
const DESTINATION = SOURCE + spanOf(165);
const AUTHORITY = DESTINATION + spanOf(165);
const TOKEN_PROGRAM = AUTHORITY + spanOf(0);

/** Where the structures of `sol_invoke_signed_c` lie below the frame's top. */
const METAS = -48;
const INFOS = METAS - 3 * 56;
const INSTRUCTION = INFOS - 40;
const SEED_BYTE = INSTRUCTION - 8;
const SEED = SEED_BYTE - 16;
const SIGNER = SEED - 16;

function op(code: number, dst: number, src = 0, offset = 0, imm = 0): number[] {
  const bytes = new DataView(new ArrayBuffer(8));
  bytes.setUint8(0, code);
  bytes.setUint8(1, (src << 4) | dst);
  bytes.setInt16(2, offset, true);
  bytes.setInt32(4, imm, true);
  return [...new Uint8Array(bytes.buffer)];
}
const moveRegister = (dst: number, src: number) => op(0xbf, dst, src);
const moveNumber = (dst: number, imm: number) => op(0xb7, dst, 0, 0, imm);
const add = (dst: number, imm: number) => op(0x07, dst, 0, 0, imm);
const addRegister = (dst: number, src: number) => op(0x0f, dst, src);
const and = (dst: number, imm: number) => op(0x57, dst, 0, 0, imm);
const load = (dst: number, src: number, offset: number) => op(0x79, dst, src, offset);
const store = (dst: number, offset: number, src: number) => op(0x7b, dst, src, offset);
const storeByte = (dst: number, offset: number, imm: number) => op(0x72, dst, 0, offset, imm);
const storeNumber = (dst: number, offset: number, imm: number) => op(0x7a, dst, 0, offset, imm);
const CALL = op(0x85, 0, 0, 0, -1);
const EXIT = op(0x95, 0);

/** Register 6 holds the input's address, 10 the frame's top. */
const address = (dst: number, base: number, offset: number) => [
  ...moveRegister(dst, base),
  ...add(dst, offset),
];

function account(index: number, at: number, signs: boolean, writable: boolean): number[] {
  const info = INFOS + index * 56;
  const meta = METAS + index * 16;
  const flag = (on: boolean): number => (on ? 1 : 0);
  return [
    ...address(1, 6, at + KEY),
    ...store(10, info, 1),
    ...store(10, meta, 1),
    ...address(1, 6, at + LAMPORTS),
    ...store(10, info + 8, 1),
    ...load(1, 6, at + DATA_LENGTH),
    ...store(10, info + 16, 1),
    ...address(1, 6, at + DATA),
    ...store(10, info + 24, 1),
    ...address(1, 6, at + OWNER),
    ...store(10, info + 32, 1),
    ...storeNumber(10, info + 40, 0),
    ...storeByte(10, info + 48, flag(signs)),
    ...storeByte(10, info + 48 + FLAGS.signer, flag(writable)),
    ...storeByte(10, info + 48 + FLAGS.writable, 0),
    ...storeByte(10, meta + 8, flag(writable)),
    ...storeByte(10, meta + 9, flag(signs)),
  ];
}

/** The vault's authority signs by its one seed, a bump byte. */
const signed = (bump: number): number[] => [
  ...storeByte(10, SEED_BYTE, bump),
  ...address(1, 10, SEED_BYTE),
  ...store(10, SEED, 1),
  ...storeNumber(10, SEED + 8, 1),
  ...address(1, 10, SEED),
  ...store(10, SIGNER, 1),
  ...storeNumber(10, SIGNER + 8, 1),
  ...address(4, 10, SIGNER),
  ...moveNumber(5, 1),
];

const codeFor = (bump: number | null): number[] => [
  ...moveRegister(6, 1),
  ...account(0, SOURCE, false, true),
  ...account(1, DESTINATION, false, true),
  ...account(2, AUTHORITY, true, false),
  // The instruction data follows the last account, whose length only the input knows.
  ...load(7, 6, TOKEN_PROGRAM + DATA_LENGTH),
  ...addRegister(7, 6),
  ...add(7, TOKEN_PROGRAM + DATA + SPARE + 7),
  ...and(7, -8),
  ...add(7, 8),
  ...address(1, 6, TOKEN_PROGRAM + KEY),
  ...store(10, INSTRUCTION, 1),
  ...address(1, 10, METAS),
  ...store(10, INSTRUCTION + 8, 1),
  ...storeNumber(10, INSTRUCTION + 16, 3),
  ...load(1, 7, 0),
  ...store(10, INSTRUCTION + 32, 1),
  ...add(7, 8),
  ...store(10, INSTRUCTION + 24, 7),
  ...address(2, 10, INFOS),
  ...moveNumber(3, 3),
  ...moveNumber(4, 0),
  ...moveNumber(5, 0),
  ...(bump === null ? [] : signed(bump)),
  ...address(1, 10, INSTRUCTION),
  ...CALL,
  ...EXIT,
];

const words = (...values: (readonly [size: 1 | 2 | 4 | 8, value: number])[]): number[] =>
  values.flatMap(([size, value]) =>
    Array.from({ length: size }, (_, byte) => Math.floor(value / 2 ** (8 * byte)) % 256),
  );
const text = (value: string): number[] => [...new TextEncoder().encode(value)];

/** The shared object: one call to resolve, through a dynamic symbol. Every address is an offset in the file. */
function assemble(bump: number | null): Uint8Array {
  const instructions = codeFor(bump);
  const parts: {
    name: string;
    type: number;
    flags: number;
    link: number;
    entry: number;
    at: number;
    bytes: number[];
  }[] = [];
  const HEADERS = 64;
  let at = HEADERS;
  const place = (
    name: string,
    type: number,
    bytes: number[],
    extra: { flags?: number; link?: number; entry?: number } = {},
  ) => {
    at = Math.ceil(at / 8) * 8;
    parts.push({
      name,
      type,
      bytes,
      at,
      flags: extra.flags ?? 2,
      link: extra.link ?? 0,
      entry: extra.entry ?? 0,
    });
    at += bytes.length;
    return at - bytes.length;
  };
  const code = place('.text', 1, instructions, { flags: 6 });
  const names = '\0sol_invoke_signed_c\0';
  place('.dynstr', 3, text(names));
  const symbols = place(
    '.dynsym',
    11,
    [...words([8, 0], [8, 0], [8, 0]), ...words([4, 1], [1, 0x10], [1, 0], [2, 0], [8, 0], [8, 0])],
    {
      link: 2,
      entry: 24,
    },
  );
  const R_BPF_64_32 = 10;
  const relocations = place(
    '.rel.dyn',
    9,
    words([8, code + instructions.length - 16], [4, R_BPF_64_32], [4, 1]),
    { link: 3, entry: 16 },
  );
  place(
    '.dynamic',
    6,
    words(
      [8, 17],
      [8, relocations],
      [8, 18],
      [8, 16],
      [8, 19],
      [8, 16],
      [8, 6],
      [8, symbols],
      [8, 0],
      [8, 0],
    ),
    { flags: 3, link: 2, entry: 16 },
  );
  const shstrtab = ['', ...parts.map((part) => part.name), '.shstrtab'].map((name) => `${name}\0`).join('');
  place('.shstrtab', 3, text(shstrtab), { flags: 0 });

  const table = Math.ceil(at / 8) * 8;
  const file = new Uint8Array(table + 64 * (parts.length + 1));
  file.set([0x7f, ...text('ELF'), 2, 1, 1, 0], 0);
  file.set(
    words(
      [2, 3],
      [2, 247],
      [4, 1],
      [8, code],
      [8, 0],
      [8, table],
      [4, 0],
      [2, 64],
      [2, 56],
      [2, 0],
      [2, 64],
      [2, parts.length + 1],
      [2, parts.length],
    ),
    16,
  );
  for (const [index, part] of parts.entries()) {
    file.set(part.bytes, part.at);
    const allocated = part.flags === 0 ? 0 : part.at;
    const name = shstrtab.indexOf(`${part.name}\0`);
    file.set(
      words(
        [4, name],
        [4, part.type],
        [8, part.flags],
        [8, allocated],
        [8, part.at],
        [8, part.bytes.length],
        [4, part.link],
        [4, 0],
        [8, 8],
        [8, part.entry],
      ),
      table + 64 * (index + 1),
    );
  }
  return file;
}

/** The user signs for the source. */
export const forwarderElf = (): Uint8Array => assemble(null);

/** The program signs for the source: its authority is the address derived from the one-byte seed `bump`. */
export const vaultElf = (bump: number): Uint8Array => assemble(bump);
