/**
 * Declares every variable and secret that the service reads, with its syntax, default, area and documentation. The
 * Worker, `.dev.vars.example`, docs/run/configuration.md and the doctor derive from this table. Values are never shown.
 * The API's configuration does not contain secret keys. `CONSTANTS` has the values that operators do not set.
 * @module
 */
import * as z from 'zod';
import { isCanonicalAddress } from './chain/bitcoin/address.ts';
import { identityPubkey } from './chain/nostr/identity.ts';
import { isAddress } from './chain/solana/address.ts';
import type { MessageVersion } from './chain/solana/transaction.ts';
import { type Lamports, lamports, parseAmount, SOL_DECIMALS } from './core/amount.ts';
import { type LimitName, OPERATION_LIMITS, type OperationLimit } from './core/operation-limits.ts';
import { PRICE_VENUES, VENUE_NAMES } from './providers/price-venues.ts';

const url = z.url({ protocol: /^https?$/ }).transform((text) => text.replace(/\/+$/, ''));
/** Parses strings separated by commas or blanks. @param least minimum number of strings */
const listOf = (part: z.ZodType<string, string>, what: string, least = 1) =>
  z.string().transform((text, context) => {
    const list = z
      .array(part)
      .min(least)
      .safeParse(text.split(/[\s,]+/).filter(Boolean));
    if (list.success) return list.data;
    context.addIssue(`not a comma list of ${what}`);
    return z.NEVER;
  });
const urlList = listOf(url, 'URLs');
/** Parses comma-separated `name=value` pairs, in order. Each name must be known and may appear only once. */
const namedList = <N extends string, V>(
  names: readonly N[],
  value: z.ZodType<V, string> | ((name: N) => z.ZodType<V, string>),
) =>
  z.string().transform((text, context) => {
    const list: { [K in N]?: V } = {};
    for (const part of text.split(',')) {
      const [, given, rest] = /^([^=]*)=(.*)$/.exec(part.trim()) ?? [];
      const name = names.find((known) => known === given && !(known in list));
      const parsed = name && (typeof value === 'function' ? value(name) : value).safeParse(rest ?? '');
      if (name && parsed?.success) list[name] = parsed.data;
      else context.addIssue(`not a comma list of name=value, with the names ${names.join(', ')}`);
    }
    return list;
  });
const address = z.string().refine(isAddress, 'not a Solana address');
const addressList = listOf(address, 'Solana addresses', 0);
const secret = z.string().min(1);
const relayList = listOf(z.url({ protocol: /^wss?$/ }), 'relay URLs');
const nostrIdentity = z.string().transform((text, context) => {
  const pubkey = identityPubkey(text);
  if (pubkey !== undefined) return pubkey;
  context.addIssue('not an npub');
  return z.NEVER;
});
const sol = z.string().transform((text, context): Lamports => {
  const parsed = parseAmount(text, SOL_DECIMALS);
  if (parsed.ok) return lamports(parsed.atoms);
  context.addIssue('not an amount of SOL');
  return z.NEVER;
});
/** Parses a positive decimal into units of 10^-digits: with 3 digits, `0.5` is 500. */
const decimal = (digits: number) =>
  z.string().transform((text, context): bigint => {
    const parsed = parseAmount(text, digits);
    if (parsed.ok && parsed.atoms > 0n) return parsed.atoms;
    context.addIssue(`not a positive decimal of ${digits} digits`);
    return z.NEVER;
  });
const uint = z
  .string()
  .regex(/^\d{1,15}$/, 'not a whole number')
  .transform(Number);
const flag = z.enum(['true', 'false', '1', '0']).transform((text) => text === 'true' || text === '1');

/** Areas that a missing or invalid variable disables, with the heading of their section in the documentation. */
export const AREAS = {
  service: 'The service',
  custody: 'The custodian: everything that signs',
  proof: 'Ownership proof',
  mint: 'ABSR: the daily mint',
  asry: 'ASRY: rewards for payments',
  payments: 'Token creations, listings and refunds',
  exchange: 'Exchange',
  pools: 'Pools',
  nostr: 'Nostr',
} as const;

export type Area = keyof typeof AREAS;

