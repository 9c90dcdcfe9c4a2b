import type { Child } from 'hono/jsx';
import { shortened } from './format.ts';

const WEB = /^https?:\/\/[^\s]+$/i;

/**
 * A link to another site, without a referrer. An untrusted address becomes a link only if it is a web
 * address; otherwise it stays text.
 */
export const Away = ({ href, children }: { href: string; children?: Child }) =>
  WEB.test(href) ? (
    <a href={href} target="_blank" rel="noopener noreferrer nofollow">
      {children}
      <span class="unseen"> (opens another site)</span>
    </a>
  ) : (
    <span>{children}</span>
  );

/** Whether this page belongs to the offline world, whose chains are simulated. */
export const isDemonstration = (): boolean => Boolean(globalThis.document?.querySelector('.demonstration'));

/** A placeholder: HTML's `a` without a target. */
const SIMULATED = { title: 'Simulated' };

/**
 * A link to a site that reads the chain itself. Such a site has nothing of a simulated chain, so the link has no target
 * there. It stays an `a`, so that the layout is that of the HTML, which the Worker renders without this knowledge.
 */
export const OnChain = ({ href, children }: { href: string; children?: Child }) =>
  isDemonstration() ? <a {...SIMULATED}>{children}</a> : <Away href={href}>{children}</Away>;

const path = (text: string): string => encodeURIComponent(text);

export const SolanaTransaction = ({ signature }: { signature: string }) => (
  <OnChain href={`https://explorer.solana.com/tx/${path(signature)}`}>
    <code>{shortened(signature)}</code>
  </OnChain>
);
export const BitcoinTransaction = ({ txid }: { txid: string }) => (
  <OnChain href={`https://mempool.space/tx/${path(txid)}`}>
    <code>{shortened(txid)}</code>
  </OnChain>
);
export const solanaAddressUrl = (address: string): string =>
  `https://explorer.solana.com/address/${path(address)}`;
export const bitcoinAddressUrl = (address: string): string =>
  `https://mempool.space/address/${path(address)}`;
/** The largest accounts of a token. */
export const holdersUrl = (mint: string): string => `${solanaAddressUrl(mint)}/largest`;
export const orcaUrl = (mint: string): string => `https://www.orca.so/pools?tokens=${path(mint)}`;
export const jupiterUrl = (mint: string): string => `https://jup.ag/tokens/${path(mint)}`;

/** A token at explorers that read the chain without this service. */
export const Explorers = ({ mint }: { mint: string }) => (
  <>
    <OnChain href={solanaAddressUrl(mint)}>Solana Explorer</OnChain>
    <OnChain href={`https://solscan.io/token/${path(mint)}`}>Solscan</OnChain>
  </>
);
