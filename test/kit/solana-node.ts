/** Nodes of the one model of Solana over a chain that a test sets. */
import { type ChainTransaction, createSolanaRpc, type SolanaRpc } from '../../src/providers/solana-rpc.ts';
import { methodOf, type NodeView, type RpcMethod, respond } from '../world/rpc-call.ts';
import { readMethods } from '../world/rpc-methods.ts';
import { type AccountState, envelope, errorOf, type Shown, transactionBody } from '../world/solana-shapes.ts';

export interface TestChain extends Partial<NodeView> {
  readonly newest: number;
  readonly accounts?: Readonly<Record<string, AccountState | undefined>>;
  /** Newest first, all of them final. */
  readonly transactions?: readonly ChainTransaction[];
  /** Methods beyond those of the model, or in place of them. */
  readonly methods?: Readonly<Record<string, RpcMethod>>;
}

const shownOf = ({ signature, slot, blockTime, failed }: ChainTransaction): Shown => ({
  signature,
  slot: Number(slot),
  blockTime,
  err: failed ? errorOf(signature) : null,
  memo: null,
});

const viewOf = ({ newest, accounts = {}, transactions = [], ...over }: TestChain): NodeView => ({
  slot: () => newest,
  commitmentOf: () => 'finalized',
  blockHeight: (slot) => slot,
  blockhashAt: (slot) => ({ blockhash: `blockhash-${slot}`, lastValidBlockHeight: slot + 150 }),
  isBlockhashValid: () => true,
  lamports: (address) => accounts[address]?.lamports ?? 0,
  account: (address) => accounts[address] ?? null,
  transaction(signature) {
    const found = transactions.find((one) => one.signature === signature);
    if (!found) return null;
    const shown = shownOf(found);
    return { ...shown, version: () => 0, body: (version) => transactionBody(found, shown.err, version) };
  },
  transactionsOf: (address) => transactions.filter(({ accounts }) => accounts.includes(address)).map(shownOf),
  showsConfirmations: true,
  ...over,
});

/** The body of a node's response to this request. */
export async function nodeBody(request: unknown, chain: TestChain): Promise<object> {
  const { method, params } = JSON.parse(String(request)) as { method: string; params: readonly unknown[] };
  const methods = { ...readMethods, getFirstAvailableBlock: () => 0, ...chain.methods };
  return envelope(await respond(() => methodOf(methods, method)({ method, params, view: viewOf(chain) })));
}

/** Nodes with these chains behind the client of the service; one without a chain is down. */
export function nodesOver(chains: readonly (TestChain | undefined)[]): SolanaRpc['nodes'] {
  const urls = chains.map((_chain, at) => `https://${at}.test`);
  async function fetch(url: string, init?: RequestInit): Promise<Response> {
    const chain = chains[urls.indexOf(url)];
    if (!chain) throw new TypeError('fetch failed');
    return Response.json(await nodeBody(init?.body, chain));
  }
  return createSolanaRpc({ urls, fetch }).nodes;
}
