import { expect, it } from 'vitest';
import { explorerNames } from '../../src/wiring/clients.ts';

it('names each Bitcoin index by its host, or by a number if the host is an IP address or occurs twice', () => {
  expect(explorerNames(['https://mempool.space/api', 'https://blockstream.info/api'])).toEqual([
    'mempool.space',
    'blockstream.info',
  ]);
  const numbered = ['http://127.0.0.1:3000/a', 'https://user:secret@one.test/a', 'https://one.test/b'];
  expect(explorerNames(numbered)).toEqual(['esplora-1', 'esplora-2', 'esplora-3']);
});
