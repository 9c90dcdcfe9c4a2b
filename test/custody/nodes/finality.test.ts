/**
 * A chain that finalizes nothing. The responses of `getAgGenesisCert` follow the
 * documentation of Agave 4.3; they were never seen in production.
 */
import { expect, it } from 'vitest';
import type { FinalityMemory } from '../../../src/custody/nodes/finality.ts';
import { SolanaView } from '../../../src/custody/nodes/solana-view.ts';
import { within } from '../../../src/http/within.ts';
import { createSolanaRpc } from '../../../src/providers/solana-rpc.ts';
import { createCustodianWorld, keyed } from '../../kit/custodian.ts';
import { AGREEMENT, land } from '../../kit/fake-chain.ts';
import { NOW } from '../../kit/sample-operations.ts';
import { eachScene, playScenes } from '../../kit/scenes.ts';
import { nodeBody, nodesOver } from '../../kit/solana-node.ts';

const MINUTE_MS = 60_000;
const CERTIFICATE = { slot: 1_000, blockId: 'block' };

/** Without a certificate it lacks the method. */
type Node = { newest: number; methods?: { getAgGenesisCert: () => unknown } };

/** Three nodes. Each minute meets a new instance of the view, as after an eviction. */
function setUp() {
  const clock = { now: NOW };
  const events: unknown[] = [];
  const nodes: Node[] = [{ newest: 500 }, { newest: 500 }, { newest: 500 }];
  const urls = nodes.map((_, index) => `https://${index}.test`);
  const { nodes: asked } = createSolanaRpc({
    urls,
    async fetch(url, init) {
      const node = nodes[urls.indexOf(url)] ?? { newest: 0 };
      // The third node responds after the first two.
      if (node === nodes[2]) await new Promise((resolve) => setImmediate(resolve));
      return Response.json(await nodeBody(init?.body, node));
    },
  });
  let memory: string | undefined;
  function next(): SolanaView {
    const log = (line: Readonly<Record<string, unknown>>) => void events.push(line.event);
    const view = new SolanaView({
      nodes: asked,
      reserveAddress: 'reserve',
      now: () => clock.now,
      within,
      log,
    });
    if (memory !== undefined) view.recall(memory);
    return view;
  }
  async function minutes(count: number): Promise<void> {
    for (let minute = 0; minute < count; minute++) {
      const view = next();
      await view.checkFinality();
      memory = view.memory();
      clock.now += MINUTE_MS;
    }
  }
  const stored = () => JSON.parse(String(memory)) as { finality: FinalityMemory };
  return { clock, events, nodes, minutes, memory: stored, agreement: () => next().agreement(), view: next };
}

/** Plays checks a minute apart: `pass MINUTES` and the slots that each of the three nodes finalizes in a minute. */
function createVerbs() {
  const w = setUp();
  return {
    async pass(minutes: string, ...slots: string[]) {
      for (let minute = 0; minute < Number(minutes); minute++) {
        for (const [index, node] of w.nodes.entries()) node.newest += Number(slots[index] ?? 0);
        await w.minutes(1);
      }
    },
    show: (slot: string) => {
      for (const node of w.nodes) node.newest = Number(slot);
    },
    clock: (minutes: string) => {
      w.clock.now += Number(minutes) * MINUTE_MS;
    },
    /** The slot that the last check showed as final. */
    final: () => w.memory().finality.slot,
    /** The minute of the first check since which nothing is final. */
    stalled: () => {
      const { stalledSince, quorumMissingSince } = w.agreement();
      expect([quorumMissingSince, w.events]).toEqual([null, []]);
      return stalledSince === null ? 'no' : `from ${(stalledSince - NOW) / MINUTE_MS}`;
    },
  };
}

