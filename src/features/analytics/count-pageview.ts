import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js';
import type { Context } from 'hono';
import { isbot } from 'isbot';
import { ipv6Prefix } from '../../core/client-network.ts';
import { AppError } from '../../core/errors.ts';
import type { PageViewsApi } from './page-views-object.ts';

export type CountPageviewDeps = {
  /** The objects that share the page views. */
  pageViews: () => readonly Pick<PageViewsApi, 'add'>[];
  /** Hosts of the site itself; they are not counted as referrers. */
  siteHost: string | undefined;
};

export type Pageview = {
  readonly path: string;
  readonly referrer: string;
  readonly ip: string | null;
  readonly userAgent: string;
};

/** Logs and counts one view in the object of its visitor. @throws AppError ANALYTICS_WRITE_FAILED */
export async function countPageview(deps: CountPageviewDeps, view: Pageview): Promise<void> {
  const referrer = referrerOf(view.referrer);
  const visitor = visitorOf(view.ip, view.userAgent);
  const objects = deps.pageViews();
  const object = objects[Number.parseInt(visitor.slice(0, 8), 16) % objects.length];
  const counted = isCrawler(view.userAgent)
    ? null
    : {
        path: pathOf(view.path),
        referrer: referrer?.url ?? '',
        referrerHost: referrer && referrer.host !== deps.siteHost ? referrer.host : undefined,
        ip: view.ip,
        visitor,
      };
  let cause: unknown;
  const written = await object?.add(counted).catch((error: unknown) => {
    cause = error;
  });
  if (!written) throw new AppError('ANALYTICS_WRITE_FAILED', 'The page view could not be logged.', { cause });
}

const IPV4 = /^(?:(?:25[0-5]|2[0-4]\d|1?\d?\d)(?:\.(?!$)|$)){4}$/;

/** An IP address in its usual form; undefined for anything else. An IPv4 address inside IPv6 becomes IPv4. */
export function readIp(text: string | undefined): string | undefined {
  const trimmed = (text ?? '')
    .trim()
    .toLowerCase()
    .replace(/^::ffff:(?=\d+\.)/, '');
  if (IPV4.test(trimmed)) return trimmed;
  if (trimmed.length > 45 || !/^[0-9a-f:]+(?:[\d.]+)?$/.test(trimmed) || !trimmed.includes(':'))
    return undefined;
  const url = URL.parse(`http://[${trimmed}]/`);
  return url?.hostname.slice(1, -1);
}

/**
 * The client's address for the log: CF-Connecting-IP, the first hop of X-Forwarded-For, X-Real-IP. At
 * Cloudflare the first is always present and is the TCP peer. The caller controls the others, so no limit uses this
 * address.
 */
export function visitorIp(c: Context): string | null {
  const firstHop = c.req.header('x-forwarded-for')?.split(',')[0];
  return (
    readIp(c.req.header('cf-connecting-ip')) ?? readIp(firstHop) ?? readIp(c.req.header('x-real-ip')) ?? null
  );
}

/**
 * Identifies a visitor by network and user agent. The value selects the visitor's object and is never stored.
 * @param ip IPv6 is reduced to its /64
 */
export function visitorOf(ip: string | null, userAgent: string): string {
  const network = ip?.includes(':') ? ipv6Prefix(ip) : (ip ?? '');
  return bytesToHex(sha256(utf8ToBytes(`${network}\n${userAgent}`)));
}

/**
 * User agents of HTTP libraries. They are not treated as crawlers: a program that posts a view reports a person's view.
 */
const LIBRARY =
  /^(?:aiohttp|akka-http|apache-httpclient|axios|bun|curl|dart|deno|faraday|fasthttp|go-http-client|got|guzzlehttp|hackney|http\.rb|httpie|java|libcurl|libwww-perl|node|okhttp|perl|php|postmanruntime|python|reqwest|restsharp|ruby|undici|wget)\b/i;
/** Maximum characters that are read of a user agent; real ones are shorter. */
const MAX_USER_AGENT = 1_000;

/** Whether the user agent identifies itself as a crawler or an agent. */
export const isCrawler = (userAgent: string): boolean =>
  !LIBRARY.test(userAgent) && isbot(userAgent.slice(0, MAX_USER_AGENT));

/**
 * The stored parts of a view have no control characters and no query strings. Each has at most 262 bytes, and a path
 * never leads a browser to another site.
 */
export const MAX_PATH = 1_024;
export const MAX_REFERRER = 4_096;
/** UTF-8 bytes of a stored path. A longer path is cut and ends in `…`, which takes three more bytes. */
const MAX_PATH_BYTES = 253;
/** A longer referrer URL is cut to its origin, which is always shorter. URLs are ASCII. */
const MAX_REFERRER_STORED = 262;
const MAX_HOST = 253;

/** Control characters, line separators and marks that reorder text. */
const UNSAFE = /[\p{Cc}\p{Zl}\p{Zp}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/u;

export const isSafeText = (text: string): boolean => text.isWellFormed() && !UNSAFE.test(text);

export const isPath = (text: string): boolean => text.startsWith('/') && isSafeText(text);

/**
 * A path without query and fragment, which may be private and would make every view a separate path. It starts with
 * exactly one slash, because as a link `//host` or `/\host` leads to another site.
 */
export function pathOf(path: string): string {
  const plain = path.replace(/[?#].*$/, '').replace(/^[/\\]+/, '/');
  const { read } = new TextEncoder().encodeInto(plain, new Uint8Array(MAX_PATH_BYTES));
  return read === plain.length ? plain : `${plain.slice(0, read)}…`;
}

export type Referrer = { readonly url: string; readonly host: string };

/** The referring page without credentials, query and fragment; undefined unless it is a web page. */
export function referrerOf(text: string): Referrer | undefined {
  const url = URL.parse(text);
  if (!url || !/^https?:$/.test(url.protocol) || url.host.length > MAX_HOST) return undefined;
  const page = `${url.origin}${url.pathname}`;
  return { url: page.length > MAX_REFERRER_STORED ? `${url.origin}/` : page, host: url.host };
}
