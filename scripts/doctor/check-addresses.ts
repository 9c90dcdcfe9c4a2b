/** Whether each address of the settings belongs to the operator and has one meaning, and which settings need another one. */
import { EXCHANGE_WALLETS } from '../../src/chain/solana/deposit.ts';
import { WHIRLPOOL_PROGRAM } from '../../src/chain/solana/whirlpool.ts';
import { readConfig } from '../../src/config.ts';
import { type Finding, given, problem, problemIf, type Settings } from './finding.ts';

export const checkAddresses = (settings: Settings): Finding[] => [
  ...checkTreasury(settings),
  ...checkOwn(settings),
  ...checkPools(settings),
  ...checkNeeded(settings),
];

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

/** Programs, sysvars and tokens that exist on every cluster. None of them belongs to an operator. */
const WELL_KNOWN = new Set([
  'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA',
  'TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb',
  'ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL',
  'So11111111111111111111111111111111111111112',
  'MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr',
  WHIRLPOOL_PROGRAM,
  ...EXCHANGE_WALLETS,
]);
const RUNTIME = /^(Sysvar|1nc1nerator)|1{10,}[12]?$/;
/** Bitcoin addresses that documentation shows, that burn, or that everybody knows. */
const NOT_OWN_BITCOIN = [
  '1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa',
  '1BitcoinEaterAddressDontSendf59kuE',
  '1CounterpartyXXXXXXXXXXXXXXXUWLpVr',
  '1BvBMSEYstWetqTFn5Au4m4GFg7xJaNVN2',
  '3J98t1WpEZ73CNmQviecrnyiWrnqRhWNLy',
  'bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq',
  'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4',
  'bc1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vqzk5jj0',
];

const SINGLE = [
  'RESERVE_SOLANA_ADDRESS',
  'TREASURY_SOLANA_ADDRESS',
  'EVACUATION_ADDRESS',
  'ABSR_MINT_ADDRESS',
  'ABSR_MINT_AUTHORITY',
  'ASRY_MINT_ADDRESS',
  'ASRY_SOURCE_ACCOUNT',
] as const;
/**
 * The first pair has its own finding. In the second pair, the treasury has its own key: a thief of the reserve's key
 * cannot use it.
 */
const MAY_BE_EQUAL = new Set([
  'RESERVE_SOLANA_ADDRESS TREASURY_SOLANA_ADDRESS',
  'TREASURY_SOLANA_ADDRESS EVACUATION_ADDRESS',
  'ASRY_HELD_SENDERS ASRY_HELD_SENDERS',
]);

function checkOwn(settings: Settings): Finding[] {
  const { POOL_ADDRESSES: pools = {}, ASRY_HELD_SENDERS: senders, DOLLAR_MINTS } = readConfig(settings);
  const own = [
    ...SINGLE.map((name) => [name, given(settings, name)] as const),
    ...Object.entries(pools).map(([name, address]) => [`POOL_ADDRESSES: ${name}`, address] as const),
  ];
  const others = [
    ...senders.map((address) => ['ASRY_HELD_SENDERS', address] as const),
    ...Object.entries(DOLLAR_MINTS).map(([asset, mint]) => [`The mint of ${asset}`, mint] as const),
  ];
  const named = [...own, ...others].flatMap(([name, address]) => (address ? [{ name, address }] : []));
  const pairs = named.flatMap((one, at) => named.slice(at + 1).map((other) => [one, other] as const));
  return [
    ...own
      .filter(([, address]) => address && (WELL_KNOWN.has(address) || RUNTIME.test(address)))
      .map(([name]) =>
        problem(
          'address-well-known',
          `${name} is a program, a token or an exchange's account that everyone uses.`,
          `Set ${name} to an address of your own.`,
        ),
      ),
    ...problemIf(
      NOT_OWN_BITCOIN.includes(given(settings, 'RESERVE_BTC_ADDRESS') ?? ''),
      'address-well-known',
      'RESERVE_BTC_ADDRESS is an example from documentation, or burns what it receives: it is not yours.',
      'Set it to an address whose key you have.',
    ),
    ...pairs
      .filter(
        ([one, other]) => one.address === other.address && !MAY_BE_EQUAL.has(`${one.name} ${other.name}`),
      )
      .map(([one, other]) =>
        problem(
          'address-reused',
          `${one.name} and ${other.name} are the same address.`,
          'Give each variable its own address: one of the two is in the wrong line.',
        ),
      ),
  ];
}

const MOST_POOLS = 3;

function checkPools(settings: Settings): Finding[] {
  const pools = readConfig(settings).POOL_ADDRESSES;
  return problemIf(
    pools !== undefined && Object.keys(pools).length < MOST_POOLS,
    'pools-incomplete',
    'POOL_ADDRESSES names fewer than three pools: the routes of the others return 503.',
    'Name `default=`, `saeth-sausd=` and `sausd-usdc=`.',
  );
}

/** Settings that have no effect unless another one is set, and what then goes missing. */
const NEEDED: readonly (readonly [name: string, needed: string, effect: string])[] = [
  ['ABSR_WITNESS_URL', 'ABSR_MINT_AUTHORITY', 'nothing is minted with the witness'],
  ['ABSR_MINT_AUTHORITY', 'ABSR_WITNESS_URL', 'nothing is minted'],
  ['ABSR_MINT_AUTHORITY', 'ABSR_MINT_ADDRESS', 'nothing is minted'],
  ['ASRY_SOURCE_ACCOUNT', 'ASRY_MINT_ADDRESS', 'no reward is paid'],
  ['ASRY_PRICE_USD', 'ASRY_MINT_ADDRESS', 'no reward is paid'],
  ['NOSTR_RELAYS', 'NOSTR_NPUB', 'no post is shown'],
];

const checkNeeded = (settings: Settings): Finding[] =>
  NEEDED.flatMap(([name, needed, effect]) =>
    problemIf(
      given(settings, name) !== undefined && given(settings, needed) === undefined,
      'setting-alone',
      `${name} is set without ${needed}: ${effect}.`,
      `Set ${needed} as docs/run/configuration.md describes it, or remove ${name}.`,
    ),
  );
