import { expect, it } from 'vitest';
import { networksOf } from '../../src/core/client-network.ts';

it.each([
  ['192.0.2.7', ['192.0.2.7', '192.0.2.0/24']],
  ['2001:db8:1:2::/64', ['2001:db8:1:2::/64', '2001:db8:1:0::/56', '2001:db8:1::/48', '2001:db8::/32']],
  [
    '2001:db8:1:ab34::/64',
    ['2001:db8:1:ab34::/64', '2001:db8:1:ab00::/56', '2001:db8:1::/48', '2001:db8::/32'],
  ],
  ['workers example.com', ['workers example.com', 'workers']],
  ['local', ['local']],
])('the client key %s belongs to the networks %j', (client, networks) => {
  expect(networksOf(client).map(({ network }) => network)).toEqual(networks);
});

it('wider networks get two, four and six times the limit of one client', () => {
  expect(networksOf('2001:db8::1:2::/64').map(({ times }) => times)).toEqual([1]);
  expect(networksOf('2001:db8:0:0::/64').map(({ times }) => times)).toEqual([1, 2, 4, 6]);
});
