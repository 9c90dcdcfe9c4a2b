/** What can be wrong with the text of any setting: quotes, blanks, examples, URLs, keys in public settings. */
import { isBitcoinAddress } from '../../src/chain/bitcoin/address.ts';
import { decodeWif } from '../../src/chain/bitcoin/wif.ts';
import { isAddress } from '../../src/chain/solana/address.ts';
import { orUndefined } from '../../src/core/or-undefined.ts';
import { addressOfSecret } from '../../src/custody/kernel/signer.ts';
import { readVaultKey } from '../../src/providers/vault-transit.ts';
import {
  type Finding,
  given,
  isLocalService,
  problem,
  problemIf,
  SECRETS,
  type Settings,
} from './finding.ts';

export const LOOPBACK = /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/;
/** Addresses that a Worker cannot reach: private and reserved networks, local domains, and names without a domain. */
const PRIVATE =
  /^(10\.|192\.168\.|172\.(1[6-9]|2\d|3[01])\.|169\.254\.|0\.|100\.(6[4-9]|[7-9]\d|1[01]\d|12[0-7])\.)|^\[(::|f[cd]|fe[89ab])|\.(local|internal|lan|home|arpa|onion|localhost)$|^[^.[]*$/;
const OTHER_NETWORK =
  /devnet|testnet|signet|regtest|mutinynet|(^|[./])liquid\b|ethereum|\b(eth|bsc|polygon|matic|base|arb|arbitrum|opt|optimism|avax)-mainnet/i;
/** Pages for people at a provider. */
const PAGE = /^(app|console|dash|dashboard|docs|explorer|portal|status)\.|(^|\.)(solscan\.io|solana\.fm)$/;

/** The host of a URL without the port and a trailing dot; empty if the URL has no host. */
export const hostnameOf = (url: string): string =>
  URL.canParse(url) ? new URL(url).hostname.replace(/\.$/, '') : '';

/** What distinguishes two servers: the host; on this machine also the port. */
export const machineOf = (url: string): string =>
  LOOPBACK.test(hostnameOf(url)) ? new URL(url).host : hostnameOf(url);

export function checkValues(settings: Settings): Finding[] {
  const texts = Object.entries(settings).filter(([, text]) => text !== '');
  return [
    ...texts.flatMap(([name, text]) => checkText(name, text)),
    ...texts.flatMap(([name, text]) => checkPlaceholder(name, text, settings)),
    ...texts.flatMap(([name, text]) => checkUrls(name, text, settings)),
    ...checkSecrets(settings),
  ];
}

function checkText(name: string, text: string): Finding[] {
  const isSecret = SECRETS.includes(name);
  const inner = text.trim();
  // A key file is JSON, which may have blanks.
  const hasBlank = isSecret && name !== 'SOLANA_PRIVATE_KEY' && /\s/.test(inner);
  return [
    ...problemIf(
      text !== inner || hasBlank,
      'value-with-spaces',
      `${name} has a blank ${text === inner ? 'in it' : 'at its beginning or end'}, which becomes part of the value.`,
      `Remove the blanks from ${name}, also inside quotes.`,
    ),
    ...problemIf(
      /^(["'`]).*\1$/s.test(inner),
      'value-quoted',
      `${name} has quotes inside its quotes, which become part of the value.`,
      `Leave one pair of quotes, or none.`,
    ),
    ...problemIf(
      /[^\t\n\r\x20-\x7e]/.test(text),
      'value-not-plain',
      `${name} has a character that no setting has, such as a typographic quote or an invisible blank.`,
      `Type the value of ${name} again, in ASCII.`,
    ),
    ...problemIf(
      /\$\{\w+\}|^\$\w+$|\$\(/.test(inner),
      'value-not-expanded',
      `${name} names another variable: nothing expands it.`,
      `Write the value itself.`,
    ),
    ...problemIf(
      !isSecret && /[,;]$/.test(inner),
      'value-punctuation',
      `${name} ends with a comma or a semicolon.`,
      `Remove it.`,
    ),
  ];
}

/** Text of an example that an operator has to replace. */
const PLACEHOLDER =
  /^\.{2,}$|^<.*>$|^\{.*\}$|:\/\/.*[<{]|^(api[-_]?key|token|key|test|none|null)$|\b(change[-_ ]?(me|it)|replace[-_ ]?me|todo|tbd|fixme|placeholder)\b|^x{3,}$|\byour[-_ ]?(own|api|rpc|key|token|secret|domain|address|node|webhook)/i;
/** Hosts of documentation (RFC 2606), which never exist, and the repository of the documentation. */
const EXAMPLE_HOST = /(^|\.)(example|invalid)$|(^|\.)example\.(com|net|org)$|(^|[./@-])sluice-example\b/;

const hostsIn = (text: string): string[] => [
  ...urlsIn(text).flatMap((url) => (URL.canParse(url) ? [new URL(url).hostname, new URL(url).pathname] : [])),
  ...[...text.matchAll(/[\w.+-]+@([\w.-]+)/g)].map(([, host = '']) => host),
];

/** Whether a text names what only documentation names: an example's host, or the repository of the documentation. */
export const isExample = (text: string): boolean =>
  PLACEHOLDER.test(text.trim()) || hostsIn(text).some((host) => EXAMPLE_HOST.test(host));

function checkPlaceholder(name: string, text: string, settings: Settings): Finding[] {
  // Nobody reads the contact of a service on this machine.
  if (name === 'SECURITY_CONTACT' && isLocalService(settings)) return [];
  return problemIf(
    isExample(text),
    'placeholder',
    `${name} still has the text of an example.`,
    `Replace it, or remove the line if you do not need ${name}.`,
  );
}

/** Every URL in a value, which may be a comma-separated list or `name=URL`. */
export const urlsIn = (text: string): string[] =>
  [...text.matchAll(/[a-z][\w+.-]*:\/\/[^\s,"']+/gi)].map(([url]) => url);

/** URLs whose host serves something other than what the setting needs. */
function checkHosts(name: string, urls: readonly URL[], settings: Settings): Finding[] {
  const own = given(settings, 'PUBLIC_BASE_URL') ?? '';
  const nameOf = (url: string): string => machineOf(url).replace(/^www\./, '');
  const some = (test: (url: URL) => boolean): boolean => urls.some(test);
  const isForPeople = ['PUBLIC_BASE_URL', 'SECURITY_CONTACT'].includes(name);
  return [
    ...problemIf(
      some(({ hostname, pathname }) => OTHER_NETWORK.test(`${hostname}${pathname}`)),
      'url-other-network',
      `${name} names a test network or another chain; the service works on mainnet only.`,
      `Name the provider's address for mainnet.`,
    ),
    ...problemIf(
      !isForPeople && some(({ href }) => nameOf(href) === nameOf(own)),
      'url-own-service',
      `${name} names the service itself.`,
      `Name the address of the other service that ${name} is for.`,
    ),
    ...problemIf(
      !isForPeople && some(({ hostname }) => PAGE.test(hostname)),
      'url-page',
      `${name} names a page for people, not an address for programs.`,
      `Copy the address from the provider's list of endpoints.`,
    ),
  ];
}

function checkUrls(name: string, text: string, settings: Settings): Finding[] {
  const isKeyUrl = name === 'SOLANA_PRIVATE_KEY';
  const urls = urlsIn(text).flatMap((url) => (URL.canParse(url) ? [new URL(url)] : []));
  const some = (test: (url: URL) => boolean): boolean => urls.some(test);
  const parts = text.split(/[\s,]+/).map((part) => (URL.canParse(part) ? new URL(part).href : part));
  const items = parts.flatMap((part) => part.replace(/\/+$/, '') || []);
  return [
    ...problemIf(
      name !== 'PUBLIC_BASE_URL' &&
        some(({ protocol, hostname }) => /^(http|ws):$/.test(protocol) && !LOOPBACK.test(hostname)),
      'url-insecure',
      `${name} names a URL without encryption, which anyone on the way can read and change.`,
      `Use its https: or wss: address.`,
    ),
    ...problemIf(
      !isKeyUrl && some(({ username, password }) => username + password !== ''),
      'url-credentials',
      `${name} has a URL with a user name or password: a Worker refuses to call such a URL.`,
      `Use a URL with the key in its path or query.`,
    ),
    ...problemIf(
      some(({ hash }) => hash !== ''),
      'url-fragment',
      `${name} names a URL with a #, whose rest is never sent.`,
      `Remove the # and what follows, or write it as %23.`,
    ),
    ...problemIf(
      !isLocalService(settings) && some(({ hostname }) => LOOPBACK.test(hostname) || PRIVATE.test(hostname)),
      'url-private',
      `${name} names a host of a private network, which a deployed Worker cannot reach.`,
      `Name a public https: address.`,
    ),
    ...checkHosts(name, urls, settings),
    ...problemIf(
      some(({ searchParams }) => [...searchParams].some(([key, value]) => /key|token/i.test(key) && !value)),
      'url-without-key',
      `${name} names a URL whose key is empty.`,
      `Write the key behind the =.`,
    ),
    ...problemIf(
      !SECRETS.includes(name) && new Set(items).size < items.length,
      'list-repeated',
      `${name} names the same item twice.`,
      `Name different ones, or remove one.`,
    ),
  ];
}

function checkSecrets(settings: Settings): Finding[] {
  const named = Object.entries(settings).filter(([, text]) => text !== '');
  const isSecret = ([name]: readonly [string, string]): boolean => SECRETS.includes(name);
  const secrets = named.filter(isSecret);
  const open = named.filter((entry) => !isSecret(entry));
  const reused = secrets.filter(([name, text]) =>
    secrets.some(([other, part]) => other !== name && part.length >= 8 && text.includes(part)),
  );
  return [
    ...secrets.flatMap(([name, text]) => checkForm(name, text)),
    ...open.flatMap(([name, text]) =>
      problemIf(
        isSecretText(text) || secrets.some(([, secret]) => secret.length >= 8 && text.includes(secret)),
        'secret-exposed',
        `The value of ${name} is a secret, but this setting may be shown.`,
        `Move the value to its own setting, create a new one, and correct ${name}.`,
      ),
    ),
    ...secrets.flatMap(([name, text]) =>
      problemIf(
        isAddress(text) || isBitcoinAddress(text) || /^npub1/.test(text),
        'secret-public',
        `${name} is a public address: everyone knows it.`,
        'Create a secret with `npm run ops -- keygen`.',
      ),
    ),
    ...problemIf(
      reused.length > 0,
      'secret-reused',
      `${reused.map(([name]) => name).join(' and ')} repeats the value of another secret.`,
      'Create a separate one for each: `npm run ops -- keygen`.',
    ),
    ...(['MINT_KEY_SEED', 'OPS_SECRET'] as const).flatMap((name) => {
      const text = given(settings, name);
      return problemIf(
        text !== undefined && isGuessable(text),
        'secret-weak',
        `${name} can be guessed: it repeats itself, counts, or has a word that people choose.`,
        'Create one with `npm run ops -- keygen`.',
      );
    }),
    ...checkToken(settings),
  ];
}

/** A secret made by a generator has many different characters. */
const LEAST_CHARACTERS = 10;
const CHOSEN_WORDS = /passw|secret|sluice|qwert|letmein|admin|welcome|1234567|abcdefg|correct.?horse/i;

function isGuessable(text: string): boolean {
  const codes = [...text].map((letter) => letter.charCodeAt(0));
  const steps = codes.slice(1).filter((code, at) => Math.abs(code - (codes[at] ?? 0)) <= 1);
  return (
    new Set(text).size < LEAST_CHARACTERS ||
    /^(.+?)\1+$/.test(text) ||
    steps.length > text.length / 2 ||
    CHOSEN_WORDS.test(text)
  );
}

/** Whether a text is a signing key or a token, in whatever setting it stands. */
const isSecretText = (text: string): boolean =>
  addressOfSecret(text) !== undefined ||
  orUndefined(() => decodeWif(text)) !== undefined ||
  /^nsec1/.test(text) ||
  JWT.test(text);

const JWT = /^eyJ[\w-]+\.([\w-]+)\.[\w-]*$/;
const WEBHOOKS = ['ALARM_WEBHOOK_URL', 'HEARTBEAT_URL'];

/** The secret whose form a value has, if the form identifies one. */
function formOf(name: string, text: string): string | undefined {
  if (addressOfSecret(text) !== undefined || readVaultKey(text)) return 'SOLANA_PRIVATE_KEY';
  if (orUndefined(() => decodeWif(text))) return 'BTC_PRIVATE_KEY_WIF';
  if (JWT.test(text)) return 'NEAR_INTENTS_JWT';
  if (!/^https?:/.test(text)) return undefined;
  return WEBHOOKS.includes(name) ? name : 'ALARM_WEBHOOK_URL';
}

function checkForm(name: string, text: string): Finding[] {
  const form = formOf(name, text);
  return problemIf(
    form !== undefined && form !== name,
    'secret-swapped',
    `${name} has the form of ${form}.`,
    `Put it into ${form}. If it was deployed or logged as ${name}, replace it.`,
  );
}

const expiryOf = (token: string): number | undefined =>
  orUndefined(() => {
    const [, claims = ''] = JWT.exec(token) ?? [];
    const { exp } = JSON.parse(Buffer.from(claims, 'base64url').toString()) as { exp?: unknown };
    return typeof exp === 'number' ? exp * 1_000 : undefined;
  });

const LEAST_LIFE_MS = 3 * 86_400_000;

/** The token of the bridge is a JWT; a truncated or expired one has no effect. */
function checkToken(settings: Settings): Finding[] {
  const token = given(settings, 'NEAR_INTENTS_JWT');
  if (token === undefined || isLocalService(settings)) return [];
  if (!JWT.test(token))
    return [
      problem(
        'token-malformed',
        'NEAR_INTENTS_JWT is not a token of three parts separated by points.',
        'Copy the whole token from partners.near-intents.org, without `Bearer`.',
      ),
    ];
  return problemIf(
    (expiryOf(token) ?? Number.POSITIVE_INFINITY) < Date.now() + LEAST_LIFE_MS,
    'token-expired',
    'NEAR_INTENTS_JWT has expired, or expires within three days. The bridge refuses an expired token.',
    'Create a new one at partners.near-intents.org.',
  );
}
