import { expect, it } from 'vitest';
import { inGroups } from '../../src/features/analytics/analytics-store.ts';

function setUp() {
  const groups: { items: readonly number[]; end: (error?: Error) => void }[] = [];
  const deferred: Promise<unknown>[] = [];
  let wake = () => {};
  const add = inGroups<number>({
    write: (items) =>
      new Promise((resolve, reject) => {
        groups.push({ items: [...items], end: (error) => (error ? reject(error) : resolve()) });
      }),
    defer: (work) => deferred.push(work),
    sleep: () =>
      new Promise((resolve) => {
        wake = resolve;
      }),
  });
  const items = () => groups.map((group) => group.items);
  const end = async (index: number, error?: Error) => {
    groups[index]?.end(error);
    await settle();
  };
  return { add, items, end, deferred, lateWake: () => wake() };
}
const settle = () => new Promise((resolve) => setTimeout(resolve));
const outcome = (work: Promise<void>) =>
  work.then(
    () => 'written',
    (error: Error) => error.message,
  );

it('writes an item at once when nothing is under way', async () => {
  const { add, items, end } = setUp();
  const first = outcome(add(1));
  await settle();
  expect(items()).toEqual([[1]]);
  await end(0);
  expect(await first).toBe('written');
  void add(2);
  await settle();
  expect(items()).toEqual([[1], [2]]);
});

it('writes items that arrive meanwhile together and in order, once that write has ended', async () => {
  const { add, items, end } = setUp();
  void add(1);
  await settle();
  const later = [2, 3, 4].map((item) => outcome(add(item)));
  await settle();
  expect(items()).toEqual([[1]]);
  await end(0);
  expect(items()).toEqual([[1], [2, 3, 4]]);
  await end(1);
  expect(await Promise.all(later)).toEqual(['written', 'written', 'written']);
});

it('passes a failure to the callers of its items, and to no others', async () => {
  const { add, end } = setUp();
  const first = outcome(add(1));
  await settle();
  const [second, third] = [outcome(add(2)), outcome(add(3))];
  await end(0, new Error('down'));
  const fourth = outcome(add(4));
  await end(1);
  await end(2);
  expect(await Promise.all([first, second, third, fourth])).toEqual([
    'down',
    'written',
    'written',
    'written',
  ]);
});

it('holds at most 50 in a group, and loses none of a thousand', async () => {
  const { add, items, end } = setUp();
  const all = Array.from({ length: 1_000 }, (_, item) => outcome(add(item)));
  for (let group = 0; group < 20; group += 1) {
    await settle();
    expect(items()[group]).toHaveLength(50);
    await end(group);
  }
  expect(new Set(await Promise.all(all))).toEqual(new Set(['written']));
  expect(items().flat()).toEqual(Array.from({ length: 1_000 }, (_, item) => item));
});

it('continues despite a write that never ends', async () => {
  const { add, items, end, lateWake } = setUp();
  void add(1);
  await settle();
  const second = outcome(add(2));
  await settle();
  expect(items()).toEqual([[1]]);
  lateWake();
  await settle();
  expect(items()).toEqual([[1], [2]]);
  await end(1);
  expect(await second).toBe('written');
});

it('keeps every write alive after its caller has disconnected', async () => {
  const { add, end, deferred } = setUp();
  void add(1);
  await settle();
  void add(2);
  void add(3);
  expect(deferred).toHaveLength(2);
  await end(0);
  await end(1, new Error('down'));
  expect(await Promise.all(deferred)).toEqual([undefined, undefined]);
});
