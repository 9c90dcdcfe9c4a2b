import { Hono } from 'hono';
import { expect, it } from 'vitest';
import {
  countPageview,
  isCrawler,
  isPath,
  pathOf,
  readIp,
  referrerOf,
  visitorIp,
  visitorOf,
} from '../../src/features/analytics/count-pageview.ts';
import type { View } from '../../src/features/analytics/page-views-store.ts';
import { redactIp, visitorKey } from '../../src/features/analytics/page-views-store.ts';
import { eachResult } from '../kit/scenes.ts';

/** A cell in the notation of JSON. */
const plain = (cell: string): string => JSON.parse(`"${cell}"`);

eachResult(String.raw`
  203.0.113.9     | 203.0.113.9 | \u0020203.0.113.9\u0020 | ::ffff:203.0.113.9
  255.255.255.255 | 255.255.255.255
  2001:db8::1     | 2001:DB8:0:0:0:0:0:1
  ::1             | ::1
  none            | | unknown | 256.1.1.1 | 1.2.3 | 1.2.3.4.5 | 1.2.3.4. | 01.2.3.4:80 | 1.2.3.4\n5
    | 2001:db8::1::2 | [::1] | : | <script> | ${'1:'.repeat(60)}1
`)('the text "%s" is read as the IP address %s', (text, ip) => {
  expect(readIp(plain(text)) ?? 'none').toBe(ip);
});

async function ipOf(headers: Record<string, string>) {
  const app = new Hono().get('/', (c) => c.json(visitorIp(c)));
  return (await app.request('/', { headers })).json();
}

const ALL = {
  'cf-connecting-ip': '203.0.113.1',
  'x-forwarded-for': '203.0.113.2, 203.0.113.20',
  'x-real-ip': '203.0.113.3',
};

it('a page view uses CF-Connecting-IP, then the first hop of X-Forwarded-For, then X-Real-IP', async () => {
  const { 'cf-connecting-ip': _first, ...withoutFirst } = ALL;
  const { 'x-forwarded-for': _second, ...lastOnly } = withoutFirst;
  expect(await ipOf(ALL)).toBe('203.0.113.1');
  expect(await ipOf(withoutFirst)).toBe('203.0.113.2');
  expect(await ipOf(lastOnly)).toBe('203.0.113.3');
  expect(await ipOf({})).toBeNull();
});

it('skips an address header that contains no valid address', async () => {
  expect(await ipOf({ ...ALL, 'cf-connecting-ip': 'unknown' })).toBe('203.0.113.2');
  expect(await ipOf({ 'x-forwarded-for': '_hidden, 203.0.113.2', 'x-real-ip': '203.0.113.3' })).toBe(
    '203.0.113.3',
  );
});

eachResult(`
  203.0.113.0/24     | 203.0.113.77
  2001:db8:1234::/48 | 2001:db8:1234:5678::1
  0:0:0::/48         | ::1
`)('the public list shows the address %s as %s', (ip, shown) => {
  expect(redactIp(ip)).toBe(shown);
});

const SALT = 'a'.repeat(64);

it('a visitor has the same key all day, and a different key with a different salt', () => {
  const visitor = visitorOf('203.0.113.1', 'Firefox');
  expect(visitorKey(SALT, visitor)).toBe(visitorKey(SALT, visitorOf('203.0.113.1', 'Firefox')));
  expect(visitorKey(SALT, visitor)).toMatch(/^[0-9a-f]{32}$/);
  expect(visitorKey(SALT, visitor)).not.toBe(visitorKey('b'.repeat(64), visitor));
});

it('treats a different address or a different browser as a different visitor', () => {
  const visitors = [
    visitorOf('203.0.113.1', 'Firefox'),
    visitorOf('203.0.113.2', 'Firefox'),
    visitorOf('203.0.113.1', 'Safari'),
    visitorOf(null, 'Firefox'),
  ];
  expect(new Set(visitors).size).toBe(visitors.length);
  expect(new Set(visitors.map((visitor) => visitorKey(SALT, visitor))).size).toBe(visitors.length);
});

it('treats IPv6 addresses that differ only in their last 64 bits as one visitor', () => {
  expect(visitorOf('2001:db8:1:2::1', 'Firefox')).toBe(visitorOf('2001:db8:1:2:ffff::9', 'Firefox'));
  expect(visitorOf('2001:db8:1:2::1', 'Firefox')).not.toBe(visitorOf('2001:db8:1:3::1', 'Firefox'));
});

/** Objects that collect what they receive. */
const collectors = (count: number) => {
  const received = Array.from({ length: count }, (): (View | null)[] => []);
  return {
    received,
    objects: received.map((views) => ({ add: async (view: View | null) => views.push(view) > 0 })),
  };
};

