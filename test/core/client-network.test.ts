import fc from 'fast-check';
import { expect, it } from 'vitest';
import { ipv6Prefix, networksOf, requestClient } from '../../src/core/client-network.ts';
import { eachResult, eachScene, eachText } from '../kit/scenes.ts';

const keyOf = (headers: Readonly<Record<string, string>>) =>
  requestClient({ get: (name) => headers[name] ?? null });

eachResult(`
  203.0.113.9           | 203.0.113.9 | ::ffff:203.0.113.9
  2001:db8:1:2::/64     | 2001:db8:1:2:3:4:5:6 | 2001:DB8:0001:0002::
  2001:db8:0:0::/64     | 2001:db8:: | 2001:db8::1
  0:0:0:0::/64          | ::1
  2a06:98c0:3600:0::/64 | 2a06:98c0:3600::104
`)('the address %s has the client key %s', (ip, key) => {
  expect(keyOf({ 'cf-connecting-ip': ip, 'cf-worker': 'shop.example' })).toBe(key);
});

it.each([
  ['shop.example', 'workers shop.example'],
  ['A\u202eb<.example', 'workers ab.example'],
  ['', 'workers '],
])('a Worker of the domain %j, whose address all Workers share, has the client key %j', (domain, key) => {
  expect(keyOf({ 'cf-connecting-ip': '2a06:98c0:3600::103', 'cf-worker': domain })).toBe(key);
});

const hex = (groups: readonly number[]): string => groups.map((n) => n.toString(16)).join(':');
const keyFor = (groups: readonly number[]): string => `${hex(groups.slice(0, 4))}::/64`;

it('every spelling of one IPv6 address has the client key of its /64', () => {
  const group = fc.integer({ min: 0, max: 0xffff });
  fc.assert(
    fc.property(
      fc.array(group, { minLength: 8, maxLength: 8 }),
      fc.integer({ min: 0, max: 7 }),
      (groups, at) => {
        const key = keyFor(groups);
        const long = groups.map((n) => n.toString(16).padStart(4, '0')).join(':');
        const canonical = URL.parse(`http://[${long}]/`)?.hostname.slice(1, -1) ?? '';
        const zeroed = groups.map((n, index) => (index >= at ? 0 : n));
        const shortened = `${hex(zeroed.slice(0, at))}::`;
        expect(ipv6Prefix(long)).toBe(key);
        expect(ipv6Prefix(long.toUpperCase())).toBe(key);
        if (!/::ffff:\d+\./.test(canonical)) expect(ipv6Prefix(canonical)).toBe(key);
        expect(ipv6Prefix(shortened)).toBe(keyFor(zeroed));
      },
    ),
  );
});

eachText(`
  x-forwarded-for | x-real-ip | true-client-ip | forwarded | client-ip | cf-connecting-ipv6
`)('the header %s does not change the client key', (name) => {
  const honest = { 'cf-connecting-ip': '203.0.113.9' };
  expect(keyOf({ ...honest, [name]: '198.51.100.7' })).toBe('203.0.113.9');
  expect(keyOf({ [name]: '198.51.100.7' })).toBe('local');
});

eachScene(`
  192.0.2.7             | 192.0.2.7 x1, 192.0.2.0/24 x2
  2001:db8:1:2::/64     | 2001:db8:1:2::/64 x1, 2001:db8:1:0::/56 x2, 2001:db8:1::/48 x4, 2001:db8::/32 x6
  2001:db8:1:ab34::/64  | 2001:db8:1:ab34::/64 x1, 2001:db8:1:ab00::/56 x2, 2001:db8:1::/48 x4, 2001:db8::/32 x6
  2001:db8::1:2::/64    | 2001:db8::1:2::/64 x1
  workers example.com   | workers example.com x1, workers x6
  local                 | local x1
`)(
  'the client key %s belongs to these networks, each with its multiple of a limit: %s',
  (client = '', networks) => {
    const found = networksOf(client).map(({ network, times }) => `${network} x${times}`);
    expect(found.join(', ')).toBe(networks);
  },
);
