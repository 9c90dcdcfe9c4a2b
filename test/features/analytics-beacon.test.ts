import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { runInNewContext } from 'node:vm';
import { expect, it } from 'vitest';
import { eachRow } from '../kit/scenes.ts';

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

eachRow<[navigator: object, bodies: object[]]>(`
  {}                                                    | [{ "path": "/reserves", "referrer": "" }]
  { "doNotTrack": null }                                | [{ "path": "/reserves", "referrer": "" }]
  { "doNotTrack": "0", "globalPrivacyControl": false }  | [{ "path": "/reserves", "referrer": "" }]
  { "doNotTrack": "1" }                                 | []
  { "doNotTrack": "yes" }                               | []
  { "globalPrivacyControl": true }                      | []
`)('with the wishes %j of the visitor and no referrer, the beacon sends %j', (navigator, bodies) => {
  expect(run({ navigator }).sent.map(({ init }) => JSON.parse(init.body))).toEqual(bodies);
});

it('the beacon counts a prerendered page when the browser shows it, not before', () => {
  const { sent, show } = run({ prerendering: true });
  expect(sent).toEqual([]);
  show();
  expect(sent).toHaveLength(1);
});
