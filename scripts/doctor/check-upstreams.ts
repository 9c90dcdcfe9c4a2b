/** Sends every upstream one free request and compares the responses that should be the same. */

import { createNearIntentsRoute, KEYLESS_FEE_BPS, MAX_APP_FEES_BPS } from '../../src/bridges/near-intents.ts';
import { isSignedQuote } from '../../src/bridges/near-intents-signature.ts';
import { isBitcoinAddress } from '../../src/chain/bitcoin/address.ts';
import { type Config, readConfig } from '../../src/config.ts';
import { lamports } from '../../src/core/amount.ts';
import { AppError } from '../../src/core/errors.ts';
import { agreePrices } from '../../src/core/price.ts';
import { createEsplora } from '../../src/providers/esplora.ts';
import { createNearIntents } from '../../src/providers/near-intents.ts';
import { createPriceVenues } from '../../src/providers/price-venues.ts';
import { createSolanaRpc, type SolanaNode, type SolanaRpc } from '../../src/providers/solana-rpc.ts';
import { createVaultTransit, readVaultKey } from '../../src/providers/vault-transit.ts';
import { checkAccounts } from './check-accounts.ts';
import { checkCluster } from './check-cluster.ts';
import { checkMintWitness } from './check-mint-witness.ts';
import {
  type Finding,
  hostOf,
  isLocalService,
  note,
  noteIf,
  problem,
  problemIf,
  type Settings,
} from './finding.ts';

/** Slots by which a node may lag behind another: about a minute. */
const MAX_LAG_SLOTS = 150;
const MAX_TIP_DISTANCE = 2;
const WEBHOOK_MS = 10_000;
/** Amount of the dry quote. */
const PROBE_LAMPORTS = lamports(500_000_000n);

type Answered<T> =
  | { readonly name: string; readonly value: T }
  | { readonly name: string; readonly failure: string };

const askAll = <S extends { readonly name: string }, T>(
  sources: readonly S[],
  read: (source: S) => Promise<T>,
): Promise<Answered<T>[]> =>
  Promise.all(
    sources.map((source) =>
      read(source).then(
        (value) => ({ name: source.name, value }),
        (error: unknown) => ({ name: source.name, failure: reasonOf(error) }),
      ),
    ),
  );

/** Only our own errors' text: a message of the platform may quote a URL. */
const reasonOf = (error: unknown): string =>
  error instanceof AppError ? String(error.details?.reason ?? error.code) : 'no answer';

const values = <T>(answers: readonly Answered<T>[]): { name: string; value: T }[] =>
  answers.flatMap((answer) => ('value' in answer ? [answer] : []));

const silent = <T>(answers: readonly Answered<T>[], name: string, fix: string): Finding[] =>
  answers.flatMap((answer) =>
    'failure' in answer ? [problem(name, `${answer.name} does not respond (${answer.failure}).`, fix)] : [],
  );

export async function checkUpstreams(settings: Settings): Promise<Finding[]> {
  const config = readConfig(settings);
  const { RESERVE_SOLANA_ADDRESS: reserve, RESERVE_BTC_ADDRESS: bitcoin = '' } = config;
  const found = await Promise.all([
    checkSources(config, reserve, isBitcoinAddress(bitcoin) ? bitcoin : undefined),
    reserve ? checkAccounts(config, rpcOf(config), reserve) : [],
    checkMintWitness(config),
    isLocalService(settings) ? [] : checkCluster(config),
    checkWebhookHost(settings.ALARM_WEBHOOK_URL),
    reserve ? checkKeyService(settings.SOLANA_PRIVATE_KEY, reserve) : [],
  ]);
  return found.flat();
}

/** Calls each node, index and price venue once, and requests a dry quote from the bridge for these addresses. */
export async function checkSources(
  config: Config,
  reserve: string | undefined,
  bitcoin: string | undefined,
): Promise<Finding[]> {
  const found = await Promise.all([
    checkNodes(rpcOf(config).nodes),
    checkReadNodes(config),
    checkExplorers(config.ESPLORA_API_URLS, bitcoin),
    checkPrices(config),
    reserve && bitcoin ? checkBridge(config, reserve, bitcoin) : [],
  ]);
  return found.flat();
}

