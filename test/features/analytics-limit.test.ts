import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { analyticsRoutes } from '../../src/features/analytics/routes.ts';

const wrangler = readFileSync(join(import.meta.dirname, '../../wrangler.toml'), 'utf8');

it('the limit that the page-view route documents is the one that is configured', () => {
  const [, limit, period] = /name = "LIMITER"[\s\S]*?limit = (\d+), period = (\d+)/.exec(wrangler) ?? [];
  const document = analyticsRoutes.getOpenAPIDocument({
    openapi: '3.0.3',
    info: { title: 't', version: '1' },
  });
  expect(period).toBe('60');
  expect(document.paths['/analytics/pageview']?.post?.description).toContain(`${limit} views a minute`);
});
