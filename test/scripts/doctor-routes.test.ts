import { expect, it } from 'vitest';
import { checkSettings } from '../../scripts/doctor/check-settings.ts';

const names = (settings: Record<string, string>) =>
  checkSettings(settings)
    .map(({ name }) => name)
    .filter((name) => name.startsWith('lifi'));

it.each<[string, Record<string, string>, string[]]>([
  ['nothing of a route that is off', {}, []],
  ['two nodes and a key', { SWAP_ROUTES: 'near-intents,lifi' }, ['lifi-one-node', 'lifi-key-missing']],
  [
    'nothing where both are there',
    { SWAP_ROUTES: 'lifi', SOLANA_RPC_URL: 'https://a.test,https://b.test', LIFI_API_KEY: 'k' },
    [],
  ],
])('the doctor requests %s', (_name, settings, found) => {
  expect(names(settings)).toEqual(found);
});

it.each<[string, Record<string, string>, boolean]>([
  ['without a treasury', { RESERVE_SOLANA_ADDRESS: 'reserve' }, true],
  ['of one address', { RESERVE_SOLANA_ADDRESS: 'reserve', TREASURY_SOLANA_ADDRESS: 'reserve' }, true],
  ['of two addresses', { RESERVE_SOLANA_ADDRESS: 'reserve', TREASURY_SOLANA_ADDRESS: 'treasury' }, false],
  ['that is not known', {}, false],
])('the doctor notes a treasury that is the reserve: %s', (_name, settings, noted) => {
  const found = checkSettings(settings).find(({ name }) => name === 'treasury-is-reserve');
  expect(found?.level).toBe(noted ? 'note' : undefined);
});
