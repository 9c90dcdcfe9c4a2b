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
