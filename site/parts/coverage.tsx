import type { AbsrSummary, Reserves } from '../../packages/client/src/index.ts';
import { type Minter, minterOf } from '../../src/chain/solana/mint-keys.ts';
import type { Query } from '../api/query.ts';
import { amountOf, sats } from './format.ts';

export type Covered = { readonly reserve: bigint; readonly supply: bigint };

/** The service's comparison; null unless it is known now. */
export function coverageOf({
  value,
  failure,
}: Pick<Query<AbsrSummary>, 'value' | 'failure'>): Covered | null {
  if (value === null || failure !== null) return null;
  const { state, reserveSatoshis, supplySatoshis } = value.coverage;
  // Without a configured mint there is no supply, and ABSR may exist all the same.
  if (state === 'unknown' || reserveSatoshis === null || supplySatoshis === null) return null;
  return { reserve: BigInt(reserveSatoshis), supply: BigInt(supplySatoshis) };
}

const isShort = ({ reserve, supply }: Covered): boolean => supply > reserve;

/** @param covered null while the comparison is unknown */
export const coverageKind = (covered: Covered | null): 'good' | 'warn' | 'bad' => {
  if (covered === null) return 'warn';
  return isShort(covered) ? 'bad' : 'good';
};

/** The sentence of every place that says whether the reserve covers the supply. */
export function coverageText(covered: Covered | null): string {
  if (covered === null) return 'Whether every ABSR is covered is not known at the moment.';
  const { reserve, supply } = covered;
  if (supply === 0n) return 'No ABSR exists yet, so there is nothing to cover.';
  return `${isShort(covered) ? 'Not covered' : 'Covered'}: ${amountOf(reserve, 'sat')} for ${sats(supply.toString())} ABSR.`;
}

/** Who can mint ABSR, as the chain shows it; null while it is not known. */
export const absrMinter = (solana: Reserves['solana'] | null): Minter | null =>
  solana?.minting ? minterOf(solana.minting, solana.address) : null;

const MINTERS: Readonly<Record<string, string>> = {
  nobody: 'Nobody can mint more.',
  reserve: "Only the operator's hot key at Cloudflare can mint more.",
  two_keys: "Minting needs two keys: the operator's hot key at Cloudflare, and the key of a witness.",
};

/** Who can mint a token of the reserve. */
export const minterText = (minter: string): string =>
  MINTERS[minter] ?? 'An address other than the reserve can mint more.';

/** How many sources show the reserve, and whether they agree. */
export function bitcoinSources(bitcoin: Reserves['bitcoin'] | undefined): string {
  if (bitcoin === undefined) return '';
  const known = bitcoin.sources.filter(({ balanceSatoshis }) => balanceSatoshis !== null);
  if (known.length === 0) return 'no source responds';
  if (bitcoin.agreed === null) return 'only one source responds';
  return bitcoin.agreed ? `${known.length} sources agree` : 'the sources differ; the lower value is used';
}

/** Whether the Bitcoin sources show different balances now. Old balances say nothing about sources that are down. */
export const explorersDiffer = (bitcoin: Reserves['bitcoin'] | null): boolean =>
  bitcoin?.agreed === false && !bitcoin.stale;

/** How many nodes show the ABSR supply; a single one confirms nothing. */
export function solanaSources({ sources }: Reserves['solana']): string {
  if (sources === undefined) return 'number of sources unknown';
  if (sources.length === 0) return 'no source responds';
  return sources.length === 1 ? 'one source' : `${sources.length} sources`;
}
