/** Names and syntax of the settings, their keys, and the URLs that people and monitors get. */
import { wifControls } from '../../src/chain/bitcoin/wif.ts';
import { DECLARATIONS } from '../../src/config.ts';
import { addressOfSecret } from '../../src/custody/kernel/signer.ts';
import { readVaultKey } from '../../src/providers/vault-transit.ts';
import { checkAddresses } from './check-addresses.ts';
import { checkValues, hostnameOf, LOOPBACK } from './check-values.ts';
import { type Finding, given, isLocalService, noteIf, problem, problemIf, type Settings } from './finding.ts';
import { KNOWN, WORLD_ONLY } from './read-settings.ts';

export function checkSettings(settings: Settings): Finding[] {
  return [
    ...checkNames(settings),
    ...checkSyntax(settings),
    ...checkValues(settings),
    ...checkSolanaKey(settings),
    ...checkBitcoinKey(settings),
    ...checkBaseUrl(settings),
    ...checkAlarms(settings),
    ...checkAddresses(settings),
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
  [/^(bc1|[13][1-9A-HJ-NP-Za-km-z]{25,33}$)/, 'it is not a valid Bitcoin address, or is in the wrong line'],
  [/^0x[\da-f]+$/i, 'it is hexadecimal, as on Ethereum'],
  [/^nsec1/, 'it is a secret key, not an npub'],
  [/^[\w-]+\.(sol|eth|btc)$/, 'it is a name, not an address'],
  [/^-/, 'it is negative'],
  [/^\d+,\d+$/, 'its decimals begin with a comma, not a point'],
  [/^\d[\d'_ ]+$/, 'its digits are in groups'],
  [/^[\d.]+\s*[a-z%]+$/i, 'it has a unit'],
  [/^(?=.*[a-z])[\w-]+(\.[\w-]+)+(\/\S*)?$/i, 'it is a host without https://'],
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
  const { protocol, hostname, pathname, search, origin, port } = new URL(text);
  const isRoot = pathname === '/' && search === '';
  return [
    ...problemIf(
      protocol !== 'https:' && !LOOPBACK.test(hostname),
      'base-url-insecure',
      'PUBLIC_BASE_URL is not https: token metadata would permanently be served unencrypted.',
      'Use the https origin.',
    ),
    ...problemIf(
      !isRoot,
      'base-url-path',
      'PUBLIC_BASE_URL has a path or a query: links would not work.',
      'Leave only scheme and host.',
    ),
    ...problemIf(
      isRoot && text.replace(/\/+$/, '') !== origin,
      'base-url-form',
      'PUBLIC_BASE_URL is not written as browsers write an origin, with which callers compare it.',
      `Write ${origin}.`,
    ),
    ...problemIf(
      !LOOPBACK.test(hostname) && (!/[a-z]\.?$/.test(hostname) || !hostname.includes('.') || port !== ''),
      'base-url-host',
      'PUBLIC_BASE_URL has no public name, or a port: neither links nor a certificate would work.',
      'Use the name that `--domain` gives to the Worker.',
    ),
  ];
}

/** Services that have pages for people and a URL for callers: their hosts, and the URL that a caller uses. */
const CALLED: readonly (readonly [RegExp, RegExp, string])[] = [
  [/(^|\.)slack\.com$/, /^hooks\.slack\.com\/\w+\/./, 'https://hooks.slack.com/services/...'],
  [/(^|\.)discord(app)?\.com$/, /^[\w.]+\/api\/webhooks\/./, 'https://discord.com/api/webhooks/...'],
  [
    /(^|\.)(t\.me|telegram\.(me|org))$/,
    /^api\.telegram\.org\/bot.+\/sendMessage\?.*chat_id=/,
    'https://api.telegram.org/bot.../sendMessage?chat_id=...',
  ],
  [/(^|\.)teams\.microsoft\.com$/, /^$/, 'that of a workflow with a webhook'],
  [
    /(^|\.)pagerduty\.com$/,
    /^events\.(eu\.)?pagerduty\.com\/(?!v2\/enqueue)./,
    'https://events.pagerduty.com/x-ere/...',
  ],
  [/(^|\.)(healthchecks\.io|hc-ping\.com)$/, /^hc-ping\.com\/./, 'https://hc-ping.com/...'],
  [/(^|\.)uptimerobot\.com$/, /^heartbeat\.uptimerobot\.com\/./, 'https://heartbeat.uptimerobot.com/...'],
  [
    /(^|\.)(betterstack|betteruptime)\.com$/,
    /^uptime\.[\w.]+\/api\/v1\/./,
    'https://uptime.betterstack.com/api/v1/heartbeat/...',
  ],
  [/(^|\.)(cronitor\.(io|link))$/, /^cronitor\.link\/./, 'https://cronitor.link/...'],
];

const checkCalled = (settings: Settings): Finding[] =>
  (['ALARM_WEBHOOK_URL', 'HEARTBEAT_URL'] as const).flatMap((name) => {
    const url = given(settings, name) ?? '';
    const called = url.replace(/^[a-z]+:\/\//i, '');
    const [, form, right] = CALLED.find(([host]) => host.test(hostnameOf(url))) ?? [];
    return problemIf(
      (form !== undefined && !form.test(called)) || /,\s*https?:/.test(url),
      'webhook-form',
      `${name} is not the one URL that accepts these calls.`,
      `Name one: ${right ?? 'only the first of them'}`,
    );
  });

/** One e-mail address, or an https: URL. */
const CONTACT = /^(https:|mailto:[^\s@,<>/]+@[^\s@,<>/]+\.[a-z]{2,}(\?|$))/i;

function checkAlarms(settings: Settings): Finding[] {
  if (given(settings, 'PUBLIC_BASE_URL') === undefined || isLocalService(settings)) return [];
  const contact = given(settings, 'SECURITY_CONTACT');
  return [
    ...checkCalled(settings),
    ...problemIf(
      given(settings, 'ALARM_WEBHOOK_URL') === undefined,
      'webhook-missing',
      'ALARM_WEBHOOK_URL is not set: alarms are in the log only, where nobody looks at night.',
      'Set it to a webhook of Slack, of Discord, or of a service that wakes you.',
    ),
    ...problemIf(
      contact !== undefined && !CONTACT.test(contact),
      'contact-form',
      'SECURITY_CONTACT is neither one e-mail address nor an https: URL: nobody could write to it.',
      'Write mailto:NAME@HOST with one address.',
    ),
    ...noteIf(
      given(settings, 'HEARTBEAT_URL') === undefined,
      'heartbeat-missing',
      'HEARTBEAT_URL is not set: nobody is told when the cron stops.',
      'Set it as docs/run/deploy.md describes under Watch.',
    ),
    ...noteIf(
      contact === undefined,
      'contact-missing',
      'SECURITY_CONTACT is not set: /.well-known/security.txt returns 503.',
      'Set it to a mailto: or https: URL that you read.',
    ),
  ];
}
