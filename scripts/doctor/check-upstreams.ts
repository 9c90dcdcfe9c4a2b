/** Sends every upstream one free request and compares the responses that should be the same. */
import { createNearIntentsRoute, KEYLESS_FEE_BPS, MAX_APP_FEES_BPS } from '../../src/bridges/near-intents.ts';
import { isBitcoinAddress } from '../../src/chain/bitcoin/address.ts';
import { decodeMint, movableAtoms } from '../../src/chain/solana/token-program.ts';
import { type Config, readConfig } from '../../src/config.ts';
import { formatAmount, lamports, SOL_DECIMALS } from '../../src/core/amount.ts';
import { AppError } from '../../src/core/errors.ts';
import { agreePrices } from '../../src/core/price.ts';
import { createEsplora } from '../../src/providers/esplora.ts';
import { createNearIntents } from '../../src/providers/near-intents.ts';
import { createPriceVenues } from '../../src/providers/price-venues.ts';
import { createSolanaRpc, type SolanaNode, type SolanaRpc } from '../../src/providers/solana-rpc.ts';
import { createVaultTransit } from '../../src/providers/vault-transit.ts';
import { type Finding, hostOf, note, noteIf, problem, problemIf, type Settings } from './finding.ts';

/** Slots by which a node may lag behind another: about a minute. */
const MAX_LAG_SLOTS = 150;
const MAX_TIP_DISTANCE = 2;
const WEBHOOK_MS = 10_000;
/** Owner of every wallet. */
const SYSTEM_PROGRAM = '11111111111111111111111111111111';
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
    'failure' in answer ? [problem(name, `${answer.name} does not answer (${answer.failure}).`, fix)] : [],
  );

export async function checkUpstreams(settings: Settings): Promise<Finding[]> {
  const config = readConfig(settings);
  const { RESERVE_SOLANA_ADDRESS: reserve, RESERVE_BTC_ADDRESS: bitcoin = '' } = config;
  const found = await Promise.all([
    checkSources(config, reserve, isBitcoinAddress(bitcoin) ? bitcoin : undefined),
    reserve ? checkAccounts(config, rpcOf(config), reserve) : [],
    checkWebhookHost(settings.ALARM_WEBHOOK_URL),
    reserve ? checkKeyService(config, settings.VAULT_TOKEN, reserve) : [],
  ]);
  return found.flat();
}

