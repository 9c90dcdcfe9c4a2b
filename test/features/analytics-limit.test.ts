import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { CALL_LIMITS } from '../../src/core/call-limits.ts';

const wrangler = readFileSync(join(import.meta.dirname, '../../wrangler.toml'), 'utf8');

it('shows callers the limit that is configured', () => {
  const [, limit, period] = /name = "LIMITER"[\s\S]*?limit = (\d+), period = (\d+)/.exec(wrangler) ?? [];
  const { quota, windowSeconds } = CALL_LIMITS.requests_per_minute;
  expect([Number(limit), Number(period)]).toEqual([quota, windowSeconds]);
});
