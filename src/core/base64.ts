import { base64 } from '@scure/base';
import { orUndefined } from './or-undefined.ts';

/**
 * The bytes of canonical base64 (RFC 4648: padded, no spaces, no stray bits). Each byte string has exactly one such
 * encoding; any other string gives undefined.
 */
export const decodeBase64 = (text: string): Uint8Array | undefined => orUndefined(() => base64.decode(text));
