/**
 * Who can create ASRY or pay it out, how much, and what prevents more. Each statement is derived from its own fact.
 * @module
 */
import type { Child } from 'hono/jsx';
import type { AsryEpochs, TokenRecord } from '../../packages/client/src/index.ts';
import { PROOF_POLL_MS, useQuery } from '../api/query.ts';
import { OnChain, solanaAddressUrl } from './explorer-links.tsx';
import { grouped, shortened, units } from './format.ts';
import { Age } from './freshness.tsx';

/** The mint of ASRY with its authorities; undefined while it is awaited, null if it cannot be read or does not exist. */
export function useAsryToken(): TokenRecord | null | undefined {
  const summary = useQuery('getAbsrSummary', {}, PROOF_POLL_MS);
  const mint = summary.value?.asryMint ?? null;
  const token = useQuery('getToken', mint === null ? null : { id: mint });
  const awaited = mint === null ? summary : token;
  return awaited.value === null && awaited.failure === null ? undefined : token.value;
}

/** By `minterOf`: who can mint ASRY, and how much. */
const MINTING: Readonly<Record<string, string>> = {
  nobody: 'Nobody: ASRY can no longer be minted.',
  reserve: "The operator's Solana key, which the service uses at Cloudflare: any amount.",
  two_keys:
    "The operator's Solana key, which the service uses at Cloudflare, together with the key of a witness: any amount.",
  other: 'Any amount. The service does not use this key, and the chain does not show who holds it.',
};

function payoutText({ current, allowanceAtomic: allowed }: AsryEpochs): string {
  if (current === null)
    return 'None right now, because no epoch is running. The service pays from a stock and never mints.';
  const show = (atoms: string): string => `${units(atoms, current.asryDecimals)} ASRY`;
  const key =
    allowed === null
      ? "Whoever steals the service's Solana key could pay out all ASRY that this key can move."
      : `A cold account lets the service's Solana key move at most ${show(allowed)}.`;
  return `At most ${show(current.capAtomic)} in this epoch, from a stock: it never mints. ${key}`;
}

/** What stops a larger supply. @param minter null while it is not known */
const boundText = (minter: string | null): string => {
  if (minter === null) return 'Not known at the moment.';
  return minter === 'nobody'
    ? 'The chain: the mint no longer has an authority.'
    : 'Nothing does. The cap limits payouts by this service, but not how much can be minted. The chain shows each new token.';
};

const Minter = ({ token }: { token: TokenRecord }) => (
  <>
    {token.mint_authority === null ? null : (
      <>
        <OnChain href={solanaAddressUrl(token.mint_authority)}>
          <code title={token.mint_authority}>{shortened(token.mint_authority)}</code>
        </OnChain>
        :{' '}
      </>
    )}
    {MINTING[token.official?.minter ?? ''] ?? 'Not known at the moment.'}
  </>
);

const Supply = ({ token }: { token: TokenRecord }) =>
  token.as_of === null ? (
    <>Not known at the moment.</>
  ) : (
    <>
      {grouped(token.supply_ui)} ASRY, read <Age iso={token.as_of} />
    </>
  );

/** Stands for a fact that is awaited. Without scripts it never arrives. */
const AWAITED = (
  <>
    <span class="skeleton" aria-hidden="true" />
    <noscript>Not shown without JavaScript.</noscript>
  </>
);

export function AsrySupply() {
  const epochs = useQuery('getAsryEpoch', {}, PROOF_POLL_MS).value;
  const token = useAsryToken();
  const shown = (text: (token: TokenRecord) => Child): Child =>
    token === undefined ? AWAITED : token === null ? 'Not known at the moment.' : text(token);
  const rows: readonly (readonly [string, Child])[] = [
    ['This service can pay out', epochs === null ? 'Not known at the moment.' : payoutText(epochs)],
    ['Who can mint', shown((read) => <Minter token={read} />)],
    ['What prevents more', shown(({ official }) => boundText(official?.minter ?? null))],
    ['Supply', shown((read) => <Supply token={read} />)],
  ];
  return (
    <dl class="facts">
      {rows.map(([name, text]) => (
        <>
          <dt>{name}</dt>
          <dd>{text}</dd>
        </>
      ))}
    </dl>
  );
}
