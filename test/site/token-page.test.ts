import { afterEach, expect, it, vi } from 'vitest';
import { withAnswers } from '../../site/api/query.ts';
import { ownPath } from '../../site/parts/own-picture.tsx';
import { OwnTokens } from '../../site/parts/pool-price.tsx';
import { TokenFacts } from '../../site/parts/token-detail.tsx';
import { TokenTile } from '../../site/parts/token-list.tsx';
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

it('the page of a token states that no pool has it only if every pool of the service was read', () => {
  const none = 'Not traded in any of the 3 pools that this site reads.';
  const untraded = pageWith({ getDefaultPool: poolOf('c'), ...OTHERS });
  expect(untraded).toContain(none);
  expect(untraded).not.toMatch(/orca\.so|jup\.ag/);
  expect(pageWith(OTHERS)).not.toContain(none);
  const traded = pageWith({ getDefaultPool: poolOf(MINT) });
  expect(traded).not.toContain(none);
  expect(traded).toMatch(/0\.25.*USDC.*It trades in a pool at Orca/s);
});

it('a token in a pool without a price counts as traded, at an unknown price', () => {
  const { data } = poolOf(MINT);
  for (const price of ['0', null]) {
    const html = pageWith({ ...OTHERS, getDefaultPool: { data: { ...data, price } } });
    expect(html).not.toContain('Not traded anywhere');
    expect(html).toMatch(/>unknown<.*USDC/s);
  }
});

it.each([
  ['absr', 'asry', 'absr', 'ABSR is in one of these pools. ASRY is in none of these pools.'],
  ['absr', 'asry', 'c', 'ABSR is in none of these pools. ASRY is in none of these pools.'],
  ['absr', null, 'c', 'ABSR is in none of these pools.'],
])(
  'with the mints %s of ABSR and %s of ASRY, the page of pools that have %s says: %s',
  (absrMint, asryMint, pooled, text) => {
    const answers = {
      'getAbsrSummary {}': { ...exampleOf('getAbsrSummary'), absrMint, asryMint },
      'getDefaultPool {}': poolOf(pooled),
      'getSaethSausdPool {}': poolOf('a'),
      'getSausdUsdcPool {}': poolOf('b'),
    };
    const shown = (some: Readonly<Record<string, unknown>>): string =>
      withAnswers(some, () => String(OwnTokens())).replace(/<[^>]*>/g, '');
    expect(shown(answers).trim()).toBe(text);
    // Without one of the pools, nothing is known of it.
    expect(shown({ ...answers, 'getSausdUsdcPool {}': undefined })).not.toContain('none');
  },
);

it.each([
  [{}, 'Nobody has a right over this token', 'good'],
  [{ update_authority: 'address' }, 'Rights over this token: 1 warning', 'warn'],
  [{ powers: ['mint' as const, 'freeze' as const] }, 'Rights over this token: 2 warnings', 'warn'],
  [{ powers: null }, 'Rights over this token: not known', 'warn'],
])('the page of a token with %j summarizes its rights as: %s', (over, words, kind) => {
  const html = pageWith({}, { ...token, ...over });
  expect(html).toContain(`<strong>${words}</strong>`);
  expect(html).toContain(`holder-facts ${kind}`);
});

it('the page of a token shows the creation time exactly once, even if a pool shows a price', () => {
  const created = { ...token, created_at: '2026-11-20T17:44:00.000Z' };
  const untraded = pageWith({}, created);
  expect(untraded).toMatch(/Created<.*2026-11-20<.*17:44 UTC/s);
  expect(untraded.split('>Created<')).toHaveLength(2);
  const traded = pageWith({ getDefaultPool: poolOf(MINT) }, created);
  expect(traded).toMatch(/Price<.*0\.25.*Creator<.*Created</s);
  expect(traded.split('>Created<')).toHaveLength(2);
});

it('the page of a token names the holders of rights, and does not repeat rights without a holder', () => {
  const nobody = { mint_authority: null, freeze_authority: null };
  expect(pageWith({}, { ...token, ...nobody })).not.toMatch(/May mint more|May freeze|May rename|nobody</);
  const held = pageWith({}, { ...token, ...nobody, freeze_authority: MINT, powers: ['freeze'] });
  expect(held).toMatch(/May freeze.*freeze authority/s);
  expect(held).not.toContain('May mint more');
});

it("only the service's own mint gets the official seal, whatever name another token has", () => {
  const named = { ...token, id: 1, created_at: '2026-11-20T00:00:00.000Z', name: 'ABSR', symbol: 'ABSR' };
  expect(pageWith({}, named) + String(TokenTile({ token: named }))).not.toContain('mark official');
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
