/**
 * The keys of the reserve: where each one is, who has it, and what it can do, from the running service and the chain.
 * @module
 */
import type { Child } from 'hono/jsx';
import type { CurrentProof, Reserves, TokenRecord } from '../../packages/client/src/index.ts';
import { minterOf } from '../../src/chain/solana/mint-keys.ts';
import { PROOF_POLL_MS, useQuery } from '../api/query.ts';
import { useAsryToken } from './asry-supply.tsx';
import { Identifier } from './copyable.tsx';
import { absrMinter, minterText } from './coverage.tsx';
import { Moment } from './freshness.tsx';
import { proofRhythm } from './rhythm.ts';
import { Folded, Table } from './table.tsx';

const UNKNOWN = 'Not known at the moment';

/** @param text undefined until it has been read; null if the service has none */
const Key = ({ text, label }: { text: string | null | undefined; label: string }) =>
  text ? (
    <Identifier text={text} label={label} ends={8} />
  ) : (
    <span>{text === undefined ? 'not read' : 'none'}</span>
  );

/** A key that the service does not know about is neither hot nor offline. */
const BITCOIN_PLACES = {
  true: 'Offline, according to the operator; the service only watches the address',
  false: 'Hot: the service at Cloudflare can use it at any time',
  null: UNKNOWN,
} as const;

export type KeyFacts = {
  readonly reserves: Reserves | null;
  readonly proof: CurrentProof | null;
  /** Undefined until it has been read. */
  readonly treasury: string | undefined;
  readonly asry: TokenRecord | null;
};

export function keyRows({ reserves, proof, treasury, asry }: KeyFacts): readonly (readonly Child[])[] {
  const signed =
    proof === null ? (
      ''
    ) : (
      <>
        , last at <Moment iso={proof.timestamp} />
      </>
    );
  const watchOnly = reserves?.bitcoin.watchOnly ?? null;
  const solana = reserves?.solana ?? null;
  return [
    [
      'Solana key of the reserve',
      <Key text={solana?.address} label="Solana address" />,
      'Hot: the service at Cloudflare can use it at any time',
      'The operator',
      <>Swaps SOL for BTC, creates tokens, mints ABSR, pays ASRY and refunds. Signs proofs{signed}</>,
    ],
    [
      'Bitcoin key of the reserve',
      <Key text={reserves?.bitcoin.address} label="Bitcoin address" />,
      BITCOIN_PLACES[`${watchOnly}`],
      'The operator',
      <>
        Signs proofs {proofRhythm(watchOnly)}
        {signed}. The service has no code that sends BTC
      </>,
    ],
    witnessRow(solana),
    mintRow('ABSR', solana?.minting ?? null, absrMinter(solana)),
    mintRow('ASRY', asry?.as_of ? { authority: asry.mint_authority } : null, asry?.official?.minter ?? null),
    treasuryRow(treasury, solana?.address ?? null),
  ];
}

/** @param reserve Solana address of the reserve; null while it is not known */
function treasuryRow(treasury: string | undefined, reserve: string | null): readonly Child[] {
  const place = treasury === reserve ? "The reserve's own Solana key" : 'Outside the service: another key';
  return [
    'Treasury',
    <Key text={treasury} label="treasury address" />,
    treasury === undefined || reserve === null ? UNKNOWN : place,
    'The operator',
    'Receives fees, payments for ASRY, and minted ABSR',
  ];
}

/** Who mints with the Solana key, as the chain shows it. */
function witnessRow(solana: Reserves['solana'] | null): readonly Child[] {
  const { where, use, key } = witnessOf(solana);
  return [
    'Witness of mints',
    <Key text={key} label="witness address" />,
    where,
    key === null ? 'Nobody' : 'Not shown by the chain: it may be the operator',
    <>
      {use}. <a href="/reserves#verify">The check “Who can mint”</a> reads the keys from the chain
    </>,
  ];
}

/** Who has the authority of a mint, by who can mint. */
const MINT_HOLDERS: Readonly<Record<string, string>> = {
  two_keys: "The operator together with the holder of the witness's key",
  reserve: 'The operator',
  nobody: 'Nobody',
  other: 'Not shown by the chain: it may be the operator',
};

/**
 * The one address that can mint more of a token.
 * @param read null while its mint could not be read
 */
function mintRow(
  asset: 'ABSR' | 'ASRY',
  read: { readonly authority: string | null } | null,
  minter: string | null,
): readonly Child[] {
  return [
    `Mint authority of ${asset}`,
    <Key text={read?.authority} label={`mint authority of ${asset}`} />,
    minter === null ? UNKNOWN : minterText(minter),
    MINT_HOLDERS[minter ?? ''] ?? UNKNOWN,
    minter === 'nobody' ? `No more ${asset} can be minted` : `Can mint any amount of ${asset}`,
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
    return { key: undefined, where: UNKNOWN, use: 'Who can mint is not known at the moment' };
  switch (minterOf(minting, address)) {
    case 'two_keys':
      return {
        key: minting.signers.find((signer) => signer !== address),
        where: 'In another account with its own sources, according to the operator',
        use: 'Signs a mint only if the sats are there. A mint needs this key and the Solana key of the reserve',
      };
    case 'reserve':
      return {
        key: null,
        where: 'No witness: the Solana key mints alone',
        use: 'Whoever steals that key can mint any amount',
      };
    case 'nobody':
      return { key: null, where: 'Nobody can mint', use: 'No more ABSR can be minted' };
    case 'other':
      return {
        key: null,
        where: `Another authority mints: ${minting.authority}`,
        use: 'This service does not mint',
      };
  }
}

export function TrustKeys() {
  const reserves = useQuery('getReserves', {}, PROOF_POLL_MS);
  const proof = useQuery('getProof', {}, PROOF_POLL_MS);
  const treasury = useQuery('getTreasury', {});
  const asry = useAsryToken() ?? null;
  return (
    <Folded summary="Show the six keys">
      <Table
        label="Keys of the reserve"
        columns={[
          { name: 'Key' },
          { name: 'Address' },
          { name: 'Where it is' },
          { name: 'Held by' },
          { name: 'What it is used for' },
        ]}
        rows={keyRows({
          reserves: reserves.value,
          proof: proof.value,
          treasury: treasury.value?.treasury_address,
          asry,
        })}
        empty=""
        isProse
      />
    </Folded>
  );
}