export type Declaration = {
  /** Parses the variable's string. */
  readonly schema: z.ZodType<unknown, string>;
  /** Default in the operator's notation. Without a default, a missing variable is undefined. */
  readonly default?: string;
  /**
   * Areas that are disabled while the variable is invalid, or required but missing. The documentation lists the
   * variable in the section of the first area.
   */
  readonly areas: readonly [Area, ...Area[]];
  readonly required?: true;
  readonly secret?: true;
  /** Marks a secret whose holder can sign. Only `custody/secrets.ts` reads it; `readConfig` does not. */
  readonly custodyOnly?: true;
  /** One line for docs/run/configuration.md and .dev.vars.example: meaning and unit. */
  readonly about: string;
};

const LIMITS = Object.entries(OPERATION_LIMITS) as readonly (readonly [LimitName, OperationLimit])[];
const limitSyntax = ({ unit }: OperationLimit): z.ZodType<bigint, string> =>
  unit === 'lamports' ? sol : uint.transform(BigInt);

type LimitSetting = {
  readonly schema: z.ZodType<bigint, string>;
  readonly default: string;
  readonly areas: readonly ['custody'];
  readonly about: string;
};
type OwnSetting = Extract<(typeof OPERATION_LIMITS)[LimitName], { readonly setting: string }>['setting'];

/** Declarations of the limits that have their own setting. */
const limitSettings = Object.fromEntries(
  LIMITS.flatMap(([, limit]): [string, LimitSetting][] => {
    const { setting, label, beyond, default: standard } = limit;
    const about = `Limit on ${label}. Beyond it: ${beyond}.`;
    return setting
      ? [[setting, { schema: limitSyntax(limit), default: standard, areas: ['custody'], about }]]
      : [];
  }),
) as { readonly [S in OwnSetting]: LimitSetting };

/** The other limits, which share `DAILY_LIMITS`. */
const DAILY = LIMITS.filter(([, { setting }]) => setting === undefined);

const OPERATING_FLOAT = '0.2';
const STANDARD_PRICES = { creation: lamports(10_000_000n), listing: lamports(20_000_000n) };

