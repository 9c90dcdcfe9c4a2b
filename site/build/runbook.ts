/**
 * The runbook as HTML for its page, from the Markdown at build time: the messages of alarms link to its rows.
 * @module
 */
import { readFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import { Marked, type Tokens } from 'marked';
import type { Assets } from './assets.ts';

const FOLDER = 'docs/run';

/** The anchor of a heading, as the code host derives it. */
const anchorOf = (title: string): string =>
  title
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s-]/gu, '')
    .trim()
    .replaceAll(/\s/g, '-');

/** @param source web address of the repository, for links to its other files */
export function runbookOf(markdown: string, source: string): string {
  const marked = new Marked({
    walkTokens(token) {
      if (token.type === 'link' && !/^(https?:|#)/.test(token.href))
        token.href = `${source}/blob/main/${posix.join(FOLDER, token.href)}`;
    },
    renderer: {
      heading({ tokens, depth, text }: Tokens.Heading) {
        return `<h${depth} id="${anchorOf(text)}">${this.parser.parseInline(tokens)}</h${depth}>\n`;
      },
    },
  });
  const html = marked.parse(markdown.slice(markdown.indexOf('\n')), { async: false });
  return html
    .replaceAll(
      '<table>',
      '<div class="scroll prose-cells" tabindex="0" role="group" aria-label="Table"><table>',
    )
    .replaceAll('</table>', '</table></div>');
}

export const readRunbook = ({ release }: Pick<Assets, 'release'>): string =>
  runbookOf(readFileSync(join(import.meta.dirname, '../..', FOLDER, 'runbook.md'), 'utf8'), release.source);
