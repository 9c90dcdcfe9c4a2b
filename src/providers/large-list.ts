/**
 * Reads a JSON list that anyone may make large, such as the transactions of a Bitcoin address. The long strings of a
 * row are shortened while the bytes arrive, and of a list that is still too large the first rows are used.
 * @module
 */

/** Bytes kept of each string: more than any id, address or number has. */
const KEPT_STRING = 200;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;

/** Returns a function that drops the end of long strings from the chunks of one JSON text. */
export function stringShortener(): (chunk: Uint8Array) => Uint8Array {
  /** Bytes of the current string so far; undefined outside of strings. */
  let length: number | undefined;
  let isEscaped = false;
  return (chunk) => {
    const kept = new Uint8Array(chunk.length);
    let size = 0;
    for (const byte of chunk) {
      const isEnd = byte === QUOTE && !isEscaped;
      if (length === undefined || isEnd || length < KEPT_STRING) kept[size++] = byte;
      if (isEnd) length = length === undefined ? 0 : undefined;
      else if (length !== undefined) length += 1;
      isEscaped = byte === BACKSLASH && !isEscaped;
    }
    return kept.subarray(0, size);
  };
}

/** The rows that are complete in the beginning of a JSON list, as a list; undefined if there is none. */
export function completeRows(text: string): string | undefined {
  let depth = 0;
  let end = 0;
  for (const { 0: token, index } of text.matchAll(/"(?:[^"\\]|\\.)*"?|[[\]{}]/gs)) {
    if (token === '[' || token === '{') depth += 1;
    else if ((token === ']' || token === '}') && --depth === 1) end = index + 1;
  }
  return text.startsWith('[') && end > 0 ? `${text.slice(0, end)}]` : undefined;
}
