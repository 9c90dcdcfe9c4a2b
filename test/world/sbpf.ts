/**
 * Programs for the world's chain in sBPF v0, written by hand because no compiler is installed: instructions,
 * and the shared object that the loader accepts. Every address in it is an offset in the file.
 * @see https://github.com/anza-xyz/sbpf doc/bytecode.md, elf.rs
 */

export function op(code: number, dst: number, src = 0, offset = 0, imm = 0): number[] {
  const bytes = new DataView(new ArrayBuffer(8));
  bytes.setUint8(0, code);
  bytes.setUint8(1, (src << 4) | dst);
  bytes.setInt16(2, offset, true);
  bytes.setInt32(4, imm, true);
  return [...new Uint8Array(bytes.buffer)];
}
export const moveRegister = (dst: number, src: number) => op(0xbf, dst, src);
export const moveNumber = (dst: number, imm: number) => op(0xb7, dst, 0, 0, imm);
export const add = (dst: number, imm: number) => op(0x07, dst, 0, 0, imm);
export const addRegister = (dst: number, src: number) => op(0x0f, dst, src);
export const and = (dst: number, imm: number) => op(0x57, dst, 0, 0, imm);
export const load = (dst: number, src: number, offset: number) => op(0x79, dst, src, offset);
export const store = (dst: number, offset: number, src: number) => op(0x7b, dst, src, offset);
export const storeByte = (dst: number, offset: number, imm: number) => op(0x72, dst, 0, offset, imm);
export const storeNumber = (dst: number, offset: number, imm: number) => op(0x7a, dst, 0, offset, imm);
export const EXIT = op(0x95, 0);

/** The address `offset` bytes behind that in `base`. */
export const address = (dst: number, base: number, offset: number) => [
  ...moveRegister(dst, base),
  ...add(dst, offset),
];

/** Offsets of an account's parts in the loader's input, and the spare bytes after its data. */
export const ACCOUNT = { key: 8, owner: 40, lamports: 72, dataLength: 80, data: 88, spare: 10_240 } as const;
/** Bytes that the loader's input has for an account. */
export const spanOf = (dataLength: number): number =>
  Math.ceil((ACCOUNT.data + dataLength + ACCOUNT.spare) / 8) * 8 + 8;

/**
 * Register 7 gets the position of the instruction data's length, which follows the last account. Only the input
 * contains the length of that account's data. Register 6 holds the input's address, because the offset in an
 * instruction is too small for the whole input.
 */
export const findData = (lastAccount: number): number[] => [
  ...address(7, 6, lastAccount + ACCOUNT.dataLength),
  ...load(7, 7, 0),
  ...addRegister(7, 6),
  ...add(7, lastAccount + ACCOUNT.data + ACCOUNT.spare + 7),
  ...and(7, -8),
  ...add(7, 8),
];

/** An account info and its meta on the stack, as `sol_invoke_signed_c` expects them. */
export function passed(p: {
  /** Of the account in the input. */
  at: number;
  info: number;
  meta: number;
  signs: boolean;
  /** Whether the transaction itself contains its signature. */
  hasSigned: boolean;
  isWritable: boolean;
}): number[] {
  const flag = (on: boolean): number => (on ? 1 : 0);
  return [
    ...address(1, 6, p.at + ACCOUNT.key),
    ...store(10, p.info, 1),
    ...store(10, p.meta, 1),
    ...address(1, 6, p.at + ACCOUNT.lamports),
    ...store(10, p.info + 8, 1),
    ...address(1, 6, p.at + ACCOUNT.dataLength),
    ...load(1, 1, 0),
    ...store(10, p.info + 16, 1),
    ...address(1, 6, p.at + ACCOUNT.data),
    ...store(10, p.info + 24, 1),
    ...address(1, 6, p.at + ACCOUNT.owner),
    ...store(10, p.info + 32, 1),
    ...storeNumber(10, p.info + 40, 0),
    ...storeByte(10, p.info + 48, flag(p.hasSigned)),
    ...storeByte(10, p.info + 49, flag(p.isWritable)),
    ...storeByte(10, p.info + 50, 0),
    ...storeByte(10, p.meta + 8, flag(p.isWritable)),
    ...storeByte(10, p.meta + 9, flag(p.signs)),
  ];
}

