import { type Answer, json, text, type WorldRequest } from '../kit/transport.ts';
import type { FaultBook } from './fault-book.ts';
import { startUpstream, type Upstream } from './fault-gate.ts';
import type { RequestCounts } from './request-counts.ts';
import { methodOf, type RpcMethod, respond } from './rpc-call.ts';
import { readMethods } from './rpc-methods.ts';
import { validatorMethods } from './rpc-validator-methods.ts';
import type { SolanaLedger } from './solana-ledger.ts';
import { envelope, RPC_ERRORS } from './solana-shapes.ts';
import { createWorldView, type WorldView } from './world-view.ts';

const methods: Readonly<Record<string, RpcMethod<WorldView>>> = { ...readMethods, ...validatorMethods };

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

function answerOf(body: object, status = 200): Answer {
  const answer = json(status, body);
  return { ...answer, body: answer.body.replaceAll('"rentEpoch":0', `"rentEpoch":${U64_MAX}`) };
}

/** A Solana JSON-RPC node of the service. With the fault `httpErrors` it returns JSON-RPC errors under HTTP 400. */
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
    if (message === null) return answerOf(envelope({ error: RPC_ERRORS.notJson }, null));
    if (Array.isArray(message)) return answerOf(envelope({ error: RPC_ERRORS.invalidRequest }, null));
    const { id = null, method, params } = message;
    const { label } = request;
    try {
      const view = createWorldView(ledger, { name, faults, label });
      const call = { method: String(method), params: Array.isArray(params) ? params : [], view };
      const response = await respond(() => methodOf(methods, method)(call));
      // Some nodes return a JSON-RPC error under HTTP 400.
      const isHttp = 'error' in response && faults.take(name, 'httpErrors', label) !== null;
      return answerOf(envelope(response, id), isHttp ? 400 : 200);
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      return answerOf(envelope({ error: RPC_ERRORS.internal(reason) }, id));
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
