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

const path = (text: string): string => encodeURIComponent(text);

export const SolanaTransaction = ({ signature }: { signature: string }) => (
  <Away href={`https://explorer.solana.com/tx/${path(signature)}`}>
    <code>{shortened(signature)}</code>
  </Away>
);
export const BitcoinTransaction = ({ txid }: { txid: string }) => (
  <Away href={`https://mempool.space/tx/${path(txid)}`}>
    <code>{shortened(txid)}</code>
  </Away>
);
export const solanaAddressUrl = (address: string): string =>
  `https://explorer.solana.com/address/${path(address)}`;
export const bitcoinAddressUrl = (address: string): string =>
  `https://mempool.space/address/${path(address)}`;
/** The largest accounts of a token. */
export const holdersUrl = (mint: string): string => `${solanaAddressUrl(mint)}/largest`;
const solscanUrl = (address: string): string => `https://solscan.io/token/${path(address)}`;
const orbUrl = (address: string): string => `https://orbmarkets.io/address/${path(address)}`;
export const orcaUrl = (mint: string): string => `https://www.orca.so/pools?tokens=${path(mint)}`;
export const jupiterUrl = (mint: string): string => `https://jup.ag/tokens/${path(mint)}`;

/** A token at explorers that read the chain without this service. */
export const Explorers = ({ mint }: { mint: string }) => (
  <>
    <Away href={solanaAddressUrl(mint)}>Solana Explorer</Away>
    <Away href={solscanUrl(mint)}>Solscan</Away>
    <Away href={orbUrl(mint)}>Orb</Away>
  </>
);
