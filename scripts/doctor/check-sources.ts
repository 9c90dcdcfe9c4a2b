/** Whether the nodes, indexes and venues of the settings are independent of each other. */
import { type Config, readConfig } from '../../src/config.ts';
import { PRICE_VENUES, VENUE_NAMES } from '../../src/providers/price-venues.ts';
import { hostnameOf, LOOPBACK, machineOf } from './check-values.ts';
import { type Finding, hostOf, noteIf, problem, problemIf, type Settings } from './finding.ts';

const LEAST_OPERATORS = 3;

/** Names of one provider under several domains. */
const SAME_PROVIDER: readonly (readonly [RegExp, string])[] = [
  [/(^|\.)(alchemy\.com|alchemyapi\.io)$/, 'alchemy'],
  [/(^|\.)(quiknode\.pro|quicknode\.com)$/, 'quicknode'],
  [/(^|\.)(helius-rpc\.com|helius\.(xyz|dev))$/, 'helius'],
  [/(^|\.)(rpcpool\.com|triton\.one)$/, 'triton'],
  [/(^|\.)(chainstack\.com|p2pify\.com)$/, 'chainstack'],
  [/(^|\.)(solana\.com|projectserum\.com)$/, 'solana'],
  [/(^|\.)drpc\.(org|live)$/, 'drpc'],
  [/(^|\.)(publicnode|allnodes)\.com$/, 'allnodes'],
  [/(^|\.)getblock\.(io|us)$/, 'getblock'],
  [/(^|\.)(ankr\.com|extrnode\.com)$/, 'ankr'],
  [/(^|\.)blockstream\.(info|com)$/, 'blockstream'],
];
/** Domains under which anybody can register a domain, such as `co.uk`, or deploy a site. */
const SECOND_LEVEL =
  /^((co|com|net|org|ac|gov|edu)\.[a-z]{2}|(workers|pages|fly|vercel|web)\.(dev|app)|(onrender|herokuapp)\.com|github\.io)$/;

/** Who runs a host: its provider, else the registered part of its name. Providers give each key or region a subdomain. */
function operatorOf(url: string): string {
  const hostname = hostnameOf(url);
  const [, provider] = SAME_PROVIDER.find(([hosts]) => hosts.test(hostname)) ?? [];
  if (provider !== undefined) return provider;
  // Two IPv4 addresses of one /24 network, or two IPv6 addresses of one /48, are treated as one operator.
  if (/^[\d.]+$/.test(hostname)) return hostname.split('.').slice(0, 3).join('.');
  if (hostname.startsWith('[')) return hostname.split(':').slice(0, 3).join(':');
  const labels = hostname.split('.');
  return labels.slice(SECOND_LEVEL.test(labels.slice(-2).join('.')) ? -3 : -2).join('.');
}

/** Public nodes of Solana, whose rate limit all users share. */
const PUBLIC_NODES = /(^|\.)(mainnet-beta|mainnet|testnet|devnet)\.solana\.com$|(^|\.)projectserum\.com$/;

const isLocal = (urls: readonly string[]): boolean => urls.every((url) => LOOPBACK.test(hostnameOf(url)));

export function checkIndependence(settings: Settings): Finding[] {
  const config = readConfig(settings);
  return [...checkNodes(config), ...checkIndexes(config), ...checkVenues(config), ...checkWitness(settings)];
}

/** A witness that the operator of the service runs protects against nobody. */
function checkWitness({ ABSR_WITNESS_URL: witness, PUBLIC_BASE_URL: own = '' }: Settings): Finding[] {
  const { pathname = '/', search = '' } = URL.parse(witness ?? '') ?? {};
  return [
    ...problemIf(
      Boolean(witness) && !isLocal([witness ?? '']) && operatorOf(witness ?? '') === operatorOf(own),
      'witness-own',
      'ABSR_WITNESS_URL has the domain of the service: whoever takes over one takes over both.',
      'Let somebody else run the witness, in another account and under another domain.',
    ),
    ...problemIf(
      pathname !== '/' || search !== '',
      'witness-path',
      'ABSR_WITNESS_URL has a path or a query: the witness is called at its origin.',
      'Leave only scheme and host.',
    ),
  ];
}

