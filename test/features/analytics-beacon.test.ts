import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { runInNewContext } from 'node:vm';
import { expect, it } from 'vitest';

const file = join(import.meta.dirname, '../../site/public/beacon.js');
const script = readFileSync(file, 'utf8');

type Page = { pathname?: string; referrer?: string; navigator?: object; prerendering?: boolean };

/** Runs the beacon on a page; returns its requests and a function that shows a prerendered page. */
function run({ pathname = '/reserves', referrer = '', navigator = {}, prerendering = false }: Page) {
  const sent: { url: string; init: { method: string; headers: object; body: string } }[] = [];
  let show = () => {};
  runInNewContext(script, {
    navigator,
    location: { pathname },
    document: {
      referrer,
      prerendering,
      addEventListener: (name: string, listener: () => void) => {
        if (name === 'prerenderingchange') show = listener;
      },
    },
    fetch: async (url: string, init: (typeof sent)[number]['init']) => {
      sent.push({ url, init });
      throw new Error('offline');
    },
  });
  return { sent, show };
}

it('the beacon is smaller than 1 KB', () => {
  expect(statSync(file).size).toBeLessThan(1024);
});

it('the beacon posts path and referrer, without their queries, to its own origin', () => {
  const { sent } = run({ pathname: '/swap', referrer: 'https://example.com/a?token=secret#part' });
  expect(sent.map(({ url, init }) => [url, init.method, JSON.parse(init.body)])).toEqual([
    ['/api/analytics/pageview', 'POST', { path: '/swap', referrer: 'https://example.com/a' }],
  ]);
});

it('the beacon sends an empty referrer when the page has none', () => {
  const bodies = run({}).sent.map(({ init }) => JSON.parse(init.body));
  expect(bodies).toEqual([{ path: '/reserves', referrer: '' }]);
});

it.each([
  ['Do Not Track', { doNotTrack: '1' }],
  ['Do Not Track as Firefox once wrote it', { doNotTrack: 'yes' }],
  ['Global Privacy Control', { globalPrivacyControl: true }],
])('the beacon sends nothing under %s', (_name, navigator) => {
  expect(run({ navigator }).sent).toEqual([]);
});

it.each([
  ['said nothing', { doNotTrack: null }],
  ['allows it', { doNotTrack: '0', globalPrivacyControl: false }],
])('the beacon sends the page view when the visitor %s', (_name, navigator) => {
  expect(run({ navigator }).sent).toHaveLength(1);
});

it('the beacon counts a prerendered page when the browser shows it, not before', () => {
  const { sent, show } = run({ prerendering: true });
  expect(sent).toEqual([]);
  show();
  expect(sent).toHaveLength(1);
});
