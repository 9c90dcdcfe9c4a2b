/**
 * Whom a holder trusts, read from the running service: keys, sources and the operator's contact.
 * @module
 */
import type { Child } from 'hono/jsx';
import { useEffect, useState } from 'hono/jsx';
import type { CurrentProof, Reserves } from '../../packages/client/src/index.ts';
import { minterOf } from '../../src/chain/solana/mint-keys.ts';
import { readSiteText } from '../api/call.ts';
import { PROOF_POLL_MS, type Query, useQuery } from '../api/query.ts';
import { Identifier } from './copyable.tsx';
import { bitcoinSources, coverageKind, coverageOf, coverageText, sourceName } from './coverage.tsx';
import { Age, Moment } from './freshness.tsx';
import { Table } from './table.tsx';
import { Tile } from './tile.tsx';
import { Foreign } from './token-text.tsx';

/** @param text undefined until it has been read; null if the service has none */
const Key = ({ text, label }: { text: string | null | undefined; label: string }) =>
  text ? (
    <Identifier text={text} label={label} ends={8} />
  ) : (
    <span>{text === undefined ? 'not read' : 'not configured'}</span>
  );

/** A key that the service does not know about is neither hot nor offline. */
const BITCOIN_PLACES = {
  true: 'Offline, with the operator; the service only watches (watch-only)',
  false: 'In the service (hot)',
  null: 'Not known right now',
} as const;

type KeyFacts = {
  readonly reserves: Reserves | null;
  readonly proof: CurrentProof | null;
  readonly treasury: string | null | undefined;
};

export function keyRows({ reserves, proof, treasury }: KeyFacts): readonly (readonly Child[])[] {
  const signed = proof === null ? 'not read' : <Moment iso={proof.timestamp} />;
  const watchOnly = reserves?.bitcoin.watchOnly ?? null;
  return [
    [
      'Solana key of the reserve',
      <Key text={reserves?.solana.address} label="Solana address" />,
      'In the service (hot), one process at Cloudflare',
      'The operator',
      'Swaps SOL into BTC, creates tokens, mints ABSR, pays ASRY and refunds',
      signed,
    ],
    [
      'Bitcoin key of the reserve',
      <Key text={reserves?.bitcoin.address} label="Bitcoin address" />,
      BITCOIN_PLACES[`${watchOnly}`],
      'The operator',
      'Signs proofs. No code of the service sends BTC',
      signed,
    ],
    witnessRow(reserves?.solana ?? null),
    authorityRow(reserves?.solana.minting ?? null),
    [
      'Treasury',
      <Key text={treasury} label="treasury address" />,
      'In a wallet outside the service',
      'The operator',
      'Receives fees, payments for ASRY, and minted ABSR',
      'signs no proofs',
    ],
  ];
}

/** Who mints with the Solana key, as the chain shows it. */
function witnessRow(solana: Reserves['solana'] | null): readonly Child[] {
  const { where, use, key } = witnessOf(solana);
  return [
    'Witness of mints',
    key === null ? 'none' : <Key text={key} label="witness address" />,
    where,
    key === null ? 'Nobody' : 'Not shown by the chain: it may be the operator',
    <>
      {use}. <a href="/reserves#verify">The check “Who can mint”</a> reads the keys from the chain
    </>,
    key ? 'signs mints only' : 'signs no proofs',
  ];
}

/** The one address that can mint ABSR, and the keys behind it. */
function authorityRow(minting: Reserves['solana']['minting'] | null): readonly Child[] {
  const { authority, required = 0, signers = [] } = minting ?? {};
  const [where, runBy] =
    minting === null
      ? ['Not known right now', 'Not known right now']
      : signers.length > 1
        ? [`On Solana: ${required} of ${signers.length} keys must sign`, 'Whoever holds those keys']
        : signers.length === 1
          ? ['On Solana: one key signs', 'Whoever holds that key']
          : ['Nobody can mint', 'Nobody'];
  return [
    'Mint authority of ABSR',
    authority === null ? 'none' : <Key text={authority} label="mint authority" />,
    where,
    runBy,
    'Every new ABSR needs its signature',
    'signs no proofs',
  ];
}

type WitnessFacts = {
  /** Undefined until it has been read; null if there is none. */
  readonly key: string | null | undefined;
  readonly where: string;
  readonly use: string;
};

export function witnessOf(solana: Reserves['solana'] | null): WitnessFacts {
  const { minting = null, address = null } = solana ?? {};
  if (minting === null)
    return { key: undefined, where: 'Not known right now', use: 'With a witness, minting needs two keys' };
  switch (minterOf(minting, address)) {
    case 'two_keys':
      return {
        key: minting.signers.find((signer) => signer !== address),
        where: 'In a second Worker with its own sources (hot)',
        use: 'Signs a mint only if the sats are there: minting needs both keys',
      };
    case 'reserve':
      return {
        key: null,
        where: 'No witness: the Solana key mints alone',
        use: 'A thief of that key mints any amount',
      };
    case 'nobody':
      return { key: null, where: 'Nobody can mint', use: 'No more ABSR can exist' };
    case 'other':
      return {
        key: null,
        where: `Another authority mints: ${minting.authority}`,
        use: 'This service does not mint',
      };
  }
}

const COVERED = { good: 'yes', warn: null, bad: 'NO' } as const;

/** How many keys must sign a mint, as the chain shows it; null while it is not known. */
function mintKeys(minting: Reserves['solana']['minting']): string | null {
  if (minting === null) return null;
  return minting.authority === null ? 'none' : `${minting.required} of ${minting.signers.length}`;
}

/** Who may have the keys that mint: the chain shows keys, not persons. */
function keysText({ minting, address }: Reserves['solana']): string {
  if (minting === null) return '';
  switch (minterOf(minting, address)) {
    case 'two_keys':
      return "The service's and the witness's. The operator may hold both: the chain does not show it.";
    case 'reserve':
      return "The service's own key. A thief of it mints any amount.";
    case 'nobody':
      return 'No more ABSR can exist.';
    case 'other':
      return 'Not those of this service.';
  }
}

/** What a doubter asks first, each from its own fact. A value that no response has yet is left open. */
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
        <a href="/reserves#verify">Check both signatures</a>
      </Tile>
      <Tile name="Redemption" value="none">
        <a href="#redemption">Why ABSR cannot be returned</a>
      </Tile>
    </div>
  );
}

export function TrustKeys() {
  const reserves = useQuery('getReserves', {}, PROOF_POLL_MS);
  const proof = useQuery('getProof', {}, PROOF_POLL_MS);
  const treasury = useQuery('getTreasury', {});
  return (
    <Table
      label="Keys of the reserve"
      columns={[
        { name: 'Key' },
        { name: 'Address' },
        { name: 'Where it is' },
        { name: 'Run by' },
        { name: 'What it is used for' },
        { name: 'Last signed a proof' },
      ]}
      rows={keyRows({
        reserves: reserves.value,
        proof: proof.value,
        treasury: treasury.value?.treasury_address,
      })}
      empty=""
      isProse
    />
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
      <dd>{value.solana.source === null ? 'no node responds' : sourceName(value.solana.source)}</dd>
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
