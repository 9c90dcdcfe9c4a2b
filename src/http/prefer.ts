/**
 * How long a caller wants to wait for an outcome: the `wait` preference of RFC 7240.
 * @see https://www.rfc-editor.org/rfc/rfc7240#section-4.3
 * @module
 */
import { z } from '@hono/zod-openapi';
import type { Context } from 'hono';

/** Longest wait that a call may request, in seconds: proxies and clients commonly give up after 60. */
export const MAX_PREFERRED_WAIT_SECONDS = 55;

const prefer = (description: string) =>
  z.object({ prefer: z.string().optional().openapi({ description, example: 'wait=20' }) });

/** Request headers of a call that waits by default. */
export const preferHeaders = prefer(
  `RFC 7240: \`wait=N\` waits up to N seconds for the outcome, ${MAX_PREFERRED_WAIT_SECONDS} at most and by default; \`wait=0\` returns the current state at once`,
);
/** Request headers of a read that waits on request only. */
export const preferChangeHeaders = prefer(
  `RFC 7240: \`wait=N\` returns when the state changes, after N seconds (at most ${MAX_PREFERRED_WAIT_SECONDS}), or at once if the state is final. \`Preference-Applied\` repeats a wait that was granted`,
);

const WAIT = /^wait\s*=\s*(?:"(\d{1,9})"|(\d{1,9}))\s*(?:;|$)/i;

/**
 * Milliseconds that the caller wants to wait. The first `wait` counts; a malformed one is ignored, because a
 * preference is never an error.
 *
 * @param header         the `Prefer` header, lists joined by commas
 * @param defaultSeconds used without a valid `wait`
 */
export function preferredWaitMs(
  header: string | undefined,
  defaultSeconds: number = MAX_PREFERRED_WAIT_SECONDS,
): number {
  return statedWaitMs(header) ?? defaultSeconds * 1_000;
}

function statedWaitMs(header: string | undefined): number | undefined {
  for (const preference of splitList(header ?? '')) {
    const found = WAIT.exec(preference);
    if (found) return Math.min(Number(found[1] ?? found[2]), MAX_PREFERRED_WAIT_SECONDS) * 1_000;
  }
  return undefined;
}

/** `Preference-Applied` of a granted wait. @param waitMs from `preferredWaitMs` */
export const grantWait = (c: Context, waitMs: number): void =>
  c.header('Preference-Applied', `wait=${waitMs / 1_000}`);

/**
 * Milliseconds that a call may wait; the longest wait by default. Grants a wait that the caller requested.
 */
export function grantedWaitMs(c: Context): number {
  const stated = statedWaitMs(c.req.header('prefer'));
  if (stated !== undefined) grantWait(c, stated);
  return stated ?? MAX_PREFERRED_WAIT_SECONDS * 1_000;
}

/** The members of a comma-separated list; a comma inside a quoted string does not separate. */
const splitList = (text: string): string[] =>
  (text.match(/(?:"(?:[^"\\]|\\.)*"|[^,"])+/g) ?? []).map((member) => member.trim());
