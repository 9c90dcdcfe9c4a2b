import { expect, it } from 'vitest';
import { isPath, pathOf, referrerOf } from '../../src/features/analytics/count-pageview.ts';
import { scenes } from '../kit/scenes.ts';

it.each(['/', '/a/b', '/a?b=c', '/été/日本語', '/%2F%2Fevil', '/a//b', '/🙂', '/a<script>'])(
  'accepts %j as a path',
  (path) => {
    expect(isPath(path)).toBe(true);
  },
);

it.each([
  ['empty', ''],
  ['without a slash', 'a'],
  ['an address', 'https://evil.example/'],
  ['with a line break', '/a\nb'],
  ['with a null', '/a\0b'],
  ['with an escape', '/a\u001b[31m'],
  ['with a C1 control', '/a\u0085b'],
  ['with a line separator', '/a\u2028b'],
  ['with reordered text', '/a\u202egpj.exe'],
  ['with half a character', '/a\ud800b'],
])('refuses an invalid path: %s', (_name, path) => {
  expect(isPath(path)).toBe(false);
});

it.each(['//evil.example/a', '/\\evil.example/a', '///evil.example/a'])(
  'treats %s as a path of this site, not as another host',
  (path) => {
    expect(isPath(path)).toBe(true);
    expect(pathOf(path)).toBe('/evil.example/a');
  },
);

it('removes the query and the fragment from a path', () => {
  expect(pathOf('/a/b?token=secret#x')).toBe('/a/b');
  expect(pathOf('/a#x?y')).toBe('/a');
  expect(pathOf('/a')).toBe('/a');
});

it.each([
  ['ASCII', `/${'a'.repeat(252)}`, `/${'a'.repeat(253)}`, `/${'a'.repeat(252)}…`],
  ['three bytes a character', `/${'漢'.repeat(84)}`, `/${'漢'.repeat(85)}`, `/${'漢'.repeat(84)}…`],
  ['surrogate pairs', `/${'🙂'.repeat(63)}`, `/${'🙂'.repeat(64)}`, `/${'🙂'.repeat(63)}…`],
])('cuts a path of more than 253 bytes at a character boundary: %s', (_name, longest, longer, cut) => {
  expect(pathOf(longest)).toBe(longest);
  expect(pathOf(longer)).toBe(cut);
  expect(new TextEncoder().encode(cut).length).toBeLessThanOrEqual(256);
});

it.each([
  ['https://example.com/a?q=secret#x', 'https://example.com/a', 'example.com'],
  ['https://user:pass@example.com/a', 'https://example.com/a', 'example.com'],
  ['HTTP://EXAMPLE.com:8080/', 'http://example.com:8080/', 'example.com:8080'],
  ['https://bücher.example/é', 'https://xn--bcher-kva.example/%C3%A9', 'xn--bcher-kva.example'],
  [`https://example.com/${'a'.repeat(242)}`, `https://example.com/${'a'.repeat(242)}`, 'example.com'],
  [`https://example.com/${'a'.repeat(243)}`, 'https://example.com/', 'example.com'],
])('stores the referrer %s as %s', (text, url, host) => {
  expect(referrerOf(text)).toEqual({ url, host });
});

it.each([
  ...scenes(`
  example.com | //evil.example | javascript:alert(1) | data:text/html,x | android-app://com.x/ | http://
`).flat(),
  '',
])('does not store the referrer %j, which is not a web page', (text) => {
  expect(referrerOf(text)).toBeUndefined();
});
