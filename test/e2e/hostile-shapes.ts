/**
 * HTTP requests of attackers and broken clients, byte for byte, and the required response.
 * @module
 */
import { gzipSync } from 'node:zlib';
import { scenes } from '../kit/scenes.ts';

export interface Shape {
  readonly name: string;
  /** Status and error code, or only the status if the runtime responds before the service. */
  readonly answer: string;
  readonly bytes: Buffer;
}

const CLOSE = ['host: sluice.test', 'connection: close'];
const JSON_TYPE = 'content-type: application/json';
const VIEW = '/api/analytics/pageview';
const SWAP = '/api/swap/create';

const request = (line: string, headers: readonly string[], body: string | Buffer = ''): Buffer =>
  Buffer.concat([
    Buffer.from(`${[`${line} HTTP/1.1`, ...CLOSE, ...headers].join('\r\n')}\r\n\r\n`, 'latin1'),
    typeof body === 'string' ? Buffer.from(body) : body,
  ]);
const get = (target: string, ...headers: string[]): Buffer => request(`GET ${target}`, headers);
function post(path: string, body: string | Buffer, ...headers: string[]): Buffer {
  const length = `content-length: ${Buffer.byteLength(body)}`;
  return request(`POST ${path}`, [JSON_TYPE, length, ...headers], body);
}
/** A page view whose framing is written by hand. */
const framed = (body: string, ...headers: string[]): Buffer =>
  request(`POST ${VIEW}`, [JSON_TYPE, ...headers], body);

const GOOD = '{"path":"/a"}';
const chunk = (body: string): string => `${body.length.toString(16)}\r\n${body}\r\n`;
const CHUNKED = 'transfer-encoding: chunked';
const END = '0\r\n\r\n';
const LARGE = 'x'.repeat(16 * 1024 + 1);
const numbers = (count: number, show: (index: number) => string): string[] =>
  Array.from({ length: count }, (_, index) => show(index));

/** Bodies of a page view or a swap, with their bytes in hexadecimal after `hex:`. `«x*3»` is `xxx`. */
const BODIES = scenes(String.raw`
  view | 204               | a body at its largest depth and width           | {"path":"/a","x":«[*7»«]*7»}
  view | 400 INVALID_JSON  | nesting one too deep                            | {"path":"/a","x":«[*8»«]*8»}
  view | 400 INVALID_JSON  | an array of 8,000                               | {"path":"/a","x":[0«,0*8000»]}
  view | 400 INVALID_INPUT | one key twice: the last counts                  | {"path":"/a","path":1}
  swap | 400 INVALID_INPUT | one amount twice: the last counts               | {"amountSol":0.5,"amountSol":0}
  view | 204               | __proto__ is a member like another, and ignored | {"path":"/a","__proto__":{"path":1}}
  view | 400 INVALID_INPUT | a required member in __proto__ only             | {"__proto__":{"path":"/a"}}
  view | 204               | constructor.prototype                           | {"path":"/a","constructor":{"prototype":{"x":1}}}
  swap | 400 INVALID_INPUT | __proto__ where members are closed              | {"amountSol":0.5,"__proto__":{"x":1}}
  swap | 400 INVALID_INPUT | an unknown member                               | {"amountSol":0.5,"to":"bc1qthief"}
  view | 204               | a UTF-8 byte order mark                         | hex:efbbbf7b2270617468223a222f61227d
  view | 400 INVALID_JSON  | UTF-16                                          | hex:fffe7b00220070006100740068002200
  view | 400 INVALID_JSON  | a slash as an overlong UTF-8 sequence           | hex:7b2270617468223a22c0af227d
  view | 400 INVALID_JSON  | half a character at the end                     | hex:7b2270617468223a222fe282
  view | 400 INVALID_JSON  | a surrogate written as UTF-8                    | hex:7b2270617468223a222feda080227d
  view | 400 INVALID_INPUT | a lone surrogate as an escape                   | {"path":"/\ud800"}
  view | 400 INVALID_INPUT | a NUL as an escape                              | {"path":"/a\u0000"}
  view | 400 INVALID_INPUT | a line break meant for a log                    | {"path":"/a\r\n203.0.113.1 admin"}
  view | 400 INVALID_JSON  | two JSON values                                 | {"path":"/a"}{"path":"/a"}
  view | 400 INVALID_JSON  | a comment                                       | {"path":"/a"/**/}
  view | 400 INVALID_JSON  | NaN                                             | {"path":NaN}
`).map(([route, answer = '', name = '', text = '']): Shape => {
  const filled = text.replaceAll(/«(.+?)\*(\d+)»/g, (_, part: string, count) => part.repeat(Number(count)));
  const body = filled.startsWith('hex:') ? Buffer.from(filled.slice(4), 'hex') : filled;
  return { name, answer, bytes: post(route === 'swap' ? SWAP : VIEW, body) };
});

