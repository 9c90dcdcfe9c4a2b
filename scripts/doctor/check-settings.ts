/** Names and syntax of the settings, their keys and addresses, and how these fit each other. */
import { wifControls } from '../../src/chain/bitcoin/wif.ts';
import { DECLARATIONS, readConfig } from '../../src/config.ts';
import { addressOfSecret } from '../../src/custody/kernel/signer.ts';
import { readVaultKey } from '../../src/providers/vault-transit.ts';
import { checkValues, LOOPBACK } from './check-values.ts';
import { type Finding, given, isLocalService, noteIf, problem, problemIf, type Settings } from './finding.ts';
import { KNOWN, WORLD_ONLY } from './read-settings.ts';

export function checkSettings(settings: Settings): Finding[] {
  return [
    ...checkNames(settings),
    ...checkSyntax(settings),
    ...checkValues(settings),
    ...checkSolanaKey(settings),
    ...checkTreasury(settings),
    ...checkBitcoinKey(settings),
    ...checkBaseUrl(settings),
    ...checkAlarms(settings),
    ...checkAddresses(settings),
    ...checkMints(settings),
    ...checkPools(settings),
    ...checkWitness(settings),
  ];
}

/** Required settings of the service, the custodian and the payments that are missing among the given names. */
export function missingSecrets(names: readonly string[]): string[] {
  const required = DECLARATIONS.flatMap(([name, { areas, required }]) =>
    required && areas.some((area) => area === 'custody' || area === 'payments') ? [name] : [],
  );
  return ['OPS_SECRET', ...required].filter((name) => !names.includes(name));
}

/** Insertions, deletions and changes of a letter between two names. */
function distance(one: string, other: string): number {
  let row = Array.from({ length: other.length + 1 }, (_, at) => at);
  for (const [above, letter] of [...one].entries()) {
    const next = [above + 1];
    for (const [at, same] of [...other].entries())
      next.push(
        Math.min((next[at] ?? 0) + 1, (row[at + 1] ?? 0) + 1, (row[at] ?? 0) + Number(letter !== same)),
      );
    row = next;
  }
  return row.at(-1) ?? 0;
}

const MOST_MISTAKES = 4;

function checkNames(settings: Settings): Finding[] {
  const isLocal = isLocalService(settings);
  const unknown = Object.keys(settings).filter(
    (name) => !KNOWN.includes(name) && !(isLocal && WORLD_ONLY.includes(name)),
  );
  const missing = missingSecrets(Object.keys(settings).filter((name) => settings[name]?.trim() !== ''));
  return [
    ...unknown.map((name) => {
      const [nearest] = KNOWN.map((known) => ({ known, mistakes: distance(name.toUpperCase(), known) }))
        .filter(({ mistakes }) => mistakes <= MOST_MISTAKES)
        .toSorted((a, b) => a.mistakes - b.mistakes);
      const fix = nearest
        ? `Write ${nearest.known}.`
        : 'Remove it, or use the name in docs/run/configuration.md.';
      return problem('variable-unknown', `${name} is not a setting of the service.`, fix);
    }),
    ...missing.map((name) =>
      problem(
        'variable-missing',
        `${name} is required and not set.`,
        `Set ${name} as docs/run/configuration.md describes it; \`npm run ops -- keygen\` makes keys and secrets.`,
      ),
    ),
  ];
}

/** What a wrong value looks like, for a mistake that many people make. */
const LOOKS: readonly (readonly [RegExp, string])[] = [
  [/^(tb1|bcrt1|[mn2][1-9A-HJ-NP-Za-km-z]{25,34}$)/, 'it is an address of a Bitcoin test network'],
  [/^(bc1|[13][1-9A-HJ-NP-Za-km-z]{25,33}$)/, 'it is no valid Bitcoin address, or stands in the wrong line'],
  [/^0x[\da-f]{40}$/i, 'it is an address of Ethereum'],
  [/^nsec1/, 'it is a secret key, not an npub'],
  [/^[\w-]+\.(sol|eth|btc)$/, 'it is a name, not an address'],
  [/^-/, 'it is negative'],
  [/^\d+,\d+$/, 'its decimals begin with a comma, not a point'],
  [/^[\d.]+\s*[a-z%]+$/i, 'it has a unit'],
  [/^[\w-]+(\.[\w-]+)+(\/\S*)?$/, 'it is a host without https://'],
  [/^[1-9A-HJ-NP-Za-km-z]{32,44}$/, 'it is a Solana address in the wrong line'],
];

function checkSyntax(settings: Settings): Finding[] {
  return DECLARATIONS.flatMap(([name, { schema, about }]) => {
    const text = given(settings, name);
    const parsed = text === undefined ? undefined : schema.safeParse(text);
    if (text === undefined || parsed === undefined || parsed.success) return [];
    const [, look] = LOOKS.find(([form]) => form.test(text.trim())) ?? [];
    return [
      problem(
        'variable-invalid',
        `${name} is invalid: ${look ?? parsed.error.issues[0]?.message ?? 'unknown syntax'}.`,
        `${name}: ${about.replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1')}`,
      ),
    ];
  });
}

