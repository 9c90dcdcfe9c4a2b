/**
 * Reads request bodies: JSON of a limited size, with each number in its source form.
 * @module
 */
import { concatBytes } from '@noble/hashes/utils.js';
import type { Context, MiddlewareHandler } from 'hono';
import { AppError } from '../core/errors.ts';
import { ExactNumber, isShallow, parseJson } from '../core/json.ts';

/** Largest request body in bytes; every JSON body of the contract is much smaller. */
const MAX_BODY_BYTES = 16 * 1024;

/**
 * `curl -d` sends a form type; `fetch` and `sendBeacon` send a string as text/plain. Both are accepted if the body is
 * JSON. The API has no cookies or other ambient credentials, so a form post from another site gains no access.
 */
const ACCEPTED =
  /^(?:application\/(?:[\w.+-]+\+)?json|application\/x-www-form-urlencoded|text\/plain)\s*(?:;|$)/i;

/** Reads the body, drops members that are null, and passes the rest to the route's validator. */
export const jsonBody: MiddlewareHandler = async function jsonBody(c, next) {
  passBody(c, await readBody(c));
  await next();
};

async function readBody(c: Context): Promise<unknown> {
  const bytes = await readBytes(c);
  const encoding = c.req.header('content-encoding')?.trim() || 'identity';
  if (encoding.toLowerCase() !== 'identity') {
    c.header('Accept-Encoding', 'identity');
    throw new AppError(
      'UNSUPPORTED_CONTENT_ENCODING',
      'The body is compressed. Send it without Content-Encoding.',
    );
  }
  const type = c.req.header('content-type');
  if (type !== undefined && !ACCEPTED.test(type)) {
    throw new AppError('UNSUPPORTED_CONTENT_TYPE', 'Send the body as application/json.');
  }
  return parse(textOf(bytes));
}

function passBody(c: Context, body: unknown): void {
  const parsed = withoutNulls(body);
  // The validator checks the content type and calls `json()`, so this sets both.
  c.req.raw = new Request(c.req.raw.url, { method: 'POST', headers: jsonHeaders(c.req.raw.headers) });
  c.req.json = async <T>() => parsed as T;
}

/** Names with which callers request a dry run: `dry_run`, `dryRun`, `dry-run` and similar. */
const DRY_RUN = /^dry[\s_-]*run$/i;

/**
 * Reads the body of a call that moves money. A query string is refused. So is a member that requests a dry run, with
 * any value and at any depth, because the call would spend.
 * @param instead a sentence that names the call that only checks
 */
export const spendingBody = (instead: string): MiddlewareHandler =>
  async function spendingBody(c, next) {
    const refuse = (place: 'query' | 'json', path: string, message: string) => {
      const issues = [{ in: place, path, message }];
      return new AppError('INVALID_INPUT', `${path} ${message}`.trimStart(), { details: { issues } });
    };
    if (new URL(c.req.url).search !== '')
      throw refuse('query', '', `This call takes no query string. ${instead}.`);
    const body = await readBody(c);
    const asked = dryRunIn(body);
    if (asked !== undefined) throw refuse('json', asked, `is not accepted. ${instead}.`);
    passBody(c, body);
    await next();
  };

/** The first member that requests a dry run. Bodies are shallow, so the recursion is short. */
function dryRunIn(value: unknown): string | undefined {
  if (typeof value !== 'object' || value === null || value instanceof ExactNumber) return undefined;
  for (const [name, member] of Object.entries(value)) {
    if (DRY_RUN.test(name)) return name;
    const inner = dryRunIn(member);
    if (inner !== undefined) return inner;
  }
  return undefined;
}

function jsonHeaders(headers: Headers): Headers {
  const copy = new Headers(headers);
  copy.set('content-type', 'application/json');
  return copy;
}

/** Treats a null member as absent, because forms send null for empty fields. */
function withoutNulls(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value) || value instanceof ExactNumber)
    return value;
  // `fromEntries` defines members, so one named __proto__ stays a plain member.
  return Object.fromEntries(Object.entries(value).filter(([, member]) => member !== null));
}

function parse(text: string): unknown {
  let value: unknown;
  try {
    value = parseJson(text);
  } catch {
    throw new AppError('INVALID_JSON', 'The body is not valid JSON.');
  }
  if (!isShallow(value))
    throw new AppError('INVALID_JSON', 'The body is nested too deeply or has too many members.');
  return value;
}

/** The announced length is only a hint; the received bytes are counted. */
async function readBytes(c: Context): Promise<Uint8Array> {
  const tooLarge = () => new AppError('BODY_TOO_LARGE', `The body is over ${MAX_BODY_BYTES} bytes.`);
  if (Number(c.req.header('content-length') ?? 0) > MAX_BODY_BYTES) throw tooLarge();
  const chunks: Uint8Array[] = [];
  let size = 0;
  try {
    // An error inside the loop also cancels the stream.
    for await (const chunk of c.req.raw.body ?? []) {
      size += chunk.byteLength;
      if (size > MAX_BODY_BYTES) throw tooLarge();
      chunks.push(chunk);
    }
  } catch (error) {
    if (error instanceof AppError) throw error;
    throw new AppError('INVALID_JSON', 'The body is not complete.', { cause: error });
  }
  return concatBytes(...chunks);
}

function textOf(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: false }).decode(bytes);
  } catch (error) {
    throw new AppError('INVALID_JSON', 'The body is not valid UTF-8.', { cause: error });
  }
}
