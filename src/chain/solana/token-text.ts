/**
 * Name, symbol and description of a token, within the bounds of the on-chain formats and wallets.
 * @see Metaplex Token Metadata: name 32, symbol 10, uri 200 bytes of UTF-8
 * @module
 */
import { utf8ToBytes } from '@noble/hashes/utils.js';

/**
 * Per Latin letter: letters of other scripts that a reader cannot distinguish from it. Words of other languages are not
 * treated as imitations.
 * @see UTS #39, confusables.txt
 */
const LOOK_ALIKES: Readonly<Record<string, string>> = {
  A: 'АΑᎪꓮᴀ',
  B: 'ВΒᏴꓐʙ',
  C: 'СᏟꓚᴄ',
  D: 'Ꭰꓓᴅ',
  E: 'ЕΕᎬꓰᴇ',
  H: 'НΗᎻꓧʜ',
  I: 'ІΙӀꓲɪ',
  J: 'ЈᎫꓙᴊͿ',
  K: 'КΚᏦꓗᴋ',
  L: 'Ꮮꓡʟ',
  M: 'МΜᎷꓟᴍ',
  N: 'Νꓠɴ',
  O: 'ОΟՕꓳᴏ',
  P: 'РΡᏢꓑᴘ',
  R: 'Ꭱꓣʀ',
  S: 'ЅՏᏚꓢꜱ',
  T: 'ТΤᎢꓔᴛ',
  U: 'Սꓴᴜ',
  W: 'ԜᎳꓪᴡ',
  Y: 'ΥҮꓬʏ',
  a: 'аαɑ',
  b: 'Ь',
  c: 'с',
  d: 'ԁ',
  e: 'еҽ',
  h: 'һհ',
  i: 'іιı',
  j: 'јϳ',
  k: 'кκ',
  l: 'ӏ',
  n: 'ո',
  o: 'оοօ',
  p: 'рρ',
  s: 'ѕ',
  t: 'τ',
  u: 'υս',
  w: 'ԝ',
  y: 'уү',
};

const LATIN: ReadonlyMap<string, string> = new Map(
  Object.entries(LOOK_ALIKES).flatMap(([latin, others]) =>
    [...others].map((other) => [other, latin] as const),
  ),
);

/** A text as a reader perceives it: every look-alike letter becomes the Latin one. */
export const asLatin = (text: string): string =>
  [...text].map((letter) => LATIN.get(letter) ?? letter).join('');

export const MAX_NAME_BYTES = 32;
export const MAX_SYMBOL_BYTES = 10;
export const MAX_DESCRIPTION_BYTES = 1_000;
export const MAX_URI_BYTES = 200;

/**
 * Control, format, private and unassigned characters, line and paragraph separators, and all invisible
 * characters: bidirectional marks, zero-width characters, fillers, variation selectors.
 */
const HIDDEN = /[\p{C}\p{Zl}\p{Zp}]|\p{Default_Ignorable_Code_Point}/u;
/** White space that a reader cannot see: at the start, at the end, or two in a row. */
const BLANK = /^\p{White_Space}|\p{White_Space}$|\p{White_Space}{2}/u;
/** White space other than the plain space. */
const ODD_SPACE = /[^\S ]/u;

export type TextFault =
  | 'empty'
  | 'too_long'
  | 'hidden_character'
  | 'not_normalized'
  | 'spaces'
  | 'ill_formed';

/** The fault in a text that wallets show, or undefined. `maxBytes` is in bytes of UTF-8. */
export function textFault(text: string, maxBytes: number): TextFault | undefined {
  if (text.length === 0) return 'empty';
  if (text.length > maxBytes) return 'too_long';
  if (!text.isWellFormed()) return 'ill_formed';
  if (utf8ToBytes(text).length > maxBytes) return 'too_long';
  if (HIDDEN.test(text)) return 'hidden_character';
  if (text.normalize('NFC') !== text) return 'not_normalized';
  return ODD_SPACE.test(text) || BLANK.test(text) ? 'spaces' : undefined;
}

/** The same check for a description, which may have several lines. */
export function descriptionFault(text: string): TextFault | undefined {
  if (text === '') return undefined;
  const lines = text.split('\n');
  if (utf8ToBytes(text.toWellFormed()).length > MAX_DESCRIPTION_BYTES) return 'too_long';
  for (const line of lines) {
    const fault = line === '' ? undefined : textFault(line, MAX_DESCRIPTION_BYTES);
    if (fault && fault !== 'spaces') return fault;
  }
  return undefined;
}

/** Symbols and names whose look-alikes mislead; compared as a reader perceives them, ignoring case. */
const WELL_KNOWN = new Set([
  'btc',
  'bitcoin',
  'eth',
  'ethereum',
  'sol',
  'solana',
  'wsol',
  'wrapped sol',
  'usdc',
  'usd coin',
  'usdt',
  'tether',
  'tether usd',
  'usd1',
  'pyusd',
  'dai',
  'bonk',
  'jup',
  'jupiter',
  'wif',
  'dogwifhat',
  'jitosol',
  'msol',
  'cbbtc',
  'wbtc',
  'wrapped bitcoin',
  'absr',
  'asry',
]);

export const foldText = (text: string): string => text.normalize('NFKC').toLowerCase();

/** Whether a reader would take a name or symbol for a well-known one. */
export const isWellKnown = (text: string): boolean =>
  WELL_KNOWN.has(foldText(asLatin(text.normalize('NFKC'))).trim());
