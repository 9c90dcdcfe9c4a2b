/**
 * Reads JSON that anyone can make large, such as a Bitcoin address's transactions or a Solana address's memos. Long
 * strings are shortened while the bytes arrive. If a list is still too large, only its first rows are used.
 * @module
 */

/**
 * Characters that are kept of each string; an escape counts as one. Ids, addresses, numbers and our memos are shorter.
 */
const KEPT_STRING = 200;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const LETTER_U = 0x75;
/** An escape has one character after the backslash, and `u` has four more. */
const ESCAPE_BEGINS = 5;
const ESCAPE_DIGITS = 4;

/** Returns a function that drops the ends of long strings from the chunks of one JSON document. */
export function stringShortener(): (chunk: Uint8Array) => Uint8Array {
  /** Characters of the current string so far; undefined outside of strings. */
  let length: number | undefined;
  /** Characters of the current escape that have not arrived yet. */
  let escaped = 0;
  return (chunk) => {
    const kept = new Uint8Array(chunk.length);
    let size = 0;
    for (const byte of chunk) {
      const isQuote = byte === QUOTE && escaped === 0;
      if (length === undefined || isQuote || length < KEPT_STRING) kept[size++] = byte;
      if (isQuote) length = length === undefined ? 0 : undefined;
      else if (length !== undefined) {
        if (escaped === ESCAPE_BEGINS) escaped = byte === LETTER_U ? ESCAPE_DIGITS : 0;
        else if (escaped > 0) escaped -= 1;
        else if (byte === BACKSLASH) escaped = ESCAPE_BEGINS;
        if (escaped === 0) length += 1;
      }
    }
    return kept.subarray(0, size);
  };
}

/** The complete rows of a JSON list that was cut off, as a list; undefined if no row is complete. */
export function completeRows(text: string): string | undefined {
  let depth = 0;
  let end = 0;
  for (const { 0: token, index } of text.matchAll(/"(?:[^"\\]|\\.)*"?|[[\]{}]/gs)) {
    if (token === '[' || token === '{') depth += 1;
    else if ((token === ']' || token === '}') && --depth === 1) end = index + 1;
  }
  return text.startsWith('[') && end > 0 ? `${text.slice(0, end)}]` : undefined;
}
