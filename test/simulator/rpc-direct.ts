/**
 * The nodes without their JSON: most seeds need no parser and run faster so.
 * @module
 */
import type { SolanaNode, SolanaRpc } from '../../src/providers/solana-rpc.ts';
import type { NodeModel } from './node-model.ts';
import type { Production } from './production.ts';

/** `first` asks one after the other, as the provider does. */
export function directRpc(
  nodes: readonly NodeModel[],
  production: Production,
  traced: (label: string) => <T>(ask: () => Promise<T>) => Promise<T>,
): SolanaRpc {
  const urls = nodes.map(({ name }) => name);
  const fetch = () => Promise.reject(new Error('not modelled'));
  const bare = production.createSolanaRpc({ urls, fetch });
  const asked = nodes.flatMap((node, index): SolanaNode[] => {
    const { name } = node;
    const base = bare.nodes[index];
    if (!base) return [];
    const modelled: Partial<SolanaNode> = {
      name,
      balance: (_address, _commitment, least) => traced(`${name}.balance`)(() => node.balance(least)),
      isBlockhashValid: (blockhash) =>
        traced(`${name}.isBlockhashValid`)(() => node.isBlockhashValid(blockhash)),
      latestBlockhash: () => traced(`${name}.blockhash`)(() => node.latestBlockhash()),
      epochInfo: (commitment) => traced(`${name}.epochInfo`)(() => node.epochInfo(commitment)),
      signatureStatus: (signature) =>
        traced(`${name}.status(${signature})`)(() => node.signatureStatus(signature, true)),
      firstAvailableBlock: () => traced(`${name}.firstBlock`)(() => node.firstAvailableBlock()),
      send: (wire) => traced(`${name}.send(${wire.slice(0, 17)})`)(() => node.send(wire)),
      transaction: (signature) => traced(`${name}.transaction`)(() => node.transaction(signature)),
      signaturesFor: (_address, page) => traced(`${name}.signatures`)(() => node.signaturesFor(page)),
    };
    return [{ ...base, ...modelled }];
  });
  return {
    ...bare,
    nodes: asked,
    async first(read) {
      let failure: unknown;
      for (const node of asked) {
        try {
          return await read(node);
        } catch (error) {
          failure ??= error;
        }
      }
      throw failure;
    },
  };
}