const rpcOf = ({ SOLANA_RPC_URL: urls }: Config): SolanaRpc => createSolanaRpc({ urls, fetch });

/** Sends no message: Slack and Discord also return 404 or 410 when a deleted webhook is read. */
async function checkWebhookHost(url: string | undefined): Promise<Finding[]> {
  if (!url || !URL.canParse(url)) return [];
  const dead = (what: string) => [
    problem('webhook-dead', what, 'Create a new webhook, and try it with `npm run ops -- test-alarm`.'),
  ];
  try {
    const response = await fetch(url, { redirect: 'manual', signal: AbortSignal.timeout(WEBHOOK_MS) });
    await response.body?.cancel();
    const isKnown = /(^|\.)(slack|discord|discordapp)\.com$/.test(new URL(url).hostname);
    return isKnown && [401, 404, 410].includes(response.status)
      ? dead(`ALARM_WEBHOOK_URL was deleted at ${hostOf(url)}: no alarm arrives.`)
      : [];
  } catch {
    return dead(`${hostOf(url)} of ALARM_WEBHOOK_URL does not respond: no alarm arrives.`);
  }
}

/** Checks that the key service has the reserve's key and that the token may read it. Nothing is signed. */
async function checkKeyService(secret: string | undefined, address: string): Promise<Finding[]> {
  const key = secret === undefined ? undefined : readVaultKey(secret);
  if (!key) return [];
  try {
    const addresses = await createVaultTransit({ ...key, address, fetch }).addresses();
    return problemIf(
      !addresses.includes(address),
      'key-service-other-key',
      `Under that name the key service has ${addresses.join(', ') || 'no ed25519 key'}, not RESERVE_SOLANA_ADDRESS.`,
      'Correct the URL in SOLANA_PRIVATE_KEY, or RESERVE_SOLANA_ADDRESS.',
    );
  } catch (error) {
    return [
      problem(
        'key-service-unreachable',
        `The key service does not respond (${reasonOf(error)}).`,
        'Check the URL in SOLANA_PRIVATE_KEY, its token, and the policy of the token in docs/run/options.md.',
      ),
    ];
  }
}

async function checkNodes(nodes: readonly SolanaNode[]): Promise<Finding[]> {
  const answers = await askAll(nodes, (node) => node.epochInfo('finalized'));
  const slots = values(answers).map(({ value }) => Number(value.slot));
  const apart = Math.max(...slots) - Math.min(...slots);
  return [
    ...silent(answers, 'rpc-unreachable', 'Check SOLANA_RPC_URL and the key in it.'),
    ...problemIf(
      apart > MAX_LAG_SLOTS,
      'rpc-behind',
      `The nodes are ${apart} slots apart.`,
      'Replace the one that lags or is on another cluster.',
    ),
  ];
}

async function checkReadNodes({ SOLANA_READ_RPC_URL: urls }: Config): Promise<Finding[]> {
  const answers = await askAll(createSolanaRpc({ urls, fetch, name: 'solana-read' }).nodes, (node) =>
    node.epochInfo('finalized'),
  );
  return silent(answers, 'read-rpc-unreachable', 'Check SOLANA_READ_RPC_URL and the key in it.');
}

async function checkExplorers(urls: readonly string[], address: string | undefined): Promise<Finding[]> {
  const sources = urls.map((baseUrl) => createEsplora({ baseUrl, name: hostOf(baseUrl), fetch }));
  const answers = await askAll(sources, async (source) => ({
    tip: await source.tipHeight(),
    confirmed: address === undefined ? 0n : (await source.balance(address)).confirmed,
  }));
  const read = values(answers).map(({ value }) => value);
  const tips = read.map(({ tip }) => tip);
  const apart = Math.max(...tips) - Math.min(...tips);
  return [
    ...silent(answers, 'esplora-unreachable', 'Check ESPLORA_API_URLS, or replace this source.'),
    ...problemIf(
      apart > MAX_TIP_DISTANCE,
      'esplora-apart',
      `The Bitcoin sources are ${apart} blocks apart.`,
      'Replace the one that lags.',
    ),
    ...problemIf(
      apart === 0 && new Set(read.map(({ confirmed }) => confirmed)).size > 1,
      'esplora-disagree',
      'The Bitcoin sources show different balances at the same height: nothing is minted.',
      'Find out which one is wrong, and replace it.',
    ),
  ];
}

