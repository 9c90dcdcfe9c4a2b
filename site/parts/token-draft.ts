/**
 * What the form of a new token holds, checked as the service will check it. Pure.
 * @module
 */
import {
  descriptionFault,
  MAX_DESCRIPTION_BYTES,
  MAX_NAME_BYTES,
  MAX_SYMBOL_BYTES,
  MAX_URI_BYTES,
  type TextFault,
  textFault,
} from '../../src/chain/solana/token-text.ts';
import { parseAmount } from '../../src/core/amount.ts';

export type TokenDraft = {
  readonly name: string;
  readonly symbol: string;
  readonly decimals: string;
  /** Whole tokens, as people count them. */
  readonly supply: string;
  readonly description: string;
  readonly image: string;
  readonly creator: string;
  readonly keepMinting: boolean;
  readonly keepFreezing: boolean;
  readonly keepEditing: boolean;
  readonly program: 'token-2022' | 'token';
};

export const EMPTY_DRAFT: TokenDraft = {
  name: '',
  symbol: '',
  decimals: '6',
  supply: '1000000',
  description: '',
  image: '',
  creator: '',
  keepMinting: false,
  keepFreezing: false,
  keepEditing: true,
  program: 'token-2022',
};

export type DraftFaults = Partial<Record<keyof TokenDraft, string>>;

const U64_MAX = 2n ** 64n - 1n;
const MAX_DECIMALS = 9;
const ADDRESS = /^[1-9A-HJ-NP-Za-km-z]{32,44}$/;
const IMAGE = /^https:\/\/[\x21-\x7e]+$/;

const WORDS: Readonly<Record<string, string>> = {
  empty: 'It must not be empty.',
  too_long: 'It is too long',
  spaces: 'No space at either end, and only single plain spaces between words.',
};

const inWords = (fault: TextFault | undefined, maxBytes: number): string | undefined => {
  if (fault === undefined) return undefined;
  const words = WORDS[fault] ?? `It has signs that wallets cannot show (${fault.replaceAll('_', ' ')}).`;
  return fault === 'too_long'
    ? `${words}: at most ${maxBytes} bytes; letters beyond ASCII take two to four.`
    : words;
};

export const decimalsOf = (draft: TokenDraft): number | null =>
  /^\d$/.test(draft.decimals) && Number(draft.decimals) <= MAX_DECIMALS ? Number(draft.decimals) : null;

/** Smallest units; null while the text is no such amount. */
export function supplyAtoms(draft: TokenDraft): bigint | null {
  const decimals = decimalsOf(draft);
  if (decimals === null) return null;
  const parsed = parseAmount(draft.supply.trim(), decimals);
  return parsed.ok ? parsed.atoms : null;
}

export function draftFaults(draft: TokenDraft): DraftFaults {
  const decimals = decimalsOf(draft);
  const atoms = supplyAtoms(draft);
  const image = draft.image.trim();
  const found: Record<keyof DraftFaults, string | undefined> = {
    name: inWords(textFault(draft.name, MAX_NAME_BYTES), MAX_NAME_BYTES),
    symbol: inWords(textFault(draft.symbol, MAX_SYMBOL_BYTES), MAX_SYMBOL_BYTES),
    description: inWords(descriptionFault(draft.description), MAX_DESCRIPTION_BYTES),
    decimals: decimals === null ? 'A whole number from 0 to 9.' : undefined,
    supply:
      atoms === null
        ? decimals === null
          ? undefined
          : `Digits, with at most ${decimals} after the point.`
        : atoms > U64_MAX
          ? 'Too many: supply and decimals together go beyond what the chain can hold.'
          : atoms === 0n && !draft.keepMinting
            ? 'Nothing could ever be minted. Give a supply, or keep the right to mint.'
            : undefined,
    image:
      image !== '' && (!IMAGE.test(image) || image.length > MAX_URI_BYTES)
        ? 'An https address of at most 200 characters.'
        : undefined,
    creator: ADDRESS.test(draft.creator.trim()) ? undefined : 'The address of a Solana wallet.',
    keepMinting: undefined,
    keepFreezing: undefined,
    keepEditing: undefined,
    program: undefined,
  };
  return Object.fromEntries(Object.entries(found).filter(([, fault]) => fault !== undefined));
}

/** Body of POST /api/invoices. The name stays as it was typed: it is checked, never changed. */
export function invoiceBody(draft: TokenDraft) {
  const image = draft.image.trim();
  return {
    name: draft.name,
    symbol: draft.symbol,
    decimals: decimalsOf(draft),
    supply: supplyAtoms(draft)?.toString(),
    description: draft.description,
    ...(image === '' ? {} : { image }),
    creator_address: draft.creator.trim(),
    revoke_mint_authority: !draft.keepMinting,
    revoke_freeze_authority: !draft.keepFreezing,
    revoke_update_authority: !draft.keepEditing,
    token_program: draft.program,
    metaplex_metadata: draft.program === 'token',
  };
}
