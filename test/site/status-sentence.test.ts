import { expect, it } from 'vitest';
import { statusSentence } from '../../site/parts/status-sentence.ts';
import { exampleOf } from '../kit/example.ts';

const status = exampleOf('getStatus');
const sources = (down: number) =>
  Array.from({ length: 12 }, (_, at) => ({
    name: `source-${at}`,
    ok: at >= down,
    needed: true,
    ms: 1,
    circuit: 'closed' as const,
  }));

it.each([
  [0, 'covered', {}, 'All 12 sources respond. The reserve is covered, swaps are open.'],
  [1, 'covered', {}, '1 of 12 sources is down. The reserve is covered, swaps are open.'],
  [2, 'covered', {}, '2 of 12 sources are down. The reserve is covered, swaps are open.'],
  [0, 'short', {}, 'All 12 sources respond. The reserve does NOT cover all ABSR, swaps are open.'],
  [
    0,
    'unknown',
    {},
    'All 12 sources respond. Whether the reserve covers all ABSR is not known, swaps are open.',
  ],
  [0, 'covered', { paused: 'operator' }, 'All 12 sources respond. The reserve is covered, swaps are paused.'],
  [0, 'covered', { frozen: 'restored' }, 'All 12 sources respond. The reserve is covered, swaps are frozen.'],
  [0, 'covered', null, 'All 12 sources respond. The reserve is covered, the state of swaps is not known.'],
] as const)(
  'the status sentence with %i sources down, the coverage %s and %j says: %s',
  (down, state, stops, sentence) => {
    const custody = stops === null ? null : { ...status.custody, frozen: null, paused: null, ...stops };
    const backing = { ...status.backing, state };
    expect(statusSentence({ upstreams: sources(down), backing, custody })).toBe(sentence);
  },
);
