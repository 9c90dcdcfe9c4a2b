import { expect, it } from 'vitest';
import { Quorum, type QuorumMemory } from '../../../src/custody/nodes/quorum.ts';
import { NOW } from '../../kit/sample-operations.ts';

const MINUTE_MS = 60_000;

/** A quorum of two nodes. Each call of `next` is the instance after an eviction. */
function evicted() {
  const clock = { now: NOW };
  const logged: unknown[] = [];
  let memory: QuorumMemory | undefined;
  const nodes = [{ name: 'a' }, { name: 'b' }];
  function next() {
    const quorum = new Quorum({ nodes, now: () => clock.now, log: (line) => void logged.push(line.event) });
    if (memory !== undefined) quorum.recall(memory);
    return quorum;
  }
  /** Asks in a new instance, in which node b answers or fails as given. */
  async function ask(b: () => number) {
    const quorum = next();
    const answer = await quorum
      .ask(
        'question',
        async ({ name }) => (name === 'a' ? 1 : b()),
        (given) => (given.filter(({ value }) => value === 1).length === 2 ? { agreed: 1 } : undefined),
        (one, other) => one !== other,
      )
      .catch(() => 'failed');
    memory = structuredClone(quorum.memory());
    return answer;
  }
  return { clock, logged, ask, agreement: () => next().agreement() };
}

const down = (): number => {
  throw new Error('down');
};

it('raises the alarm of a missing quorum once, even if a new instance handles each read', async () => {
  const w = evicted();
  for (let minute = 0; minute <= 14; minute++) {
    expect(await w.ask(down)).toBe('failed');
    w.clock.now += MINUTE_MS;
  }
  expect(w.logged).toEqual(['quorum_missing']);
  expect(w.agreement().quorumMissingSince).toBe(NOW);
  expect(await w.ask(() => 1)).toEqual({ agreed: 1 });
  expect(w.agreement().quorumMissingSince).toBeNull();
});

it('shows a contradiction between nodes for an hour, even in a new instance after an eviction', async () => {
  const w = evicted();
  await w.ask(() => 2);
  w.clock.now += 59 * MINUTE_MS;
  await w.ask(() => 1);
  expect(w.agreement().disagreement).toEqual({ at: NOW, question: 'question', nodes: ['a', 'b'] });
  w.clock.now += MINUTE_MS;
  expect(w.agreement().disagreement).toBeNull();
  expect(w.logged).toEqual(['nodes_disagree']);
});
