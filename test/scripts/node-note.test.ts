import { expect, it } from 'vitest';
import { nodeNote } from '../world/node-note.ts';

it('npm on Node 20 prints one line that names both versions', () => {
  const line = nodeNote('npm/11.19.1 node/v20.20.2 linux x64 workspaces/false', 'v24.21.0');
  expect(line).toMatch(/^npm runs on Node v20\.20\.2, .* Node v24\.21\.0\.$/);
});

it.each(['npm/10.9.0 node/v22.23.3 linux x64', 'npm/11.19.1 node/v24.21.0 darwin arm64', '', undefined])(
  'prints no note for the npm user agent %j',
  (userAgent) => expect(nodeNote(userAgent, 'v24.21.0')).toBeNull(),
);
