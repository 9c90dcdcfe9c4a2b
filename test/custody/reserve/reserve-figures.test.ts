import { expect, it } from 'vitest';
import type { Within } from '../../../src/custody/kernel/ports.ts';
import { solanaFigures } from '../../../src/custody/reserve/reserve-views.ts';
import { within } from '../../../src/http/within.ts';
import type { SolanaRpc } from '../../../src/providers/solana-rpc.ts';
import { nodesOver, type TestChain } from '../../kit/solana-node.ts';
import { mintAccount } from '../../kit/token-accounts.ts';

const ADDRESS = '4zMMC9srt5Ri5X14GAgXhaHii3GnPAEERYPJgZJDncDU';

/** What one node shows. */
type Shown = {
  readonly lamports: bigint;
  readonly atoms: bigint;
  readonly slot: bigint;
  readonly fork?: boolean;
};
const HONEST: Shown = { lamports: 10n, atoms: 400n, slot: 1_000n };
const hashAt = (slot: bigint): string => `hash ${slot}`;

/** Nodes that show this; undefined stands for a node that fails. */
function nodesOf(...shown: readonly (Shown | undefined)[]): SolanaRpc['nodes'] {
  const chains = shown.map(
    (node): TestChain | undefined =>
      node && {
        newest: Number(node.slot),
        accounts: { [ADDRESS]: mintAccount({ supply: node.atoms, authority: ADDRESS }) },
        lamports: () => Number(node.lamports),
        blockhashAt: (slot) => ({
          blockhash: node.fork ? 'invented' : hashAt(BigInt(slot)),
          lastValidBlockHeight: 0,
        }),
        isBlockhashValid: (hash) => node.fork ?? [hashAt(1_000n), hashAt(999n)].includes(hash),
      },
  );
  return nodesOver(chains);
}

/** The figures of a proof over these nodes. */
const readFigures = (nodes: SolanaRpc['nodes'], wait: Within = within) =>
  solanaFigures(
    { indexes: [], nodes, bitcoinAddress: 'unused', solanaAddress: ADDRESS, absrMint: ADDRESS },
    wait,
  );
const figuresOf = (...shown: readonly (Shown | undefined)[]) => readFigures(nodesOf(...shown));

const AGREED = {
  solanaLamports: 10n,
  absr: { mint: ADDRESS, atoms: 400n, decimals: 0 },
  solanaTip: { slot: 1_000n, blockhash: hashAt(1_000n) },
};

it.each([
  ['a higher balance', { lamports: 99n }],
  ['a lower balance', { lamports: 0n }],
  ['another supply', { atoms: 1n }],
  ['a slot far ahead', { slot: 10n ** 12n }],
  ['a slot far ahead and another supply', { slot: 10n ** 12n, atoms: 1n }],
  ['a slot far behind', { slot: 3n }],
  ['a blockhash that no other node has seen', { fork: true, slot: 10n ** 12n }],
])('a proof uses the figures of two nodes when the third of three shows %s', async (_, lie) => {
  const liar = { ...HONEST, ...lie };
  expect(await figuresOf(liar, HONEST, HONEST)).toEqual(AGREED);
  expect(await figuresOf(HONEST, HONEST, liar)).toEqual(AGREED);
});

it('a proof does not wait for the time limit of a node that hangs', async () => {
  const hang = () => new Promise<never>(() => undefined);
  const hanging = { latestBlockhash: hang, isBlockhashValid: hang, balance: hang, accounts: hang };
  const nodes = nodesOf(HONEST, HONEST, HONEST).map((node, at) =>
    at === 0 ? { ...node, ...hanging } : node,
  );
  expect(
    await within(
      readFigures(nodes, async () => undefined),
      5_000,
    ),
  ).toEqual(AGREED);
});

it('a proof names the slot that two of three nodes have reached', async () => {
  const behind = { ...HONEST, slot: 999n };
  expect(await figuresOf(HONEST, behind, undefined)).toMatchObject({
    solanaTip: { slot: 999n, blockhash: hashAt(999n) },
  });
});

it('a proof is refused if no quorum of nodes shows the same figures', async () => {
  const refused = (reason: string) => ({ details: { reason } });
  await expect(figuresOf(HONEST, { ...HONEST, atoms: 1n })).rejects.toMatchObject(refused('nodes_disagree'));
  await expect(figuresOf(HONEST, undefined)).rejects.toMatchObject(refused('quorum_missing'));
  await expect(figuresOf()).rejects.toMatchObject(refused('quorum_missing'));
});
