/**
 * Validation messages in the words of the HTTP API instead of zod's: "must be text", not "expected string, received
 * undefined".
 * @module
 */

import type { z } from '@hono/zod-openapi';
import { utf8ToBytes } from '@noble/hashes/utils.js';

/** Unknown members that one message names. */
const MAX_NAMES = 5;

type RawIssue = Parameters<NonNullable<z.core.$ZodConfig['customError']>>[0];

const KINDS: Readonly<Record<string, string>> = {
  string: 'text',
  number: 'a number',
  int: 'an integer',
  bigint: 'an integer',
  boolean: 'true or false',
  object: 'a JSON object',
  array: 'a list',
};

const FORMATS: Readonly<Record<string, string>> = {
  datetime: 'an ISO 8601 time in UTC such as 2026-11-20T00:00:00.000Z',
  date: 'a date such as 2026-11-20',
  uuid: 'a UUID',
  url: 'a URL',
};

const grouped = (value: number | bigint): string => String(value).replace(/\B(?=(\d{3})+$)/g, ',');

/** Sizes of texts count characters; other sizes are the number itself. */
function sizeOf(issue: Extract<RawIssue, { code: 'too_big' | 'too_small' }>): string {
  const bound = issue.code === 'too_big' ? issue.maximum : issue.minimum;
  const most = issue.code === 'too_big' ? 'at most' : 'at least';
  if (issue.origin !== 'string' || typeof issue.input !== 'string')
    return `must be ${most} ${grouped(bound)}`;
  if (issue.input === '') return 'must not be empty';
  return `is ${grouped(issue.input.length)} characters long; ${most} ${grouped(bound)}`;
}

/** Undefined keeps zod's own message, for issues that no request can raise. */
export function inCallerWords(issue: RawIssue): string | undefined {
  switch (issue.code) {
    case 'invalid_type':
      return issue.input === undefined ? 'is required' : `must be ${KINDS[issue.expected] ?? issue.expected}`;
    case 'invalid_value':
      return issue.input === undefined
        ? 'is required'
        : `must be one of ${issue.values.map(String).join(', ')}`;
    case 'unrecognized_keys':
      return `Unknown member: ${issue.keys
        .slice(0, MAX_NAMES)
        .map((name) => JSON.stringify(name))
        .join(', ')}. Send only the documented ones.`;
    case 'too_big':
    case 'too_small':
      return sizeOf(issue);
    case 'invalid_format':
      return `must be ${FORMATS[issue.format] ?? 'in the documented format'}`;
    default:
      return undefined;
  }
}

/** The message for a text that is too long in bytes of UTF-8, the unit of wallets and the chain. */
export const tooManyBytes = (text: string, maximum: number): string =>
  `is ${grouped(utf8ToBytes(text.toWellFormed()).length)} bytes long; at most ${grouped(maximum)}`;
