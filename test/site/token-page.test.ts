import { afterEach, expect, it, vi } from 'vitest';
import { withAnswers } from '../../site/api/query.ts';
import { TokenFacts } from '../../site/parts/token-detail.tsx';
import { TokenRow } from '../../site/parts/token-list.tsx';
import { ownPath } from '../../site/parts/token-picture.tsx';
import { Initial } from '../../site/parts/token-text.tsx';
import { exampleOf } from '../kit/example.ts';

const MINT = 'So11111111111111111111111111111111111111112';
const token = {
  ...exampleOf('getToken'),
  mint_address: MINT,
  official: null,
  powers: [],
  update_authority: null,
};

const poolOf = (tokenMintA: string) => ({
  data: { tokenMintA, tokenMintB: 'other', tokenB: { symbol: 'USDC' }, price: '0.25' },
});

const pageWith = (pools: Readonly<Record<string, unknown>>, shown = token): string =>
  withAnswers(
    Object.fromEntries(Object.entries(pools).map(([operation, pool]) => [`${operation} {}`, pool])),
    () => String(TokenFacts({ token: shown })),
  );

afterEach(() => vi.unstubAllGlobals());

const OTHERS = { getSaethSausdPool: poolOf('a'), getSausdUsdcPool: poolOf('b') };

it('the page of a token says that no pool has it only when every pool of the service was read', () => {
  const none = 'None of the 3 pools that this site reads has it.';
  expect(pageWith({ getDefaultPool: poolOf('c'), ...OTHERS })).toContain(none);
  expect(pageWith(OTHERS)).not.toContain(none);
  const traded = pageWith({ getDefaultPool: poolOf(MINT) });
  expect(traded).not.toContain(none);
  expect(traded).toMatch(/0\.25.*USDC.*It trades in a pool at Orca/s);
});

it.each([
  [{}, 'no warning', 'good'],
  [{ update_authority: 'address' }, '1 warning', 'warn'],
  [{ powers: ['mint' as const, 'freeze' as const] }, '2 warnings', 'warn'],
  [{ powers: null }, 'not known', 'warn'],
])('the page of a token with %j sums its rights up as: %s', (over, words, kind) => {
  const html = pageWith({}, { ...token, ...over });
  expect(html).toContain(`Rights over this token: ${words}<`);
  expect(html).toContain(`holder-facts ${kind}`);
});

it('only the mint of the service gets the official seal, whatever the name of a token is', () => {
  const named = { ...token, id: 1, created_at: '2026-11-20T00:00:00.000Z', name: 'ABSR', symbol: 'ABSR' };
  expect(pageWith({}, named) + String(TokenRow({ token: named }))).not.toContain('mark official');
  const official = { asset: 'ABSR', minter: 'reserve' } as const;
  expect(String(TokenFacts({ token: { ...named, official } }))).toContain('mark official');
});

it('two tokens with the same symbol have different tiles', () => {
  const tile = (seed: string): string => String(Initial({ symbol: 'CAT', seed }));
  expect(tile(MINT)).toBe(tile(MINT));
  expect(tile(MINT)).not.toBe(tile(exampleOf('getToken').mint_address));
});

it.each([
  ['https://sluice.test/pictures/hut.svg', '/pictures/hut.svg'],
  ['https://sluice.test/pictures/a/../../api/swap/create.svg', null],
  ['https://sluice.test/api/badge/reserve.svg', null],
  ['https://sluice.test:444/pictures/hut.svg', null],
  ['https://cats.example/pictures/hut.svg', null],
  ['no address', null],
  [null, null],
])('only a picture in the folder of this site is loaded without a click: %s', (image, path) => {
  vi.stubGlobal('location', { host: 'sluice.test' });
  expect(ownPath(image)).toBe(path);
});
