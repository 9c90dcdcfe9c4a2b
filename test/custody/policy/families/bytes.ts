/** S1 to S4: the text, its structure, who signs it. */
import { concatBytes } from '@noble/hashes/utils.js';
import { THIEF } from '../draft.ts';
import { collect, type Family, LEG } from './family.ts';

const { list, near, both } = collect();

both('a second transaction in a list', 'data_not_one_text', (d) => (d.onData = (text) => [text, text]));
both('a list of one', 'data_not_one_text', (d) => (d.onData = (text) => [text]));
near('text in an object', 'data_not_one_text', (d) => (d.onData = (text) => ({ toString: () => text })));
near('no text', 'data_not_one_text', (d, r) => (d.onData = () => r.pick([0, false, 7n])));
near('white space in the text', 'tx_base64', (d, r) => {
  d.onData = (text) => {
    const place = r.between(0, text.length);
    return text.slice(0, place) + r.pick([' ', '\n', '\t', '\u200b']) + text.slice(place);
  };
});
near('another alphabet', 'tx_base64', (d) => (d.onData = (text) => `${text.slice(0, 4)}-_${text.slice(6)}`));
near('padding too much', 'tx_base64', (d) => (d.onData = (text) => `${text}====`));
near('trailing bytes', 'tx_trailing_bytes', (d, r) => {
  const extra = r.between(1, 9);
  d.onBytes = (bytes) => concatBytes(bytes, new Uint8Array(extra));
});
near(
  'a second transaction behind the first',
  'tx_trailing_bytes',
  (d) => (d.onBytes = (b) => concatBytes(b, b)),
);
near('cut short', 'tx_truncated', (d, r) => {
  const cut = r.between(1, 12);
  d.onBytes = (bytes) => bytes.slice(0, bytes.length - cut);
});
near(
  'longer than a packet',
  'tx_too_long',
  (d) => (d.onBytes = (b) => concatBytes(b, new Uint8Array(1_200))),
);
near('a length in a longer spelling', 'tx_length_prefix', (d) => {
  d.version = 0;
  d.onBytes = (b) => concatBytes(b.slice(0, 69), Uint8Array.of((b[69] ?? 0) | 0x80, 0), b.slice(70));
});
both('a message of version 1', 'tx_version', (d) => {
  d.version = 0;
  d.onBytes = (b) => b.with(65, 0x81);
});
near('a transaction of version 1', 'tx_version', (d) => (d.onBytes = (b) => b.with(0, 0x81)));
near('fewer slots than signers', 'tx_signature_count', (d) => {
  d.onTransaction = (t) => ({ ...t, requiredSignatures: 2 });
});
near('a read-only fee payer', 'tx_header', (d) => (d.onTransaction = (t) => ({ ...t, readonlySigned: 1 })));
near('more read-only keys than keys', 'tx_header', (d) => {
  d.onTransaction = (t) => ({ ...t, readonlyUnsigned: t.keys.length });
});
near('one key twice', 'tx_duplicate_key', (d) => {
  d.onTransaction = (t) => ({ ...t, keys: t.keys.with(-1, t.keys[1] ?? '') });
});
near('an account that is not there', 'tx_account_index', (d, r) => {
  const place = r.between(60, 255);
  d.onTransaction = (t) => ({
    ...t,
    instructions: t.instructions.map((one, index) =>
      index === LEG ? { ...one, accounts: [0, place] } : one,
    ),
  });
});
near('a program that is not there', 'tx_program_index', (d, r) => {
  const program = r.pick([0, 41, 255]);
  d.onTransaction = (t) => ({
    ...t,
    instructions: t.instructions.map((one, index) => (index === LEG ? { ...one, program } : one)),
  });
});

both('a second signer who holds the transaction back', 'signer_count', (d) => (d.otherSigners = [THIEF]));
near('another fee payer', 'signer_not_reserve', (d) => {
  d.onTransaction = (t) => ({ ...t, keys: t.keys.with(0, THIEF) });
});
both('a filled signature slot', 'signature_slot_filled', (d, r) => {
  const [place, byte] = [r.between(0, 63), r.between(1, 255)];
  d.onTransaction = (t) => ({ ...t, signatures: [new Uint8Array(64).with(place, byte)] });
});

export const BYTES_FAMILIES: readonly Family[] = list;
