/**
 * JSON without loss of digits. A number that a double cannot represent exactly becomes an `ExactNumber`, which keeps
 * its source digits.
 * @module
 */
import { orUndefined } from './or-undefined.ts';

export class ExactNumber {
  readonly source: string;
  constructor(source: string) {
    this.source = source;
  }

  /** Makes `JSON.stringify` write the source digits. */
  toJSON(): unknown {
    return rawJSON(this.source);
  }
}

/** TypeScript's own types lack `rawJSON`. */
const { rawJSON } = JSON as typeof JSON & { rawJSON(text: string): unknown };

type ReviverContext = { readonly source?: string };

/**
 * Parses a request; `1e400`, `0.10` and `18446744073709551615` keep their digits as `ExactNumber`. @throws SyntaxError
 */
export const parseJson = (text: string): unknown =>
  parseKeeping(text, (value, source) => source !== String(value));

/** Parses an upstream's response; only integers that a double would change keep their digits. @throws SyntaxError */
export const parseUpstreamJson = (text: string): unknown =>
  parseKeeping(text, (value, source) => !Number.isSafeInteger(value) && /^-?\d+$/.test(source));

function parseKeeping(text: string, keepsText: (value: number, source: string) => boolean): unknown {
  const revive = (_key: string, value: unknown, context?: ReviverContext): unknown =>
    typeof value === 'number' && context?.source !== undefined && keepsText(value, context.source)
      ? new ExactNumber(context.source)
      : value;
  return JSON.parse(text, revive);
}

/** Parses a string; undefined if it is not JSON. @param parse the default does not keep exact numbers */
export const tryJson = (text: string, parse: (text: string) => unknown = JSON.parse): unknown =>
  orUndefined(() => parse(text));

/** The source digits of a number; undefined for anything except a number or string. */
export function numberText(value: unknown): string | undefined {
  if (value instanceof ExactNumber) return value.source;
  if (typeof value === 'number') return String(value);
  return typeof value === 'string' ? value : undefined;
}

/** An integer of any size from parsed JSON, or undefined. */
export function integerOf(value: unknown): bigint | undefined {
  const text = numberText(value);
  return text !== undefined && /^-?\d{1,40}$/.test(text) ? BigInt(text) : undefined;
}

/** Maximum nesting of a request body, and members of each object in it. */
const MAX_JSON_DEPTH = 8;
const MAX_JSON_KEYS = 64;

/** Whether parsed JSON stays within the nesting and member bounds of a request. */
export function isShallow(value: unknown, depth = MAX_JSON_DEPTH): boolean {
  if (typeof value !== 'object' || value === null || value instanceof ExactNumber) return true;
  const members = Object.values(value);
  return (
    depth > 0 && members.length <= MAX_JSON_KEYS && members.every((member) => isShallow(member, depth - 1))
  );
}

/**
 * `JSON.stringify` with bigint as a decimal string. The slower replacer function runs only after a bigint has made
 * `JSON.stringify` throw.
 */
export function stringifyJson(value: unknown): string {
  try {
    return JSON.stringify(value);
  } catch {
    return JSON.stringify(value, (_key, member: unknown) =>
      typeof member === 'bigint' ? member.toString() : member,
    );
  }
}
