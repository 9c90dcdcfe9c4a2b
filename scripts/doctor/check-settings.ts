/** Keys, addresses and names of the settings, checked separately and against each other. */
import { decodeWif, wifControls } from '../../src/chain/bitcoin/wif.ts';
import { DECLARATIONS, readConfig } from '../../src/config.ts';
import { orUndefined } from '../../src/core/or-undefined.ts';
import { addressOfSecret } from '../../src/custody/kernel/signer.ts';
import { type Finding, given, noteIf, problem, problemIf, SECRETS, type Settings } from './finding.ts';
import { KNOWN } from './read-settings.ts';

const LOOPBACK = /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])(:\d+)?$/;

export function checkSettings(settings: Settings): Finding[] {
  return [
    ...checkNames(settings),
    ...checkSolanaKey(settings),
    ...checkTreasury(settings),
    ...checkBitcoinKey(settings),
    ...checkBaseUrl(settings),
    ...checkSecrets(settings),
    ...checkPlaceholders(settings),
    ...checkDollarMints(settings),
    ...checkWebhook(settings),
    ...checkPlainUrls(settings),
    ...checkSeed(settings),
    ...checkBlanks(settings),
    ...checkMints(settings),
    ...checkWitness(settings),
  ];
}

/** Required settings of the service, the custodian and the payments that are missing among the given names. */
export function missingSecrets(names: readonly string[]): string[] {
  const has = (name: string): boolean => names.includes(name);
  const required = DECLARATIONS.flatMap(([name, { areas, required }]) =>
    required && areas.some((area) => area === 'custody' || area === 'payments') ? [name] : [],
  );
  return ['OPS_SECRET', ...required, ...(has('VAULT_URL') ? ['VAULT_TOKEN'] : [])].filter(
    (name) => !has(name) && !(name === 'SOLANA_PRIVATE_KEY' && has('VAULT_URL')),
  );
}

function checkNames(settings: Settings): Finding[] {
  const unknown = Object.keys(settings).filter((name) => !KNOWN.includes(name));
  const invalid = DECLARATIONS.flatMap(([name, { schema }]) =>
    given(settings, name) !== undefined && !schema.safeParse(settings[name]).success ? [name] : [],
  );
  const missing = missingSecrets(Object.keys(settings).filter((name) => settings[name] !== ''));
  return [
    ...unknown.map((name) =>
      problem(
        'variable-unknown',
        `${name} is not a variable of the service.`,
        'Remove it, or use the name in docs/run/configuration.md.',
      ),
    ),
    ...invalid.map((name) =>
      problem(
        'variable-invalid',
        `${name} is set but invalid.`,
        `Write ${name} as docs/run/configuration.md describes it.`,
      ),
    ),
    ...missing.map((name) =>
      problem(
        'variable-missing',
        `${name} is required and not set.`,
        `Set ${name} as docs/run/configuration.md describes it; \`npm run ops -- keygen\` makes keys and secrets.`,
      ),
    ),
  ];
}

