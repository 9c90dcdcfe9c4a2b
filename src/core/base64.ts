import { base64 } from '@scure/base';

/**
 * The bytes of canonical base64 (RFC 4648: padded, no spaces, no stray bits), so that each byte string has exactly
 * one text; undefined for any other text.
 */
export function decodeBase64(text: string): Uint8Array | undefined {
  try {
    return base64.decode(text);
  } catch {
    return undefined;
  }
}
