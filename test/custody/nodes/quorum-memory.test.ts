import { Quorum, type QuorumMemory } from '../../../src/custody/nodes/quorum.ts';
import { NOW } from '../../kit/sample-operations.ts';
import { msOf, playScenes } from '../../kit/scenes.ts';

/** A quorum of two nodes, a and b. Each read and each look meets a new instance, as after an eviction. */
function createVerbs() {
  const clock = { now: NOW };
  const logged: string[] = [];
  let memory: QuorumMemory | undefined;
  const nodes = [{ name: 'a' }, { name: 'b' }];
  function next() {
    const log = ({ level, event, failed = [] }: Readonly<Record<string, unknown>>) =>
      void logged.push([level, event, ...(failed as string[])].join(' '));
    const quorum = new Quorum({ nodes, now: () => clock.now, log });
    if (memory !== undefined) quorum.recall(memory);
    return quorum;
  }
  /** Node a answers 1. @param b its answer, or `down` */
  async function ask(b: string) {
    const quorum = next();
    const answer = await quorum
      .ask(
        'question',
        async ({ name }) => (name === 'a' ? 1 : b === 'down' ? Promise.reject(new Error('down')) : Number(b)),
        (given) => (given.filter(({ value }) => value === 1).length === 2 ? { agreed: 1 } : undefined),
        (one, other) => one !== other,
      )
      .then(
        (found) => `agreed ${found?.agreed}`,
        () => 'failed',
      );
    memory = structuredClone(quorum.memory());
    return answer;
  }
  const since = (time: number | null) => (time === null ? 'no' : `since ${time - NOW}`);
  return {
    ask,
    wait: (length: string) => Object.assign(clock, { now: clock.now + msOf(length) }),
    logged: () => logged.join(', ') || 'nothing',
    missing: () => since(next().agreement().quorumMissingSince),
    disagreement() {
      const { disagreement } = next().agreement();
      return disagreement ? JSON.stringify({ ...disagreement, at: disagreement.at - NOW }) : 'none';
    },
  };
}

const MINUTE_DOWN = 'ask down = failed; wait 1m';

playScenes(`
  raises the alarm of a missing quorum once, after ten minutes, even if a new instance handles each read
    | ${Array(11).fill(MINUTE_DOWN).join('; ')}; logged = nothing; ${Array(4).fill(MINUTE_DOWN).join('; ')}; logged = alarm quorum_missing b; missing = since 0; ask 1 = agreed 1; missing = no
  shows a contradiction between nodes for an hour, even in a new instance after an eviction
    | ask 2; wait 59m; ask 1; disagreement = {"at":0,"question":"question","nodes":["a","b"]}; wait 1m; disagreement = none; logged = alarm nodes_disagree
  a read without a quorum raises its alarm after ten minutes even if the clock was set back
    | ask down; wait -1d; ask down; logged = nothing; wait 10m; ask down; logged = nothing; wait 1ms; ask down; logged = alarm quorum_missing b
`)(createVerbs);
