import type { Child } from 'hono/jsx';
import { shortened } from './format.ts';

const WEB = /^https?:\/\/[^\s]+$/i;

/**
 * Leads elsewhere, and tells the other site nothing. An address that a stranger has written is a link only when it is
 * one of the web; anything else stays text.
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
export const solscanUrl = (address: string): string => `https://solscan.io/token/${path(address)}`;
export const orbUrl = (address: string): string => `https://orbmarkets.io/address/${path(address)}`;
