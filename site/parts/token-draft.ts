/**
 * The form of a new token, checked with the service's rules. Pure.
 * @module
 */
import {
  descriptionFault,
  MAX_DESCRIPTION_BYTES,
  MAX_NAME_BYTES,
  MAX_SYMBOL_BYTES,
  MAX_URI_BYTES,
  nameFault,
  type TextFault,
} from '../../src/chain/solana/token-text.ts';
import { formatAmount, parseAmount } from '../../src/core/amount.ts';
import { count, grouped } from './format.ts';

export type TokenDraft = {
  readonly name: string;
  readonly symbol: string;
  readonly decimals: string;
  /** Whole tokens, as decimal text. */
  readonly supply: string;
  readonly description: string;
  /** Link to its picture; empty for a token without one. */
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
  supply: '1,000,000',
  description: '',
  image: '',
  creator: '',
  keepMinting: false,
  keepFreezing: false,
  keepEditing: false,
  program: 'token-2022',
};

/** All entries but the wallet. An entry that the link lacks is the one of an empty form. */
const carried = (name: string): name is Exclude<keyof TokenDraft, 'creator'> =>
  Object.hasOwn(EMPTY_DRAFT, name) && name !== 'creator';

/** The form's address with its entries, for another browser of the same visitor. */
export function formUrl(draft: TokenDraft, page: string): string {
  const url = new URL(page);
  for (const name of Object.keys(draft).filter(carried))
    if (draft[name] !== EMPTY_DRAFT[name]) url.searchParams.set(name, String(draft[name]));
  return url.href;
}

/** Entries of the form's address, which another person may have written. @param query of the address */
export function draftFrom(query: string): TokenDraft {
  const read = (name: string, text: string): string | boolean => {
    if (name.startsWith('keep')) return text === 'true';
    if (name === 'program') return text === 'token' ? text : EMPTY_DRAFT.program;
    return text.slice(0, MAX_DESCRIPTION_BYTES);
  };
  const entries = [...new URLSearchParams(query)].filter(([name]) => carried(name));
  return { ...EMPTY_DRAFT, ...Object.fromEntries(entries.map(([name, text]) => [name, read(name, text)])) };
}

/** The address without the entries of a form. */
export function withoutEntries(page: string): string {
  const url = new URL(page);
  for (const name of [...url.searchParams.keys()].filter(carried)) url.searchParams.delete(name);
  return url.href;
}

export type PictureLack = 'no_link' | 'not_loaded';

/**
 * Why wallets may never show a picture of the token; null if its link loads, or can change later.
 * @param isLoaded whether this browser has loaded the picture behind the link
 */
export function pictureLack({ image, keepEditing }: TokenDraft, isLoaded: boolean): PictureLack | null {
  if (keepEditing || isLoaded) return null;
  return image.trim() === '' ? 'no_link' : 'not_loaded';
}

export type DraftFaults = Partial<Record<keyof TokenDraft, string>>;

const U64_MAX = 2n ** 64n - 1n;
const MAX_DECIMALS = 9;
const ADDRESS = /^[1-9A-HJ-NP-Za-km-z]{32,44}$/;
const IMAGE = /^https:\/\/[\x21-\x7e]+$/;

const byteLength = (text: string): number => new TextEncoder().encode(text).length;

const faultText = (
  text: string,
  fault: TextFault | undefined,
  maxBytes: number,
  example: string,
): string | undefined => {
  switch (fault) {
    case undefined:
      return undefined;
    case 'empty':
      return `Fill this in, such as ${example}.`;
    case 'too_long':
      return `Too long: it counts as ${count(byteLength(text))} letters, and ${count(maxBytes)} fit. An accent counts as two, an emoji as four.`;
    case 'spaces':
      return 'No space at either end, and only single plain spaces between words.';
    case 'reserved':
      return 'It reads like ABSR, ASRY or Sluice, which are reserved.';
    default:
      return `It contains characters that wallets cannot show (${fault.replaceAll('_', ' ')}).`;
  }
};

/** Whether the text is a URL that the service accepts for a picture. */
export const isImageUrl = (text: string): boolean => IMAGE.test(text) && text.length <= MAX_URI_BYTES;

