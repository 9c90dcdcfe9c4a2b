import { base64 } from '@scure/base';
import { getCompiledTransactionMessageDecoder } from '@solana/web3.js';
import { expect, it } from 'vitest';
import { encodeBase58 } from '../../../src/chain/solana/address.ts';
import {
  type DecodedTransaction,
  decodeTransaction,
  decodeTransactionText,
  encodeTransaction,
} from '../../../src/chain/solana/message.ts';
import { signedTransaction, transferMessage } from '../../../src/chain/solana/transaction.ts';
import { lamports } from '../../../src/core/amount.ts';
import {
  decodeLookupTable,
  LOOKUP_TABLE_PROGRAM,
} from '../../../src/custody/policy/resolved-instructions.ts';
import { cases } from '../../cases.ts';
import mayan from '../../fixtures/lifi/mayan-sol.json' with { type: 'json' };
import relay from '../../fixtures/lifi/relaydepository-wsol.json' with { type: 'json' };
import { fuzzDecoder } from './decoder-fuzz.ts';

const key = (byte: number) => encodeBase58(new Uint8Array(32).fill(byte));

const BASE: DecodedTransaction = {
  version: 0,
  signatures: [new Uint8Array(64)],
  requiredSignatures: 1,
  readonlySigned: 0,
  readonlyUnsigned: 1,
  keys: [key(1), key(2), key(3)],
  blockhash: key(9),
  instructions: [{ program: 2, accounts: [0, 1, 3], data: Uint8Array.of(1, 2, 3) }],
  tables: [{ table: key(7), writable: [4], readonly: [] }],
};
const encode = (change: Partial<DecodedTransaction> = {}) => encodeTransaction({ ...BASE, ...change });

it.each([
  ['mayan', mayan.data, 1_004, 13, 3],
  ['relaydepository', relay.data, relay.bytes, 13, 2],
])(
  'a recorded transaction of %s decodes, and encodes to the same bytes',
  (_name, text, size, keys, tables) => {
    const bytes = base64.decode(text);
    expect(bytes).toHaveLength(size);
    const verdict = decodeTransactionText(text);
    if (!verdict.ok) throw new Error(verdict.reason);
    const { transaction } = verdict;
    expect(transaction.version).toBe(0);
    expect(transaction.requiredSignatures).toBe(1);
    expect(transaction.keys).toHaveLength(keys);
    expect(transaction.tables).toHaveLength(tables);
    expect(encodeTransaction(transaction)).toEqual(bytes);
    const peer = getCompiledTransactionMessageDecoder().decode(bytes.slice(65));
    if (peer.version !== 0) throw new Error('not version 0');
    expect(transaction.keys).toEqual(peer.staticAccounts);
    expect(transaction.blockhash).toBe(peer.lifetimeToken);
    expect(transaction.instructions.map(({ program, accounts }) => [program, accounts])).toEqual(
      peer.instructions.map(({ programAddressIndex, accountIndices }) => [
        programAddressIndex,
        accountIndices ?? [],
      ]),
    );
  },
);

it('a transaction that we build reads back, legacy and version 0', () => {
  const lifetime = { blockhash: key(9) };
  const message = transferMessage({ from: key(1), to: key(2), amount: lamports(5n), lifetime });
  const { wire } = signedTransaction(message, [new Uint8Array(64).fill(5)]);
  const verdict = decodeTransaction(wire);
  expect(verdict).toMatchObject({ ok: true, transaction: { version: 0, blockhash: key(9), tables: [] } });
  const legacy = encode({ version: 'legacy', tables: [], instructions: [] });
  expect(decodeTransaction(legacy)).toMatchObject({ ok: true, transaction: { version: 'legacy' } });
});

it.each<[string, Partial<DecodedTransaction>, string]>([
  ['no signer', { signatures: [], requiredSignatures: 0 }, 'tx_header'],
  ['fewer slots than signers', { requiredSignatures: 2 }, 'tx_signature_count'],
  ['a fee payer that is read-only', { readonlySigned: 1 }, 'tx_header'],
  ['more read-only keys than there are', { readonlyUnsigned: 3 }, 'tx_header'],
  ['one key twice', { keys: [key(1), key(2), key(2)] }, 'tx_duplicate_key'],
  [
    'one index of a table twice',
    { tables: [{ table: key(7), writable: [4], readonly: [4] }] },
    'tx_duplicate_key',
  ],
  ['one table twice', { tables: [...BASE.tables, ...BASE.tables] }, 'tx_duplicate_table'],
  ['a table without use', { tables: [{ table: key(7), writable: [], readonly: [] }] }, 'tx_empty_table'],
  [
    'more accounts than an index can name',
    { tables: [{ table: key(7), writable: Array.from({ length: 254 }, (_, at) => at), readonly: [] }] },
    'tx_too_many_accounts',
  ],
  [
    'a program from a table',
    { instructions: [{ program: 3, accounts: [], data: new Uint8Array() }] },
    'tx_program_index',
  ],
  [
    'the fee payer as a program',
    { instructions: [{ program: 0, accounts: [], data: new Uint8Array() }] },
    'tx_program_index',
  ],
  [
    'index 41 into a short list',
    { instructions: [{ program: 2, accounts: [41], data: new Uint8Array() }] },
    'tx_account_index',
  ],
  [
    'more bytes than a packet has',
    { instructions: [{ program: 2, accounts: [], data: new Uint8Array(1_100) }] },
    'tx_too_long',
  ],
])('%s is refused', (_name, change, reason) => {
  expect(decodeTransaction(encode(change))).toEqual({ ok: false, reason });
});

