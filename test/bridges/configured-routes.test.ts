import { expect, it } from 'vitest';
import { readConfig } from '../../src/config.ts';

it('third-party bytes are off until an operator turns them on', () => {
  expect(readConfig({}).SWAP_ROUTES).toEqual(['near-intents']);
});

it.each([
  ['lifi', ['lifi']],
  ['near-intents,lifi', ['near-intents', 'lifi']],
  [' lifi , near-intents ', ['lifi', 'near-intents']],
])('routes are tried in the order of %j', (text, routes) => {
  expect(readConfig({ SWAP_ROUTES: text })).toMatchObject({ SWAP_ROUTES: routes, invalid: [] });
});

it.each(['relay', 'near-intents,relay', 'lifi,lifi', 'lifi,', ','])('%j is not a list of routes', (text) => {
  expect(readConfig({ SWAP_ROUTES: text })).toMatchObject({
    SWAP_ROUTES: ['near-intents'],
    invalid: ['SWAP_ROUTES'],
  });
});
