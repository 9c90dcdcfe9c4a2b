/** Finds settings of limits, sources and areas that are valid but unwise. */
import { type Config, DECLARATIONS, limitsOf, readConfig, VARIABLES } from '../../src/config.ts';
import { type LimitName, OPERATION_LIMITS, type OperationLimit } from '../../src/core/operation-limits.ts';
import { type Finding, given, hostOf, noteIf, problem, problemIf, type Settings } from './finding.ts';

/** The production bridge, and the key in its SDK; the holder of any other key could sign quotes. */
const { NEAR_INTENTS_API_URL: PRODUCTION_URL, NEAR_INTENTS_QUOTE_KEY: PRODUCTION_QUOTE_KEY } = readConfig({});
const MAX_SANE_COST_BPS = 1_000;
const LIMITS = Object.entries(OPERATION_LIMITS) as [LimitName, OperationLimit][];

export function checkLimits(settings: Settings): Finding[] {
  const config = readConfig(settings);
  return [
    ...checkSpending(config),
    ...checkQuoteKey(config),
    ...checkSources(config),
    ...checkAreas(settings),
  ];
}

function checkSpending(c: Config): Finding[] {
  if (c.invalid.some((name) => VARIABLES[name].areas[0] === 'custody')) return [];
  return [
    ...limitsBelowOthers(limitsOf(c)),
    ...problemIf(
      c.SWAP_MAX_COST_BPS > MAX_SANE_COST_BPS,
      'cost-limit-loose',
      `SWAP_MAX_COST_BPS is ${c.SWAP_MAX_COST_BPS}: a swap may lose more than 10 %.`,
      'Set it to 200, the default, unless you have a reason.',
    ),
    ...problemIf(
      c.RESERVE_FLOOR_SOL < 10_000_000n,
      'floor-low',
      'RESERVE_FLOOR_SOL is below 0.01: fees and rent could no longer be paid.',
      'Set it to 0.1, the default.',
    ),
    ...noteIf(
      c.SWAPS_DISABLED,
      'swaps-disabled',
      'SWAPS_DISABLED is on: every swap is refused.',
      'Unset it when swaps may run.',
    ),
  ];
}

/** Whether every amount that counts towards `inner` also counts towards `outer`, so a lower `outer` stops it first. */
const contains = (outer: OperationLimit, inner: OperationLimit): boolean =>
  outer.kind === inner.kind &&
  inner.counts === 'amount' &&
  (outer.counts === 'amount'
    ? Number(inner.windowMs) < Number(outer.windowMs)
    : outer.counts === 'unsettled' && inner.windowMs === 0);

const limitsBelowOthers = (maximum: ReturnType<typeof limitsOf>): Finding[] =>
  LIMITS.flatMap(([name, outer]) =>
    LIMITS.filter(([other, inner]) => contains(outer, inner) && maximum[other] > maximum[name]).map(
      ([, { setting, label }]) =>
        problem(
          'limit-below-another',
          `${outer.setting} is below ${setting}, so the limit of ${label} is never reached.`,
          `Raise ${outer.setting} to ${setting} or more, or lower ${setting}.`,
        ),
    ),
  );

function checkQuoteKey({ NEAR_INTENTS_API_URL: url, NEAR_INTENTS_QUOTE_KEY: key }: Config): Finding[] {
  return problemIf(
    hostOf(url) === hostOf(PRODUCTION_URL) && key !== PRODUCTION_QUOTE_KEY,
    'quote-key-foreign',
    'NEAR_INTENTS_QUOTE_KEY is not the pinned key of the production bridge: its holder could redirect swaps.',
    'Remove it to use the pinned key.',
  );
}

/** The registered part of the host: providers give each key or region a subdomain. */
const operatorOf = (url: string): string => hostOf(url).split('.').slice(-2).join('.');

const isLocal = (url: string): boolean => /^(localhost|127\.|\[::1\])/.test(hostOf(url));

function checkSources(config: Config): Finding[] {
  const { ESPLORA_API_URLS: explorers, SOLANA_RPC_URL: nodes, SOLANA_READ_RPC_URL: readNodes } = config;
  const shared = nodes.map(hostOf).filter((host) => readNodes.some((url) => hostOf(url) === host));
  const operators = new Set(nodes.map(operatorOf));
  return [
    ...problemIf(
      new Set(explorers).size < 2,
      'esplora-single',
      'ESPLORA_API_URLS names fewer than two sources: ABSR is minted only where two agree.',
      'Name two with different operators.',
    ),
    ...problemIf(
      new Set(nodes).size < nodes.length,
      'rpc-repeated',
      'SOLANA_RPC_URL names the same node twice.',
      'Name nodes with different operators.',
    ),
    ...problemIf(
      shared.length > 0,
      'rpc-shared',
      `SOLANA_RPC_URL and SOLANA_READ_RPC_URL both name ${[...new Set(shared)].join(', ')}: reads of callers use up the rate of the custodian.`,
      'Name another host in SOLANA_READ_RPC_URL.',
    ),
    ...problemIf(
      operators.size < 3 && !nodes.every(isLocal),
      'rpc-few-operators',
      `SOLANA_RPC_URL names nodes of ${operators.size} operators: with fewer than three, one that fails or lies stops all work.`,
      'Name three nodes at three providers, separated by commas.',
    ),
    ...problemIf(
      Object.keys(config.PRICE_API_URLS).length < 2,
      'price-single',
      'PRICE_API_URLS names one venue: two must agree before anything is swapped.',
      'Remove the line to use every venue, or name a second one.',
    ),
  ];
}

function checkAreas(settings: Settings): Finding[] {
  // The variables of the custodian and of payments have separate findings.
  const absent = DECLARATIONS.filter(
    ([name, { required, areas }]) =>
      required && !['custody', 'payments'].includes(areas[0]) && !given(settings, name),
  ).map(([name]) => name);
  return noteIf(
    absent.length > 0,
    'areas-off',
    `Not set: ${absent.join(', ')}. Their areas return 503 NOT_CONFIGURED.`,
    'Set them when you want these areas.',
  );
}
