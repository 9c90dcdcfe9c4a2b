import { afterEach, beforeEach, expect, vi } from 'vitest';
import { hedged } from '../../src/providers/http.ts';
import { eachScene } from '../kit/scenes.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** What a source does, such as `says a`, `says a after 2000` milliseconds, `fails a` or `hangs`. */
async function read(act: string): Promise<string> {
  const [how, what = '', , ms] = act.split(' ');
  if (how === 'hangs') await new Promise(() => undefined);
  if (ms) await new Promise((resolve) => setTimeout(resolve, Number(ms)));
  if (how === 'fails') throw new Error(what);
  return what;
}

eachScene(`
  reads only the first source if it responds in time                      | says a, says b            | 0     | a
  reads the next source at once when one fails                            | fails a, fails b, says c  | 0,1,2 | c
  a hanging source delays the result only by the hedging interval         | hangs, says b             | 0,1   | b
  a source may take 1.4 seconds before the next one is read               | says a after 1400, says b | 0     | a
  a slow source still gives the result when the later sources fail        | says a after 2000, fails b | 0,1  | a
  a slow source ends the read when it responds while the next one hangs   | says a after 2000, hangs, says c | 0,1 | a
  returns the first failure when all sources fail                         | fails a, fails b          | 0,1   | failed a
  returns the failure of the first source when it fails after the others  | fails a after 2000, fails b | 0,1 | failed a
  reads from an empty list of sources fail                                |                           |       | failed undefined
`)('%s', async (_title, sources = '', asked, outcome) => {
  const acts = sources.split(', ').filter((act) => act !== '');
  const order: number[] = [];
  let found: string | undefined;
  void hedged([...acts.keys()], (index) => {
    order.push(index);
    return read(acts[index] ?? '');
  }).then(
    (value) => {
      found = value;
    },
    (error: Error | undefined) => {
      found = `failed ${error?.message}`;
    },
  );
  await vi.advanceTimersByTimeAsync(20_000);
  expect([order.join(), found]).toEqual([asked, outcome]);
});
