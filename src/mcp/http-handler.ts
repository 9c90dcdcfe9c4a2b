/**
 * MCP over Streamable HTTP, stateless: each request gets its own server, and no state is kept between requests. The SDK
 * implements the protocol; this file adds origins, CORS, limits and bodies.
 * @module
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/transports
 */
import { createMcpHandler, type McpServer, readRequestBody } from '@modelcontextprotocol/server';
import { requestClient } from '../core/client-network.ts';
import { tryJson } from '../core/json.ts';

export type HttpHandlerOptions = {
  /** Scheme, host and port that clients use. */
  readonly publicOrigin: string;
  /** Hostnames of web pages that may call the server, in addition to the service's own; `*` allows every page. */
  readonly allowedOrigins: readonly string[];
  /** Whether the rate limit allows this client's call. */
  admit(client: string): Promise<boolean>;
  createServer(client: string, request: Request): McpServer;
  log(line: Readonly<Record<string, unknown>>): void;
};

const PATH = '/mcp';
/** Maximum bytes of a body. Arguments of tools are small; the API itself accepts 16 KiB. */
const MAX_BODY_BYTES = 64 * 1024;
/** Seconds of the window of the rate limit binding. */
const PERIOD_SECONDS = 60;
const ONE_DAY_SECONDS = 86_400;

/** Hosts of developers' own pages, such as the inspector's. */
const LOCAL_HOSTS = ['localhost', '127.0.0.1', '[::1]'];

const REQUEST_HEADERS =
  'Content-Type, Accept, Authorization, MCP-Protocol-Version, Mcp-Method, Mcp-Name, Mcp-Session-Id, Last-Event-ID';
const RESPONSE_HEADERS = 'Mcp-Session-Id, MCP-Protocol-Version, Retry-After, X-Request-Id';

const BOTH_MEDIA_TYPES = 'application/json, text/event-stream';

/** JSON-RPC 2.0 codes; the others are from its range for servers. */
const PARSE_ERROR = -32_700;
const INVALID_REQUEST = -32_600;
const INTERNAL_ERROR = -32_603;
const REFUSED = -32_000;

export function createHttpHandler(options: HttpHandlerOptions): (request: Request) => Promise<Response> {
  const { publicOrigin, allowedOrigins, admit, log } = options;
  const ownHosts = [new URL(publicOrigin).hostname, ...LOCAL_HOSTS, ...allowedOrigins];

  /**
   * The value of Access-Control-Allow-Origin; undefined without an Origin, null for an origin that may not
   * call.
   */
  function allowedOrigin(request: Request): string | undefined | null {
    const origin = request.headers.get('origin');
    if (origin === null) return undefined;
    const url = URL.canParse(origin) ? new URL(origin) : undefined;
    if (url?.protocol !== 'http:' && url?.protocol !== 'https:') return null;
    return allowedOrigins.includes('*') || ownHosts.includes(url.hostname) ? origin : null;
  }

  async function answer(request: Request, client: string): Promise<Response> {
    if (request.method !== 'POST') return rpcError(405, REFUSED, 'Use POST.', { Allow: 'POST, OPTIONS' });
    if (!(await admit(client)))
      return rpcError(
        429,
        REFUSED,
        `RATE_LIMITED: too many requests from this address; wait ${PERIOD_SECONDS} s.`,
        { 'Retry-After': String(PERIOD_SECONDS) },
      );
    const body = await readRequestBody(request, MAX_BODY_BYTES);
    if (body.tooLarge) return rpcError(413, REFUSED, `The body is over ${MAX_BODY_BYTES} bytes.`);
    const message = tryJson(body.text);
    if (message === undefined) return rpcError(400, PARSE_ERROR, 'The body is not valid JSON.');
    if (Array.isArray(message)) return rpcError(400, INVALID_REQUEST, 'Send one message, not a list.');
    const handler = createMcpHandler(() => options.createServer(client, request), {
      maxRequestBodySize: MAX_BODY_BYTES,
      // Resources do not change during a connection, so subscriptions are not offered.
      maxSubscriptions: 0,
      onerror: ({ message: reason }) => log({ level: 'info', mcp_rejected: reason.slice(0, 200) }),
    });
    return handler.fetch(withAccept(request), { parsedBody: message });
  }

  return async function handle(request) {
    const { pathname } = new URL(request.url);
    if (pathname !== PATH && pathname !== `${PATH}/`)
      return rpcError(404, REFUSED, `The endpoint is ${PATH}.`);
    const origin = allowedOrigin(request);
    if (origin === null) return rpcError(403, REFUSED, 'Web pages of this origin may not call this server.');
    if (request.method === 'OPTIONS') return withHeaders(new Response(null, { status: 204 }), origin);
    try {
      return withHeaders(await answer(request, requestClient(request.headers)), origin);
    } catch (error) {
      log({ level: 'error', unexpected: error instanceof Error ? error.stack : String(error) });
      return withHeaders(rpcError(500, INTERNAL_ERROR, 'INTERNAL: an unexpected failure.'), origin);
    }
  };
}

/** The SDK does not support wildcards, so a wildcard is replaced with its media types. */
function withAccept(request: Request): Request {
  const accept = request.headers.get('accept');
  if (accept !== null && !/(^|,)\s*\*\/\*\s*(;|,|$)/.test(accept)) return request;
  const headers = new Headers(request.headers);
  headers.set('accept', BOTH_MEDIA_TYPES);
  return new Request(request.url, { method: request.method, headers, signal: request.signal });
}

const rpcError = (
  status: number,
  code: number,
  message: string,
  headers: Readonly<Record<string, string>> = {},
): Response => Response.json({ jsonrpc: '2.0', id: null, error: { code, message } }, { status, headers });

function withHeaders(response: Response, origin: string | undefined): Response {
  const headers = new Headers(response.headers);
  headers.set('Vary', 'Origin');
  headers.set('X-Content-Type-Options', 'nosniff');
  if (!headers.has('Cache-Control')) headers.set('Cache-Control', 'no-store');
  if (origin !== undefined) {
    headers.set('Access-Control-Allow-Origin', origin);
    headers.set('Access-Control-Expose-Headers', RESPONSE_HEADERS);
    headers.set('Access-Control-Allow-Methods', 'POST, OPTIONS');
    headers.set('Access-Control-Allow-Headers', REQUEST_HEADERS);
    headers.set('Access-Control-Max-Age', String(ONE_DAY_SECONDS));
  }
  const { status, statusText, body } = response;
  return new Response(body, { status, statusText, headers });
}
