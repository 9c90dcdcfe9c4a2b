/** Compares JSON with a recorded production response, member by member. */

/** Forms of text. A text that matches none of them is free text, which may become any other text. */
const VOCABULARIES: readonly (readonly [string, RegExp])[] = [
  ['integer text', /^-?\d+$/],
  ['decimal text', /^-?\d+\.\d+$/],
  ['ISO time', /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/],
  ['ed25519 signature', /^ed25519:[1-9A-HJ-NP-Za-km-z]+$/],
  ['upper-case word', /^[A-Z][A-Z_]{2,}$/],
  ['lower-case code', /^[a-z]+(_[a-z]+)+$/],
];

const vocabularyOf = (text: string): string | undefined =>
  VOCABULARIES.find(([, pattern]) => pattern.test(text))?.[0];

function typeOf(value: unknown): string {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'array' : typeof value;
}

/**
 * How `actual` differs from `recorded`: a missing member, a different type or form of a text, or an empty list where the
 * recorded one has entries. Additional members are ignored. Lists are compared by their first entries.
 * @param varies paths such as `quote.depositMemo` whose type depends on the request
 */
export function shapeDifferences(
  recorded: unknown,
  actual: unknown,
  varies: readonly string[] = [],
  path = '',
): string[] {
  if (varies.includes(path)) return [];
  const at = path === '' ? 'the response' : path;
  const [was, is] = [typeOf(recorded), typeOf(actual)];
  if (was !== is) return [`${at}: ${was} is now ${is}`];
  if (typeof recorded === 'string' && typeof actual === 'string') {
    const [wanted, found] = [vocabularyOf(recorded), vocabularyOf(actual)];
    return wanted === undefined || wanted === found
      ? []
      : [`${at}: ${wanted} is now ${found ?? 'free text'}`];
  }
  if (Array.isArray(recorded) && Array.isArray(actual)) {
    if (recorded.length === 0) return [];
    if (actual.length === 0) return [`${at}: the list is empty`];
    return shapeDifferences(recorded[0], actual[0], varies, `${path}[]`);
  }
  if (typeof recorded !== 'object' || recorded === null) return [];
  return Object.entries(recorded).flatMap(([name, value]) => {
    const inner = path === '' ? name : `${path}.${name}`;
    const found: unknown = Reflect.get(actual as object, name);
    if (found === undefined) return varies.includes(inner) ? [] : [`${inner}: missing`];
    return shapeDifferences(value, found, varies, inner);
  });
}