it('a byte too many is refused, and every byte too few', () => {
  const bytes = encode();
  expect(decodeTransaction(bytes).ok).toBe(true);
  expect(decodeTransaction(Uint8Array.from([...bytes, 0]))).toEqual({
    ok: false,
    reason: 'tx_trailing_bytes',
  });
  for (let length = 0; length < bytes.length; length += 1) {
    expect(decodeTransaction(bytes.slice(0, length))).toMatchObject({ ok: false });
  }
});

it('a message of version 1 is refused, wherever its version byte is', () => {
  const message = encode();
  message[65] = 0x81;
  expect(decodeTransaction(message)).toEqual({ ok: false, reason: 'tx_version' });
  const wire = encode();
  wire[0] = 0x81;
  expect(decodeTransaction(wire)).toEqual({ ok: false, reason: 'tx_version' });
});

it.each([
  ['one zero byte more', [0x83, 0x00]],
  ['two zero bytes more', [0x83, 0x80, 0x00]],
  ['more than 16 bits', [0x83, 0x80, 0x04]],
  ['four bytes', [0x83, 0x80, 0x80, 0x01]],
])('a length spelled with %s is refused', (_name, prefix) => {
  const bytes = encode();
  // 1 slot count, 64 slot, 1 version, 3 header: the number of keys.
  const longer = Uint8Array.from([...bytes.slice(0, 69), ...prefix, ...bytes.slice(70)]);
  expect(decodeTransaction(longer)).toEqual({ ok: false, reason: 'tx_length_prefix' });
});

it.each([
  ['white space', (text: string) => `${text}\n`],
  ['white space inside', (text: string) => `${text.slice(0, 8)} ${text.slice(8)}`],
  ['the URL alphabet', (text: string) => text.replace('A', '-')],
  ['no padding', (text: string) => text.replace(/=+$/, '')],
  ['bits after the end', (text: string) => text.replace(/.(=+)$/, '/$1')],
  ['nothing but a sign', () => '='],
])('base64 with %s is refused', (_name, change) => {
  const bytes = encode();
  const text = base64.encode(bytes);
  expect(text.endsWith('=')).toBe(true);
  expect(decodeTransactionText(text).ok).toBe(true);
  expect(decodeTransactionText(change(text))).toEqual({ ok: false, reason: 'tx_base64' });
});

it('text longer than a packet is refused before it is decoded', () => {
  expect(decodeTransactionText('A'.repeat(5_000_000))).toEqual({ ok: false, reason: 'tx_too_long' });
  expect(decodeTransactionText(base64.encode(new Uint8Array(1_233)))).toMatchObject({
    reason: 'tx_too_long',
  });
});

it('gives a verdict on any bytes, and accepts only the canonical encoding', { tags: ['scaled'] }, () => {
  const messages = cases(10_000, 3_000);
  const { verdicts, unfaithful } = fuzzDecoder(12, messages);
  expect(unfaithful).toBe(0);
  expect(verdicts.ok).toBeGreaterThan(messages / 20);
  expect(Object.keys(verdicts)).toEqual(
    expect.arrayContaining(['tx_truncated', 'tx_account_index', 'tx_header']),
  );
});

function tableBytes(
  entries: readonly number[],
  change: (view: DataView) => void = () => undefined,
): Uint8Array {
  const data = new Uint8Array(56 + 32 * entries.length);
  const view = new DataView(data.buffer);
  view.setUint32(0, 1, true);
  view.setBigUint64(4, 0xffff_ffff_ffff_ffffn, true);
  for (const [place, byte] of entries.entries()) data.fill(byte, 56 + 32 * place, 88 + 32 * place);
  change(view);
  return data;
}

it('a lookup table gives the key at an index, and shows when it is being closed', () => {
  const table = decodeLookupTable(LOOKUP_TABLE_PROGRAM, tableBytes([5, 6]));
  expect([table?.isActive, table?.at(0), table?.at(1), table?.at(2)]).toEqual([
    true,
    key(5),
    key(6),
    undefined,
  ]);
  const closing = tableBytes([5], (view) => view.setBigUint64(4, 77n, true));
  expect(decodeLookupTable(LOOKUP_TABLE_PROGRAM, closing)?.isActive).toBe(false);
});

it.each([
  ['another program', key(3), tableBytes([5])],
  ['no table in it', LOOKUP_TABLE_PROGRAM, tableBytes([5], (view) => view.setUint32(0, 0, true))],
  ['half an entry', LOOKUP_TABLE_PROGRAM, tableBytes([5]).slice(0, 70)],
  ['half a header', LOOKUP_TABLE_PROGRAM, tableBytes([]).slice(0, 40)],
])('an account with %s is not a lookup table', (_name, owner, data) => {
  expect(decodeLookupTable(owner, data)).toBeUndefined();
});
