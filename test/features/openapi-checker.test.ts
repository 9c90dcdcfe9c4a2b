import { describe, expect, it } from 'vitest';
import { apiDocument } from '../../scripts/documents/api-document.ts';
import { createApp, type Deps } from '../../src/app.ts';
import { ERRORS } from '../../src/core/errors.ts';
import { createDocumentChecker } from '../e2e/document-checker.ts';

const noDeps = (): Deps => {
  throw new Error('routes are listed, not called');
};
const checker = createDocumentChecker(apiDocument(createApp(noDeps), ERRORS, {}, ''));
const json = { 'content-type': 'application/json', 'x-request-id': 'r-1' };
const answer = (status: number, body: unknown, headers: Record<string, string> = json) =>
  checker.violations({
    operationId: 'getSwapStatus',
    method: 'GET',
    status,
    headers: new Headers(headers),
    text: typeof body === 'string' ? body : JSON.stringify(body),
  });

const swap = {
  id: 'x',
  status: 'waiting',
  amountSol: 0.5,
  btcSats: null,
  detail: 'sent',
  reason: null,
  amountLamports: '500000000',
  expectedSatoshis: '62000',
  btcSatoshis: null,
  txId: null,
  nextPollSeconds: 5,
};
const problem = {
  error_code: 'NOT_FOUND',
  error: 'Nothing.',
  action: 'check_id',
  request_id: 'r-1',
  retryable: false,
};

// The checks on which the run over the whole service relies: each of these responses fails it.
describe('an answer that differs from the document is found', () => {
  it('a response that matches the document is passed', () => {
    expect(answer(200, swap)).toEqual([]);
    expect(answer(404, problem)).toEqual([]);
    expect(answer(304, '')).toEqual([]);
  });

  it.each([
    ['an undeclared status', () => answer(418, problem)],
    ['an undeclared 5xx', () => answer(501, problem)],
    ['a code that this status does not have', () => answer(404, { ...problem, error_code: 'RATE_LIMITED' })],
    ['a 5xx without a code', () => answer(500, { error: 'oops' })],
    ['a member that is missing', () => answer(200, { ...swap, detail: undefined })],
    ['an undeclared member', () => answer(200, { ...swap, more: 1 })],
    ['an undeclared member of an error', () => answer(404, { ...problem, stack: 'at x' })],
    ['a null where null is not allowed', () => answer(200, { ...swap, amountLamports: null })],
    ['a number as text', () => answer(200, { ...swap, btcSats: '12' })],
    ['a value outside the enum', () => answer(200, { ...swap, status: 'sent' })],
    ['HTML', () => answer(200, '<html>', { ...json, 'content-type': 'text/html' })],
    ['half an answer', () => answer(200, '{"id":')],
    ['a body where none is declared', () => answer(304, '{}')],
    ['an answer without a request id', () => answer(200, swap, { 'content-type': 'application/json' })],
    ['a wait in the body only', () => answer(500, { ...problem, error_code: 'INTERNAL', retry_after_s: 3 })],
  ])('%s', (_what, violations) => {
    expect(violations()).not.toEqual([]);
  });
});