export const decimalsOf = (draft: TokenDraft): number | null =>
  /^\d$/.test(draft.decimals) && Number(draft.decimals) <= MAX_DECIMALS ? Number(draft.decimals) : null;

const WHOLE_ONLY = '0';

/** Whether a token has parts. @see EMPTY_DRAFT for the usual number of decimals */
export const isSplit = ({ decimals }: TokenDraft): boolean => decimals.trim() !== WHOLE_ONLY;

export const withSplit = (draft: TokenDraft, split: boolean): TokenDraft => ({
  ...draft,
  decimals: split ? EMPTY_DRAFT.decimals : WHOLE_ONLY,
});

const GROUPED = /^\d{1,3}([, '_])\d{3}(\1\d{3})*(\.\d+)?$/;

/** 1,000,000 and 1 000 000 are 1000000; any other text is unchanged. */
const withoutGroups = (text: string): string => (GROUPED.test(text) ? text.replace(/[, '_]/g, '') : text);

/** Smallest units; null while the text is not a valid amount. */
export function supplyAtoms(draft: TokenDraft): bigint | null {
  const decimals = decimalsOf(draft);
  if (decimals === null) return null;
  const parsed = parseAmount(withoutGroups(draft.supply.trim()), decimals);
  return parsed.ok ? parsed.atoms : null;
}

/** What a supply means whose point may be meant to group digits; null for every other supply. */
export function supplyRemark(draft: TokenDraft): string | null {
  const text = draft.supply.trim();
  const atoms = supplyAtoms(draft);
  if (atoms === null || !/^\d{1,3}\.\d{3}$/.test(text)) return null;
  return `= ${grouped(supplyText(draft))} tokens. For thousands, write ${text.replace('.', ',')}.`;
}

/** Whole tokens, as decimal text; 0 while the entries are not valid. */
export const supplyText = (draft: TokenDraft): string =>
  formatAmount(supplyAtoms(draft) ?? 0n, decimalsOf(draft) ?? 0);

export function draftFaults(draft: TokenDraft): DraftFaults {
  const decimals = decimalsOf(draft);
  const atoms = supplyAtoms(draft);
  const image = draft.image.trim();
  // In the order of the form: the first fault gets the focus.
  const found: Record<keyof DraftFaults, string | undefined> = {
    name: faultText(draft.name, nameFault(draft.name, MAX_NAME_BYTES), MAX_NAME_BYTES, 'River Otter'),
    symbol: faultText(draft.symbol, nameFault(draft.symbol, MAX_SYMBOL_BYTES), MAX_SYMBOL_BYTES, 'OTTER'),
    image:
      image === '' || isImageUrl(image)
        ? undefined
        : 'An https address of at most 200 characters, such as https://example.com/otter.png',
    supply:
      atoms === null
        ? decimals === null
          ? undefined
          : decimals === 0
            ? 'A whole number, such as 1,000,000, because the token cannot be divided. A comma only groups three digits.'
            : `Digits with at most ${decimals} after a point, such as 1,000,000 or 2500.5. A comma only groups three digits.`
        : atoms > U64_MAX
          ? 'Too large: the chain counts at most 18,446,744,073,709,551,615 smallest units.'
          : atoms === 0n && !draft.keepMinting
            ? 'Without a supply or the right to mint, the token could never exist.'
            : undefined,
    creator: ADDRESS.test(draft.creator.trim())
      ? undefined
      : 'A Solana address of 32 to 44 letters and digits. Connect your wallet to fill it in.',
    description: faultText(
      draft.description,
      descriptionFault(draft.description),
      MAX_DESCRIPTION_BYTES,
      'A token of the river',
    ),
    decimals: decimals === null ? 'A whole number from 0 to 9, such as 6.' : undefined,
    keepMinting: undefined,
    keepFreezing: undefined,
    keepEditing: undefined,
    program: undefined,
  };
  return Object.fromEntries(Object.entries(found).filter(([, fault]) => fault !== undefined));
}

/** Body of POST /api/invoices. The name is sent exactly as typed. */
export function invoiceBody(draft: TokenDraft) {
  const image = draft.image.trim();
  return {
    name: draft.name,
    symbol: draft.symbol,
    decimals: decimalsOf(draft) ?? undefined,
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
