/**
 * Who is calling, for limits only. It is never logged or stored as it is.
 * @module
 */
import type { Context } from 'hono';

/**
 * The key that limits count under: the edge's CF-Connecting-IP, IPv6 by its /64, since one subscriber owns the rest.
 * Every other header is the caller's own word.
 */
export function clientKey(c: Context): string {
  // IPv4 written as IPv6 shares its first 64 bits with all of IPv4.
  const ip = (c.req.header('cf-connecting-ip') ?? 'local').replace(/^::ffff:(?=\d+\.)/i, '');
  return ip.includes(':') ? ipv6Prefix(ip) : ip;
}

/** The first four groups of an IPv6 address, written out. */
export function ipv6Prefix(ip: string): string {
  const [head = '', tail] = ip.toLowerCase().split('::');
  const left = head ? head.split(':') : [];
  const right = tail ? tail.split(':') : [];
  const zeros =
    tail === undefined ? [] : Array<string>(Math.max(8 - left.length - right.length, 0)).fill('0');
  const groups = [...left, ...zeros, ...right].slice(0, 4).map((group) => group.replace(/^0+(?=.)/, ''));
  return `${groups.join(':')}::/64`;
}
