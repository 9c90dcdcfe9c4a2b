/**
 * The result of checking a signed message. `unsupported` is BIP-322's "inconclusive": no fault was found, but
 * this verifier cannot evaluate the script, so it must be treated as not proven.
 * @module
 */

export type Verdict =
  | { readonly verdict: 'valid' }
  | { readonly verdict: 'invalid' | 'unsupported'; readonly reason: string };

export const VALID: Verdict = { verdict: 'valid' };
export const invalid = (reason: string): Verdict => ({ verdict: 'invalid', reason });
export const unsupported = (reason: string): Verdict => ({ verdict: 'unsupported', reason });

/**
 * UTF-8 of a message. A lone surrogate is refused: every encoder replaces it with U+FFFD, so two messages would share
 * one signature.
 *
 * @throws RangeError for a string that is not well-formed UTF-16
 */
export function messageBytes(message: string): Uint8Array {
  if (!message.isWellFormed()) throw new RangeError('the message is not well-formed Unicode');
  return new TextEncoder().encode(message);
}
