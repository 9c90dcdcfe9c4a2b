/**
 * Validation messages in the words of the HTTP API instead of zod's: "must be text", not "expected string, received
 * undefined".
 * @module
 */

import type { z } from '@hono/zod-openapi';
import { utf8ToBytes } from '@noble/hashes/utils.js';
import { grouped } from '../core/amount.ts';
import { numberText } from '../core/json.ts';

/** Maximum characters of the caller's own input in one message. */
const MAX_SHOWN = 40;
/** Maximum characters of that input with quotes and escapes. */
const MAX_QUOTED = 60;

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

/** Describes a broken size limit: in characters for a string, by value for a number. */
function sizeOf(issue: Extract<RawIssue, { code: 'too_big' | 'too_small' }>): string {
  const bound = issue.code === 'too_big' ? issue.maximum : issue.minimum;
  const most = issue.code === 'too_big' ? 'at most' : 'at least';
  if (issue.origin !== 'string' || typeof issue.input !== 'string')
    return `must be ${most} ${grouped(String(bound))}`;
  if (issue.input === '') return 'must not be empty';
  return `is ${grouped(String(issue.input.length))} characters long; ${most} ${grouped(String(bound))}`;
}

/** The message for an issue. Undefined keeps zod's own message, for issues that requests cannot cause. */
export function validationMessage(issue: RawIssue): string | undefined {
  switch (issue.code) {
    case 'invalid_type':
      return issue.input === undefined ? 'is required' : `must be ${KINDS[issue.expected] ?? issue.expected}`;
    case 'invalid_value':
      return issue.input === undefined
        ? 'is required'
        : `must be one of ${issue.values.map(String).join(', ')}`;
    case 'unrecognized_keys': {
      const [first = '', ...rest] = issue.keys;
      return `Unknown member: ${shown(first)}${rest.length > 0 ? ` and ${rest.length} more` : ''}. Send only the documented ones.`;
    }
    case 'too_big':
    case 'too_small':
      return sizeOf(issue);
    case 'invalid_format':
      return `must be ${FORMATS[issue.format] ?? 'in the documented format'}`;
    default:
      return 'must be as documented';
  }
}

/** The message for a string with too many bytes of UTF-8, the unit of wallets and the chain. */
export const tooManyBytes = (text: string, maximum: number): string =>
  `is ${grouped(String(utf8ToBytes(text.toWellFormed()).length))} bytes long; at most ${grouped(String(maximum))}`;

const shortened = (text: string, maximum: number): string =>
  text.length > maximum ? `${text.slice(0, maximum).toWellFormed()}…` : text.toWellFormed();

/** A request's value as a message shows it: quoted, and cut to about 60 characters. */
function shown(value: unknown): string {
  // Escapes of control characters are up to six characters long.
  if (typeof value === 'string') return shortened(JSON.stringify(shortened(value, MAX_SHOWN)), MAX_QUOTED);
  if (Array.isArray(value)) return 'a list';
  const number = numberText(value);
  if (number !== undefined) return shortened(number, MAX_SHOWN);
  return typeof value === 'object' && value !== null ? 'a JSON object' : shortened(String(value), MAX_SHOWN);
}

/** Matches messages that already describe the value or state that it is missing. */
const IS_COMPLETE =
  /^(?:is required$|must not be empty$|is [\d,]+ (?:bytes|characters) long; |Unknown member)/;

/**
 * A broken rule with the given value: `must be 1 to 100; "500" was given`. @param given undefined if it is
 * missing
 */
export function withGiven(rule: string, given: unknown): string {
  if (IS_COMPLETE.test(rule)) return rule;
  return given === undefined ? 'is required' : `${rule}; ${shown(given)} was given`;
}

/** The value at a path of the input; undefined if absent. */
export const valueAt = (input: unknown, path: readonly PropertyKey[]): unknown =>
  path.reduce<unknown>(
    (value, key) =>
      typeof value === 'object' && value !== null && Object.hasOwn(value, key)
        ? Reflect.get(value, key)
        : undefined,
    input,
  );
