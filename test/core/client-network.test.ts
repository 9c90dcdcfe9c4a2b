import { expect, it } from 'vitest';
import { fairShare, networksOf } from '../../src/core/client-network.ts';

it.each([
  ['192.0.2.7', ['192.0.2.7', '192.0.2.0/24']],
  ['2001:db8:1:2::/64', ['2001:db8:1:2::/64', '2001:db8:1:0::/56', '2001:db8:1::/48']],
  ['2001:db8:1:ab34::/64', ['2001:db8:1:ab34::/64', '2001:db8:1:ab00::/56', '2001:db8:1::/48']],
  ['local', ['local']],
])('the client key %s belongs to the networks %j', (client, networks) => {
  expect(networksOf(client).map(({ network }) => network)).toEqual(networks);
});

it('wider networks get two and four times the limit of one client', () => {
  expect(networksOf('2001:db8::1:2::/64').map(({ times }) => times)).toEqual([1]);
  expect(networksOf('2001:db8:0:0::/64').map(({ times }) => times)).toEqual([1, 2, 4]);
});

it('fairShare is an eighth of the budget that other clients have not used, and never less than two', () => {
  expect(fairShare(80, 0, 0)).toBe(10);
  expect(fairShare(80, 10, 10)).toBe(10);
  expect(fairShare(80, 72, 0)).toBe(2);
  expect(fairShare(80, 80, 0)).toBe(2);
});

it('fairShare leaves part of a budget for others when seven clients take all they can', () => {
  let used = 0;
  for (let client = 0; client < 7; client++) {
    let own = 0;
    while (used < 80 && own < fairShare(80, used, own)) {
      own++;
      used++;
    }
  }
  expect(used).toBeLessThan(60);
});
