/**
 * Whom a holder trusts, read from the running service: its main facts, the operator, and the sources.
 * @module
 */
import type { Child } from 'hono/jsx';
import { useEffect, useState } from 'hono/jsx';
import type { Reserves } from '../../packages/client/src/index.ts';
import { readSiteText } from '../api/call.ts';
import { PROOF_POLL_MS, type Query, useQuery } from '../api/query.ts';
import {
  absrMinter,
  bitcoinSources,
  coverageKind,
  coverageOf,
  coverageText,
  solanaSources,
} from './coverage.tsx';
import { Age } from './freshness.tsx';
import { proofRhythm } from './rhythm.ts';
import { sourceName } from './source-name.ts';
import { Tile } from './tile.tsx';
import { Foreign } from './token-text.tsx';

const COVERED = { good: 'yes', warn: null, bad: 'NO' } as const;

/** How many keys must sign a mint, as the chain shows it; null while it is not known. */
function mintKeys(minting: Reserves['solana']['minting']): string | null {
  if (minting === null) return null;
  return minting.authority === null ? 'none' : `${minting.required} of ${minting.signers.length}`;
}

/** Who may have the keys that mint: the chain shows keys, not persons. */
const KEYS_TEXTS = {
  two_keys:
    "The operator's hot key at Cloudflare, and a witness's key. The chain does not show who holds the second: it may be the operator.",
  reserve: "The operator's hot key at Cloudflare. Whoever steals it can mint any amount.",
  nobody: 'ABSR can no longer be minted.',
  other: 'Held by another authority: the chain does not show by whom.',
} as const;

const keysText = (solana: Reserves['solana']): string => {
  const minter = absrMinter(solana);
  return minter === null ? '' : KEYS_TEXTS[minter];
};

/** The first questions of a doubter, each with its own fact. A figure stays empty until its response has arrived. */
export function TrustTiles() {
  const reserves = useQuery('getReserves', {}, PROOF_POLL_MS);
  const summary = useQuery('getAbsrSummary', {}, PROOF_POLL_MS);
  const proof = useQuery('getProof', {}, PROOF_POLL_MS);
  const covered = coverageOf(summary);
  const known = <T,>({ value, failure }: Query<T>, show: (value: T) => Child | null) =>
    value === null ? (failure === null ? undefined : null) : show(value);
  return (
    <div class="tiles">
      <Tile name="Every ABSR covered" value={known(summary, () => COVERED[coverageKind(covered)])}>
        {covered === null ? '' : coverageText(covered)}
      </Tile>
      <Tile name="Keys that sign a mint" value={known(reserves, ({ solana }) => mintKeys(solana.minting))}>
        {known(reserves, ({ solana }) => keysText(solana))}
      </Tile>
      <Tile name="Newest proof" value={known(proof, ({ timestamp }) => <Age iso={timestamp} />)}>
        {known(reserves, ({ bitcoin }) => `Signed ${proofRhythm(bitcoin.watchOnly)}. `)}
        <a href="/reserves#verify">Check both signatures</a>
      </Tile>
      <Tile name="Redemption" value="none">
        <a href="#redemption">Why ABSR cannot be redeemed</a>
      </Tile>
    </div>
  );
}

/** The Bitcoin sources by name, with what each shows now. */
export function TrustSources() {
  const { value, failure } = useQuery('getReserves', {}, PROOF_POLL_MS);
  if (value === null)
    return <p class="empty">{failure === null ? 'Reading the sources.' : 'Not available right now.'}</p>;
  return (
    <dl class="facts">
      <dt>Bitcoin</dt>
      <dd>
        {value.bitcoin.sources.map(({ name }) => sourceName(name)).join(', ')}:{' '}
        {bitcoinSources(value.bitcoin)}
      </dd>
      <dt>Solana</dt>
      <dd>
        {(value.solana.sources ?? []).map((name) => `${sourceName(name)}, `)}
        {solanaSources(value.solana)} for SOL and the ABSR supply
      </dd>
    </dl>
  );
}

export type Operator = { readonly name: string | null; readonly contact: string | null };

/** What a security.txt (RFC 9116) says of the operator: the name in a comment, and the first contact that a page may link to. */
export function operatorOf(text: string): Operator {
  const contact = /^Contact:[ \t]*(\S+)/im.exec(text)?.[1] ?? '';
  return {
    name: /^# Operator: (.+)$/m.exec(text)?.[1] ?? null,
    contact: /^(mailto:|https:\/\/)/i.test(contact) ? contact : null,
  };
}

/** Undefined until it has been read. */
function useOperator(): Operator | undefined {
  const [operator, setOperator] = useState<Operator>();
  useEffect(() => {
    readSiteText('/.well-known/security.txt').then(
      (text) => setOperator(operatorOf(text)),
      () => setOperator({ name: null, contact: null }),
    );
  }, []);
  return operator;
}

const Contact = ({ operator }: { operator: Operator | undefined }) => {
  if (operator === undefined) return <a href="/.well-known/security.txt">security.txt</a>;
  const { contact } = operator;
  if (contact === null) return <strong>The operator of this site has published no contact.</strong>;
  return (
    <a href={contact} rel="noopener noreferrer">
      {contact.replace(/^mailto:/i, '')}
    </a>
  );
};

/** Who runs this service, as the service itself publishes it. */
export function TrustOperator() {
  const operator = useOperator();
  return (
    <dl class="facts">
      <dt>Operator</dt>
      <dd>
        {operator === undefined ? (
          <span class="skeleton" aria-hidden="true" />
        ) : operator.name === null ? (
          <strong>The operator of this site has published no name.</strong>
        ) : (
          <Foreign text={operator.name} />
        )}
      </dd>
      <dt>Contact</dt>
      <dd>
        <Contact operator={operator} />
      </dd>
    </dl>
  );
}
