import { readdirSync, readFileSync } from 'node:fs';

/** All pages for readers of the repository. */
export const PAGES = [
  'README.md',
  'SKILL.md',
  'CHANGELOG.md',
  ...readdirSync('docs', { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.md'))
    .map((file) => `docs/${file}`),
];

export interface Block {
  readonly file: string;
  /** Of its first line of text, from 1. */
  readonly line: number;
  readonly language: string;
  readonly text: string;
}

/** Fenced code of a page. @throws Error when a fence is not closed */
export function blocksOf(file: string, markdown = readFileSync(file, 'utf8')): Block[] {
  const blocks: Block[] = [];
  let open: { line: number; language: string; text: string[] } | undefined;
  for (const [at, line] of markdown.split('\n').entries()) {
    const fence = /^```(.*)$/.exec(line);
    if (fence && open) {
      blocks.push({ file, line: open.line, language: open.language, text: open.text.join('\n') });
      open = undefined;
    } else if (fence) open = { line: at + 2, language: fence[1]?.trim() ?? '', text: [] };
    else open?.text.push(line);
  }
  if (open) throw new Error(`${file}:${open.line}: the fence is not closed`);
  return blocks;
}

/** The page without its code. */
const prose = (markdown: string): string =>
  markdown.replaceAll(/^```[\s\S]*?^```$/gm, '').replaceAll(/`[^`\n]*`/g, '');

export const linksOf = (markdown: string): string[] =>
  [...prose(markdown).matchAll(/\[[^\]]*\]\(([^)\s]+)\)/g)].flatMap(([, target]) => (target ? [target] : []));

/** Anchors of a page, as the code host derives them from its headings. */
export const anchorsOf = (markdown: string): string[] =>
  [...markdown.replaceAll(/^```[\s\S]*?^```$/gm, '').matchAll(/^#{1,6} (.+)$/gm)].map(([, title = '']) =>
    title
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\s-]/gu, '')
      .trim()
      .replaceAll(/\s/g, '-'),
  );

/** Commands of a shell block, comments and continued lines joined. */
export const commandsOf = (text: string): string[] =>
  text
    .replaceAll(/\\\n\s*/g, '')
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '' && !line.startsWith('#'));

/** Each `detail` of a swap that SKILL.md explains, with its status. */
export const swapDetails = (): ReadonlyMap<string, string> =>
  new Map(
    [...readFileSync('SKILL.md', 'utf8').matchAll(/^\| `(waiting|finished|failed)` \| `(\w+)` \|/gm)].map(
      ([, status = '', detail = '']) => [detail, status],
    ),
  );
