/**
 * What a reader can verify without trusting this site, and what only the operator states. Each sentence is chosen by
 * the fact that it speaks of.
 * @module
 */
import type { Child } from 'hono/jsx';
import type { CurrentProof, Reserves } from '../../packages/client/src/index.ts';
import type { Minter } from '../../src/chain/solana/mint-keys.ts';
import type { Failure } from '../api/call.ts';
import { PROOF_POLL_MS, useQuery } from '../api/query.ts';
import { absrMinter } from './coverage.tsx';
import { bitcoinAddressUrl, OnChain, solanaAddressUrl } from './explorer-links.tsx';
import { amountOf, sats } from './format.ts';
import { Moment } from './freshness.tsx';

/** What the mint account of ABSR shows. */
const MINTERS_SHOWN: Readonly<Record<Minter | 'unknown', string>> = {
  unknown: 'Which keys sign a mint of ABSR: not known at the moment.',
  two_keys: "A mint of ABSR needs two keys: the reserve's Solana key and a witness's key.",
  reserve: 'A mint of ABSR needs one key: the Solana key of the reserve.',
  nobody: 'Nobody can mint more ABSR.',
  other: 'A mint of ABSR needs the keys of an address other than the reserve.',
};

type ClaimFacts = {
  readonly reserves: Reserves | null;
  readonly proof: CurrentProof | null;
  /** Null while it is not known. */
  readonly supply: string | null;
  /** Times of figures that could not be read again; null of those that are new. */
  readonly oldSince: Readonly<Record<'bitcoin' | 'solana' | 'supply', string | null>>;
  readonly mint: string | null;
};

const Link = ({ href, children }: { href: string | null; children: string }) =>
  href === null ? <span>{children}</span> : <OnChain href={href}>{children}</OnChain>;

type Shown = readonly [text: string, where: Child, oldSince?: string | null];

/** Each statement with the place where a reader sees it, and the time of a figure that could not be read again. */
function shownOf({ reserves, proof, supply, oldSince, mint }: ClaimFacts): readonly Shown[] {
  const { balanceSatoshis: held = null, address = null } = reserves?.bitcoin ?? {};
  const bitcoinUrl = address === null ? null : bitcoinAddressUrl(address);
  const mintUrl = mint === null ? null : solanaAddressUrl(mint);
  const minter = absrMinter(reserves?.solana ?? null);
  return [
    [
      held === null ? 'How many sats the reserve holds.' : `The reserve holds ${amountOf(held, 'sat')}.`,
      <Link href={bitcoinUrl}>Its Bitcoin address</Link>,
      oldSince.bitcoin,
    ],
    [
      supply === null ? 'How many ABSR exist.' : `${sats(supply)} ABSR exist.`,
      <Link href={mintUrl}>The mint on Solana</Link>,
      oldSince.supply,
    ],
    [
      MINTERS_SHOWN[minter ?? 'unknown'],
      <a href="/reserves#verify">The check “Who can mint”</a>,
      oldSince.solana,
    ],
    [
      proof === null
        ? 'Which balance and supply the two keys of the reserve signed: not known at the moment.'
        : `The Bitcoin key and the Solana key of the reserve signed ${amountOf(proof.figures.reserveSatoshis, 'sat')} and the ABSR supply.`,
      <>
        <a href="/reserves#signed">The text and both signatures</a>
        {proof === null ? null : (
          <>
            , of <Moment iso={proof.timestamp} />
          </>
        )}
      </>,
    ],
    [
      'Which sats came from a swap of this service, and which did not.',
      <a href="/reserves#origins">Each with its transactions on both chains</a>,
    ],
  ];
}

const WITNESS_WORD =
  "That the witness's key is in another account, and with another person than the operator.";

/** @param watchOnly null while it is not known */
const keysWord = (watchOnly: boolean | null): string =>
  `That ${watchOnly ? 'the Bitcoin key is offline, and ' : ''}nobody else has a copy of a key. A signature shows only that somebody had the key then.`;

/** What the chains do not show: the operator's statements. */
export const wordsOf = (reserves: Reserves | null): readonly string[] => [
  ...(absrMinter(reserves?.solana ?? null) === 'two_keys' ? [WITNESS_WORD] : []),
  keysWord(reserves?.bitcoin.watchOnly ?? null),
  'Who sent the sats that did not come from a swap, and why.',
  'That the BTC is not owed or promised to someone else.',
  'That the service runs the published source.',
];

type Read = { readonly stale: boolean; readonly as_of: string | null };

/** The time of a figure whose source, or the service itself, did not respond again. */
const oldSince = (read: Read | undefined, failure: Failure | null): string | null =>
  read !== undefined && (read.stale || failure !== null) ? read.as_of : null;

export function TrustClaims() {
  const { value: reserves, failure } = useQuery('getReserves', {}, PROOF_POLL_MS);
  const { value: summary, failure: noSummary } = useQuery('getAbsrSummary', {}, PROOF_POLL_MS);
  const proof = useQuery('getProof', {}, PROOF_POLL_MS).value;
  const facts = {
    ...{ reserves, proof },
    oldSince: {
      bitcoin: oldSince(reserves?.bitcoin, failure),
      solana: oldSince(reserves?.solana, failure),
      supply: oldSince(summary?.coverage, noSummary),
    },
    supply: summary?.coverage.supplySatoshis ?? null,
    mint: summary?.absrMint ?? null,
  };
  return (
    <div class="columns even">
      <div class="stack">
        <h3>You can verify on the chains</h3>
        <ul class="rights">
          {shownOf(facts).map(([text, where, oldSince = null]) => (
            <li class={oldSince === null ? 'good' : 'open'}>
              {text}{' '}
              {oldSince === null ? null : (
                <>
                  Read <Moment iso={oldSince} />, and not again since.{' '}
                </>
              )}
              <span class="fine detail">{where}</span>
            </li>
          ))}
        </ul>
      </div>
      <div class="stack">
        <h3>You have only the operator's word</h3>
        <ul class="rights">
          {wordsOf(reserves).map((text) => (
            <li class="warn">{text}</li>
          ))}
        </ul>
        <p class="fine">No chain, and no check on this site, can show whether these statements are true.</p>
      </div>
    </div>
  );
}
