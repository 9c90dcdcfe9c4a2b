/**
 * Computes the key under which limits count a client, and the networks whose limits also count its calls. An IPv4
 * client's key is its address. Keys are never logged. The custodian stores them for a day with bridge quotes, and with a
 * payment request until it closes. A subscriber owns a whole IPv6 prefix, and a hosting customer may own many addresses.
 * A limit per address alone would stop neither.
 * @module
 */

/**
 * The key under which limits count a client's calls.
 * @param address as set by the platform; IPv6 is reduced to its /64, because a subscriber owns all of it
 */
export function addressKey(address: string | null | undefined): string {
  // IPv4-mapped IPv6 addresses all share their first 64 bits, so the prefix is removed.
  const ip = (address ?? 'local').replace(/^::ffff:(?=\d+\.)/i, '');
  return ip.includes(':') ? ipv6Prefix(ip) : ip;
}

/** The address from which the Workers of all Cloudflare customers call. */
const WORKERS_ADDRESS = '2a06:98c0:3600::103';
const WORKERS = 'workers';

/**
 * The key of the client that sent a request. A Worker is identified by the domain in `CF-Worker`, which Cloudflare sets.
 * All other headers are under the caller's control.
 */
export function requestClient(headers: Pick<Headers, 'get'>): string {
  const address = headers.get('cf-connecting-ip');
  if (address?.toLowerCase() !== WORKERS_ADDRESS) return addressKey(address);
  const domain = (headers.get('cf-worker') ?? '').toLowerCase().replace(/[^a-z0-9.-]/g, '');
  return `${WORKERS} ${domain.slice(0, 253)}`;
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

type RateLimiter = { limit(options: { readonly key: string }): Promise<{ readonly success: boolean }> };

/**
 * The platform's limiters, each with one limit for all its keys. A wider network has four times the limit of the
 * narrower one. So a client at its limit leaves three quarters to its neighbours. The values are in wrangler.toml.
 */
export type FloodGate = Readonly<Record<'LIMITER' | 'NETWORK_LIMITER' | 'PROVIDER_LIMITER', RateLimiter>>;

export type NetworkLevel = {
  readonly network: string;
  /** A budget's limit for this network, as a multiple of one client's. */
  readonly times: number;
  /** The platform's limiter that counts this network. */
  readonly gate?: keyof FloodGate;
};

/**
 * A client's networks, narrowest first: IPv4 by address and /24, IPv6 by /64, /56, /48 and /32. One customer may own a
 * /48. A /32 belongs to a provider, so it has the largest multiple, which still leaves room for others.
 * @param client key from `addressKey`: an IPv4 address or an IPv6 /64
 */
export function networksOf(client: string): readonly NetworkLevel[] {
  const known = parsed.get(client);
  if (known) return known;
  const levels = levelsOf(client);
  if (parsed.size >= MAX_PARSED) parsed.clear();
  parsed.set(client, levels);
  return levels;
}

/** Counts a request for its client and for the wider networks. @returns false if one of them is at its limit */
export async function passesGate(limiters: FloodGate, group: string, client: string): Promise<boolean> {
  const counted = networksOf(client).flatMap(({ network, gate }) =>
    gate ? [limiters[gate].limit({ key: `${group}:${network}` })] : [],
  );
  return (await Promise.all(counted)).every(({ success }) => success);
}

/** A cache, because a budget of thousands of units needs each client's networks. */
const parsed = new Map<string, readonly NetworkLevel[]>();
const MAX_PARSED = 5_000;

function levelsOf(client: string): readonly NetworkLevel[] {
  if (/^\d+\.\d+\.\d+\.\d+$/.test(client)) {
    return [
      { network: client, times: 1, gate: 'LIMITER' },
      { network: `${client.split('.').slice(0, 3).join('.')}.0/24`, times: 2, gate: 'NETWORK_LIMITER' },
    ];
  }
  const groups = /^([0-9a-f]+):([0-9a-f]+):([0-9a-f]+):([0-9a-f]+)::\/64$/.exec(client)?.slice(1);
  if (client.startsWith(`${WORKERS} `))
    return [
      { network: client, times: 1, gate: 'LIMITER' },
      { network: WORKERS, times: 6, gate: 'PROVIDER_LIMITER' },
    ];
  if (!groups) return [{ network: client, times: 1, gate: 'LIMITER' }];
  const [a, b, c, d = '0'] = groups;
  const site = (Number.parseInt(d, 16) & 0xff00).toString(16);
  return [
    { network: client, times: 1, gate: 'LIMITER' },
    { network: `${a}:${b}:${c}:${site}::/56`, times: 2 },
    { network: `${a}:${b}:${c}::/48`, times: 4, gate: 'NETWORK_LIMITER' },
    { network: `${a}:${b}::/32`, times: 6, gate: 'PROVIDER_LIMITER' },
  ];
}
