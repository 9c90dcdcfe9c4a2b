import fc from 'fast-check';
import { Hono } from 'hono';
import { expect, it } from 'vitest';
import { ipv6Prefix, requestClient } from '../../src/core/client-network.ts';
import { clientKey } from '../../src/http/rate-limit.ts';
import { eachText } from '../kit/scenes.ts';

async function keyOf(headers: Record<string, string>) {
  const app = new Hono().get('/', (c) => c.text(clientKey(c)));
  return (await app.request('/', { headers })).text();
}

it('an IPv4 caller is identified by the whole address', async () => {
  expect(await keyOf({ 'cf-connecting-ip': '203.0.113.9' })).toBe('203.0.113.9');
});

it.each([
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
  ['2001:DB8:0001:0002::', '2001:db8:1:2::/64'],
  ['2001:db8::', '2001:db8:0:0::/64'],
  ['2001:db8::1', '2001:db8:0:0::/64'],
  ['::1', '0:0:0:0::/64'],
  ['2a06:98c0:3600::104', '2a06:98c0:3600:0::/64'],
])('the IPv6 address %s has the client key %s', async (ip, key) => {
  expect(await keyOf({ 'cf-connecting-ip': ip })).toBe(key);
});

it.each([
  ['shop.example', 'workers shop.example'],
  ['A\u202eb<.example', 'workers ab.example'],
  ['', 'workers '],
])('a Worker of the domain %j, whose address all Workers share, has the client key %j', (domain, key) => {
  const headers = new Headers({ 'cf-connecting-ip': '2a06:98c0:3600::103' });
  const get = (name: string) => (name === 'cf-worker' ? domain : headers.get(name));
  expect(requestClient({ get })).toBe(key);
});

it('the domain of a Worker is ignored for any other address', async () => {
  expect(await keyOf({ 'cf-connecting-ip': '203.0.113.9', 'cf-worker': 'shop.example' })).toBe('203.0.113.9');
});

it('an IPv4 address written as IPv6 has its own client key, not one shared with all others', async () => {
  expect(await keyOf({ 'cf-connecting-ip': '::ffff:203.0.113.9' })).toBe('203.0.113.9');
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
`)('the header %s does not change the client key', async (name) => {
  const honest = { 'cf-connecting-ip': '203.0.113.9' };
  expect(await keyOf({ ...honest, [name]: '198.51.100.7' })).toBe('203.0.113.9');
  expect(await keyOf({ [name]: '198.51.100.7' })).toBe('local');
});
