/**
 * Changes members of an object inside JSON text and leaves every other byte unchanged: parsing and writing it
 * again would change numbers, escapes and order.
 * @module
 */

type Member = { readonly key: string; readonly start: number; readonly end: number };

const SPACE = /[\t\n\r ]/;
const LITERAL_END = /[\t\n\r ,\]}]/;

/**
 * Sets members of the object under `name` in the text's top-level object.
 *
 * @param text   valid JSON whose top level is an object
 * @param values JSON texts by member name; a missing member is inserted first, a duplicate one is set twice
 */
export function spliceJson(text: string, name: string, values: Readonly<Record<string, string>>): string {
  const edits: { start: number; end: number; text: string }[] = [];
  for (const object of membersOf(text, skipSpace(text, 0))) {
    if (object.key !== name || text[object.start] !== '{') continue;
    const members = membersOf(text, object.start);
    const missing = Object.keys(values).filter((key) => members.every((member) => member.key !== key));
    const added = missing.map((key) => `${JSON.stringify(key)}:${values[key]}`).join(',');
    const comma = added && members.length > 0 ? ',' : '';
    edits.push({ start: object.start + 1, end: object.start + 1, text: added + comma });
    for (const { key, start, end } of members) {
      const value = Object.hasOwn(values, key) ? values[key] : undefined;
      if (value !== undefined) edits.push({ start, end, text: value });
    }
  }
  return edits.reduceRight(
    (done, edit) => done.slice(0, edit.start) + edit.text + done.slice(edit.end),
    text,
  );
}

/** The positions of an object's member values. */
function membersOf(text: string, open: number): Member[] {
  const members: Member[] = [];
  let at = skipSpace(text, open + 1);
  while (text[at] === '"') {
    const keyEnd = skipString(text, at);
    const key = JSON.parse(text.slice(at, keyEnd)) as string;
    const start = skipSpace(text, skipSpace(text, keyEnd) + 1);
    const end = skipValue(text, start);
    members.push({ key, start, end });
    at = skipSpace(text, end);
    if (text[at] === ',') at = skipSpace(text, at + 1);
  }
  return members;
}

function skipSpace(text: string, from: number): number {
  let at = from;
  while (at < text.length && SPACE.test(text.charAt(at))) at += 1;
  return at;
}

function skipString(text: string, quote: number): number {
  let at = quote + 1;
  while (at < text.length && text[at] !== '"') at += text[at] === '\\' ? 2 : 1;
  return at + 1;
}

function skipValue(text: string, start: number): number {
  let at = start;
  let depth = 0;
  do {
    const char = text.charAt(at);
    if (char === '"') at = skipString(text, at);
    else if (char === '{' || char === '[') {
      depth += 1;
      at += 1;
    } else if (char === '}' || char === ']') {
      depth -= 1;
      at += 1;
    } else if (depth > 0) at += 1;
    else while (at < text.length && !LITERAL_END.test(text.charAt(at))) at += 1;
  } while (depth > 0 && at < text.length);
  return at;
}
