import { type Answer, json, text, type WorldRequest } from '../kit/transport.ts';
import type { FaultBook } from './fault-book.ts';
import { startUpstream, type Upstream } from './fault-gate.ts';
import type { RequestCounts } from './request-counts.ts';
import { accountMethods } from './rpc-account-methods.ts';
import { type RpcCall, RpcFailure, type RpcMethod } from './rpc-call.ts';
import { chainMethods } from './rpc-chain-methods.ts';
import { transactionMethods } from './rpc-transaction-methods.ts';
import type { SolanaLedger } from './solana-ledger.ts';
import { readWireTransaction } from './wire-transaction.ts';

const methods: Record<string, RpcMethod> = { ...chainMethods, ...accountMethods, ...transactionMethods };

interface JsonRpcRequest {
  readonly id?: unknown;
  readonly method?: unknown;
  readonly params?: unknown;
}

function parse(body: string): JsonRpcRequest | null {
  try {
    const value: unknown = JSON.parse(body);
    return typeof value === 'object' && value !== null ? (value as JsonRpcRequest) : null;
  } catch {
    return null;
  }
}

const U64_MAX = '18446744073709551615';

function envelope(id: unknown, outcome: { result: unknown } | { error: unknown }, status = 200): Answer {
  const answer = json(status, { jsonrpc: '2.0', ...outcome, id: id ?? null });
  return { ...answer, body: answer.body.replaceAll('"rentEpoch":0', `"rentEpoch":${U64_MAX}`) };
}

/**
 * A Solana JSON-RPC node of the service. Two servers share one chain and differ in their faults:
 * - `lag`: shows the chain as it was `by` slots ago
 * - `nullStatus`: hides all transactions, or the signature in `value`
 * - `dropSends`: accepts a transaction, which never lands
 * - `version`: presents transactions as version `by` (1), all or the signatures in `value`, separated by commas
 * - `httpErrors`: returns JSON-RPC errors under HTTP 400
 * - `withoutConfirmations`: returns statuses as Alpenglow may show them
 */
export function startRpcFront(options: {
  name: string;
  ledger: SolanaLedger;
  faults: FaultBook;
  counts: RequestCounts;
  ratePerSecond?: number | undefined;
}): Promise<Upstream> {
  const { name, ledger, faults, counts, ratePerSecond } = options;

  async function handle(request: WorldRequest): Promise<Answer> {
    if (request.method !== 'POST')
      return text(405, 'Used HTTP Method is not allowed. POST or OPTIONS is required');
    if (!request.headers['content-type']?.startsWith('application/json'))
      return text(415, 'Supplied content type is not allowed. Content-Type: application/json is required');
    const message = parse(request.body);
    if (message === null || Array.isArray(message))
      return envelope(null, { error: { code: message === null ? -32700 : -32600, message: 'Parse error' } });
    const method = typeof message.method === 'string' ? methods[message.method] : undefined;
    if (method === undefined || typeof message.method !== 'string')
      return envelope(message.id, { error: { code: -32601, message: 'Method not found' } });

    const call: RpcCall = {
      method: message.method,
      params: Array.isArray(message.params) ? message.params : [],
      ledger,
      lag: faults.take(name, 'lag', request.label)?.by ?? 0,
      showsConfirmations: faults.take(name, 'withoutConfirmations', request.label) === null,
      versionOf({ version, signature, hasTables }) {
        const shown = faults.take(name, 'version', request.label);
        // Version 1 has no lookup tables.
        const named = shown?.value?.split(',');
        const applies = shown !== null && !hasTables && named?.includes(signature) !== false;
        return applies ? (shown.by ?? 1) : version;
      },
      hides(signature) {
        const hidden = faults.take(name, 'nullStatus', request.label);
        return hidden !== null && (hidden.value === undefined || hidden.value === signature);
      },
    };
    try {
      if (call.method === 'sendTransaction' && faults.take(name, 'dropSends', request.label) !== null)
        return envelope(message.id, { result: dropped(call) });
      return envelope(message.id, { result: await method(call) });
    } catch (error) {
      // Some nodes return a JSON-RPC error under HTTP 400.
      if (error instanceof RpcFailure) {
        const isHttp = faults.take(name, 'httpErrors', request.label) !== null;
        return envelope(message.id, { error: error.body }, isHttp ? 400 : 200);
      }
      const reason = error instanceof Error ? error.message : String(error);
      return envelope(message.id, { error: { code: -32603, message: reason } });
    }
  }

  return startUpstream({
    name,
    faults,
    counts,
    openToPages: true,
    ratePerSecond,
    handle,
    label: ({ body, method, path }) => {
      const called = parse(body)?.method;
      return typeof called === 'string' ? called : `${method} ${path}`;
    },
  });
}

// Accepts the transaction and discards it, like a node whose leader drops it.
function dropped(call: RpcCall): string {
  const [encoded] = call.params;
  return readWireTransaction(new Uint8Array(Buffer.from(String(encoded), 'base64'))).signature;
}
