/**
 * Checks the name, symbol and description of a token against the bounds of the on-chain formats and of wallets.
 * @see Metaplex Token Metadata: name 32, symbol 10, uri 200 bytes of UTF-8
 * @module
 */
import { utf8ToBytes } from '@noble/hashes/utils.js';
import { contains, readsAs } from './look-alikes.ts';

export const MAX_NAME_BYTES = 32;
export const MAX_SYMBOL_BYTES = 10;
export const MAX_DESCRIPTION_BYTES = 1_000;
export const MAX_URI_BYTES = 200;

/**
 * Control, format, private and unassigned characters, line and paragraph separators, and all invisible
 * characters: bidirectional marks, zero-width characters, fillers, variation selectors.
 */
const HIDDEN = /[\p{C}\p{Zl}\p{Zp}]|\p{Default_Ignorable_Code_Point}/u;
/** A picture with its presentation or skin tone. */
const PICTURE = '\\p{Extended_Pictographic}(?:\\uFE0F|\\p{Emoji_Modifier})?';
/** The invisible letters after the black flag in the flags of England, Scotland and Wales. */
const FLAG_TAGS = ['eng', 'sct', 'wls'].map((land) =>
  [...`gb${land}`, '\u007F'].map((letter) => String.fromCodePoint(0xe0000 + letter.charCodeAt(0))).join(''),
);
/** Emoji with their joiners and variation selectors, keycaps, and flags of tags. */
const EMOJI = new RegExp(
  `\\u{1F3F4}(?:${FLAG_TAGS.join('|')})|${PICTURE}(?:\\u200D${PICTURE})*|[0-9#*]\\uFE0F?\\u20E3`,
  'gu',
);
/**
 * The visible characters of an emoji. Each invisible character becomes a dot, so that the pictures that it joined stay
 * apart.
 */
const bareEmoji = (emoji: string): string => emoji.replaceAll(/[\u200D\uFE0F\u{E0061}-\u{E007F}]/gu, '.');
/** The sign of Indic scripts that removes a vowel: a joiner beside it selects the form of the conjunct. */
const VIRAMA =
  '\u094D\u09CD\u0A4D\u0ACD\u0B4D\u0BCD\u0C4D\u0CCD\u0D3B\u0D3C\u0D4D\u0DCA\u0E3A\u0F84\u1039\u17D2\u1B44\uA953\uA8C4';
/** Scripts whose letters connect: a non-joiner between two letters separates them. */
const CURSIVE = '[\\p{Script=Arabic}\\p{Script=Syriac}\\p{Script=Mongolian}\\p{Script=Nko}]';
/**
 * Joiners that spelling needs: after a virama, before one in Bengali and Malayalam, and between letters that would connect.
 * @see RFC 5892 appendix A
 */
const SPELLING_JOINER = new RegExp(
  `(?<=[${VIRAMA}])[\u200C\u200D]|(?<=\\p{L})\u200D(?=[\u09CD\u0D4D\u0DCA])|(?<=${CURSIVE}\\p{M}*)\u200C(?=${CURSIVE})`,
  'gu',
);
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
  | 'ill_formed'
  | 'reserved';

/** The fault in a string that wallets show, or undefined. `maxBytes` is in bytes of UTF-8. */
export function textFault(text: string, maxBytes: number): TextFault | undefined {
  if (text.length === 0) return 'empty';
  if (text.length > maxBytes) return 'too_long';
  if (!text.isWellFormed()) return 'ill_formed';
  if (utf8ToBytes(text).length > maxBytes) return 'too_long';
  if (HIDDEN.test(text.replace(EMOJI, bareEmoji).replace(SPELLING_JOINER, ''))) return 'hidden_character';
  if (text.normalize('NFC') !== text) return 'not_normalized';
  return ODD_SPACE.test(text) || BLANK.test(text) ? 'spaces' : undefined;
}

/** The fault in a description, which can have several lines, or undefined. */
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

/** The fault in a token's name or symbol: a fault of `textFault`, or a likeness to one of our own names. */
export const nameFault = (text: string, maxBytes: number): TextFault | undefined =>
  textFault(text, maxBytes) ?? (contains(text, OWN_NAMES) ? 'reserved' : undefined);

/** Names of this service and its tokens. No other token may have one. */
const OWN_NAMES = ['absr', 'asry', 'sluice'];

/** Symbols and names, without gaps, whose look-alikes mislead. */
const WELL_KNOWN = [
  ...['btc', 'bitcoin', 'wbtc', 'wrappedbitcoin', 'cbbtc', 'tbtc', 'eth', 'ethereum', 'weth', 'wrappedether'],
  ...['sol', 'solana', 'wsol', 'wrappedsol', 'jitosol', 'jupsol', 'bsol', 'msol', 'jto', 'jito'],
  ...['usdc', 'usdcoin', 'usdt', 'tether', 'tetherusd', 'usd1', 'usds', 'usde', 'usdg', 'pyusd', 'paypalusd'],
  ...['fdusd', 'eurc', 'dai', 'bnb', 'xrp', 'doge', 'dogecoin', 'link', 'chainlink', 'xaut', 'paxg'],
  ...[
    'bonk',
    'jup',
    'jupiter',
    'wif',
    'dogwifhat',
    'pyth',
    'ray',
    'raydium',
    'orca',
    'pump',
    'pumpfun',
    'trump',
  ],
];

export const foldText = (text: string): string => text.normalize('NFKC').toLowerCase();

/** Whether a reader would mistake a name or symbol for a well-known one. */
export const isWellKnown = (text: string): boolean => readsAs(text, WELL_KNOWN) || contains(text, OWN_NAMES);
