/**
 * Forwards API requests on the site's own origin to the Worker over a service binding. The request is
 * unchanged, including the caller's address as set by the edge.
 * @module
 */
type Bindings = { readonly API: { fetch(request: Request): Promise<Response> } };

const RETRY_SECONDS = 5;

export async function onRequest({
  request,
  env,
}: {
  readonly request: Request;
  readonly env: Bindings;
}): Promise<Response> {
  try {
    return await env.API.fetch(request);
  } catch {
    return unavailable(crypto.randomUUID());
  }
}

/** The error body when the Worker cannot be reached. */
const unavailable = (requestId: string): Response =>
  Response.json(
    {
      error_code: 'UPSTREAM_FAILED',
      error: 'The API does not respond.',
      action: 'retry_later',
      request_id: requestId,
      retryable: true,
      retry_after_s: RETRY_SECONDS,
      details: { upstream: 'api' },
    },
    {
      status: 502,
      headers: {
        'Retry-After': String(RETRY_SECONDS),
        'X-Request-Id': requestId,
        'Access-Control-Allow-Origin': '*',
        'Cache-Control': 'no-store',
      },
    },
  );
