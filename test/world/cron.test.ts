import { describe, expect, test } from 'vitest';
import { cronMatches } from './cron.ts';

const at = (time: string) => new Date(`2026-11-20T${time}Z`);

describe('a cron expression', () => {
  test('a cron expression matches exactly the minutes that it names', () => {
    expect(cronMatches('* * * * *', at('13:37:00'))).toBe(true);
    expect(cronMatches('5 0 * * *', at('00:05:00'))).toBe(true);
    expect(cronMatches('5 0 * * *', at('00:06:00'))).toBe(false);
    expect(cronMatches('*/15 8-9 * * 5', at('09:45:00'))).toBe(true);
    expect(cronMatches('*/15 8-9 * * 5', at('10:45:00'))).toBe(false);
    expect(cronMatches('1,3 * 21 * *', at('10:03:00'))).toBe(false);
  });
});