const LINES = scenes(`
  501                    | get /api/health
  501                    | FOO /api/health
  501                    | TRACK /api/health
  405 METHOD_NOT_ALLOWED | PROPFIND /api/health
  405 METHOD_NOT_ALLOWED | PATCH /api/health
  404 ROUTE_NOT_FOUND    | GET /api//health
  404 ROUTE_NOT_FOUND    | GET /api/health/
  404 ROUTE_NOT_FOUND    | GET /api/health%2f
  404 ROUTE_NOT_FOUND    | GET /api/health%00
  404 ROUTE_NOT_FOUND    | GET /api/health%20
  404 ROUTE_NOT_FOUND    | GET /api/health;x=1
  404 ROUTE_NOT_FOUND    | GET /api/health.css
  404 ROUTE_NOT_FOUND    | GET /api/health%23.css
  404 ROUTE_NOT_FOUND    | GET /api/health/x.css
  404 ROUTE_NOT_FOUND    | GET /api/reserves/x.js
  404 ROUTE_NOT_FOUND    | GET /api/..%2f..%2fetc/passwd
  404 ROUTE_NOT_FOUND    | GET /api/swap/status
  404 ROUTE_NOT_FOUND    | GET /api/__proto__
  404 ROUTE_NOT_FOUND    | GET /api/tokens/a/metadata.json/b
  404                    | GET /API/health
  404                    | GET /api/%2e%2e/%2e%2e/etc/passwd
  200                    | GET /api/swap/../health
  200                    | GET /api/%68ealth
  404 NOT_FOUND          | GET /api/swap/status/%
  404 NOT_FOUND          | GET /api/swap/status/%ff%fe
  404 NOT_FOUND          | GET /api/swap/status/__proto__
  200                    | GET http://evil.test/api/health
  200                    | GET /api/health#/../reserves
  405 METHOD_NOT_ALLOWED | GET ${SWAP}?_method=POST
  400 INVALID_INPUT      | GET /api/swap/estimate?amountSol=0.5&amountSol=0.6
  400 INVALID_INPUT      | GET /api/swap/estimate?amountSol[]=0.5
  400 INVALID_INPUT      | GET /api/swap/estimate?amountSol[$gt]=0
  400 INVALID_INPUT      | GET /api/swap/estimate?AMOUNTSOL=0.5
  200                    | GET /api/health?__proto__=1&__proto__[x]=1&constructor=2
  200                    | GET /api/listings/search?q=%ff%fe%c0%af
  200                    | GET /api/listings/search?q=%22%20OR%20*%20NEAR(%25_
  400 INVALID_INPUT      | GET /api/listings/search?q=a&cursor=%00%ff
`).map(([answer = '', line = '']): Shape => ({ name: line, answer, bytes: request(line, []) }));

