/**
 * How long a caller wants to wait for an outcome: the `wait` preference of RFC 7240.
 * @see https://www.rfc-editor.org/rfc/rfc7240#section-4.3
 * @module
 */
import { z } from '@hono/zod-openapi';

/** Longest wait that a call may ask for, in seconds: proxies and clients commonly give up after 60. */
export const MAX_PREFERRED_WAIT_SECONDS = 55;

/** Header of a route that waits; `preferredWaitMs` reads it. */
export const preferHeader = z
  .string()
  .optional()
  .openapi({
    description: `RFC 7240: \`wait=N\` waits up to N seconds for the outcome (at most ${MAX_PREFERRED_WAIT_SECONDS}); \`wait=0\` returns the current state at once`,
    example: 'wait=20',
  });

const WAIT = /^wait\s*=\s*(?:"(\d{1,9})"|(\d{1,9}))\s*(?:;|$)/i;

/**
 * Milliseconds that the caller wants to wait. The first `wait` counts; a malformed one is ignored, since a preference is
 * never an error.
 *
 * @param header         the `Prefer` header, lists joined by commas
 * @param defaultSeconds used without a valid `wait`
 */
export function preferredWaitMs(
  header: string | undefined,
  defaultSeconds: number = MAX_PREFERRED_WAIT_SECONDS,
): number {
  for (const preference of splitList(header ?? '')) {
    const found = WAIT.exec(preference);
    if (found) return Math.min(Number(found[1] ?? found[2]), MAX_PREFERRED_WAIT_SECONDS) * 1_000;
  }
  return defaultSeconds * 1_000;
}

/** The members of a comma-separated list; a comma inside a quoted string does not separate. */
const splitList = (text: string): string[] =>
  (text.match(/(?:"(?:[^"\\]|\\.)*"|[^,"])+/g) ?? []).map((member) => member.trim());
