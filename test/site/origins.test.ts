import { expect, it } from 'vitest';
import { withAnswers } from '../../site/api/query.ts';
import { originsOf, sumsOf } from '../../site/parts/sat-origins.tsx';
import { CoverVerdict } from '../../site/parts/verdict.tsx';
import { exampleOf } from '../kit/example.ts';
import { eachScene, scenes } from '../kit/scenes.ts';

it.each(
  scenes(`
  one swap paid all of it             | 61975  | s1:tx:61975                | all  | 61975 | 0     | 0     | 0
  two swaps share one payment         | 61975  | s1:tx:40000; s2:tx:21975   | all  | 61975 | 0     | 0     | 0
  a swap paid a part of it            | 61975  | s1:tx:60000                | all  | 60000 | 1975  | 0     | 0
  a swap claims more than arrived     | 61975  | s1:tx:99999                | all  | 61975 | 0     | 0     | 0
  only another payment has a swap     | 61975  | s1:other:61975             | all  | 0     | 61975 | 0     | 0
  older swaps are not listed          | 61975  | s1:other:61975             | some | 0     | 0     | 61975 | 0
  swaps cannot be read                | 61975  |                            | none | 0     | 0     | 61975 | 0
  no swap has happened                | 61975  |                            | all  | 0     | 61975 | 0     | 0
  the reserve spent it                | -61975 |                            | all  | 0     | 0     | 0     | 61975`),
)(
  'when %s, the origin of %s sats is shown from swaps "%s" of which %s are listed: from swaps %s, unexplained %s, not known %s, sent %s',
  (_, netSatoshis = '', listed = '', known, ...sums) => {
    const transactions = listed
      .split('; ')
      .filter(Boolean)
      .map((text) => {
        const [signature = '', txId = '', btcSatoshis = ''] = text.split(':');
        return { ...exampleOf('listSwaps').transactions[0], signature, txId, btcSatoshis, blockTime: 9 };
      });
    const swaps = known === 'none' ? null : { transactions, next_cursor: known === 'all' ? null : 'more' };
    const origins = originsOf([{ txid: 'tx', blockTime: 5, blockHeight: 1, netSatoshis }], swaps);
    expect(Object.values(sumsOf(origins)).map(String)).toEqual(sums);
  },
);

it('unconfirmed sats are not in any sum of origins, because the balance does not include them', () => {
  const origins = originsOf([{ txid: 'tx', blockTime: null, blockHeight: null, netSatoshis: '5' }], {
    transactions: [],
    next_cursor: null,
  });
  expect(sumsOf(origins)).toEqual({ explained: 0n, unexplained: 0n, unknown: 0n, sent: 0n });
});

eachScene(`
  a swap paid all of it                 | 61975 | 61975 |      | 61975 | Every sat came from a swap of this service.
  nothing has arrived                   |       |       |      | 0     | No sat has arrived yet.
  the reserve spent a part of it        | 61975 -975 | 61975 | | 61000 | Every sat came from a swap of this service.
  no swap paid a part                   | 61975 | 60000 |      | 61975 | 1,975 of 61,975 sats did not come from a swap.
  older swaps are not listed            | 61975 |       | more | 61975 | Not every sat is in the newest lists.
  an inflow is not listed               | 61975 | 61975 |      | 62975 | Not every sat is in the newest lists.
  a listed inflow is not in the balance | 9     | 9     |      | 8     | Not every sat is in the newest lists.
  the balance is not known              | 9     | 9     |      |       | Where the sats came from cannot be read.
`)(
  'when %s, with payments of %s sats, a swap of %s, further swaps "%s" and a balance of %s, the verdict is only: %s',
  (_title, nets = '', swap = '', more = '', balance = '', text = '') => {
    const example = exampleOf('listSwaps').transactions[0];
    const swaps = swap === '' ? [] : [{ ...example, txId: 'tx 0', btcSatoshis: swap }];
    const transactions = nets
      .split(' ')
      .filter(Boolean)
      .map((netSatoshis, at) => ({ txid: `tx ${at}`, blockTime: 5, blockHeight: 1, netSatoshis }));
    const reserves = exampleOf('getReserves');
    const answers = {
      'getReserves {}': { ...reserves, bitcoin: { ...reserves.bitcoin, balanceSatoshis: balance || null } },
      'listSwaps {"limit":100}': { transactions: swaps, next_cursor: more || null },
      'listBitcoinTransactions {"limit":100}': { transactions },
    };
    const html = withAnswers(answers, () => String(CoverVerdict({})));
    const verdicts = [
      'Every sat came',
      'No sat has',
      'did not come from a swap',
      'Not every sat',
      'cannot be read',
    ];
    const said = verdicts.filter((each) => html.includes(each));
    expect([said.length, html.includes(text)]).toEqual([1, true]);
  },
);

it.each([
  [true, ['a', 'b'], 'good'],
  [true, ['a'], 'open'],
  [true, [], 'open'],
  [true, undefined, 'open'],
  [null, ['a', 'b'], 'warn'],
  [false, ['a', 'b'], 'warn'],
])(
  'with agreement %s of the Bitcoin sources and a supply from %j, the line about sources is marked %s',
  (agreed, sources, mark) => {
    const { bitcoin, solana } = exampleOf('getReserves');
    const answers = {
      'getReserves {}': {
        ...exampleOf('getReserves'),
        bitcoin: { ...bitcoin, agreed },
        solana: { ...solana, sources },
      },
    };
    const html = withAnswers(answers, () => String(CoverVerdict({})));
    expect(/<li class="(\w+)">BTC at/.exec(html)?.[1]).toBe(mark);
  },
);
