/**
 * Computes the key under which limits count a client, and the networks whose limits also count its calls. A client's
 * address is never logged or stored in full. A subscriber owns a whole IPv6 prefix, and a hosting customer may own many
 * addresses. A limit per address alone would not bound them.
 * @module
 */

/**
 * The key under which limits count a client's calls.
 * @param address as set by the platform; IPv6 is reduced to its /64, because a subscriber owns all of it
 */
export function addressKey(address: string | null | undefined): string {
  // In IPv6 form, all IPv4 addresses share the same first 64 bits, so this form is removed.
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

/** The network's name, and its limit as a multiple of one client's. */
export type NetworkLevel = { readonly network: string; readonly times: number };

/**
 * The networks of a client, the narrowest first: IPv4 by address and /24, IPv6 by /64, /56 and /48.
 * @param client key from `addressKey`: an IPv4 address or an IPv6 /64
 */
export function networksOf(client: string): NetworkLevel[] {
  if (/^\d+\.\d+\.\d+\.\d+$/.test(client)) {
    return [
      { network: client, times: 1 },
      { network: `${client.split('.').slice(0, 3).join('.')}.0/24`, times: 2 },
    ];
  }
  const groups = /^([0-9a-f]+):([0-9a-f]+):([0-9a-f]+):([0-9a-f]+)::\/64$/.exec(client)?.slice(1);
  if (!groups) return [{ network: client, times: 1 }];
  const [a, b, c, d = '0'] = groups;
  const site = (Number.parseInt(d, 16) & 0xff00).toString(16);
  return [
    { network: client, times: 1 },
    { network: `${a}:${b}:${c}:${site}::/56`, times: 2 },
    { network: `${a}:${b}:${c}::/48`, times: 4 },
  ];
}

/** Number of concurrent clients that a shared budget is sized for. */
export const SHARES = 8;
export const LEAST_SHARE = 2;

/**
 * The share of one client in a common budget: an eighth of what the others have left, but at least two.
 * @param used by all clients, including this one
 * @param own  used by this client
 */
export const fairShare = (maximum: number, used: number, own: number): number =>
  Math.max(LEAST_SHARE, Math.floor((maximum - used + own) / SHARES));

/**
 * Whether every network of a client has room left in its share of a common budget.
 * @param total used by all clients
 * @param usedBy used by one network
 * @param most  the largest share of one client
 */
export function hasShare(
  client: string,
  maximum: number,
  total: number,
  usedBy: (network: string) => number,
  most: number = Number.POSITIVE_INFINITY,
): boolean {
  return networksOf(client).every(({ network, times }) => {
    const own = usedBy(network);
    return own < times * Math.min(most, fairShare(maximum, total, own));
  });
}

/** A common budget in memory, of which each network of a client gets a fair share. */
export class SharedBudget {
  readonly #maximum: number;
  readonly #windowMs: number | undefined;
  readonly #used = new Map<string, number>();
  #total = 0;
  #window = 0;

  /** @param windowMs after this time the whole budget is free again; absent if callers give back each unit */
  constructor(maximum: number, windowMs?: number) {
    this.#maximum = maximum;
    this.#windowMs = windowMs;
  }

  /** Takes one unit for a client; false if its share is used up. @param now Unix milliseconds */
  take(client: string, now: number): boolean {
    const window = this.#windowMs === undefined ? 0 : Math.floor(now / this.#windowMs);
    if (window !== this.#window) {
      this.#window = window;
      this.#total = 0;
      this.#used.clear();
    }
    const isLeft = hasShare(client, this.#maximum, this.#total, (network) => this.#used.get(network) ?? 0);
    if (isLeft) this.#add(client, 1);
    return isLeft;
  }

  /** Gives back a unit of this window. */
  giveBack(client: string): void {
    if (this.#used.has(client)) this.#add(client, -1);
  }

  #add(client: string, units: number): void {
    this.#total += units;
    for (const { network } of networksOf(client)) {
      const used = (this.#used.get(network) ?? 0) + units;
      if (used > 0) this.#used.set(network, used);
      else this.#used.delete(network);
    }
  }
}
