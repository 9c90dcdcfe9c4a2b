/**
 * The changelog as HTML for its page and its feed, from the Markdown at build time.
 * @module
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Marked, type Tokens } from 'marked';
import type { Assets } from './assets.ts';

/** @property date ISO date of the release; null for what no release has yet */
export type Changes = { readonly version: string; readonly date: string | null; readonly html: string };

const isForOperators = ({ text }: Tokens.ListItem): boolean => text.startsWith('Operators:');

/** @param source web address of the repository, for links to its other files */
export function changesOf(markdown: string, source: string): Changes[] {
  const marked = new Marked({
    walkTokens(token) {
      if (token.type === 'link' && !/^https?:/.test(token.href))
        token.href = `${source}/blob/main/${token.href}`;
    },
    renderer: {
      // Most readers are callers: the entries for operators are folded.
      list({ items }: Tokens.List) {
        const operators = items.filter(isForOperators);
        if (operators.length === 0) return false;
        const listed = (some: readonly Tokens.ListItem[]): string =>
          some.length === 0 ? '' : `<ul>\n${some.map((item) => this.listitem(item)).join('')}</ul>\n`;
        const callers = items.filter((item) => !isForOperators(item));
        return `${listed(callers)}<details class="more">\n<summary>For operators: ${operators.length} entries</summary>\n${listed(operators)}</details>\n`;
      },
    },
  });
  const [, ...sections] = markdown.split(/^## /m);
  return sections.flatMap((section) => {
    const [, version, date] = /^\[([^\]]+)\](?: - (\S+))?\n/.exec(section) ?? [];
    if (version === undefined)
      throw new Error(`the changelog has a section without a version: ${section.slice(0, 40)}`);
    const html = marked.parse(section.slice(section.indexOf('\n')), { async: false });
    return html === '' ? [] : [{ version, date: date ?? null, html }];
  });
}

export const readChanges = ({ release }: Assets): Changes[] =>
  changesOf(readFileSync(join(import.meta.dirname, '../../CHANGELOG.md'), 'utf8'), release.source);

const ESCAPES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };
const escapeXml = (text: string): string =>
  text.replace(/[&<>"]/g, (character) => ESCAPES[character] ?? character);

/** The releases as an Atom feed, newest first. @see https://www.rfc-editor.org/rfc/rfc4287 */
export function changesFeed(changes: readonly Changes[], { origin, release }: Assets): string {
  const page = origin === '' ? release.source : `${origin}/changes`;
  const releases = changes.flatMap(({ version, date, html }) =>
    date === null ? [] : [{ version, date, html }],
  );
  const entries = releases.map(
    ({ version, date, html }) => `  <entry>
    <id>${escapeXml(`${release.source}#${version}`)}</id>
    <title>Sluice ${escapeXml(version)}</title>
    <updated>${date}T00:00:00Z</updated>
    <link href="${escapeXml(`${page}#v${version}`)}"/>
    <content type="html">${escapeXml(html)}</content>
  </entry>
`,
  );
  return `<?xml version="1.0" encoding="UTF-8"?>
<feed xmlns="http://www.w3.org/2005/Atom">
  <id>${escapeXml(`${release.source}#changes`)}</id>
  <title>Sluice: releases</title>
  <author><name>Sluice</name></author>
  <updated>${releases[0]?.date ?? '1970-01-01'}T00:00:00Z</updated>
  <link href="${escapeXml(page)}"/>
${entries.join('')}</feed>
`;
}
