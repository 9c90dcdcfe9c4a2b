/**
 * Who is calling, for limits only. It is never logged or stored as it is.
 * @module
 */
import type { Context } from 'hono';

/** The key that limits count under, of the caller's address. Every other header is set by the caller. */
export const clientKey = (c: Context): string => addressKey(c.req.header('cf-connecting-ip'));

/** @param address as the edge wrote it; IPv6 counts by its /64, because one subscriber owns the rest */
export function addressKey(address: string | null | undefined): string {
  // IPv4 written as IPv6 shares its first 64 bits with all of IPv4.
  const ip = (address ?? 'local').replace(/^::ffff:(?=\d+\.)/i, '');
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