playScenes(`
  a chain that finalizes nothing is reported as stalled, and not as a missing quorum
    | pass 5 150 150 150; stalled = no; pass 2; stalled = no; pass 30; stalled = from 4; pass 1 1 1 1; stalled = no
  treats slot 0 at the first check as a valid slot
    | show 0; pass 1; stalled = no; pass 5; stalled = from 0
  an hour without checks is not reported as a stall
    | pass 1; clock 60; stalled = no; pass 1 1 1 1; stalled = no
  no stall is reported while the first of three nodes stands still
    | pass 10 0 150 150; stalled = no
  no stall is reported while the second of three nodes stands still
    | pass 10 150 0 150; stalled = no
  no stall is reported while the third of three nodes stands still
    | pass 10 150 150 0; stalled = no
  a stalled chain is detected even if one of three nodes invents new slots
    | pass 10 150 0 0; stalled = from 0
  the first of three nodes that advances by one slot a minute does not hold the finalized slot back
    | pass 2 1 150 151; final = 800; stalled = no
  nodes of another cluster with lower slots cause no stall
    | pass 1; show 100; pass 10 1 1 1; stalled = no
  a stall is measured again after the clock was set back
    | pass 1; clock -60; pass 2; stalled = no; pass 3; stalled = from -59
`)(createVerbs);

it.each<[string, 'towerbft' | 'alpenglow' | 'unknown', unknown[]]>([
  ['no certificate on two nodes', 'towerbft', [null, null, CERTIFICATE]],
  ['a certificate on two nodes', 'alpenglow', [CERTIFICATE, 'no method', CERTIFICATE]],
  ['nodes without the method', 'unknown', ['no method', 'no method', null]],
  ['three different nodes', 'unknown', ['no method', null, CERTIFICATE]],
])('detects the consensus protocol of a stalled chain from %s', async (_name, consensus, certificates) => {
  const w = setUp();
  for (const [index, certificate] of certificates.entries())
    if (certificate !== 'no method')
      Object.assign(w.nodes[index] ?? {}, { methods: { getAgGenesisCert: () => certificate } });
  await w.minutes(5);
  expect(w.agreement()).toMatchObject({ stalledSince: NOW, consensus });
  expect(w.events).toEqual([]);
});

/** A node's slot is also its height here. */
eachScene(`
  nodes that agree                                          | 400000 400000 400000    | 400000/400000 400000 400000
  nodes that lag: a floor by the first, a proof by the last | 400000 400100 400020    | 400020/400100 400100 400000
  one of three far below                                    | 400000 400001 7         | 400000/400001 400001 400000
  one of three far above                                    | 400000 999999999 400001 | 400000/400001 400001 400000
  one of two far below, while the third is down             | 400000 7 down           | none none none
  one of two nodes far below                                | 400000 7                | none none none
  one of two nodes lags longer than a blockhash is valid    | 400000 399800           | 399800/400000 none none
  two of three down                                         | 400000 down down        | none none none
`)(
  'reads a slot, its floor and two heights that no lying node can falsify: %s',
  async (_title, shown = '', read = '') => {
    const chains = shown.split(' ').map((slot) => (slot === 'down' ? undefined : { newest: Number(slot) }));
    const view = new SolanaView({
      nodes: nodesOver(chains),
      reserveAddress: 'reserve',
      now: () => NOW,
      within,
      log: () => undefined,
    });
    const slot = view.checkFinality().then((found) => `${found.slot}/${found.floor}`);
    const figures = [slot, view.height('confirmed'), view.height('finalized')];
    const settled = await Promise.allSettled(figures);
    expect(settled.map((each) => (each.status === 'fulfilled' ? `${each.value}` : 'none')).join(' ')).toBe(
      read,
    );
  },
);

it('a stalled chain stops new swaps, but an open swap can end', async () => {
  const w = createCustodianWorld();
  await w.custody.createSwap(keyed('a'));
  w.chain.agreement = () => ({ ...AGREEMENT, stalledSince: w.clock.now });
  expect(await w.custody.createSwap(keyed('b'))).toMatchObject({
    refusal: { code: 'SWAPS_PAUSED', details: { reason: 'solana_stalled' } },
  });
  land(w.chain);
  await w.passUntil(() => w.journal.get('swap:key-a')?.state === 'settling');
});