async function checkPrices(config: Config): Promise<Finding[]> {
  const venues = createPriceVenues(config.PRICE_API_URLS, fetch);
  const answers = await askAll(venues, (venue) => venue.read());
  const agreed = agreePrices(values(answers).map(({ value }) => value));
  return [
    ...silent(
      answers,
      'price-unreachable',
      'Check its URL. Two venues must agree before anything is swapped.',
    ),
    // With one venue or none there is nothing to compare: the finding above is the cause.
    ...problemIf(
      !agreed.ok && values(answers).length > 1,
      'price-divergent',
      'No two price venues agree within 1 %: every quote is refused.',
      'Find out which one is wrong.',
    ),
  ];
}

async function checkBridge(config: Config, reserve: string, bitcoin: string): Promise<Finding[]> {
  const { NEAR_INTENTS_API_URL: baseUrl, NEAR_INTENTS_JWT: jwt, NEAR_INTENTS_QUOTE_KEY: quoteKey } = config;
  const route = createNearIntentsRoute({
    provider: createNearIntents({ baseUrl, jwt, fetch }),
    isSigned: (quote) => isSignedQuote(quote, quoteKey),
    reserveAddress: reserve,
    bitcoinAddress: bitcoin,
    now: Date.now,
  });
  const keyless = noteIf(
    !jwt,
    'bridge-keyless',
    `Without NEAR_INTENTS_JWT the bridge takes ${KEYLESS_FEE_BPS} basis points of each swap; our cap on such fees is ${MAX_APP_FEES_BPS}.`,
    'Set NEAR_INTENTS_JWT. If the bridge raises this fee above the cap, all swaps of the route stop.',
  );
  try {
    const quote = await route.quote({ amount: PROBE_LAMPORTS, dry: true });
    if (quote.ok || quote.reason === 'amount_too_low') return keyless;
    if (PASSING.has(quote.reason)) {
      return [
        ...keyless,
        note(
          'bridge-no-route',
          `The bridge is available but has no quote for the test amount (${quote.reason}).`,
          'Run the doctor again in a few minutes.',
        ),
      ];
    }
    return [...keyless, refusedQuote(quote.reason, jwt !== undefined)];
  } catch (error) {
    return [
      problem(
        'bridge-unreachable',
        `The bridge returned no quote (${reasonOf(error)}).`,
        'Check NEAR_INTENTS_JWT, and the status of the bridge.',
      ),
    ];
  }
}

/** The bridge works but has no quote for this amount now. */
const PASSING: ReadonlySet<string> = new Set([
  'amount_too_high',
  'no_route',
  'pair_paused',
  'bridge_refused',
]);

/** Why every swap would be refused. */
function refusedQuote(reason: string, hasToken: boolean): Finding {
  if (reason === 'quote_app_fees')
    return problem(
      'bridge-fees-over-cap',
      `The fees inside a dry quote of the bridge exceed our cap of ${MAX_APP_FEES_BPS} basis points: every swap would be refused.`,
      hasToken
        ? "Ask the bridge for your token's fee."
        : 'Set NEAR_INTENTS_JWT: callers without it pay the platform fee.',
    );
  if (reason === 'quote_signature')
    return problem(
      'bridge-key-unproven',
      'A dry quote of the bridge is not signed by the key of this release: every swap would be refused.',
      'Compare NEAR_INTENTS_QUOTE_KEY in src/config.ts with the bridge’s SDK. Do not change it without a second source.',
    );
  if (reason === 'request_invalid')
    return problem(
      'bridge-request-rejected',
      'The bridge rejects a fixed field of our request: every swap would be refused.',
      'Check NEAR_INTENTS_JWT, RESERVE_BTC_ADDRESS and RESERVE_SOLANA_ADDRESS, then the asset ids of this release.',
    );
  return problem(
    'bridge-quote-refused',
    `A dry quote of the bridge does not pass our checks (${reason}).`,
    'Do not swap before you know the cause.',
  );
}