const BAD_JSON = '400 INVALID_JSON';
const TOO_LARGE = '413 BODY_TOO_LARGE';
const KEYS = ['idempotency-key: 0123456789abcdef', 'idempotency-key: fedcba9876543210'];
const GZIP = gzipSync(Buffer.alloc(5_000_000, 32));
const BUILT: readonly (readonly [name: string, answer: string, bytes: Buffer])[] = [
  ['chunks of one byte', '204', framed([...GOOD].map(chunk).join('') + END, CHUNKED)],
  ['a chunk extension', '204', framed(`d;a="b"\r\n${GOOD}\r\n${END}`, CHUNKED)],
  ['a chunk longer than its stated size', BAD_JSON, framed(`5\r\n${GOOD}\r\n${END}`, CHUNKED)],
  ['a chunk of 2^68 bytes', BAD_JSON, framed(`fffffffffffffffff\r\n${GOOD}\r\n${END}`, CHUNKED)],
  ['a chunk of no size', BAD_JSON, framed(`x\r\n${GOOD}\r\n${END}`, CHUNKED)],
  ['a length and chunks: the chunks count', '204', framed(chunk(GOOD) + END, CHUNKED, 'content-length: 4')],
  ['a body over 16 KiB', TOO_LARGE, framed(LARGE, `content-length: ${LARGE.length}`)],
  ['a body over 16 KiB in one chunk', TOO_LARGE, framed(chunk(LARGE) + END, CHUNKED)],
  ['a length of a gigabyte', TOO_LARGE, framed('{', 'content-length: 999999999')],
  ['a length that cuts the body', BAD_JSON, framed(GOOD, 'content-length: 5')],
  ['no length at all', BAD_JSON, framed(GOOD)],
  ['1,000 members', BAD_JSON, post(VIEW, `{"path":"/a",${numbers(1_000, (i) => `"${i}":0`)}}`)],
  ['a gzip bomb', '415 UNSUPPORTED_CONTENT_ENCODING', post(VIEW, GZIP, 'content-encoding: gzip')],
  ['a content type twice', '400 UNSUPPORTED_CONTENT_TYPE', post(VIEW, GOOD, 'content-type: text/plain')],
  ['two idempotency keys', '400 INVALID_IDEMPOTENCY_KEY', post(SWAP, '{"amountSol":0.5}', ...KEYS)],
  [
    'TRACE, which would read headers back',
    '405 METHOD_NOT_ALLOWED',
    request('TRACE /api/health', ['x-a: b']),
  ],
  ['a method in a header', '405 METHOD_NOT_ALLOWED', get(SWAP, 'x-http-method-override: POST')],
  ['a GET with a body', '200', request('GET /api/health', ['content-length: 13'], GOOD)],
  ['an id of 6,000 characters', '404 NOT_FOUND', get(`/api/swap/status/${'1'.repeat(6_000)}`)],
  ['2,000 parameters', '400 INVALID_INPUT', get(`/api/health?${numbers(2_000, (i) => `${i}=`).join('&')}`)],
  [
    'a header of 300 KB, which the platform cuts at 128',
    '200',
    get('/api/health', `x-a: ${'a'.repeat(3e5)}`),
  ],
  ['100 headers', '200', get('/api/health', ...numbers(100, (i) => `x-${i}: a`))],
  ['a thousand entity tags', '200', get('/api/health', `if-none-match: ${Array(1_000).fill('"a"')}`)],
  ['a range of ranges', '200', get('/api/health', `range: bytes=${Array(500).fill('0-')}`)],
  ['an upgrade', '200', get('/api/health', 'upgrade: h2c', 'http2-settings: AAMAAABkAAQAAP__')],
  ['a request id that breaks a log', '200', get('/api/health', 'x-request-id: a"}\t{"level":"alarm')],
];

export const SHAPES: readonly Shape[] = [
  ...BUILT.map(([name, answer, bytes]) => ({ name, answer, bytes })),
  ...BODIES,
  ...LINES,
];
