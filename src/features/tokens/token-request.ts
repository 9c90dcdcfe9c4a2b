/**
 * Pure functions that check a creator's request before a fee is charged.
 * @module
 */
import { z } from '@hono/zod-openapi';
import { isOnCurve } from '../../chain/solana/address.ts';
import type { TokenDesign } from '../../chain/solana/token-creation.ts';
import {
  descriptionFault,
  MAX_DESCRIPTION_BYTES,
  MAX_NAME_BYTES,
  MAX_SYMBOL_BYTES,
  MAX_URI_BYTES,
  nameFault,
} from '../../chain/solana/token-text.ts';
import { AppError } from '../../core/errors.ts';
import { tooManyBytes, withGiven } from '../../http/validation-messages.ts';

const U64_MAX = 2n ** 64n - 1n;

export type TokenRequest = Omit<TokenDesign, 'uri' | 'program'> & {
  readonly description: string;
  readonly image: string | null;
  readonly program: TokenDesign['program'] | undefined;
};

/** The limit is in bytes of UTF-8; `maxLength` counts characters, and each of them has at least one byte. */
const textMember = (maxLength: number, example: string) =>
  z
    .string()
    .openapi({ minLength: 1, maxLength, description: `At most ${maxLength} bytes of UTF-8`, example });

/** Members of each request for a token; `checkedProgram` checks the texts. */
export const nameFields = {
  name: textMember(MAX_NAME_BYTES, 'Moon Cat'),
  symbol: textMember(MAX_SYMBOL_BYTES, 'MCAT'),
};

/** The token program of a valid request. @throws AppError */
export function checkedProgram(request: TokenRequest): TokenDesign['program'] {
  const { image, metaplex, program, supply } = request;
  const faults = [
    ['name', nameFault(request.name, MAX_NAME_BYTES)],
    ['symbol', nameFault(request.symbol, MAX_SYMBOL_BYTES)],
    ['description', descriptionFault(request.description)],
    ['image', image === null ? undefined : imageFault(image)],
  ] as const;
  for (const [field, fault] of faults) {
    const text = request[field] ?? '';
    if (fault)
      throw new AppError(
        'INVALID_TOKEN_TEXT',
        `${field} ${withGiven(faultWords(field, fault, text), text)}`,
        {
          details: { field, fault },
        },
      );
  }
  if (!isOnCurve(request.creator))
    throw invalid(
      'creator_address',
      'must be the address of a wallet: a point of the ed25519 curve',
      request.creator,
    );
  if (supply > U64_MAX)
    throw invalid('supply', 'must be at most 18446744073709551615, the largest u64', supply);
  if (supply === 0n && request.revokeMint)
    throw contradicting(
      'A supply of 0 needs the mint authority: set a supply, or omit revoke_mint_authority.',
    );
  if (metaplex && program === 'token-2022')
    throw contradicting('metaplex_metadata needs token_program "token".');
  return program ?? (metaplex ? 'token' : 'token-2022');
}

export function invalid(field: string, rule: string, given: unknown): AppError {
  const message = withGiven(rule, given);
  return new AppError('INVALID_INPUT', `${field} ${message}`, {
    details: { issues: [{ in: 'json', path: field, message }] },
  });
}

const contradicting = (reason: string): AppError =>
  new AppError('CONTRADICTING_OPTIONS', reason, { details: { reason } });

const BOUNDS: Readonly<Record<string, number>> = {
  name: MAX_NAME_BYTES,
  symbol: MAX_SYMBOL_BYTES,
  description: MAX_DESCRIPTION_BYTES,
  image: MAX_URI_BYTES,
  uri: MAX_URI_BYTES,
};

/** A fault in words that follow the field's name: `is 33 bytes long; at most 32`. */
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
    case 'reserved':
      return 'must not read like ABSR, ASRY or Sluice, which name the tokens of this service';
    case 'not_an_https_url':
      return 'must be an https URL of visible ASCII characters without a user name';
    default:
      return fault;
  }
}

/** Why a string is not an https URL of allowed length. The service never fetches the URL. */
function imageFault(text: string): string | undefined {
  if (text.length > MAX_URI_BYTES) return 'too_long';
  if (!/^https:\/\/[\x21-\x7e]+$/.test(text) || !URL.canParse(text)) return 'not_an_https_url';
  const { username, password } = new URL(text);
  return username || password ? 'not_an_https_url' : undefined;
}
