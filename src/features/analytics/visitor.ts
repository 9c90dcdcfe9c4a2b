/**
 * Who viewed a page: the address for the log, the daily key for counting people, and whether it is a crawler.
 * @module
 */
import { hmac } from '@noble/hashes/hmac.js';
import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js';
import type { Context } from 'hono';
import { ipv6Prefix } from '../../http/client.ts';

const IPV4 = /^(?:(?:25[0-5]|2[0-4]\d|1?\d?\d)(?:\.(?!$)|$)){4}$/;

/** An IP address in its usual spelling, or undefined for anything else. An IPv4 inside IPv6 is that IPv4. */
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
 * The client's address for the log: CF-Connecting-IP, the first hop of X-Forwarded-For, X-Real-IP. At the edge the first
 * is always there and is the TCP peer; the others are the caller's word, which is why no limit counts by this.
 */
export function visitorIp(c: Context): string | null {
  const firstHop = c.req.header('x-forwarded-for')?.split(',')[0];
  return (
    readIp(c.req.header('cf-connecting-ip')) ?? readIp(firstHop) ?? readIp(c.req.header('x-real-ip')) ?? null
  );
}

/** An address for the public: the IPv4 /24 or the IPv6 /48 that it is in. */
export function redactIp(ip: string): string {
  if (!ip.includes(':')) return `${ip.split('.').slice(0, 3).join('.')}.0/24`;
  return `${ipv6Prefix(ip).split(':').slice(0, 3).join(':')}::/48`;
}

/**
 * Names a visitor for one day: the salt is random and deleted after it, so that no key can be traced to an address.
 *
 * @param salt of the day
 * @param ip   counted by /64 when it is IPv6
 */
export function visitorKey(salt: string, ip: string | null, userAgent: string): string {
  const network = ip?.includes(':') ? ipv6Prefix(ip) : (ip ?? '');
  const mac = hmac(sha256, utf8ToBytes(salt), utf8ToBytes(`${network}\n${userAgent}`));
  return bytesToHex(mac.subarray(0, 16));
}

/** `Cubot` makes phones. HTTP libraries are not here: a program that posts a view says that there was one. */
const CRAWLER =
  /(?<!cu)bots?(?![a-z])|crawl|spider|slurp|archiver|facebookexternalhit|embedly|link ?preview|inspectiontool|lighthouse|pagespeed|mediapartners|pingdom|uptime|monitoring/i;

/** Whether the user agent says of itself that it is no person. */
export const isCrawler = (userAgent: string): boolean => CRAWLER.test(userAgent);