export type Syscall = 'sol_invoke_signed_c' | 'sol_try_find_program_address';
/** Instructions, with the name of a syscall where it is called. */
export type Code = readonly (readonly number[] | Syscall)[];

const CALL = op(0x85, 0, 0, 0, -1);
const R_BPF_64_32 = 10;

const words = (...values: (readonly [size: 1 | 2 | 4 | 8, value: number])[]): number[] =>
  values.flatMap(([size, value]) =>
    Array.from({ length: size }, (_, byte) => Math.floor(value / 2 ** (8 * byte)) % 256),
  );
const text = (value: string): number[] => [...new TextEncoder().encode(value)];

type Part = {
  name: string;
  type: number;
  flags: number;
  link: number;
  entry: number;
  at: number;
  bytes: number[];
};

const FILE_HEADER = 64;

/** The shared object: syscalls are resolved through dynamic symbols. */
export function elf(code: Code): Uint8Array {
  const instructions: number[] = [];
  const calls: { at: number; name: Syscall }[] = [];
  for (const piece of code) {
    if (typeof piece === 'string') calls.push({ at: instructions.length, name: piece });
    instructions.push(...(typeof piece === 'string' ? CALL : piece));
  }
  const names = [...new Set(calls.map(({ name }) => name))];
  const strings = `\0${names.map((name) => `${name}\0`).join('')}`;

  const parts: Part[] = [];
  let end = FILE_HEADER;
  function place(name: string, type: number, bytes: number[], extra: Partial<Part> = {}): number {
    const at = Math.ceil(end / 8) * 8;
    parts.push({ name, type, bytes, flags: 2, link: 0, entry: 0, ...extra, at });
    end = at + bytes.length;
    return at;
  }
  const start = place('.text', 1, instructions, { flags: 6 });
  place('.dynstr', 3, text(strings));
  const symbol = (name: string) =>
    words([4, strings.indexOf(`${name}\0`)], [1, 0x10], [1, 0], [2, 0], [8, 0], [8, 0]);
  const symbols = place('.dynsym', 11, [...words([8, 0], [8, 0], [8, 0]), ...names.flatMap(symbol)], {
    link: 2,
    entry: 24,
  });
  const relocated = calls.flatMap(({ at, name }) =>
    words([8, start + at], [4, R_BPF_64_32], [4, names.indexOf(name) + 1]),
  );
  const relocations = place('.rel.dyn', 9, relocated, { link: 3, entry: 16 });
  const dynamic = words(
    ...([
      [17, relocations],
      [18, relocated.length],
      [19, 16],
      [6, symbols],
      [0, 0],
    ].flatMap(([tag = 0, value = 0]) => [
      [8, tag],
      [8, value],
    ]) as [8, number][]),
  );
  place('.dynamic', 6, dynamic, { flags: 3, link: 2, entry: 16 });
  const sectionNames = ['', ...parts.map((part) => part.name), '.shstrtab']
    .map((name) => `${name}\0`)
    .join('');
  place('.shstrtab', 3, text(sectionNames), { flags: 0 });
  return file(parts, start, end, sectionNames);
}

function file(parts: readonly Part[], start: number, end: number, sectionNames: string): Uint8Array {
  const table = Math.ceil(end / 8) * 8;
  const bytes = new Uint8Array(table + 64 * (parts.length + 1));
  bytes.set([0x7f, ...text('ELF'), 2, 1, 1, 0], 0);
  bytes.set(
    words(
      [2, 3],
      [2, 247],
      [4, 1],
      [8, start],
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
    bytes.set(part.bytes, part.at);
    const header = words(
      [4, sectionNames.indexOf(`${part.name}\0`)],
      [4, part.type],
      [8, part.flags],
      [8, part.flags === 0 ? 0 : part.at],
      [8, part.at],
      [8, part.bytes.length],
      [4, part.link],
      [4, 0],
      [8, 8],
      [8, part.entry],
    );
    bytes.set(header, table + 64 * (index + 1));
  }
  return bytes;
}
