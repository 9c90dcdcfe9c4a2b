/**
 * Identifies the caller, for limits only. The address is never logged or stored in full.
 * @module
 */
import type { Context } from 'hono';

/**
 * The key that limits count under, from the caller's address. All other headers are under the caller's
 * control.
 */
export const clientKey = (c: Context): string => addressKey(c.req.header('cf-connecting-ip'));

/** @param address as set by the edge; IPv6 is reduced to its /64, because a subscriber owns all of it */
export function addressKey(address: string | null | undefined): string {
  // IPv4 in IPv6 form shares its first 64 bits with all of IPv4.
  const ip = (address ?? 'local').replace(/^::ffff:(?=\d+\.)/i, '');
  return ip.includes(':') ? ipv6Prefix(ip) : ip;
}

/** The first four groups of an IPv6 address, in full. */
export function ipv6Prefix(ip: string): string {
  const [head = '', tail] = ip.toLowerCase().split('::');
  const left = head ? head.split(':') : [];
  const right = tail ? tail.split(':') : [];
  const zeros =
    tail === undefined ? [] : Array<string>(Math.max(8 - left.length - right.length, 0)).fill('0');
  const groups = [...left, ...zeros, ...right].slice(0, 4).map((group) => group.replace(/^0+(?=.)/, ''));
  return `${groups.join(':')}::/64`;
}