function checkSolanaKey(settings: Settings): Finding[] {
  const key = given(settings, 'SOLANA_PRIVATE_KEY');
  if (key === undefined || readVaultKey(key)) return [];
  const own = addressOfSecret(key);
  if (own === undefined)
    return [
      problem(
        'solana-key-malformed',
        'SOLANA_PRIVATE_KEY is neither a Solana secret key nor the URL of a key with its token.',
        'Set it to the base58 text or the JSON array of a 64-byte key, or as docs/run/options.md describes.',
      ),
    ];
  return problemIf(
    given(settings, 'RESERVE_SOLANA_ADDRESS') !== own,
    'solana-key-mismatch',
    `SOLANA_PRIVATE_KEY is the key of ${own}, not of RESERVE_SOLANA_ADDRESS: nothing can be signed.`,
    'Find out which one is right, and correct the other.',
  );
}

/** A bridge returns money to the reserve; a separate treasury never receives it. */
function checkTreasury(settings: Settings): Finding[] {
  const reserve = given(settings, 'RESERVE_SOLANA_ADDRESS');
  const treasury = given(settings, 'TREASURY_SOLANA_ADDRESS');
  return problemIf(
    reserve !== undefined && (treasury === undefined || treasury === reserve),
    'treasury-is-reserve',
    'TREASURY_SOLANA_ADDRESS is the reserve, so money that a bridge returns late can look like a deposit or a payment.',
    'Set TREASURY_SOLANA_ADDRESS to a wallet of its own, whose key the service does not have.',
  );
}

function checkBitcoinKey(settings: Settings): Finding[] {
  const wif = given(settings, 'BTC_PRIVATE_KEY_WIF');
  return problemIf(
    wif !== undefined && !wifControls(wif, given(settings, 'RESERVE_BTC_ADDRESS') ?? ''),
    'btc-key-mismatch',
    'BTC_PRIVATE_KEY_WIF is not the mainnet key of RESERVE_BTC_ADDRESS in wallet import format.',
    'Use the key of that address, or remove it and sign proofs offline.',
  );
}

function checkBaseUrl(settings: Settings): Finding[] {
  const text = given(settings, 'PUBLIC_BASE_URL') ?? '';
  if (!URL.canParse(text)) return [];
  const { protocol, hostname, pathname, search } = new URL(text);
  return [
    ...problemIf(
      protocol !== 'https:' && !LOOPBACK.test(hostname),
      'base-url-insecure',
      'PUBLIC_BASE_URL is not https: token metadata would permanently be served unencrypted.',
      'Use the https origin.',
    ),
    ...problemIf(
      (pathname !== '/' && pathname !== '') || search !== '',
      'base-url-path',
      'PUBLIC_BASE_URL has a path or a query: links would not work.',
      'Leave only scheme and host.',
    ),
    ...problemIf(
      !LOOPBACK.test(hostname) && (!hostname.includes('.') || /^[\d.]+$/.test(hostname)),
      'base-url-host',
      'PUBLIC_BASE_URL has no public name: neither links nor a certificate would work.',
      'Use the name that `--domain` gives to the Worker.',
    ),
  ];
}

function checkAlarms(settings: Settings): Finding[] {
  if (given(settings, 'PUBLIC_BASE_URL') === undefined || isLocalService(settings)) return [];
  const webhook = given(settings, 'ALARM_WEBHOOK_URL');
  const { hostname = '', pathname = '' } = webhook && URL.canParse(webhook) ? new URL(webhook) : {};
  return [
    ...problemIf(
      webhook === undefined,
      'webhook-missing',
      'ALARM_WEBHOOK_URL is not set: alarms are in the log only, where nobody looks at night.',
      'Set it to a webhook of Slack, of Discord, or of a service that wakes you.',
    ),
    ...problemIf(
      /(^|\.)slack\.com$/.test(hostname) ? hostname !== 'hooks.slack.com' : isDiscordPage(hostname, pathname),
      'webhook-form',
      'ALARM_WEBHOOK_URL is a page of the chat service, not a webhook.',
      'Create an incoming webhook there, and use its URL.',
    ),
    ...noteIf(
      given(settings, 'HEARTBEAT_URL') === undefined,
      'heartbeat-missing',
      'HEARTBEAT_URL is not set: nobody is told when the cron stops.',
      'Set it as docs/run/deploy.md describes under Watch.',
    ),
    ...noteIf(
      given(settings, 'SECURITY_CONTACT') === undefined,
      'contact-missing',
      'SECURITY_CONTACT is not set: /.well-known/security.txt returns 503.',
      'Set it to a mailto: or https: URL that you read.',
    ),
  ];
}