/** Calls each node, index and price venue once, and requests a dry quote of the bridge for these addresses. */
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
async function checkKeyService(
  config: Config,
  token: string | undefined,
  address: string,
): Promise<Finding[]> {
  const { VAULT_URL: key } = config;
  if (!key || !token) return [];
  try {
    const addresses = await createVaultTransit({ ...key, token, address, fetch }).addresses();
    return problemIf(
      !addresses.includes(address),
      'key-service-other-key',
      `Under that name the key service has ${addresses.join(', ') || 'no ed25519 key'}, not RESERVE_SOLANA_ADDRESS.`,
      'Correct VAULT_URL or RESERVE_SOLANA_ADDRESS.',
    );
  } catch (error) {
    return [
      problem(
        'key-service-unreachable',
        `The key service does not answer (${reasonOf(error)}).`,
        'Check VAULT_URL, VAULT_TOKEN and the policy of the token in docs/build/custody.md.',
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
    quoteKey,
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
          'Run the doctor again in some minutes.',
        ),
      ];
    }
    return [...keyless, refusedQuote(quote.reason, jwt !== undefined)];
  } catch (error) {
    return [
      problem(
        'bridge-unreachable',
        `The bridge gives no quote (${reasonOf(error)}).`,
        'Check NEAR_INTENTS_API_URL and NEAR_INTENTS_JWT.',
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
      'A dry quote of the bridge is not signed by NEAR_INTENTS_QUOTE_KEY: every swap would be refused.',
      'Compare the key with the bridge’s SDK. Do not change it without a second source.',
    );
  if (reason === 'request_invalid')
    return problem(
      'bridge-request-rejected',
      'The bridge rejects a fixed field of our request: every swap would be refused.',
      'Check RESERVE_BTC_ADDRESS and RESERVE_SOLANA_ADDRESS, then the asset ids of this release.',
    );
  return problem(
    'bridge-quote-refused',
    `A dry quote of the bridge does not pass our checks (${reason}).`,
    'Do not swap before you know the cause.',
  );
}

/** The allowance of the account that pays rewards, if the reserve's key does not own it. */
async function sourceFindings(config: Config, node: SolanaNode, reserve: string): Promise<Finding[]> {
  const { ASRY_MINT_ADDRESS: mint, ASRY_SOURCE_ACCOUNT: source } = config;
  if (!mint || !source) return [];
  const [account] = (await node.accounts([source], 'finalized')).accounts;
  const atoms = account ? movableAtoms(account.owner, account.data, mint, reserve) : 0n;
  return atoms > 0n
    ? [note('asry-allowance', `The reserve may pay ${atoms} atoms of ASRY out of ASRY_SOURCE_ACCOUNT.`, '')]
    : [
        problem(
          'asry-allowance',
          'The reserve may not move ASRY out of ASRY_SOURCE_ACCOUNT.',
          "Approve the reserve as its delegate with the owner's key: docs/run/runbook.md, ASRY from a cold account.",
        ),
      ];
}

async function checkAccounts(config: Config, rpc: SolanaRpc, reserve: string): Promise<Finding[]> {
  const named = [
    ...(['ABSR_MINT_ADDRESS', 'ASRY_MINT_ADDRESS'] as const).flatMap((name) =>
      config[name] ? [[name, config[name]] as const] : [],
    ),
    ...Object.entries(config.DOLLAR_MINTS).map(([asset, mint]) => [`DOLLAR_MINTS: ${asset}`, mint] as const),
  ];
  const wallets = (['RESERVE_SOLANA_ADDRESS', 'TREASURY_SOLANA_ADDRESS'] as const).flatMap((name) =>
    config[name] ? [[name, config[name]] as const] : [],
  );
  async function findingsOf(node: SolanaNode): Promise<Finding[]> {
    const addresses = [...wallets, ...named].map(([, address]) => address);
    const { accounts } = await node.accounts(addresses, 'finalized');
    const balance = accounts[0]?.lamports ?? 0n;
    const mints = named.map(([name], at) => {
      const account = accounts[wallets.length + at];
      return [name, account ? decodeMint(account.owner, account.data) : undefined] as const;
    });
    const absr = mints.find(([name]) => name === 'ABSR_MINT_ADDRESS')?.[1];
    const low = 2n * config.RESERVE_FLOOR_SOL;
    return [
      ...wallets.flatMap(([name], at) => {
        const owner = accounts[at]?.owner ?? SYSTEM_PROGRAM;
        return problemIf(
          owner !== SYSTEM_PROGRAM,
          'address-not-a-wallet',
          `${name} belongs to the program ${owner}: it is a program, a mint or a token account.`,
          'SOL that is sent there is lost. Set the address of a wallet.',
        );
      }),
      ...mints.flatMap(([name, mint]) =>
        problemIf(
          mint === undefined,
          'mint-wrong',
          `${name} is not a token mint on this chain.`,
          'Correct the address, or the node’s cluster.',
        ),
      ),
      ...problemIf(
        absr !== undefined && absr.mintAuthority !== reserve,
        'absr-authority-foreign',
        'The reserve is not the mint authority of ABSR_MINT_ADDRESS: the daily mint would fail.',
        'Transfer the authority to the reserve, or name the right mint.',
      ),
      ...(await sourceFindings(config, node, reserve)),
      ...problemIf(
        balance < low,
        'sol-low',
        `The reserve holds ${formatAmount(balance, SOL_DECIMALS)} SOL, less than twice RESERVE_FLOOR_SOL.`,
        'Send SOL to the reserve’s address.',
      ),
    ];
  }
  return rpc
    .first(findingsOf)
    .catch(() => [
      note('accounts-unseen', 'No node showed the reserve and the mints.', 'Repair the nodes first.'),
    ]);
}
