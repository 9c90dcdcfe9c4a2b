/**
 * HTTP requests of attackers and broken clients, byte for byte, and the required response.
 * @module
 */
import { gzipSync } from 'node:zlib';

export interface Shape {
  readonly name: string;
  /** Status and error code, or only the status if the runtime responds before the service. */
  readonly answer: string;
  readonly bytes: Buffer;
}

const CLOSE = ['host: sluice.test', 'connection: close'];
const JSON_TYPE = 'content-type: application/json';

const text = (...lines: string[]): Buffer => Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1');

const shape = (name: string, answer: string, bytes: Buffer): Shape => ({ name, answer, bytes });

const get = (name: string, answer: string, target: string, ...headers: string[]): Shape =>
  shape(name, answer, text(`GET ${target} HTTP/1.1`, ...CLOSE, ...headers));

function post(path: string, body: string | Buffer, ...headers: string[]): Buffer {
  const bytes = Buffer.from(body);
  return Buffer.concat([
    text(`POST ${path} HTTP/1.1`, ...CLOSE, JSON_TYPE, `content-length: ${bytes.length}`, ...headers),
    bytes,
  ]);
}

const VIEW = '/api/analytics/pageview';
const SWAP = '/api/swap/create';
const view = (name: string, answer: string, body: string | Buffer, ...headers: string[]): Shape =>
  shape(name, answer, post(VIEW, body, ...headers));
const swap = (name: string, answer: string, body: string, ...headers: string[]): Shape =>
  shape(name, answer, post(SWAP, body, ...headers));

/** A page view whose framing is written by hand. */
const framed = (name: string, answer: string, headers: readonly string[], body: string): Shape =>
  shape(
    name,
    answer,
    Buffer.concat([
      text(`POST ${VIEW} HTTP/1.1`, ...CLOSE, JSON_TYPE, ...headers),
      Buffer.from(body, 'latin1'),
    ]),
  );

const GOOD = '{"path":"/a"}';
const chunk = (body: string): string => `${body.length.toString(16)}\r\n${body}\r\n`;
const CHUNKED = 'transfer-encoding: chunked';
const END = '0\r\n\r\n';
const LARGE = 'x'.repeat(16 * 1024 + 1);

const COUNTED = '204';
const BAD_JSON = '400 INVALID_JSON';
const TOO_LARGE = '413 BODY_TOO_LARGE';
const BAD_INPUT = '400 INVALID_INPUT';
const NO_ROUTE = '404 ROUTE_NOT_FOUND';
const WRONG_METHOD = '405 METHOD_NOT_ALLOWED';

const framing: Shape[] = [
  framed('chunks of one byte', COUNTED, [CHUNKED], [...GOOD].map(chunk).join('') + END),
  framed('a chunk extension', COUNTED, [CHUNKED], `d;a="b"\r\n${GOOD}\r\n${END}`),
  framed('a chunk longer than its stated size', BAD_JSON, [CHUNKED], `5\r\n${GOOD}\r\n${END}`),
  framed('a chunk of a size beyond 64 bits', BAD_JSON, [CHUNKED], `fffffffffffffffff\r\n${GOOD}\r\n${END}`),
  framed('a chunk of no size', BAD_JSON, [CHUNKED], `x\r\n${GOOD}\r\n${END}`),
  framed(
    'both a length and chunks: the chunks count',
    COUNTED,
    [CHUNKED, 'content-length: 4'],
    chunk(GOOD) + END,
  ),
  framed('a body over 16 KiB', TOO_LARGE, [`content-length: ${LARGE.length}`], LARGE),
  framed('a body over 16 KiB in one chunk', TOO_LARGE, [CHUNKED], chunk(LARGE) + END),
  framed('a length of a gigabyte', TOO_LARGE, ['content-length: 999999999'], '{'),
  framed('a length that cuts the body', BAD_JSON, ['content-length: 5'], GOOD),
  framed('no length at all', BAD_JSON, [], GOOD),
];

