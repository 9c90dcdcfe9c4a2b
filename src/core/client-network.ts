/**
 * Networks that a client is counted under. One subscriber owns a whole IPv6 prefix, and one customer of a host many
 * addresses, so a limit on the address alone does not hold for such a client.
 * @module
 */

/** The network's name and how many times the limit of one client it has. */
export type NetworkLevel = { readonly network: string; readonly times: number };

/**
 * The networks of a client, the narrowest first: IPv4 by address and /24, IPv6 by /64, /56 and /48.
 * @param client as `clientKey` names it: an IPv4 address or an IPv6 /64
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

/** Clients that a shared budget is meant for at the same time. */
const SHARES = 8;
const LEAST_SHARE = 2;

/**
 * What one client may use of a budget that all share: an eighth of what others have left, and never less than two.
 * @param used by all, the client included
 * @param own  used by the client
 */
export const fairShare = (maximum: number, used: number, own: number): number =>
  Math.max(LEAST_SHARE, Math.floor((maximum - used + own) / SHARES));
