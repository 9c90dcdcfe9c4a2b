/**
 * A chain that finalizes nothing. The responses of `getAgGenesisCert` follow the
 * documentation of Agave 4.3; they were never seen in production.
 */
import { expect, it } from 'vitest';
import { SolanaView } from '../../../src/custody/kernel/solana-view.ts';
import { within } from '../../../src/http/within.ts';
import { createSolanaRpc } from '../../../src/providers/solana-rpc.ts';
import { createCustodianWorld, keyed } from '../../kit/custodian.ts';
import { AGREEMENT, land } from '../../kit/fake-chain.ts';
import { NOW } from '../../kit/sample-operations.ts';

const MINUTE_MS = 60_000;
const CERTIFICATE = { slot: 1_000, blockId: 'block' };

type Node = { slot: number; certificate?: unknown };

/** Three nodes. Each minute meets a new instance of the view, as after an eviction. */
function setUp() {
  const clock = { now: NOW };
  const events: unknown[] = [];
  const nodes: Node[] = [{ slot: 500 }, { slot: 500 }, { slot: 500 }];
  const urls = nodes.map((_, index) => `https://${index}.test`);
  const rpc = createSolanaRpc({
    urls,
    async fetch(url, init) {
      const node = nodes[urls.indexOf(url)];
      const { method } = JSON.parse(String(init?.body)) as { method: string };
      const body = (answer: object) => Response.json({ jsonrpc: '2.0', id: 1, ...answer });
      if (method === 'getEpochInfo')
        return body({ result: { absoluteSlot: node?.slot, blockHeight: node?.slot } });
      if (method === 'getAgGenesisCert' && node && 'certificate' in node)
        return body({ result: node.certificate });
      return body({ error: { code: -32_601, message: 'Method not found' } });
    },
  });
  let memory: string | undefined;
  function next(): SolanaView {
    const log = (line: Readonly<Record<string, unknown>>) => void events.push(line.event);
    const view = new SolanaView({
      nodes: rpc.nodes,
      reserveAddress: 'reserve',
      now: () => clock.now,
      within,
      log,
    });
    if (memory !== undefined) view.recall(memory);
    return view;
  }
  async function minutes(count: number, slots = 0): Promise<void> {
    for (let minute = 0; minute < count; minute++) {
      for (const node of nodes) node.slot += slots;
      const view = next();
      await view.checkFinality();
      memory = view.memory();
      clock.now += MINUTE_MS;
    }
  }
  return { clock, events, nodes, minutes, agreement: () => next().agreement(), view: next };
}

it('a chain that finalizes nothing is reported as stalled, and not as a missing quorum', async () => {
  const w = setUp();
  await w.minutes(5, 150);
  expect(w.agreement().stalledSince).toBeNull();
  const last = w.clock.now - MINUTE_MS;
  await w.minutes(2);
  expect(w.agreement().stalledSince).toBeNull();
  await w.minutes(30);
  expect(w.agreement()).toMatchObject({ stalledSince: last, quorumMissingSince: null });
  expect(w.events).toEqual([]);
  await w.minutes(1, 1);
  expect(w.agreement().stalledSince).toBeNull();
});

it('the chain is not reported as stalled when nodes show slot 0 at the first check', async () => {
  const w = setUp();
  for (const node of w.nodes) node.slot = 0;
  await w.minutes(1);
  expect(w.agreement().stalledSince).toBeNull();
  await w.minutes(5);
  expect(w.agreement().stalledSince).toBe(NOW);
});

it('the chain is not reported as stalled after an hour without checks', async () => {
  const w = setUp();
  await w.minutes(1);
  w.clock.now += 60 * MINUTE_MS;
  expect(w.agreement().stalledSince).toBeNull();
  await w.minutes(1, 1);
  expect(w.agreement().stalledSince).toBeNull();
});

it.each([0, 1, 2])(
  'the chain is not reported as stalled when only node %i of three stands still',
  async (still) => {
    const w = setUp();
    for (let minute = 0; minute < 10; minute++) {
      for (const [index, node] of w.nodes.entries()) if (index !== still) node.slot += 150;
      await w.minutes(1);
    }
    expect(w.agreement().stalledSince).toBeNull();
  },
);

it('a stalled chain is detected although one of three nodes invents new slots', async () => {
  const w = setUp();
  for (let minute = 0; minute < 10; minute++) {
    for (const node of w.nodes.slice(0, 1)) node.slot += 150;
    await w.minutes(1);
  }
  expect(w.agreement().stalledSince).toBe(NOW);
});

it.each<[string, 'towerbft' | 'alpenglow' | 'unknown', (Node['certificate'] | 'no method')[]]>([
  ['no certificate on two nodes', 'towerbft', [null, null, CERTIFICATE]],
  ['a certificate on two nodes', 'alpenglow', [CERTIFICATE, 'no method', CERTIFICATE]],
  ['nodes without the method', 'unknown', ['no method', 'no method', null]],
  ['three different nodes', 'unknown', ['no method', null, CERTIFICATE]],
])('detects the consensus protocol of a stalled chain from %s', async (_name, consensus, certificates) => {
  const w = setUp();
  for (const [index, certificate] of certificates.entries())
    if (certificate !== 'no method') Object.assign(w.nodes[index] ?? {}, { certificate });
  await w.minutes(5);
  expect(w.agreement()).toMatchObject({ stalledSince: NOW, consensus });
  expect(w.events).toEqual([]);
});

it('the chain is not reported as stalled when nodes of another cluster show lower slots', async () => {
  const w = setUp();
  await w.minutes(1);
  for (const node of w.nodes) node.slot = 100;
  await w.minutes(10, 1);
  expect(w.agreement().stalledSince).toBeNull();
});

it('starts to measure the stall again after the clock was set back', async () => {
  const w = setUp();
  await w.minutes(1);
  w.clock.now -= 60 * MINUTE_MS;
  await w.minutes(2);
  expect(w.agreement().stalledSince).toBeNull();
  await w.minutes(3);
  expect(w.agreement().stalledSince).toBe(NOW - 59 * MINUTE_MS);
});

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