const bodies: Shape[] = [
  view(
    'a body at its largest depth and width',
    COUNTED,
    `{"path":"/a","x":${'['.repeat(7)}${']'.repeat(7)}}`,
  ),
  view('nesting of 8,000', BAD_JSON, `{"path":"/a","x":${'['.repeat(8_000)}${']'.repeat(8_000)}}`),
  view('nesting one too deep', BAD_JSON, `{"path":"/a","x":${'['.repeat(8)}${']'.repeat(8)}}`),
  view('1,000 members', BAD_JSON, `{"path":"/a",${Array.from({ length: 1_000 }, (_, i) => `"${i}":0`)}}`),
  view('an array of 8,000', BAD_JSON, `{"path":"/a","x":[${Array(8_000).fill(0)}]}`),
  view('one key twice: the last counts', BAD_INPUT, '{"path":"/a","path":1}'),
  swap('one amount twice: the last counts', BAD_INPUT, '{"amountSol":0.5,"amountSol":0}'),
  view('__proto__ is a member like another, and ignored', COUNTED, '{"path":"/a","__proto__":{"path":1}}'),
  view('a required member in __proto__ only', BAD_INPUT, '{"__proto__":{"path":"/a"}}'),
  view('constructor.prototype', COUNTED, '{"path":"/a","constructor":{"prototype":{"x":1}}}'),
  swap('__proto__ where members are closed', BAD_INPUT, '{"amountSol":0.5,"__proto__":{"x":1}}'),
  swap('an unknown member', BAD_INPUT, '{"amountSol":0.5,"to":"bc1qthief"}'),
  view('a UTF-8 byte order mark', COUNTED, Buffer.concat([Buffer.from('efbbbf', 'hex'), Buffer.from(GOOD)])),
  view('UTF-16', BAD_JSON, Buffer.from(`\ufeff${GOOD}`, 'utf16le')),
  view('an overlong slash', BAD_JSON, Buffer.from('7b2270617468223a22c0af227d', 'hex')),
  view('half a character at the end', BAD_JSON, Buffer.from('7b2270617468223a222fe282', 'hex')),
  view('a surrogate written as UTF-8', BAD_JSON, Buffer.from('7b2270617468223a222feda080227d', 'hex')),
  view('a lone surrogate as an escape', BAD_INPUT, '{"path":"/\\ud800"}'),
  view('a NUL as an escape', BAD_INPUT, '{"path":"/a\\u0000"}'),
  view('a line break meant for a log', BAD_INPUT, '{"path":"/a\\r\\n203.0.113.1 admin"}'),
  view(
    'a gzip bomb',
    '415 UNSUPPORTED_CONTENT_ENCODING',
    gzipSync(Buffer.alloc(5_000_000, 32)),
    'content-encoding: gzip',
  ),
  view('two JSON values', BAD_JSON, `${GOOD}${GOOD}`),
  view('a comment', BAD_JSON, '{"path":"/a"/**/}'),
  view('NaN', BAD_JSON, '{"path":NaN}'),
];

const methods: Shape[] = [
  ...['get', 'FOO', 'TRACK', 'PROPFIND', 'PATCH'].map((method) =>
    shape(
      `the method ${method}`,
      ['get', 'FOO', 'TRACK'].includes(method) ? '501' : WRONG_METHOD,
      text(`${method} /api/health HTTP/1.1`, ...CLOSE),
    ),
  ),
  shape(
    'TRACE, which would read headers back',
    WRONG_METHOD,
    text('TRACE /api/health HTTP/1.1', ...CLOSE, 'x-a: b'),
  ),
  get('a method in a header', WRONG_METHOD, SWAP, 'x-http-method-override: POST', 'x-http-method: POST'),
  get('a method in the query', WRONG_METHOD, `${SWAP}?_method=POST`),
  shape(
    'a GET with a body',
    '200',
    Buffer.concat([text('GET /api/health HTTP/1.1', ...CLOSE, 'content-length: 13'), Buffer.from(GOOD)]),
  ),
];

