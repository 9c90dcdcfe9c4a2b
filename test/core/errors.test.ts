import { expect, it } from 'vitest';
import { ERRORS, refusalError, upstreamFailed } from '../../src/core/errors.ts';

it.each(Object.entries(ERRORS))('the error %s has an HTTP status that fits its meaning', (code, entry) => {
  expect(code).toMatch(/^[A-Z][A-Z_]+$/);
  expect(entry.status).toBeGreaterThanOrEqual(400);
  expect(entry.status).toBeLessThan(600);
  expect(entry.meaning.length).toBeGreaterThan(10);
  // An error that only a changed request resolves must not be retryable.
  if (entry.action === 'fix_request') expect(entry.retryable).toBe(false);
  if (entry.action === 'retry_later') expect(entry.retryable).toBe(true);
});

it('a refusal with an unknown code from a newer custodian is retryable', () => {
  const code = 'CODE_OF_THE_NEXT_RELEASE' as 'NOT_FOUND';
  expect(refusalError({ code, message: 'No.' })).toMatchObject({
    code: 'CUSTODIAN_UNAVAILABLE',
    retryAfterSeconds: 30,
  });
});

it("the error of a failed upstream contains only the upstream's name and the reason", () => {
  const error = upstreamFailed('esplora-1', 'timeout', new Error('https://key@host'));
  expect(error.code).toBe('UPSTREAM_FAILED');
  expect(error.message).toBe('The upstream service esplora-1 failed.');
  expect(error.details).toEqual({ upstream: 'esplora-1', reason: 'timeout' });
});