export const VARIABLES = {
  OPS_SECRET: {
    schema: z.string().min(32),
    areas: ['service'],
    secret: true,
    about:
      'For `npm run ops`, at least 32 characters. Without it the operator route refuses each command with 404.',
  },
  ALARM_WEBHOOK_URL: {
    schema: url,
    areas: ['service'],
    secret: true,
    about: 'Chat webhook that receives alarms.',
  },
  HEARTBEAT_URL: {
    schema: url,
    areas: ['service'],
    secret: true,
    about:
      'URL that each cron run calls by GET after it has woken the custodian and sent new alarms, for a [monitor elsewhere](deploy.md#5-watch).',
  },
  CUSTODIAN_LOCATION: {
    schema: z.enum(['wnam', 'enam', 'sam', 'weur', 'eeur', 'apac', 'oc', 'afr', 'me']),
    areas: ['service'],
    about:
      'Region in which the platform creates the custodian, such as `weur`. Use the region of D1. It takes effect only before the first call. Empty: near the first caller.',
  },
  PAGE_VIEW_OBJECTS: {
    schema: z
      .string()
      .regex(/^[1-9]\d?$/, 'not a number from 1 to 99')
      .transform(Number),
    default: '1',
    areas: ['service'],
    about:
      'Objects that count page views, 1 to 99. One serves about 20 million views a day. Only raise it: the figures of a removed object are no longer shown.',
  },
  OPERATOR_NAME: {
    schema: z.string().regex(/^\P{C}{1,80}$/u, 'not one line of 1 to 80 characters'),
    areas: ['service'],
    about: 'Who runs the service: the person or company that /trust and /.well-known/security.txt name.',
  },
  SECURITY_CONTACT: {
    schema: z.url({ protocol: /^(mailto|https)$/ }),
    areas: ['service'],
    about:
      'Where to report a vulnerability: a `mailto:` or `https:` URL. Without it /.well-known/security.txt returns 503.',
  },

  SOLANA_PRIVATE_KEY: {
    schema: secret,
    areas: ['custody'],
    required: true,
    secret: true,
    custodyOnly: true,
    about:
      'The only key that signs on Solana: base58 of 64 bytes, or the JSON array of a key file. Or the URL of a key in a [key service](options.md#a-key-outside-cloudflare), with its token.',
  },
  RESERVE_SOLANA_ADDRESS: {
    schema: address,
    areas: ['custody'],
    required: true,
    about:
      'Solana address of the reserve, which belongs to `SOLANA_PRIVATE_KEY` (`npm run ops -- address` prints it), or to the key in the key service.',
  },
  RESERVE_BTC_ADDRESS: {
    // Must be canonical, because it is compared with the addresses that indexes return. In capitals it would never
    // match, and unconfirmed income would be treated as settled.
    schema: z.string().refine(isCanonicalAddress, 'not a Bitcoin address, or one in capitals'),
    areas: ['custody'],
    required: true,
    about: 'Bitcoin mainnet address of the reserve: the destination of every swap.',
  },
  PUBLIC_BASE_URL: {
    schema: url,
    areas: ['custody'],
    required: true,
    about:
      'Public origin of the service, without a path: `https://sluice.example`. Links and token metadata use it.',
  },
  EVACUATION_ADDRESS: {
    schema: address,
    areas: ['custody'],
    about:
      'Address of a cold wallet. `npm run ops -- evacuate` moves everything there after a [theft of the key](runbook.md#a-stolen-key). The service does not use it.',
  },
  TREASURY_SOLANA_ADDRESS: {
    schema: address,
    areas: ['custody'],
    about: 'Address that receives fees, payments for ASRY and minted ABSR. Empty: the reserve itself.',
  },
  SOLANA_RPC_URL: {
    schema: urlList,
    default: 'https://api.mainnet-beta.solana.com',
    areas: ['custody'],
    about:
      'Comma-separated Solana nodes of the custodian, primary first. Use three, each from a different operator.',
  },
  SOLANA_RPC_RATE: {
    schema: uint,
    default: '40',
    areas: ['custody'],
    about:
      'Requests per second that each node of `SOLANA_RPC_URL` and `SOLANA_READ_RPC_URL` serves. Callers together may use a quarter of it.',
  },
  SOLANA_READ_RPC_URL: {
    schema: urlList,
    default: 'https://api.mainnet.solana.com',
    areas: ['service'],
    about:
      'Comma-separated Solana nodes for what the API shows: figures, lists, tokens, pools. Callers can use up their rate, so name different hosts than in `SOLANA_RPC_URL`. One that lies shows wrong figures and can refuse sales; it moves no money.',
  },
  ESPLORA_API_URLS: {
    schema: urlList,
    default: 'https://mempool.space/api,https://blockstream.info/api',
    areas: ['custody'],
    about: 'Comma-separated Esplora indexes of Bitcoin. ABSR is minted only if two of them agree.',
  },
  PRICE_API_URLS: {
    schema: namedList(VENUE_NAMES, url),
    default: VENUE_NAMES.map((name) => `${name}=${PRICE_VENUES[name].url}`).join(','),
    areas: ['custody'],
    about: 'Comma-separated price venues, `name=URL`, preferred first. Two must agree before a swap.',
  },
  NEAR_INTENTS_JWT: {
    schema: secret,
    areas: ['custody'],
    secret: true,
    about: 'Token from the partner portal of the bridge. Without it the bridge charges a higher fee.',
  },
  BRIDGE_QUOTES_2H: {
    schema: uint,
    default: '180',
    areas: ['custody'],
    about:
      'Quotes of the bridge that callers may use in two hours: a third for swaps, the rest for estimates. Without a token the bridge allows about 200.',
  },
  SWAPS_DISABLED: {
    schema: flag,
    default: 'false',
    areas: ['custody'],
    about: 'Kill switch: `true` refuses every swap.',
  },
  ...limitSettings,
  RESERVE_FLOOR_SOL: {
    schema: sol,
    default: '0.1',
    areas: ['custody'],
    about: `SOL that stays in the reserve; only mints may use it. Swaps leave ${OPERATING_FLOAT} SOL more for rewards, creations and fees.`,
  },

  BTC_PRIVATE_KEY_WIF: {
    schema: secret,
    areas: ['proof'],
    secret: true,
    custodyOnly: true,
    about:
      'Bitcoin key that signs ownership proofs inside the service. Better left empty: sign offline with `npm run ops -- proof message`.',
  },

  ABSR_MINT_ADDRESS: {
    schema: address,
    areas: ['mint'],
    required: true,
    about: 'Address of the ABSR mint. Its mint authority is the reserve, or `ABSR_MINT_AUTHORITY`.',
  },
  ABSR_MINT_AUTHORITY: {
    schema: address,
    areas: ['mint'],
    about:
      'Multisig account of the reserve and the [witness](deploy.md#the-mint-witness), 2 of 2, that mints ABSR. Empty: the reserve mints alone.',
  },
  ABSR_WITNESS_URL: {
    schema: url,
    areas: ['mint'],
    about:
      'Origin of the witness, required with `ABSR_MINT_AUTHORITY`: it signs each mint that it can verify.',
  },

  ASRY_MINT_ADDRESS: {
    schema: address,
    areas: ['asry'],
    required: true,
    about: 'Address of the ASRY mint.',
  },
  ASRY_SOURCE_ACCOUNT: {
    schema: address,
    areas: ['asry'],
    about:
      "[Token account of a cold key](options.md#asry-from-a-cold-account) that pays rewards, up to its allowance. Empty: the reserve's own account.",
  },
  ASRY_PRICE_USD: {
    // Trillionths of a dollar.
    schema: decimal(12),
    areas: ['asry'],
    about: 'Price of one ASRY in dollars. Empty: claims with `rewardUsd` are refused.',
  },
  ASRY_HELD_SENDERS: {
    schema: addressList,
    default: '',
    areas: ['asry', 'payments'],
    about:
      'Comma-separated senders whose rewards and refunds await the operator, in addition to the built-in exchanges.',
  },

  MINT_KEY_SEED: {
    schema: z.string().min(32),
    areas: ['payments'],
    required: true,
    secret: true,
    custodyOnly: true,
    about:
      'At least 32 characters. The key of each mint is derived from it and the invoice: never change it while an invoice is open.',
  },
  PRICES_SOL: {
    schema: namedList(['creation', 'listing'], sol).transform((given) => ({ ...STANDARD_PRICES, ...given })),
    default: 'creation=0.01,listing=0.02',
    areas: ['payments'],
    about:
      'Prices in SOL: `creation=` is added to the rent and fees of a token; `listing=` is the whole price. An omitted name keeps its default.',
  },
  DAILY_LIMITS: {
    schema: namedList(
      DAILY.map(([name]) => name),
      (name) => limitSyntax(OPERATION_LIMITS[name]),
    ),
    default: DAILY.map(([name, { default: standard }]) => `${name}=${standard}`).join(','),
    areas: ['payments', 'asry'],
    about: `Comma-separated limits, \`name=value\`; an omitted name keeps its default. ${DAILY.map(([name, { label, beyond }]) => `\`${name}\`: ${label}; beyond it: ${beyond}.`).join(' ')}`,
  },

  CHANGENOW_API_KEY: {
    schema: secret,
    areas: ['exchange'],
    required: true,
    secret: true,
    about: 'API key of ChangeNOW.',
  },

  POOL_ADDRESSES: {
    schema: namedList(['default', 'saeth-sausd', 'sausd-usdc'], address),
    areas: ['pools'],
    required: true,
    about:
      'Comma-separated pools: `default=` (for `/api/dex/pool-default`), `saeth-sausd=` and `sausd-usdc=`.',
  },

  NOSTR_RELAYS: {
    schema: relayList,
    default: 'wss://relay.ditto.pub,wss://relay.primal.net,wss://relay.damus.io,wss://nos.lol',
    areas: ['nostr'],
    about: 'Comma-separated relays.',
  },
  NOSTR_NPUB: {
    schema: nostrIdentity,
    areas: ['nostr'],
    about: 'Identity whose posts `/api/nostr/posts` returns.',
  },
} as const satisfies Record<string, Declaration>;

export type Variable = keyof typeof VARIABLES;

/**
 * Facts about mainnet, the upstreams and this release, each with its area. Only the offline world and tests override
 * them, with variables of these names. An operator changes them here.
 */
export const CONSTANTS = {
  NEAR_INTENTS_API_URL: { schema: url, default: 'https://1click.chaindefuser.com', areas: ['custody'] },
  // The production key from the bridge's SDK. If this were another key, its holder could redirect swaps.
  NEAR_INTENTS_QUOTE_KEY: {
    schema: z.string().regex(/^ed25519:[1-9A-HJ-NP-Za-km-z]{32,44}$/),
    default: 'ed25519:reYaWhvwu8Jzo3WUM3zhn6VrhuMEF4eADL17qtRVifc',
    areas: ['custody'],
  },
  // Worst-case cost of a swap against the independent price, in basis points.
  SWAP_MAX_COST_BPS: { schema: uint, default: '200', areas: ['custody'] },
  // SOL above the floor for creations, payouts and refunds. Swaps cannot use it.
  OPERATING_FLOAT_SOL: { schema: sol, default: OPERATING_FLOAT, areas: ['custody'] },
  // `1` is SIMD-0385.
  SOLANA_TRANSACTION_VERSION: {
    schema: z.enum(['0', '1']).transform((text): MessageVersion => (text === '1' ? 1 : 0)),
    default: '0',
    areas: ['custody'],
  },
  // The payments that earn ASRY.
  DOLLAR_MINTS: {
    schema: namedList(['USDC', 'USDT'], address).transform(({ USDC, USDT }, context) => {
      if (USDC && USDT) return { USDC, USDT };
      context.addIssue('not both USDC and USDT');
      return z.NEVER;
    }),
    default:
      'USDC=EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v,USDT=Es9vMFrzaCERmJfrF4H2FYD4KCoNkY11McCe8BenwNYB',
    areas: ['asry'],
  },
  CHANGENOW_API_URL: { schema: url, default: 'https://api.changenow.io/v2', areas: ['exchange'] },
  ORCA_API_URL: { schema: url, default: 'https://api.orca.so/v2/solana', areas: ['pools'] },
} as const satisfies Record<string, Omit<Declaration, 'about'>>;

type Constant = keyof typeof CONSTANTS;

/** Every variable with its declaration, in the table's order. */
export const DECLARATIONS = Object.entries(VARIABLES) as readonly (readonly [Variable, Declaration])[];

type Value<D extends Pick<Declaration, 'schema'>> =
  | z.output<D['schema']>
  | (D extends { readonly default: string } ? never : undefined);

type CustodyOnly = {
  [K in Variable]: (typeof VARIABLES)[K] extends { readonly custodyOnly: true } ? K : never;
}[Variable];

/** A variable that the API may read. */
export type Setting = Exclude<Variable, CustodyOnly>;

export const SETTINGS = DECLARATIONS.filter(
  (entry): entry is readonly [Setting, Declaration] => entry[1].custodyOnly !== true,
);

type Read = typeof VARIABLES & typeof CONSTANTS;

export type Config = { readonly [K in Setting | Constant]: Value<Read[K]> } & {
  /** Names of settings with invalid values. Their defaults apply, and their areas are off. */
  readonly invalid: readonly (Setting | Constant)[];
};

/** All settings and constants that the API and the custodian read, without the keys. */
export const READ = [...SETTINGS, ...Object.entries(CONSTANTS)] as readonly (readonly [
  Setting | Constant,
  Omit<Declaration, 'about'>,
])[];

/** An empty string is treated as unset, so that an empty value in `.dev.vars` has no effect. */
export function readConfig(env: object): Config {
  const invalid: (Setting | Constant)[] = [];
  const entries = READ.map(([name, { schema, default: standard }]) => {
    const given: unknown = Reflect.get(env, name);
    const parsed = typeof given === 'string' && given !== '' ? schema.safeParse(given) : undefined;
    if (parsed?.success) return [name, parsed.data];
    if (parsed) invalid.push(name);
    return [name, standard === undefined ? undefined : schema.parse(standard)];
  });
  return { ...Object.fromEntries(entries), invalid } as Config;
}

const STANDARD_LIMITS = Object.fromEntries(
  LIMITS.map(([name, limit]) => [name, limitSyntax(limit).parse(limit.default)]),
);

/** The configured maximum of each limit on operations. */
export const limitsOf = (config: Config): Readonly<Record<LimitName, bigint>> => {
  const own = LIMITS.flatMap(([name, { setting }]) =>
    setting ? [[name, config[setting as OwnSetting]]] : [],
  );
  return { ...STANDARD_LIMITS, ...config.DAILY_LIMITS, ...Object.fromEntries(own) } as Record<
    LimitName,
    bigint
  >;
};
