import { expect, it } from 'vitest';
import { SolanaView } from '../../../src/custody/nodes/solana-view.ts';
import { within } from '../../../src/http/within.ts';
import type { SolanaNode } from '../../../src/providers/solana-rpc.ts';
import { scenes } from '../../kit/scenes.ts';

/** A node whose slot is `at`. It shows a blockhash as its newest, and accepts every blockhash of its slot or before. */
function nodeOf(text: string, index: number): SolanaNode {
  const [shown = '', at = 0, claimed = at] = text
    .split(' ')
    .map((word, place) => (place ? Number(word) : word));
  const slot = BigInt(at);
  return {
    id: `node-${index}`,
    latestBlockhash: async () => ({
      blockhash: String(shown),
      lastValidBlockHeight: 1n,
      slot: BigInt(claimed),
    }),
    isBlockhashValid: async (hash: string) => ({ valid: BigInt(hash.slice(1)) <= slot, slot }),
    epochInfo: async () => ({ slot, blockHeight: slot }),
  } as unknown as SolanaNode;
}

it.each(
  scenes(`
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
  `),
)(
  'chooses a blockhash that most nodes show, or else the newest that a quorum has reached: %s',
  async (_title, tips, expected) => {
    const nodes = tips.split(', ').map(nodeOf);
    for (const order of [nodes, nodes.toReversed()]) {
      const ports = { nodes: order, reserveAddress: 'reserve', now: () => 0, within, log: () => {} };
      const found = await new SolanaView(ports).latestBlockhash();
      expect(found.blockhash).toBe(expected);
      expect(found.witnesses.length).toBeGreaterThanOrEqual(2);
    }
  },
);
