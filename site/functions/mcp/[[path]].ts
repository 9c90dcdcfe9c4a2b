/**
 * Forwards MCP requests to the MCP Worker over a service binding, with the caller's address as set by the edge.
 * @module
 */
type Bindings = { readonly MCP: { fetch(request: Request): Promise<Response> } };

const RETRY_SECONDS = 5;

export async function onRequest({
  request,
  env,
}: {
  readonly request: Request;
  readonly env: Bindings;
}): Promise<Response> {
  try {
    return await env.MCP.fetch(request);
  } catch {
    const error = { code: -32_000, message: 'UPSTREAM_FAILED: the MCP server does not respond; try again.' };
    return Response.json(
      { jsonrpc: '2.0', id: null, error },
      { status: 502, headers: { 'Retry-After': String(RETRY_SECONDS), 'Cache-Control': 'no-store' } },
    );
  }
}
