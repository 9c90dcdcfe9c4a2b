/**
 * Every variable and secret that the service reads, parsed once. Nothing else looks at the environment.
 * A variable that is missing or wrong disables its area; it never stops the Worker. Values are never shown.
 * @module
 */
import * as z from 'zod';
import { ROUTE_NAMES, type RouteName } from './bridges/route.ts';
import { isBitcoinAddress } from './chain/bitcoin/address.ts';
import { identityPubkey } from './chain/nostr/nip19.ts';
import { isAddress } from './chain/solana/address.ts';
import { type Lamports, lamports, parseAmount, SOL_DECIMALS } from './core/amount.ts';

const url = z.url({ protocol: /^https?$/ }).transform((text) => text.replace(/\/+$/, ''));
const urlList = z.string().transform((text, context) => {
  const urls = text.split(',').map((part) => url.safeParse(part.trim()));
  if (urls.every((parsed) => parsed.success)) return urls.map((parsed) => parsed.data);
  context.addIssue('not a comma list of URLs');
  return z.NEVER;
});
const address = z.string().refine(isAddress, 'not a Solana address');
const addressList = z.string().transform((text, context) => {
  const list = text.split(/[\s,]+/).filter(Boolean);
  if (list.every(isAddress)) return list;
  context.addIssue('not a comma list of Solana addresses');
  return z.NEVER;
});
const secret = z.string().min(1);
const relayUrl = z.url({ protocol: /^wss?$/ });
const relayList = z.string().transform((text, context) => {
  const urls = text.split(/[\s,]+/).filter(Boolean);
  if (urls.length > 0 && urls.every((part) => relayUrl.safeParse(part).success)) return urls;
  context.addIssue('not a comma list of relay URLs');
  return z.NEVER;
});
/** Reduced to the public key (hex) at once, so that no secret of it is kept. */
const nostrIdentity = z.string().transform((text, context) => {
  const pubkey = identityPubkey(text);
  if (pubkey !== undefined) return pubkey;
  context.addIssue('neither npub nor nsec');
  return z.NEVER;
});
const sol = z.string().transform((text, context): Lamports => {
  const parsed = parseAmount(text, SOL_DECIMALS);
  if (parsed.ok) return lamports(parsed.atoms);
  context.addIssue('not an amount of SOL');
  return z.NEVER;
});
/** Units of 10^-digits of a positive decimal. */
const decimal = (digits: number) =>
  z.string().transform((text, context): bigint => {
    const parsed = parseAmount(text, digits);
    if (parsed.ok && parsed.atoms > 0n) return parsed.atoms;
    context.addIssue(`not a positive decimal of ${digits} digits`);
    return z.NEVER;
  });
const wholeNumber = z
  .string()
  .regex(/^[1-9]\d{0,17}$/)
  .transform(BigInt);
const uint = z
  .string()
  .regex(/^\d{1,15}$/)
  .transform(Number);
const flag = z.enum(['true', 'false', '1', '0']).transform((text) => text === 'true' || text === '1');
const routes = z.string().transform((text, context): RouteName[] => {
  const names = text.split(',').map((name) => name.trim());
  const known = names.flatMap((name) => ROUTE_NAMES.filter((route) => route === name));
  if (known.length === names.length && new Set(known).size === known.length) return known;
  context.addIssue('not a comma list of swap routes');
  return z.NEVER;
});

