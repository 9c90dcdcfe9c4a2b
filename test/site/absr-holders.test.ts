import { expect, it } from 'vitest';
import { withAnswers } from '../../site/api/query.ts';
import { solanaSources } from '../../site/parts/coverage.tsx';
import { AbsrHolders, splitText } from '../../site/parts/official-mints.tsx';
import { exampleOf } from '../kit/example.ts';
import { scenes } from '../kit/scenes.ts';

it.each(
  scenes(`
  9000000 | 9000000 | 0 | 9,000,000 of 9,000,000 ABSR (100 %); with others: 0
  8999999 | 9000000 | 0 | 8,999,999 of 9,000,000 ABSR (99.9 %); with others: 1
  1       | 9000000 | 0 | 1 of 9,000,000 ABSR (less than 0.1 %); with others: 8,999,999
  0       | 9000000 | 0 | 0 of 9,000,000 ABSR (0 %); with others: 9,000,000
  55      | 90      | 1 | 5.5 of 9 ABSR (61.1 %); with others: 3.5`),
)(
  'with %s of %s atoms in the treasury and %s decimals, the split of ABSR is: %s',
  (treasuryAtoms = '', supplyAtoms = '', decimals, text) => {
    const split = splitText({ treasuryAtoms, supplyAtoms, decimals: Number(decimals) });
    expect(split).toBe(`In the operator's treasury: ${text}.`);
  },
);

it('the split of ABSR has no share before the first one exists', () => {
  expect(splitText({ treasuryAtoms: '0', supplyAtoms: '0', decimals: 0 })).toBe('No ABSR exists yet.');
});

it.each([
  ['of the chain', { treasuryAtoms: '3', supplyAtoms: '9', decimals: 0 }, '3 of 9 ABSR'],
  ['that nodes contradict', null, 'is not known'],
  ['of an older service', undefined, 'is not known'],
])('a holding %s is shown, or called unknown, with the time of its read', (_title, absr, text) => {
  const reserves = exampleOf('getReserves');
  const answers = { 'getReserves {}': { ...reserves, solana: { ...reserves.solana, absr } } };
  const html = withAnswers(answers, () => String(AbsrHolders()));
  expect(html).toContain(text);
  expect(html).toContain(`<time dateTime="${reserves.solana.as_of}"`);
});

it.each([
  [undefined, 'number of sources unknown'],
  [[], 'no source responds'],
  [['a'], 'one source'],
  [['a', 'b'], '2 sources'],
] as const)('with the Solana nodes %j, the pages say: %s', (sources, text) => {
  const { solana } = exampleOf('getReserves');
  expect(solanaSources({ ...solana, sources: sources && [...sources] })).toBe(text);
});
