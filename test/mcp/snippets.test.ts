import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { snippetsFor } from '../../src/mcp/snippets.ts';
import { blocksOf } from '../docs/markdown.ts';

const ORIGIN = 'https://sluice.example';
const PAGE = 'docs/use/agents.md';
const snippets = snippetsFor(ORIGIN);

it('docs/use/agents.md shows one block for each client, under its name and place, and no other configuration', () => {
  const section = readFileSync(PAGE, 'utf8').split('\n## ')[1] ?? '';
  const shown = [...section.matchAll(/^\*\*(.+?)\*\*, (.+):\n\n```(\w+)\n([\s\S]*?)\n```$/gm)];
  expect(shown.map(([, client, place, language, text]) => ({ client, place, language, text }))).toEqual(
    snippets.map(({ place, ...snippet }) => ({
      ...snippet,
      place: place === 'terminal' ? 'in a terminal' : `in \`${place}\``,
    })),
  );
  expect(blocksOf(PAGE, section)).toHaveLength(snippets.length);
});

it('each client has one snippet, which names the endpoint', () => {
  expect(new Set(snippets.map(({ client }) => client)).size).toBe(snippets.length);
  for (const { text } of snippets) expect(text).toContain(`${ORIGIN}/mcp`);
});