const isDiscordPage = (hostname: string, pathname: string): boolean =>
  /(^|\.)discord(app)?\.com$/.test(hostname) && !pathname.startsWith('/api/webhooks/');

/** Programs and tokens that are on every cluster: none is a wallet, a mint or an account of an operator. */
const WELL_KNOWN = [
  '11111111111111111111111111111111',
  'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA',
  'TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb',
  'ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL',
  'So11111111111111111111111111111111111111112',
  'MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr',
  'ComputeBudget111111111111111111111111111111',
];
const OWN_ADDRESSES = [
  'RESERVE_SOLANA_ADDRESS',
  'TREASURY_SOLANA_ADDRESS',
  'ABSR_MINT_ADDRESS',
  'ABSR_MINT_AUTHORITY',
  'ASRY_MINT_ADDRESS',
  'ASRY_SOURCE_ACCOUNT',
] as const;
const MAY_BE_EQUAL = new Set(['RESERVE_SOLANA_ADDRESS TREASURY_SOLANA_ADDRESS']);

function checkAddresses(settings: Settings): Finding[] {
  const named = OWN_ADDRESSES.flatMap((name) => {
    const address = given(settings, name);
    return address === undefined ? [] : [{ name, address }];
  });
  const isMint = (name: string): boolean => name.endsWith('_MINT_ADDRESS');
  const pairs = named.flatMap((one, at) => named.slice(at + 1).map((other) => [one, other] as const));
  return [
    ...named
      .filter(({ address }) => WELL_KNOWN.includes(address))
      .map(({ name }) =>
        problem(
          'address-well-known',
          `${name} is a program or a token that everyone uses.`,
          `Set ${name} to an address of your own.`,
        ),
      ),
    ...pairs
      .filter(
        ([one, other]) =>
          one.address === other.address &&
          !MAY_BE_EQUAL.has(`${one.name} ${other.name}`) &&
          !(isMint(one.name) && isMint(other.name)),
      )
      .map(([one, other]) =>
        problem(
          'address-reused',
          `${one.name} and ${other.name} are the same address.`,
          `Give each its own: one of the two stands in the wrong line.`,
        ),
      ),
    ...problemIf(
      (given(settings, 'ASRY_HELD_SENDERS') ?? '')
        .split(/[\s,]+/)
        .some((sender) => named.some(({ address }) => address === sender)),
      'held-sender-own',
      'ASRY_HELD_SENDERS names an address of the service itself.',
      'Name only senders of others.',
    ),
  ];
}

function checkMints(settings: Settings): Finding[] {
  const { ABSR_MINT_ADDRESS: absr, ASRY_MINT_ADDRESS: asry, DOLLAR_MINTS } = readConfig(settings);
  const mints = [absr, asry, ...Object.values(DOLLAR_MINTS)].filter((mint) => mint !== undefined);
  return problemIf(
    new Set(mints).size < mints.length,
    'mints-equal',
    'ABSR_MINT_ADDRESS, ASRY_MINT_ADDRESS and the mints of USDC and USDT are not different.',
    'Name the mint of each token.',
  );
}

function checkPools(settings: Settings): Finding[] {
  const pools = readConfig(settings).POOL_ADDRESSES;
  if (pools === undefined) return [];
  const addresses = Object.values(pools);
  return [
    ...problemIf(
      addresses.length < 3,
      'pools-incomplete',
      'POOL_ADDRESSES names fewer than three pools: the routes of the others return 503.',
      'Name `default=`, `saeth-sausd=` and `sausd-usdc=`.',
    ),
    ...problemIf(
      new Set(addresses).size < addresses.length,
      'pools-equal',
      'POOL_ADDRESSES names one pool twice.',
      'Name the pool of each pair.',
    ),
  ];
}

/** One without the other: no mint is ever signed by both keys. */
function checkWitness(settings: Settings): Finding[] {
  const authority = given(settings, 'ABSR_MINT_AUTHORITY');
  const url = given(settings, 'ABSR_WITNESS_URL');
  return [
    ...problemIf(
      (authority === undefined) !== (url === undefined),
      'witness-incomplete',
      'Only one of ABSR_MINT_AUTHORITY and ABSR_WITNESS_URL is set: nothing is minted with the witness.',
      'Set both as docs/run/deploy.md describes, or neither.',
    ),
    ...problemIf(
      authority !== undefined && given(settings, 'ABSR_MINT_ADDRESS') === undefined,
      'witness-without-mint',
      'ABSR_MINT_AUTHORITY is set without ABSR_MINT_ADDRESS: nothing is minted.',
      'Set ABSR_MINT_ADDRESS to the mint of ABSR.',
    ),
  ];
}