function checkSolanaKey(settings: Settings): Finding[] {
  const key = given(settings, 'SOLANA_PRIVATE_KEY');
  if (key === undefined) return [];
  if (given(settings, 'VAULT_URL') !== undefined)
    return [
      problem(
        'solana-key-twice',
        'SOLANA_PRIVATE_KEY and VAULT_URL are both set: nothing is signed until one is removed.',
        'Remove SOLANA_PRIVATE_KEY when the key is in the key service.',
      ),
    ];
  const own = addressOfSecret(key);
  if (own === undefined)
    return [
      problem(
        'solana-key-malformed',
        'SOLANA_PRIVATE_KEY is not a Solana secret key.',
        'Set it to the base58 text or the JSON array of a 64-byte key.',
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
  return noteIf(
    reserve !== undefined && (treasury === undefined || treasury === reserve),
    'treasury-is-reserve',
    'Treasury and reserve are one address, so money that a bridge returns late can look like a deposit or a payment.',
    'Set TREASURY_SOLANA_ADDRESS to an address of its own.',
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
  const { protocol, host, pathname } = new URL(text);
  return [
    ...problemIf(
      protocol !== 'https:' && !LOOPBACK.test(host),
      'base-url-insecure',
      'PUBLIC_BASE_URL is not https: token metadata would permanently be served unencrypted.',
      'Use the https origin.',
    ),
    ...problemIf(
      pathname !== '/' && pathname !== '',
      'base-url-path',
      'PUBLIC_BASE_URL has a path: links would not work.',
      'Leave only scheme and host.',
    ),
  ];
}

function checkSecrets(settings: Settings): Finding[] {
  const named = SECRETS.flatMap((name) => (given(settings, name) ? [[name, settings[name]] as const] : []));
  const reused = named.filter(([name, value]) =>
    named.some(([other, same]) => other !== name && same === value),
  );
  return [
    ...checkForms(named),
    ...problemIf(
      reused.length > 0,
      'secret-reused',
      `${reused.map(([name]) => name).join(' and ')} have the same value.`,
      'Create a separate one for each: `npm run ops -- keygen`.',
    ),
  ];
}

/** Text of an example that an operator has to replace. */
const PLACEHOLDER = /^\.{2,}$|^<.*>$|^(change[-_ ]?me|todo|tbd|x{3,}|your[-_ ].*)$|^https?:\/\/[^/]*your-/i;
/** Hosts of documentation (RFC 2606), which never exist. */
const EXAMPLE_HOST = /(^|\.)(example|invalid)$|(^|\.)example\.(com|net|org)$/;

function checkPlaceholders(settings: Settings): Finding[] {
  const isPlaceholder = (text: string) =>
    text
      .split(',')
      .map((part) => part.trim())
      .some(
        (part) => PLACEHOLDER.test(part) || (URL.canParse(part) && EXAMPLE_HOST.test(new URL(part).hostname)),
      );
  return Object.entries(settings).flatMap(([name, text]) =>
    problemIf(
      name !== 'SECURITY_CONTACT' && isPlaceholder(text),
      'placeholder',
      `${name} still has the text of an example.`,
      `Replace it, or remove the line if you do not need ${name}.`,
    ),
  );
}

/** With swapped mints, the service would book deposits of one asset as dollars of the other. */
function checkDollarMints(settings: Settings): Finding[] {
  const { DOLLAR_MINTS: standard } = readConfig({});
  const { USDC, USDT } = readConfig(settings).DOLLAR_MINTS;
  return problemIf(
    USDC === standard.USDT || USDT === standard.USDC || USDC === USDT,
    'dollar-mints-swapped',
    'DOLLAR_MINTS names the mint of the other asset.',
    'Remove it to use the mints of Circle and Tether on mainnet.',
  );
}

/** URLs of another machine without encryption: a key in them, or a response, can be read and changed on the way. */
function checkPlainUrls(settings: Settings): Finding[] {
  return Object.entries(settings).flatMap(([name, text]) => {
    const plain = (text.match(/\bhttp:\/\/[^\s,]+/g) ?? []).filter(
      (url) => URL.canParse(url) && !LOOPBACK.test(new URL(url).host),
    );
    return problemIf(
      plain.length > 0 && name !== 'PUBLIC_BASE_URL',
      'url-insecure',
      `${name} names an http: URL, which anyone on the way can read and change.`,
      'Use its https: address.',
    );
  });
}

/** A seed made by a generator has many different characters. */
const LEAST_CHARACTERS = 10;

const checkSeed = (settings: Settings): Finding[] =>
  (['MINT_KEY_SEED', 'OPS_SECRET'] as const).flatMap((name) => {
    const text = given(settings, name);
    return problemIf(
      text !== undefined && new Set(text).size < LEAST_CHARACTERS,
      'secret-weak',
      `${name} has fewer than ${LEAST_CHARACTERS} different characters: it can be guessed.`,
      'Create one with `npm run ops -- keygen`.',
    );
  });

const checkBlanks = (settings: Settings): Finding[] =>
  Object.entries(settings).flatMap(([name, text]) =>
    problemIf(
      text !== text.trim(),
      'value-with-spaces',
      `${name} begins or ends with a blank, which becomes part of the value.`,
      'Remove the blank inside the quotes.',
    ),
  );

function checkMints(settings: Settings): Finding[] {
  const { ABSR_MINT_ADDRESS: absr, ASRY_MINT_ADDRESS: asry, DOLLAR_MINTS } = readConfig(settings);
  const mints = [absr, asry, ...Object.values(DOLLAR_MINTS)].filter((mint) => mint !== undefined);
  return problemIf(
    new Set(mints).size < mints.length,
    'mints-equal',
    'ABSR_MINT_ADDRESS, ASRY_MINT_ADDRESS and DOLLAR_MINTS do not name different mints.',
    'Name the mint of each token.',
  );
}

/** One without the other: no mint is ever signed by both keys. */
function checkWitness(settings: Settings): Finding[] {
  const authority = given(settings, 'ABSR_MINT_AUTHORITY');
  const url = given(settings, 'ABSR_WITNESS_URL');
  return problemIf(
    (authority === undefined) !== (url === undefined),
    'witness-incomplete',
    'Only one of ABSR_MINT_AUTHORITY and ABSR_WITNESS_URL is set: nothing is minted with the witness.',
    'Set both as docs/run/deploy.md describes, or neither.',
  );
}

function checkWebhook(settings: Settings): Finding[] {
  const origin = given(settings, 'PUBLIC_BASE_URL') ?? '';
  const isLocal = !URL.canParse(origin) || LOOPBACK.test(new URL(origin).host);
  return problemIf(
    !isLocal && given(settings, 'ALARM_WEBHOOK_URL') === undefined,
    'webhook-missing',
    'ALARM_WEBHOOK_URL is not set: alarms are in the log only, where nobody looks at night.',
    'Set it to a webhook of Slack, of Discord, or of a service that wakes you.',
  );
}

/** The setting whose form a value has, if the form identifies one. */
function formOf(name: string, text: string): string | undefined {
  if (addressOfSecret(text) !== undefined) return 'SOLANA_PRIVATE_KEY';
  if (orUndefined(() => decodeWif(text))) return 'BTC_PRIVATE_KEY_WIF';
  if (/^eyJ[\w-]+\.[\w-]+\.[\w-]*$/.test(text)) return name === 'VAULT_TOKEN' ? name : 'NEAR_INTENTS_JWT';
  return /^https?:/.test(text) ? 'ALARM_WEBHOOK_URL' : undefined;
}

const checkForms = (named: readonly (readonly [name: string, text: string | undefined])[]): Finding[] =>
  named.flatMap(([name, text]) => {
    const form = formOf(name, text ?? '');
    return problemIf(
      form !== undefined && form !== name,
      'secret-swapped',
      `${name} has the form of ${form}.`,
      `Put it into ${form}. If it was deployed or logged as ${name}, replace it.`,
    );
  });
