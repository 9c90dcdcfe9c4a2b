import { describe, expect, it } from 'vitest';
import { failureOf } from '../../site/api/call.ts';
import { Identifier } from '../../site/parts/copyable.tsx';
import { Away, BitcoinTransaction, SolanaTransaction } from '../../site/parts/explorer-links.tsx';
import { NostrPost } from '../../site/parts/nostr-post.tsx';
import { Failed } from '../../site/parts/notice.tsx';
import { PoolCard } from '../../site/parts/pools-live.tsx';
import { StatusReport } from '../../site/parts/status-live.tsx';
import { TokenFacts } from '../../site/parts/token-detail.tsx';
import { EMPTY_DRAFT } from '../../site/parts/token-draft.ts';
import { TokenPreview } from '../../site/parts/token-form.tsx';
import { TokenTile } from '../../site/parts/token-list.tsx';
import { Description, Foreign, Initial, linkIn } from '../../site/parts/token-text.tsx';
import { VisitorReport } from '../../site/parts/visitors-live.tsx';
import { exampleOf } from '../kit/example.ts';
import { HOSTILE_TEXTS, postOf, tokenOf, withText } from './hostile-texts.ts';

/** Pools come from another service, whose numbers may be texts. */
const pool = (text: string) => {
  const { data } = exampleOf('getPool');
  return withText({ data: { ...data, feeRate: 'x', tokenA: { ...data.tokenA, decimals: 'x' } } }, text);
};
const status = (text: string): Parameters<typeof StatusReport>[0]['status'] => {
  const { custody, ...real } = exampleOf('getStatus');
  const { mint } = custody;
  return withText({ ...real, custody: { ...custody, paused: 'x', mint: { ...mint, reason: 'x' } } }, text);
};

const failure = (text: string) =>
  failureOf({
    kind: 'refused',
    status: 500,
    error_code: text as 'INTERNAL',
    error: text,
    action: text as 'none',
    request_id: text,
    retryable: true,
  });

/** Every part of the site that shows texts of unknown authors. */
const SHOWN: readonly (readonly [string, (text: string) => unknown])[] = [
  ['a post', (text) => NostrPost({ post: postOf(text), isOwn: false })],
  ['a token in a list', (text) => TokenTile({ token: tokenOf(text) })],
  ['a token on its page', (text) => TokenFacts({ token: { ...tokenOf(text), description: 'x' } })],
  [
    'a token that is being made',
    (text) =>
      TokenPreview({ draft: { ...EMPTY_DRAFT, name: text, symbol: text }, src: null, isLinked: false }),
  ],
  ['the visitors', (text) => VisitorReport({ stats: withText(exampleOf('getAnalyticsStats'), text) })],
  ['a pool', (text) => PoolCard({ pool: pool(text), headers: null })],
  ['the status', (text) => StatusReport({ bitcoin: null, status: status(text) })],
  ['a failure', (text) => Failed({ failure: failure(text) })],
  ['an identifier', (text) => Identifier({ text, label: text })],
  ['a Solana transaction', (text) => SolanaTransaction({ signature: text })],
  ['a Bitcoin transaction', (text) => BitcoinTransaction({ txid: text })],
  ['a link of an unknown author', (text) => Away({ href: text, children: text })],
  ['a name', (text) => Foreign({ text })],
  ['an initial', (text) => Initial({ symbol: text, seed: text })],
];

/** Tags that the site itself writes in these parts. */
const OWN_TAGS =
  /^(a|article|bdi|br|button|circle|code|dd|details|div|dl|dt|fieldset|figcaption|figure|g|h1|h2|h3|legend|li|p|path|rect|section|span|strong|summary|svg|table|tbody|td|text|th|thead|time|tr|ul)$/;
/** Attributes with a URL or code, and their allowed values. */
const HREF = /^(https:\/\/|\/|#)/;

/** Tags that a browser's parser would find; escaped text contains none. */
function tagsOf(html: string) {
  return [...html.matchAll(/<([a-zA-Z][^\s/>]*)((?:[^>"]|"[^"]*")*)>/g)].map(([, name = '', rest = '']) => ({
    name,
    attributes: [...rest.matchAll(/([^\s=]+)(?:="([^"]*)")?/g)].map(([, key = '', value = '']) => ({
      key,
      value,
    })),
  }));
}

/** The names of the tags, all of which the site itself may have written. */
function namesOf(html: string): string[] {
  return tagsOf(html).map(({ name, attributes }) => {
    expect(name).toMatch(OWN_TAGS);
    for (const { key, value } of attributes) {
      expect(key.toLowerCase()).not.toMatch(/^on|^style$|^srcdoc$|^src$/);
      if (key === 'href') expect(value).toMatch(HREF);
    }
    return name;
  });
}

describe.each(SHOWN)('%s', (_name, show) => {
  it.each(HOSTILE_TEXTS.map((text) => [text]))('shows the hostile text %j only as text', (text) => {
    expect(namesOf(String(show(text)))).toEqual(namesOf(String(show('harmless'))));
  });
});

it.each(HOSTILE_TEXTS.map((text) => [text]))(
  'shows the hostile description %j as text and its link',
  (text) => {
    const folded = ['details', 'summary', 'bdi', 'p', 'bdi'];
    const shapes = [['p', 'bdi'], folded].flatMap((shape) => [
      shape,
      [...shape, 'p', 'a', 'bdi', 'span', 'span'],
    ]);
    expect(shapes).toContainEqual(namesOf(String(Description({ text }))));
  },
);

it.each([
  ['see https://otter.example/club, or ask', 'https://otter.example/club'],
  ['(https://otter.example).', 'https://otter.example/'],
  ['https://оtter.example/a', 'https://xn--tter-45d.example/a'],
  ['https://phantom.app@evil.example/', null],
  ['http://otter.example', null],
  ['javascript:alert(1)', null],
  ['https://', null],
  ['https://%', null],
])('of the description %j the page links to %s', (text, link) => {
  expect(linkIn(text)?.href ?? null).toBe(link);
});

it('a long description is folded, so that it cannot push a warning out of view', () => {
  expect(String(Description({ text: 'A short text.' }))).not.toContain('<details');
  for (const text of ['x'.repeat(181), 'a\nb']) expect(String(Description({ text }))).toContain('<details');
});

it('only web addresses become links', () => {
  const linked = (href: string) => String(Away({ href, children: 'x' })).includes('href=');
  expect(linked('https://example.com/a')).toBe(true);
  expect(linked('http://example.com/a')).toBe(true);
  for (const href of [
    'javascript:1',
    ' javascript:1',
    'data:text/html,1',
    '//evil.example',
    'https:',
    'blob:https://a',
  ])
    expect(linked(href)).toBe(false);
});