function checkNodes({ SOLANA_RPC_URL: nodes, SOLANA_READ_RPC_URL: readNodes }: Config): Finding[] {
  const shared = nodes
    .map(machineOf)
    .filter((machine) => readNodes.some((url) => machineOf(url) === machine));
  const operators = new Set(nodes.map(operatorOf));
  const isPublic = (url: string): boolean => PUBLIC_NODES.test(hostnameOf(url));
  return [
    ...problemIf(
      shared.length > 0,
      'rpc-shared',
      `SOLANA_RPC_URL and SOLANA_READ_RPC_URL both name ${[...new Set(shared)].join(', ')}: reads of callers use up the rate of the custodian.`,
      'Name another host in SOLANA_READ_RPC_URL.',
    ),
    ...problemIf(
      nodes.some(isPublic),
      'rpc-public',
      'SOLANA_RPC_URL names a public node, or is not set: everybody on the shared addresses of Workers uses up its rate.',
      'Name nodes with a key of your own.',
    ),
    ...problemIf(
      operators.size < LEAST_OPERATORS && !isLocal(nodes),
      'rpc-few-operators',
      `SOLANA_RPC_URL names ${nodes.length} nodes of ${operators.size} operators (${[...operators].join(', ')}): with fewer than three, one that fails or lies stops all work.`,
      'Name three nodes at three providers, separated by commas.',
    ),
    ...noteIf(
      readNodes.some(isPublic),
      'read-rpc-public',
      'SOLANA_READ_RPC_URL names a public node, or is not set: figures and lists are often stale.',
      'Name a node with a key of your own, at another host than those of SOLANA_RPC_URL.',
    ),
  ];
}

/** These indexes serve their API below a path. */
const WITH_API = /(^|\.)(mempool\.space|blockstream\.info)$/;

function checkIndexes({ ESPLORA_API_URLS: indexes }: Config): Finding[] {
  return [
    ...problemIf(
      isLocal(indexes) ? new Set(indexes).size < 2 : new Set(indexes.map(operatorOf)).size < 2,
      'esplora-single',
      'ESPLORA_API_URLS names indexes of one operator: ABSR is minted only if two of them agree.',
      'Name two with different operators, or remove the line.',
    ),
    ...problemIf(
      indexes.some((url) => WITH_API.test(hostnameOf(url)) && !/\/api$/.test(url)),
      'esplora-path',
      'ESPLORA_API_URLS names a page of an index, not its API.',
      'Add the path /api.',
    ),
  ];
}

function checkVenues({ PRICE_API_URLS: venues }: Config): Finding[] {
  const named = VENUE_NAMES.flatMap((name) => (venues[name] ? [{ name, url: venues[name] }] : []));
  const urls = named.map(({ url }) => url);
  return [
    ...problemIf(
      named.length < 2 || (!isLocal(urls) && new Set(urls.map(operatorOf)).size < 2),
      'price-single',
      'PRICE_API_URLS names venues of one operator: two must agree before anything is swapped.',
      'Remove the line to use every venue, or name a second one.',
    ),
    ...named.flatMap(({ name, url }) => {
      const other = VENUE_NAMES.find(
        (venue) => venue !== name && hostOf(PRICE_VENUES[venue].url) === hostOf(url),
      );
      return other
        ? [
            problem(
              'price-swapped',
              `PRICE_API_URLS gives ${name} the address of ${other}.`,
              `Write ${name}=${PRICE_VENUES[name].url}.`,
            ),
          ]
        : problemIf(
            hostnameOf(url) === hostnameOf(PRICE_VENUES[name].url) && url !== PRICE_VENUES[name].url,
            'price-path',
            `PRICE_API_URLS gives ${name} another path or port than its API has.`,
            `Write ${name}=${PRICE_VENUES[name].url}.`,
          );
    }),
  ];
}