const paths: Shape[] = [
  ...[
    '/api//health',
    '/api/health/',
    '/api/health%2f',
    '/api/health%00',
    '/api/health%20',
    '/api/health;x=1',
    '/api/health.css',
    '/api/health%23.css',
    '/api/health/x.css',
    '/api/reserves/x.js',
    '/api/..%2f..%2fetc/passwd',
    '/api/swap/status',
    '/api/__proto__',
    '/api/tokens/a/metadata.json/b',
  ].map((path) => get(`the path ${path}`, NO_ROUTE, path)),
  get('a path in capitals is a page that does not exist', '404', '/API/health'),
  get('a path that leaves its folder is a page that does not exist', '404', '/api/%2e%2e/%2e%2e/etc/passwd'),
  get('a path through another', '200', '/api/swap/../health'),
  get('an encoded letter', '200', '/api/%68ealth'),
  get('a broken escape', '404 NOT_FOUND', '/api/swap/status/%'),
  get('an escape that is not UTF-8', '404 NOT_FOUND', '/api/swap/status/%ff%fe'),
  get('an id of 6,000 characters', '404 NOT_FOUND', `/api/swap/status/${'1'.repeat(6_000)}`),
  get('an id named like a member of every object', '404 NOT_FOUND', '/api/swap/status/__proto__'),
  get('a whole URL as the target', '200', 'http://evil.test/api/health'),
  get('a fragment', '200', '/api/health#/../reserves'),
];

const queries: Shape[] = [
  get('one parameter twice', BAD_INPUT, '/api/swap/estimate?amountSol=0.5&amountSol=0.6'),
  get('a parameter as an array', BAD_INPUT, '/api/swap/estimate?amountSol[]=0.5'),
  get('a parameter as an operator', BAD_INPUT, '/api/swap/estimate?amountSol[$gt]=0'),
  get('a parameter in another case', BAD_INPUT, '/api/swap/estimate?AMOUNTSOL=0.5'),
  get('__proto__ as a parameter', '200', '/api/health?__proto__=1&__proto__[x]=1&constructor=2'),
  get(
    '2,000 parameters',
    BAD_INPUT,
    `/api/health?${Array.from({ length: 2_000 }, (_, i) => `${i}=`).join('&')}`,
  ),
  get('a query that is not UTF-8', '200', '/api/listings/search?q=%ff%fe%c0%af'),
  get('a query of operators', '200', '/api/listings/search?q=%22%20OR%20*%20NEAR(%25_'),
  get('a broken cursor', BAD_INPUT, '/api/listings/search?q=a&cursor=%00%ff'),
];

const headers: Shape[] = [
  get(
    'a header of 300 KB, which the platform cuts at 128',
    '200',
    '/api/health',
    `x-a: ${'a'.repeat(300_000)}`,
  ),
  get('100 headers', '200', '/api/health', ...Array.from({ length: 100 }, (_, i) => `x-${i}: a`)),
  get(
    'a thousand entity tags',
    '200',
    '/api/health',
    `if-none-match: ${Array(1_000).fill('"a"').join(', ')}`,
  ),
  get('a range of ranges', '200', '/api/health', `range: bytes=${Array(500).fill('0-').join(',')}`),
  get('an upgrade', '200', '/api/health', 'upgrade: h2c', 'http2-settings: AAMAAABkAAQAAP__'),
  get('a request id that would break a log', '200', '/api/health', 'x-request-id: a"}\t{"level":"alarm'),
  swap(
    'two idempotency keys',
    '400 INVALID_IDEMPOTENCY_KEY',
    '{"amountSol":0.5}',
    'idempotency-key: 0123456789abcdef',
    'idempotency-key: fedcba9876543210',
  ),
  ...['short', 'x'.repeat(129), 'key with spaces 0123456789', 'k\u00e9y-0123456789abcdef', ''].map((key) =>
    swap(
      `the idempotency key ${JSON.stringify(key.slice(0, 30))}`,
      '400 INVALID_IDEMPOTENCY_KEY',
      '{"amountSol":0.5}',
      `idempotency-key: ${key}`,
    ),
  ),
  view('a content type twice', '400 UNSUPPORTED_CONTENT_TYPE', GOOD, 'content-type: text/plain'),
];

export const SHAPES: readonly Shape[] = [...framing, ...bodies, ...methods, ...paths, ...queries, ...headers];
