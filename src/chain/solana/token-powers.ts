/**
 * The powers that keys, programs and rules of a mint have over every holder of its tokens, derived from the mint's account.
 * @see solana-program/token-2022 interface/src/extension
 * @module
 */
import type { Mint } from './token-program.ts';

/** Powers over a mint, in the order in which they are shown. */
export const TOKEN_POWERS = [
  'permanent_delegate',
  'default_frozen',
  'pausable',
  'freeze',
  'non_transferable',
  'transfer_hook',
  'transfer_fee',
  'burn_permission',
  'mint',
  'close_mint',
  'scaled_amount',
  'interest_amount',
  'confidential_transfer',
  'confidential_fee',
  'confidential_supply',
  'unknown',
] as const;

export type TokenPower = (typeof TOKEN_POWERS)[number];

/** A power in two or three words, and what it means for a holder. */
export const POWER_WORDS: Readonly<Record<TokenPower, readonly [short: string, sentence: string]>> = {
  permanent_delegate: ['can take tokens', 'One address can take or burn the tokens of any holder.'],
  default_frozen: ['accounts start frozen', 'A new account is frozen until an address thaws it.'],
  pausable: ['can pause transfers', 'All transfers can be stopped, or are stopped now.'],
  freeze: ['can freeze accounts', 'One address can freeze the tokens of any holder.'],
  non_transferable: ['cannot be transferred', 'Holders cannot transfer this token.'],
  transfer_hook: ['program decides transfers', 'A program runs with every transfer and can refuse it.'],
  transfer_fee: ['fee on transfers', 'A part of each transfer can be kept as a fee.'],
  burn_permission: ['burning needs permission', 'Holders can burn tokens only if one address signs.'],
  mint: ['can mint more', 'The supply can grow: the mint authority can create more.'],
  close_mint: [
    'mint can be closed',
    'One address can close the mint when no tokens are left, and create it again.',
  ],
  scaled_amount: ['shown amounts are scaled', 'Wallets multiply the amounts by a number that can change.'],
  interest_amount: ['shown amounts grow', 'Wallets add interest to the amounts, at a rate that can change.'],
  confidential_transfer: [
    'hidden amounts',
    'Transfers can hide their amounts, and one key may read or approve them.',
  ],
  confidential_fee: ['hidden fees', 'Fees can be taken with hidden amounts.'],
  confidential_supply: ['hidden supply', 'Tokens can be created and burned with hidden amounts.'],
  unknown: [
    'unknown power',
    'This mint has a part that this service does not understand. It may give somebody power over holders.',
  ],
};

/** A power in words. A power that only a newer release knows is shown as unknown. */
export const powerWords = (power: string): (typeof POWER_WORDS)[TokenPower] =>
  POWER_WORDS[TOKEN_POWERS.find((known) => known === power) ?? 'unknown'];

/** A listing is refused for a mint with one of these powers: its tokens can be taken, or all transfers stopped. */
export const REFUSED_POWERS: readonly TokenPower[] = ['permanent_delegate', 'default_frozen', 'pausable'];

/** The value of an extension, with checked bounds. If its length does not fit its type, the value is unknown. */
type Value = { readonly bytes: Uint8Array; readonly view: DataView };

/** Whether 32 bytes contain a key; all zeros mean no key. */
const hasKey = ({ bytes }: Value, at: number): boolean =>
  bytes.subarray(at, at + 32).some((byte) => byte !== 0);

/** The multiplier with which shown amounts equal stored amounts. */
const PLAIN_MULTIPLIER = 1;
const FROZEN = 2;
const INITIALIZED = 1;

/** The fee (u16, basis points) is stored after its epoch and maximum, 8 bytes each. */
const feeOf = ({ view }: Value, at: number): number => view.getUint16(at + 16, true);

type Rule = {
  /** Length of the value in bytes; undefined if it varies. */
  readonly length?: number;
  readonly power?: TokenPower;
  /** Whether the extension has its power; absent if it always has. */
  readonly isActive?: (value: Value) => boolean;
};

/** The extensions of mints by type. Every other type is an unknown power. */
const RULES: Readonly<Record<number, Rule>> = {
  // Authority over the fee, authority over withheld fees, their sum, and the older and newer fee of 18 bytes each.
  1: {
    length: 108,
    power: 'transfer_fee',
    isActive: (value) => hasKey(value, 0) || feeOf(value, 72) > 0 || feeOf(value, 90) > 0,
  },
  3: { length: 32, power: 'close_mint', isActive: (value) => hasKey(value, 0) },
  4: { length: 65, power: 'confidential_transfer' },
  6: { length: 1, power: 'default_frozen', isActive: ({ bytes }) => bytes[0] === FROZEN },
  9: { length: 0, power: 'non_transferable' },
  // Authority over the rate, time, average rate before the last change, its time, and the current rate.
  10: {
    length: 52,
    power: 'interest_amount',
    isActive: (value) =>
      hasKey(value, 0) || value.view.getInt16(40, true) !== 0 || value.view.getInt16(50, true) !== 0,
  },
  12: { length: 32, power: 'permanent_delegate', isActive: (value) => hasKey(value, 0) },
  // Authority over the program, and the program.
  14: { length: 64, power: 'transfer_hook', isActive: (value) => hasKey(value, 0) || hasKey(value, 32) },
  16: { length: 129, power: 'confidential_fee' },
  // Pointers, metadata and groups have no power over tokens.
  18: { length: 64 },
  19: {},
  20: { length: 64 },
  21: { length: 80 },
  22: { length: 64 },
  23: { length: 72 },
  24: { length: 196, power: 'confidential_supply' },
  // Authority, multiplier, when the new multiplier takes effect, and the new multiplier.
  25: {
    length: 56,
    power: 'scaled_amount',
    isActive: (value) =>
      hasKey(value, 0) ||
      value.view.getFloat64(32, true) !== PLAIN_MULTIPLIER ||
      value.view.getFloat64(48, true) !== PLAIN_MULTIPLIER,
  },
  // Authority, and whether transfers are paused now.
  26: { length: 33, power: 'pausable', isActive: (value) => hasKey(value, 0) || value.bytes[32] !== 0 },
  28: { length: 32, power: 'burn_permission', isActive: (value) => hasKey(value, 0) },
};

/** A default account state other than frozen or initialized is not defined. */
const DEFAULT_STATE = 6;

function powerOf(type: number, bytes: Uint8Array): TokenPower | undefined {
  const rule = RULES[type];
  if (!rule || (rule.length !== undefined && rule.length !== bytes.length)) return 'unknown';
  if (type === DEFAULT_STATE && bytes[0] !== FROZEN && bytes[0] !== INITIALIZED) return 'unknown';
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return rule.isActive && !rule.isActive({ bytes, view }) ? undefined : rule.power;
}

/**
 * Every power over holders of this mint's tokens. Empty only if the whole account is understood and contains no power.
 * The authority over name and picture is not included.
 */
export function tokenPowers(mint: Mint): readonly TokenPower[] {
  const { mintAuthority, freezeAuthority, extensions, hasUnreadBytes } = mint;
  const found = new Set<TokenPower | undefined>([...extensions].map(([type, bytes]) => powerOf(type, bytes)));
  if (mintAuthority !== null) found.add('mint');
  if (freezeAuthority !== null) found.add('freeze');
  if (hasUnreadBytes) found.add('unknown');
  return TOKEN_POWERS.filter((power) => found.has(power));
}
