/**
 * A creator's request, checked before anything is charged. Pure.
 * @module
 */
import { isOnCurve } from '../../chain/solana/address.ts';
import type { TokenDesign } from '../../chain/solana/token-creation.ts';
import {
  descriptionFault,
  MAX_DESCRIPTION_BYTES,
  MAX_NAME_BYTES,
  MAX_SYMBOL_BYTES,
  MAX_URI_BYTES,
  textFault,
} from '../../chain/solana/token-text.ts';
import { tooManyBytes } from '../../http/validation-messages.ts';

const U64_MAX = 2n ** 64n - 1n;

export type TokenRequest = {
  readonly name: string;
  readonly symbol: string;
  readonly decimals: number;
  readonly supply: bigint;
  readonly description: string;
  readonly image: string | null;
  readonly creator: string;
  readonly revokeFreeze: boolean;
  readonly revokeMint: boolean;
  readonly revokeUpdate: boolean;
  readonly metaplex: boolean;
  readonly program: TokenDesign['program'] | undefined;
};

export type RequestVerdict =
  | { readonly ok: true; readonly program: TokenDesign['program'] }
  | {
      readonly ok: false;
      readonly code: 'INVALID_TOKEN_TEXT';
      readonly field: string;
      readonly fault: string;
    }
  | { readonly ok: false; readonly code: 'CONTRADICTING_OPTIONS'; readonly reason: string }
  | { readonly ok: false; readonly code: 'INVALID_INPUT'; readonly field: string; readonly fault: string };

export function checkTokenRequest(request: TokenRequest): RequestVerdict {
  const faults = [
    ['name', textFault(request.name, MAX_NAME_BYTES)],
    ['symbol', textFault(request.symbol, MAX_SYMBOL_BYTES)],
    ['description', descriptionFault(request.description)],
    ['image', request.image === null ? undefined : imageFault(request.image)],
  ] as const;
  for (const [field, fault] of faults)
    if (fault) return { ok: false, code: 'INVALID_TOKEN_TEXT', field, fault };
  if (!isOnCurve(request.creator)) {
    return {
      ok: false,
      code: 'INVALID_INPUT',
      field: 'creator_address',
      fault: 'must be the address of a wallet: a point of the ed25519 curve',
    };
  }
  if (request.supply > U64_MAX)
    return {
      ok: false,
      code: 'INVALID_INPUT',
      field: 'supply',
      fault: 'must be at most 18446744073709551615, the largest u64',
    };
  if (request.supply === 0n && request.revokeMint) {
    return {
      ok: false,
      code: 'CONTRADICTING_OPTIONS',
      reason: 'A supply of 0 needs the mint authority: set a supply, or omit revoke_mint_authority.',
    };
  }
  if (request.metaplex && request.program === 'token-2022') {
    return {
      ok: false,
      code: 'CONTRADICTING_OPTIONS',
      reason: 'metaplex_metadata needs token_program "token".',
    };
  }
  return { ok: true, program: request.program ?? (request.metaplex ? 'token' : 'token-2022') };
}

const BOUNDS: Readonly<Record<string, number>> = {
  name: MAX_NAME_BYTES,
  symbol: MAX_SYMBOL_BYTES,
  description: MAX_DESCRIPTION_BYTES,
  image: MAX_URI_BYTES,
  uri: MAX_URI_BYTES,
};

/** A fault as text that follows the field's name: `is 33 bytes long; at most 32`. */
export function faultWords(field: string, fault: string, text: string): string {
  switch (fault) {
    case 'too_long':
      return tooManyBytes(text, BOUNDS[field] ?? 0);
    case 'empty':
      return 'must not be empty';
    case 'ill_formed':
      return 'contains half of a surrogate pair, so it is not valid Unicode text';
    case 'hidden_character':
      return 'contains an invisible character, such as a zero-width or direction mark';
    case 'not_normalized':
      return 'must be in Unicode normalization form C';
    case 'spaces':
      return 'must not begin or end with a space, contain two in a row, or contain any other kind of space';
    case 'not_an_https_url':
      return 'must be an https URL of visible ASCII characters without a user name';
    default:
      return fault;
  }
}

/** Why a text is not an https URL of allowed length; the service never fetches it. */
function imageFault(text: string): string | undefined {
  if (text.length > MAX_URI_BYTES) return 'too_long';
  if (!/^https:\/\/[\x21-\x7e]+$/.test(text) || !URL.canParse(text)) return 'not_an_https_url';
  const { username, password } = new URL(text);
  return username || password ? 'not_an_https_url' : undefined;
}
