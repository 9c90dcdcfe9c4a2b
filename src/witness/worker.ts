/**
 * The Worker `sluice-witness`: the second key of the mint authority, deployed in a different account than the service.
 * It signs only ABSR mints that its own sources show as covered.
 * @module
 */
import { base64 } from '@scure/base';
import { tryJson } from '../core/json.ts';
import type { Cosigned } from './cosign.ts';
import type { NotConfigured, WitnessObject } from './witness-object.ts';

export { WitnessObject } from './witness-object.ts';

type WitnessEnv = { readonly WITNESS: DurableObjectNamespace<WitnessObject> };

/** Maximum bytes of a request body; a mint needs about 800. */
const MAX_BODY_BYTES = 4_096;

export default {
  async fetch(request: Request, env: WitnessEnv): Promise<Response> {
    const { pathname } = new URL(request.url);
    const witness = env.WITNESS.getByName('witness');
    if (pathname === '/' && request.method === 'GET') {
      const state = await witness.state();
      return state.type === 'not_configured' ? notConfigured(state) : Response.json(state);
    }
    if (pathname !== '/cosign')
      return refusal(404, 'not_found', 'The witness serves GET / and POST /cosign.');
    if (request.method !== 'POST') return refusal(405, 'method_not_allowed', 'Send POST.', { allow: 'POST' });
    const text = await shortText(request);
    if (text === undefined)
      return refusal(413, 'body_too_large', `The body is over ${MAX_BODY_BYTES} bytes.`);
    const body = tryJson(text);
    const transaction: unknown =
      typeof body === 'object' && body !== null ? Reflect.get(body, 'transaction') : undefined;
    if (typeof transaction !== 'string')
      return refusal(400, 'invalid_body', 'Send JSON with `transaction`, a base64 text.');
    try {
      return respond(await witness.cosign(transaction));
    } catch (error) {
      console.log(
        JSON.stringify({ level: 'error', event: 'cosign_failed', error: String(error).slice(0, 200) }),
      );
      return refusal(503, 'witness_failed', 'The witness failed. This response contains no signature.');
    }
  },
};

function respond(result: Cosigned | NotConfigured): Response {
  if (result.type === 'not_configured') return notConfigured(result);
  console.log(JSON.stringify({ level: 'info', event: `cosign_${result.type}`, refusal: refusalOf(result) }));
  if (result.type === 'signed') return Response.json({ signature: base64.encode(result.signature) });
  return refusal(409, result.refusal, 'The witness does not sign this transaction.');
}

const refusalOf = (result: Cosigned): string | null => (result.type === 'refused' ? result.refusal : null);

const notConfigured = ({ settings }: NotConfigured): Response =>
  refusal(503, 'not_configured', `Missing or malformed settings: ${settings.join(', ')}.`);

const refusal = (status: number, error_code: string, error: string, headers?: HeadersInit): Response =>
  Response.json({ error_code, error }, { status, ...(headers && { headers }) });

/** A body of at most `MAX_BODY_BYTES` as text; undefined for a larger body. */
async function shortText(request: Request): Promise<string | undefined> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of request.body ?? []) {
    size += chunk.byteLength;
    if (size > MAX_BODY_BYTES) return undefined;
    chunks.push(chunk);
  }
  return new Blob(chunks).text();
}
