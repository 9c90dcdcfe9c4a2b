import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { npxSnippets, type Snippet, urlSnippets } from '../../src/mcp/snippets.ts';
import { blocksOf } from '../docs/markdown.ts';

const ORIGIN = 'https://sluice.example';
const PAGE = 'docs/agents.md';
const blocks = blocksOf(PAGE);
const lines = readFileSync(PAGE, 'utf8').split('\n');
const snippets = [...urlSnippets(ORIGIN), ...npxSnippets(ORIGIN)];

const rowOf = ({ clients, place, text }: Snippet): string =>
  `| ${clients} | ${/\s/.test(place) ? place : `\`${place}\``} | \`${JSON.stringify(JSON.parse(text))}\` |`;

it.each(snippets.map((snippet) => [snippet.clients, snippet] as const))(
  'the page shows the configuration snippet of %s',
  (_clients, snippet) => {
    if (snippet.language === 'json') expect(lines).toContain(rowOf(snippet));
    else expect(blocks.flatMap(({ text }) => text.split('\n'))).toContain(snippet.text);
  },
);

it('the page shows no client configuration other than the snippets', () => {
  const rows = snippets.filter(({ language }) => language === 'json').map(rowOf);
  expect(lines.filter((line) => line.includes('"sluice":') && !rows.includes(line))).toEqual([]);
});

it('snippets by URL name the endpoint; snippets by npx name the package and the origin', () => {
  for (const { text } of urlSnippets(ORIGIN)) expect(text).toContain(`${ORIGIN}/mcp`);
  for (const { text } of npxSnippets(ORIGIN)) {
    const [entry] = Object.values(Object.values(JSON.parse(text) as Record<string, object>)[0] ?? {});
    expect(entry).toMatchObject({
      command: 'npx',
      args: ['-y', 'sluice-mcp'],
      env: { API_BASE_URL: ORIGIN },
    });
  }
});

it.each(['Claude Code', 'Cursor', 'VS Code', 'Windsurf', 'Gemini CLI', 'Cline', 'Zed', 'Codex CLI'])(
  '%s has a snippet that connects by URL',
  (client) => {
    expect(urlSnippets(ORIGIN).some(({ clients }) => clients.startsWith(client))).toBe(true);
  },
);

it.each(['README.md', PAGE])('%s names the URL of a deployment before the npx package', (file) => {
  const text = readFileSync(file, 'utf8');
  const section = text.slice(text.indexOf('For agents'));
  expect(section).toContain(`${ORIGIN}/mcp`);
  expect(section.indexOf(`${ORIGIN}/mcp`)).toBeLessThan(section.indexOf('npx'));
});
