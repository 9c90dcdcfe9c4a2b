import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { hedged } from '../../src/providers/http.ts';

const never = new Promise<string>(() => {});
const SLOW_MS = 2_000;

/** Queries sources with the given behaviour; returns the queries and their result. */
async function ask(acts: readonly (() => Promise<string>)[]) {
  const asked: number[] = [];
  const answer = hedged(
    acts.map((_, index) => index),
    (index) => {
      asked.push(index);
      return acts[index]?.() ?? never;
    },
  ).then(
    (value) => ({ value }),
    (error: unknown) => ({ error }),
  );
  await vi.advanceTimersByTimeAsync(10 * SLOW_MS);
  return { asked, outcome: await Promise.race([answer, Promise.resolve('waits')]) };
}

const says = (value: string) => () => Promise.resolve(value);
const fails = (why: string) => () => Promise.reject(new Error(why));
const late = (value: string, ms: number) => () =>
  new Promise<string>((resolve) => setTimeout(() => resolve(value), ms));

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

it('reads only the first source if it responds in time', async () => {
  expect(await ask([says('a'), says('b')])).toEqual({ asked: [0], outcome: { value: 'a' } });
});

it('reads the next source at once when one fails', async () => {
  expect(await ask([fails('a'), fails('b'), says('c')])).toEqual({
    asked: [0, 1, 2],
    outcome: { value: 'c' },
  });
});

it('a hanging source delays the result only by the hedging interval', async () => {
  expect(await ask([() => never, says('b')])).toEqual({ asked: [0, 1], outcome: { value: 'b' } });
});

it('a slow source still gives the result when the later sources fail', async () => {
  expect(await ask([late('a', SLOW_MS), fails('b')])).toEqual({ asked: [0, 1], outcome: { value: 'a' } });
});

it('returns the first failure when all sources fail', async () => {
  expect(await ask([fails('a'), fails('b')])).toMatchObject({ outcome: { error: { message: 'a' } } });
  const slowly = () => late('', SLOW_MS)().then(fails('a'));
  expect(await ask([slowly, fails('b')])).toMatchObject({ outcome: { error: { message: 'a' } } });
});

it('reads from an empty list of sources fail', async () => {
  expect(await ask([])).toMatchObject({ asked: [], outcome: { error: undefined } });
});
