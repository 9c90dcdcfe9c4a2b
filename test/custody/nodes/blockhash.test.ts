import { expect } from 'vitest';
import { SolanaView } from '../../../src/custody/nodes/solana-view.ts';
import { within } from '../../../src/http/within.ts';
import { eachScene } from '../../kit/scenes.ts';
import { nodesOver, type TestChain } from '../../kit/solana-node.ts';
import { inContext } from '../../world/solana-shapes.ts';

/** A node whose slot is `at`. It shows a blockhash as its newest, and accepts every blockhash of its slot or before. */
function chainOf(text: string): TestChain {
  const [blockhash, ...slots] = text.split(' ');
  const [newest = 0, claimed = newest] = slots.map(Number);
  const shown = inContext({ blockhash }, claimed);
  return {
    newest,
    isBlockhashValid: (hash) => Number(hash.slice(1)) <= newest,
    methods: { getLatestBlockhash: () => shown },
  };
}

eachScene(`
  all nodes show the same blockhash                    | h500 500, h500 500, h500 500     | h500
  two of three nodes are a slot ahead of the third     | h501 501, h501 501, h500 500     | h501
  one of three nodes is a slot ahead of the others     | h501 501, h500 500, h500 500     | h500
  each of three nodes is at another slot               | h502 502, h501 501, h500 500     | h501
  one of two nodes is a slot behind                    | h501 501, h500 500               | h500
  one node shows an old blockhash as the newest        | h360 501 502, h501 501, h500 500 | h501
  one node shows an old blockhash far ahead            | h360 501 9000, h501 501, h501 501 | h501
  one node shows an old blockhash in the others' slot  | h360 501, h501 501, h501 501     | h501
  one of two nodes shows an old blockhash far ahead    | h360 501 9000, h501 501          | h501
  one of three nodes invents a blockhash               | h9999 501 9000, h501 501, h500 500| h501
`)(
  'chooses a blockhash that most nodes show, or else the newest that a quorum has reached: %s',
  async (_title, tips, expected) => {
    const nodes = nodesOver(tips.split(', ').map(chainOf));
    for (const order of [nodes, nodes.toReversed()]) {
      const ports = { nodes: order, reserveAddress: 'reserve', now: () => 0, within, log: () => {} };
      const found = await new SolanaView(ports).latestBlockhash();
      expect(found.blockhash).toBe(expected);
      expect(found.witnesses.length).toBeGreaterThanOrEqual(2);
    }
  },
);