const FIREFOX = 'Mozilla/5.0 (X11; Linux x86_64; rv:130.0) Gecko/20100101 Firefox/130.0';

it.each([1, 2, 5])(
  'sends all views of a visitor to the same one of %d objects, and spreads visitors over all of them',
  async (count) => {
    const { received, objects } = collectors(count);
    const deps = { pageViews: () => objects, siteHost: undefined };
    for (let n = 0; n < 60; n++)
      await countPageview(deps, { path: '/', referrer: '', ip: `10.0.0.${n % 20}`, userAgent: FIREFOX });
    const ips = received.map((views) => [...new Set(views.map((view) => view?.ip))]);
    expect(ips.flat()).toHaveLength(20);
    expect(ips.every(({ length }) => length > 0)).toBe(true);
  },
);

eachResult(`
  a crawler
    | Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)
    | Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; GPTBot/1.2; +https://openai.com/gptbot)
    | Mozilla/5.0 (compatible; bingbot/2.0) | Mozilla/5.0 (compatible; YandexBot/3.0)
    | Baiduspider+(+http://www.baidu.com/search/spider.htm) | facebookexternalhit/1.1
    | Mozilla/5.0 (compatible; archive.org_bot) | UptimeRobot/2.0 | ia_archiver | Twitterbot/1.0
    | Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko); compatible; ChatGPT-User/1.0; +https://openai.com/bot
    | Claude-User/1.0 | Perplexity-User/1.0 | meta-externalagent/1.1 | MistralAI-User/1.0
    | Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) HeadlessChrome/126.0.0.0 Safari/537.36
    | CCBot/2.0 (https://commoncrawl.org/faq/)
  a visitor
    | | Mozilla/5.0 (X11; Linux x86_64; rv:130.0) Gecko/20100101 Firefox/130.0
    | Mozilla/5.0 (Linux; Android 13; CUBOT P80) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0.0.0 Mobile Safari/537.36
    | node | node-fetch/1.0 (+https://github.com/bitinn/node-fetch) | curl/8.5.0 | python-requests/2.32.3
    | Python/3.12 aiohttp/3.10.5 | Apache-HttpClient/4.5.14 (Java/17.0.9) | Go-http-client/2.0 | axios/1.7.7
    | okhttp/4.12.0
`)('treats the user agent "%s" as %s', (userAgent, who) => {
  expect(isCrawler(userAgent)).toBe(who === 'a crawler');
});

eachResult(String.raw`
  a path  | / | /a/b | /a?b=c | /été/日本語 | /%2F%2Fevil | /a//b | /🙂 | /a<script>
  no path | | a | https://evil.example/ | /a\nb | /a\u0000b | /a\u001b[31m | /a\u0085b | /a\u2028b
    | /a\u202egpj.exe | /a\ud800b
`)('"%s" is %s', (text, verdict) => expect(isPath(plain(text))).toBe(verdict === 'a path'));

const bytes = (character: string, count: number) => `/${character.repeat(count)}`;
eachResult(String.raw`
  /a                     | /a | /a#x?y
  /a/b                   | /a/b?token=secret#x
  /evil.example/a        | //evil.example/a | /\\evil.example/a | ///evil.example/a
  ${bytes('a', 252)}     | ${bytes('a', 252)}
  ${bytes('a', 252)}…    | ${bytes('a', 253)}
  ${bytes('漢', 84)}     | ${bytes('漢', 84)}
  ${bytes('漢', 84)}…    | ${bytes('漢', 85)}
  ${bytes('🙂', 63)}     | ${bytes('🙂', 63)}
  ${bytes('🙂', 63)}…    | ${bytes('🙂', 64)}
`)('stores the path %s as %s, which stays on this site and has at most 256 bytes', (text, path) => {
  expect([isPath(plain(text)), pathOf(plain(text))]).toEqual([true, path]);
  expect(new TextEncoder().encode(path).length).toBeLessThanOrEqual(256);
});

const LONG = 'https://example.com/'.padEnd(262, 'a');
eachResult(`
  https://example.com/a of example.com | https://example.com/a?q=secret#x | https://user:pass@example.com/a
  http://example.com:8080/ of example.com:8080 | HTTP://EXAMPLE.com:8080/
  https://xn--bcher-kva.example/%C3%A9 of xn--bcher-kva.example | https://bücher.example/é
  ${LONG} of example.com | ${LONG}
  https://example.com/ of example.com | ${LONG}a
  none | | example.com | //evil.example | javascript:alert(1) | data:text/html,x | android-app://com.x/ | http://
`)('stores the referrer "%s" as %s', (text, stored) => {
  const referrer = referrerOf(text);
  expect(referrer ? `${referrer.url} of ${referrer.host}` : 'none').toBe(stored);
});
