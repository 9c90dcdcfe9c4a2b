/** Finds amounts, rates and areas that are valid but unwise. */
import { CONSTANTS, type Config, DECLARATIONS, limitsOf, readConfig, VARIABLES } from '../../src/config.ts';

import { type LimitName, OPERATION_LIMITS, type OperationLimit } from '../../src/core/operation-limits.ts';
import { type Finding, given, isLocalService, noteIf, problem, problemIf, type Settings } from './finding.ts';

const SOL = 1_000_000_000n;
/** A larger amount of SOL was probably meant in lamports. */
const MOST_SOL = 10_000n;
/** Bounds outside which no token has its price: in trillionths of a dollar, and in SOL. */
const PRICE_USD = { least: 10n ** 5n, most: 1_000n * 10n ** 12n };
const MOST_PRICE_SOL = 100n;
/** Exchanges pay SOL in steps of this many lamports. */
const STEP = 10n;
const LIMITS = Object.entries(OPERATION_LIMITS) as [LimitName, OperationLimit][];
const settingOf = (name: LimitName): string => {
  const { setting }: OperationLimit = OPERATION_LIMITS[name];
  return setting ?? `DAILY_LIMITS: ${name}`;
};

export function checkLimits(settings: Settings): Finding[] {
  const config = readConfig(settings);
  const areasOf = (name: Config['invalid'][number]): readonly string[] =>
    name in VARIABLES
      ? VARIABLES[name as keyof typeof VARIABLES].areas
      : CONSTANTS[name as keyof typeof CONSTANTS].areas;
  const isReadable = !config.invalid.some((name) => ['custody', 'payments'].includes(areasOf(name)[0] ?? ''));
  return [
    ...(isReadable ? [...checkAmounts(config), ...checkSpending(config)] : []),
    ...checkRates(config, settings),
    ...checkAreas(settings),
  ];
}

function checkAmounts(config: Config): Finding[] {
  const maximum = limitsOf(config);
  const lamports = [
    ...LIMITS.flatMap(([name, { unit }]) =>
      unit === 'lamports' ? [[settingOf(name), maximum[name]] as const] : [],
    ),
    ['RESERVE_FLOOR_SOL', config.RESERVE_FLOOR_SOL] as const,
  ];
  const prices = Object.entries(config.PRICES_SOL);
  const asry = config.ASRY_PRICE_USD;
  return [
    ...lamports.flatMap(([name, amount]) =>
      problemIf(
        amount > MOST_SOL * SOL,
        'amount-unit',
        `${name} is more than ${MOST_SOL} SOL: it looks like lamports.`,
        'Write the amount in SOL: 2 for two SOL.',
      ),
    ),
    ...LIMITS.flatMap(([name]) =>
      problemIf(
        maximum[name] === 0n,
        'limit-zero',
        `${settingOf(name)} is 0: nothing that it limits ever happens.`,
        'Set a limit. `npm run ops -- pause` stops everything for a time.',
      ),
    ),
    ...prices.flatMap(([name, price]) => [
      ...problemIf(
        price > MOST_PRICE_SOL * SOL,
        'amount-unit',
        `PRICES_SOL: ${name} is more than ${MOST_PRICE_SOL} SOL: it looks like lamports.`,
        'Write the price in SOL: 0.01 for a hundredth.',
      ),
      ...problemIf(
        price === 0n || price % STEP !== 0n,
        'price-steps',
        `PRICES_SOL: ${name} is 0, or is not a multiple of 0.00000001: an exchange cannot pay it.`,
        'Write a price with at most eight decimals.',
      ),
    ]),
    ...problemIf(
      asry !== undefined && (asry < PRICE_USD.least || asry > PRICE_USD.most),
      'amount-unit',
      'ASRY_PRICE_USD is below 0.0000001 or above 1,000 dollars for one ASRY.',
      'Write the price of one ASRY in dollars: 0.25 for 25 cents.',
    ),
  ];
}

function checkSpending(config: Config): Finding[] {
  const maximum = limitsOf(config);
  const worst = (amount: bigint): bigint => (amount * BigInt(config.SWAP_MAX_COST_BPS)) / 10_000n;
  return [
    ...limitsBelowOthers(maximum),
    ...problemIf(
      maximum.cost_day < worst(maximum.operation),
      'limit-below-another',
      `SWAP_MAX_COST_SOL_DAY is below the worst-case cost of one swap of SWAP_MAX_SOL, so such a swap can never start.`,
      'Raise SWAP_MAX_COST_SOL_DAY, or lower SWAP_MAX_SOL.',
    ),
    ...problemIf(
      maximum.cost_day > worst(maximum.day),
      'limit-never-reached',
      `SWAP_MAX_COST_SOL_DAY is above what a day of SWAP_MAX_SOL_DAY can cost, so it limits nothing.`,
      'Lower it: 0.1 is the default.',
    ),
    ...problemIf(
      config.RESERVE_FLOOR_SOL < 10_000_000n,
      'floor-low',
      'RESERVE_FLOOR_SOL is below 0.01: fees and rent could no longer be paid.',
      'Set it to 0.1, the default.',
    ),
    ...problemIf(
      config.RESERVE_FLOOR_SOL > maximum.day,
      'floor-high',
      'RESERVE_FLOOR_SOL is above SWAP_MAX_SOL_DAY: the reserve keeps more than daily swaps may send.',
      'Set it to 0.1, the default: it pays fees and rent.',
    ),
    ...problemIf(
      config.SWAPS_DISABLED,
      'swaps-disabled',
      'SWAPS_DISABLED is on: every swap is refused.',
      'Remove it when swaps may run.',
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

const limitsBelowOthers = (maximum: Readonly<Record<LimitName, bigint>>): Finding[] =>
  LIMITS.flatMap(([name, outer]) =>
    LIMITS.filter(([other, inner]) => contains(outer, inner) && maximum[other] > maximum[name]).map(
      ([other, { label }]) =>
        problem(
          'limit-below-another',
          `${settingOf(name)} is below ${settingOf(other)}, so the limit on ${label} is never reached.`,
          `Raise ${settingOf(name)} to ${settingOf(other)} or more, or lower ${settingOf(other)}.`,
        ),
    ),
  );

const RATE = { least: 4, most: 5_000 };
/** Quotes that the bridge allows in two hours without a token. */
const QUOTES = { least: 30, keyless: 200 };

function checkRates(config: Config, settings: Settings): Finding[] {
  const { SOLANA_RPC_RATE: rate, BRIDGE_QUOTES_2H: quotes, NEAR_INTENTS_JWT: token } = config;
  return [
    ...problemIf(
      rate < RATE.least || rate > RATE.most,
      'rate-range',
      `SOLANA_RPC_RATE is ${rate}: a node serves ${RATE.least} to ${RATE.most} requests per second, and callers may use a quarter.`,
      'Set it to what the provider of the nodes promises.',
    ),
    ...problemIf(
      quotes < QUOTES.least || (token === undefined && quotes > QUOTES.keyless && !isLocalService(settings)),
      'quotes-range',
      `BRIDGE_QUOTES_2H is ${quotes}: the bridge allows about ${QUOTES.keyless} without NEAR_INTENTS_JWT, and swaps get a third.`,
      'Set it to 180, or set NEAR_INTENTS_JWT.',
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
