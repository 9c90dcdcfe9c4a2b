/**
 * The nodes behind their JSON-RPC: the provider of the service runs over it as it is.
 * @module
 */
import type { Fetch } from '../../src/providers/http.ts';
import type { NodeModel } from './node-model.ts';
import type { Production } from './production.ts';

type Params = readonly unknown[];
type Options = Readonly<Record<string, unknown>>;

/** One node as its URL. `cross` is where the custodian waits for it. */
export function createWire(
  nodes: readonly NodeModel[],
  production: Production,
  cross: <T>(label: string, effect: () => Promise<T>) => Promise<T>,
): { urls: string[]; fetch: Fetch } {
  const fetch: Fetch = async (url, init) => {
    const node = nodes[Number(url.slice(-1))];
    if (!node) throw new Error(`no node at ${url}`);
    const { method, params } = JSON.parse(String(init?.body)) as { method: string; params: Params };
    const text = await cross(`${node.name}.${method}`, () => answer(node, production, method, params));
    return response(text);
  };
  return { urls: nodes.map((_node, index) => `rpc://node/${index}`), fetch };
}

/** What the provider reads of a Response, and nothing that needs a turn of the event loop. */
function response(text: string): Response {
  let chunk: Uint8Array | undefined = new TextEncoder().encode(text);
  const read = async () => {
    const value = chunk;
    chunk = undefined;
    return value ? { done: false, value } : { done: true, value: undefined };
  };
  const body = { getReader: () => ({ read, cancel: async () => undefined }) };
  return { status: 200, headers: new Headers(), body } as Response;
}

async function answer(
  node: NodeModel,
  production: Production,
  method: string,
  params: Params,
): Promise<string> {
  try {
    return json({ jsonrpc: '2.0', id: 1, result: await result(node, method, params) });
  } catch (error) {
    if (!(error instanceof production.RpcRefusal)) throw error;
    const { code, message, data } = error;
    return json({ jsonrpc: '2.0', id: 1, error: { code, message, data } });
  }
}

const json = (value: unknown): string =>
  JSON.stringify(value, (_key, member: unknown) => (typeof member === 'bigint' ? Number(member) : member));

async function result(node: NodeModel, method: string, params: Params): Promise<unknown> {
  const [first, second] = params;
  const options = (typeof second === 'object' && second !== null ? second : {}) as Options;
  switch (method) {
    case 'getEpochInfo': {
      const commitment = String((first as Options | undefined)?.commitment ?? 'finalized');
      const { slot, blockHeight } = await node.epochInfo(commitment);
      return { absoluteSlot: slot, blockHeight };
    }
    case 'getSignatureStatuses': {
      const [signature] = first as readonly string[];
      const wholeHistory = options.searchTransactionHistory === true;
      const { slot, status } = await node.signatureStatus(signature ?? '', wholeHistory);
      const row = status && {
        slot: status.slot,
        err: status.err,
        confirmationStatus: status.commitment,
        confirmations: status.commitment === 'finalized' ? null : 1,
      };
      return { context: { slot }, value: [row] };
    }
    case 'getFirstAvailableBlock':
      return node.firstAvailableBlock();
    case 'getLatestBlockhash': {
      const { slot, ...value } = await node.latestBlockhash();
      return { context: { slot }, value };
    }
    case 'isBlockhashValid': {
      const { slot, valid } = await node.isBlockhashValid(String(first));
      return { context: { slot }, value: valid };
    }
    case 'getBalance': {
      const least = options.minContextSlot;
      const { slot, lamports } = await node.balance(least === undefined ? undefined : BigInt(Number(least)));
      return { context: { slot }, value: lamports };
    }
    case 'sendTransaction':
      return node.send(String(first));
    case 'getTransaction': {
      const found = await node.transaction(String(first));
      return (
        found && {
          slot: found.slot,
          blockTime: found.blockTime,
          transaction: {
            signatures: [found.signature],
            message: { accountKeys: found.accounts, header: { numRequiredSignatures: found.signers.length } },
          },
          meta: {
            err: found.failed ? 'InstructionError' : null,
            fee: found.fee,
            preBalances: found.preLamports,
            postBalances: found.postLamports,
          },
        }
      );
    }
    case 'getSignaturesForAddress': {
      const { limit, before, until } = options;
      const page = {
        limit: Number(limit),
        ...(typeof before === 'string' ? { before } : {}),
        ...(typeof until === 'string' ? { until } : {}),
      };
      return node.signaturesFor(page);
    }
    default:
      throw new Error(`the model answers no ${method}`);
  }
}