const VARIABLES = {
  PUBLIC_BASE_URL: url.optional(),
  SOLANA_RPC_URL: urlList.default(['https://api.mainnet-beta.solana.com']),
  SOLANA_PRIVATE_KEY: secret.optional(),
  RESERVE_BTC_ADDRESS: z.string().refine(isBitcoinAddress, 'not a Bitcoin address').optional(),
  BTC_PRIVATE_KEY_WIF: secret.optional(),
  TREASURY_SOLANA_ADDRESS: address.optional(),
  ABSR_MINT_ADDRESS: address.optional(),
  /** Confirmations that make an income part of the reserve that is minted against. */
  ABSR_CONFIRMATIONS: uint.refine((depth) => depth > 0 && depth <= 100, 'not 1 to 100').default(3),
  ASRY_MINT_ADDRESS: address.optional(),
  USDC_MINT_ADDRESS: address.default('EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v'),
  USDT_MINT_ADDRESS: address.default('Es9vMFrzaCERmJfrF4H2FYD4KCoNkY11McCe8BenwNYB'),
  ESPLORA_API_URLS: urlList.default(['https://mempool.space/api', 'https://blockstream.info/api']),
  HYPERLIQUID_API_URL: url.default('https://api.hyperliquid.xyz'),
  COINBASE_API_URL: url.default('https://api.coinbase.com'),
  KRAKEN_API_URL: url.default('https://api.kraken.com'),
  NEAR_INTENTS_API_URL: url.default('https://1click.chaindefuser.com'),
  NEAR_INTENTS_JWT: secret.optional(),
  /** The production key in the service's own SDK. */
  NEAR_INTENTS_QUOTE_KEY: z.string().default('ed25519:reYaWhvwu8Jzo3WUM3zhn6VrhuMEF4eADL17qtRVifc'),
  LIFI_API_URL: url.default('https://li.quest/v1'),
  LIFI_API_KEY: secret.optional(),
  ORCA_API_URL: url.default('https://api.orca.so/v2/solana'),
  CHANGENOW_API_URL: url.default('https://api.changenow.io/v2'),
  CHANGENOW_API_KEY: secret.optional(),
  POOL_DEFAULT_ADDRESS: address.optional(),
  POOL_SAETH_SAUSD_ADDRESS: address.optional(),
  POOL_SAUSD_USDC_ADDRESS: address.optional(),
  NOSTR_RELAYS: relayList.default([
    'wss://relay.ditto.pub',
    'wss://relay.primal.net',
    'wss://relay.damus.io',
    'wss://nos.lol',
  ]),
  NOSTR_NPUB: nostrIdentity.optional(),
  NOSTR_NSEC: nostrIdentity.optional(),
  SWAP_ROUTES: routes.default(['near-intents']),
  SWAPS_DISABLED: flag.default(false),
  SWAP_MAX_SOL: sol.default(lamports(2_000_000_000n)),
  SWAP_MAX_SOL_HOUR: sol.default(lamports(4_000_000_000n)),
  SWAP_MAX_SOL_DAY: sol.default(lamports(10_000_000_000n)),
  SWAP_MAX_UNSETTLED_SOL: sol.default(lamports(4_000_000_000n)),
  SWAP_MAX_COST_BPS: uint.default(200),
  SWAP_MAX_COST_SOL_DAY: sol.default(lamports(100_000_000n)),
  SWAP_MAX_CREATES_IP_HOUR: uint.default(6),
  MINT_KEY_SEED: z.string().min(32).optional(),
  LISTING_FEE_SOL: sol.default(lamports(20_000_000n)),
  REFUND_MAX_SOL_DAY: sol.default(lamports(500_000_000n)),
  INVOICE_MARGIN_SOL: sol.default(lamports(10_000_000n)),
  /** Start of the first epoch; unset: midnight UTC of the day on which the programme first runs. */
  ASRY_EPOCH_START: z.iso
    .datetime({ offset: true })
    .transform((text) => Math.floor(Date.parse(text) / 1_000))
    .optional(),
  ASRY_EPOCH_SECONDS: uint.refine((seconds) => seconds >= 60).default(30 * 86_400),
  /** Whole ASRY. */
  ASRY_EPOCH_CAP: wholeNumber.default(1_000_000n),
  /** Whole dollars of deposits that take half of the cap. */
  ASRY_EPOCH_DEPTH: wholeNumber.default(90_000n),
  /** Trillionths of a dollar. */
  ASRY_PRICE_USD: decimal(12).optional(),
  /** Millionths of a dollar. */
  ASRY_MIN_DEPOSIT_USD: decimal(6).default(1_000_000n),
  ASRY_DECIMALS: uint.refine((digits) => digits <= 12).default(9),
  ASRY_MAX_DEPOSIT_AGE_DAYS: uint.refine((days) => days >= 1).default(90),
  /** Senders beside the built-in list of exchanges to whom no reward is sent by itself. */
  ASRY_HELD_SENDERS: addressList.default([]),
  ASRY_CLAIMS_DISABLED: flag.default(false),
  RENT_BUDGET_SOL_DAY: sol.default(lamports(50_000_000n)),
  OPERATING_FLOAT_SOL: sol.default(lamports(200_000_000n)),
  CREATIONS_MAX_DAY: uint.transform(BigInt).default(500n),
  PAYOUTS_MAX_DAY: uint.transform(BigInt).default(2_000n),
  RESERVE_FLOOR_SOL: sol.default(lamports(100_000_000n)),
  OPS_SECRET: z.string().min(32).optional(),
  ANALYTICS_IP_RETENTION_DAYS: uint.default(30),
  ALARM_WEBHOOK_URL: url.optional(),
} as const;

type Variables = typeof VARIABLES;
export type Config = { readonly [K in keyof Variables]: z.output<Variables[K]> } & {
  /** Names of variables that are set but wrong. They hold their defaults, and what depends on them is off. */
  readonly invalid: readonly string[];
};

/** Empty text counts as unset, so that a blank line in `.dev.vars` is no value. */
export function readConfig(env: object): Config {
  const invalid: string[] = [];
  const entries = Object.entries(VARIABLES).map(([name, schema]) => {
    const given: unknown = Reflect.get(env, name);
    const parsed = schema.safeParse(typeof given === 'string' && given !== '' ? given : undefined);
    if (parsed.success) return [name, parsed.data];
    invalid.push(name);
    return [name, schema.safeParse(undefined).data];
  });
  return { ...Object.fromEntries(entries), invalid } as Config;
}
