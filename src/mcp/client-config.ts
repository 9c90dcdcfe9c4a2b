/**
 * Adds the entry of a server to the text of a client's configuration. Every other byte stays as it is: large numbers,
 * order and spaces too.
 * @module
 */

export type Added =
  | { readonly type: 'added'; readonly text: string }
  /** The same entry exists. */
  | { readonly type: 'present' }
  /** The text is left as it is. */
  | { readonly type: 'refused'; readonly reason: string };

const refused = (reason: string): Added => ({ type: 'refused', reason });

/** @param text of the file, empty if there is none. @param section the member that contains the servers */
export function addToJson(text: string, section: string, name: string, entry: object): Added {
  const source = text.trim() === '' ? '{}\n' : text;
  let config: unknown;
  try {
    config = JSON.parse(source);
  } catch {
    return refused('the file is not valid JSON');
  }
  if (!isRecord(config)) return refused('the file is not a JSON object');
  const servers = config[section];
  if (servers !== undefined && !isRecord(servers)) return refused(`${section} is not an object`);
  const existing = servers?.[name];
  if (existing !== undefined)
    return JSON.stringify(existing) === JSON.stringify(entry)
      ? { type: 'present' }
      : refused(`${section} already has another entry named ${name}`);
  const unit = /\n([ \t]+)"/.exec(source)?.[1] ?? '  ';
  const root = objectAt(source, source.indexOf('{'));
  const at = root.members.findLast((member) => member.name === section)?.valueAt;
  const added =
    at === undefined
      ? withMember(source, root, section, { [name]: entry }, unit, 1)
      : withMember(source, objectAt(source, at), name, entry, unit, 2);
  return { type: 'added', text: added };
}

/** @param block a table with its header, such as `[mcp_servers.name]` and its keys */
export function addToToml(text: string, name: string, block: string): Added {
  if (text.includes(block)) return { type: 'present' };
  const own = new RegExp(`^\\s*\\[\\s*mcp_servers\\s*\\.\\s*["']?${name}["']?\\s*[.\\]]`, 'm');
  if (own.test(text)) return refused(`the file already has another table mcp_servers.${name}`);
  // A table cannot be added to an inline table.
  if (/^\s*mcp_servers\b[^\]\n]*=/m.test(text)) return refused('mcp_servers is not a table of its own');
  const gap = text === '' ? '' : text.endsWith('\n') ? '\n' : '\n\n';
  return { type: 'added', text: `${text}${gap}${block}\n` };
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

type JsonObject = {
  readonly members: readonly { readonly name: string; readonly valueAt: number }[];
  /** Index after the last member; in an empty object, after the opening brace. */
  readonly end: number;
};

const TOKENS = /"(?:[^"\\]|\\.)*"|[{}[\],:]|[^\s"{}[\],:]+/g;

/** The object that opens at `open` in valid JSON. */
function objectAt(text: string, open: number): JsonObject {
  const members: { name: string; valueAt: number }[] = [];
  let depth = 0;
  let end = open + 1;
  let key = '';
  let isValue = false;
  for (const { 0: token, index } of text.slice(open).matchAll(TOKENS)) {
    if (depth === 1) {
      if (token === '}') return { members, end };
      if (isValue) members.push({ name: key, valueAt: open + index });
      else if (token.startsWith('"')) key = String(JSON.parse(token));
      isValue = token === ':';
    }
    if (token === '{' || token === '[') depth += 1;
    if (token === '}' || token === ']') depth -= 1;
    if (token !== ',') end = open + index + token.length;
  }
  return { members, end };
}

/** The text with one more member at the end of this object. @param depth of the member */
function withMember(
  text: string,
  { members, end }: JsonObject,
  name: string,
  value: object,
  unit: string,
  depth: number,
): string {
  const indent = `\n${unit.repeat(depth)}`;
  const json = JSON.stringify(value, undefined, unit).replaceAll('\n', indent);
  const isEmpty = members.length === 0;
  const member = `${indent}${JSON.stringify(name)}: ${json}`;
  const rest = text.slice(end);
  return isEmpty
    ? `${text.slice(0, end)}${member}\n${unit.repeat(depth - 1)}${rest.trimStart()}`
    : `${text.slice(0, end)},${member}${rest}`;
}
