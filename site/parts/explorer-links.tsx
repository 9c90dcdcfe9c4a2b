import { shortened } from './format.ts';

/** Leads elsewhere, and tells the other site nothing. */
export const Away = ({ href, children }: { href: string; children?: string }) => (
  <a href={href} target="_blank" rel="noopener noreferrer">
    {children}
    <span class="unseen"> (opens another site)</span>
  </a>
);

const path = (text: string): string => encodeURIComponent(text);

export const SolanaTransaction = ({ signature }: { signature: string }) => (
  <Away href={`https://explorer.solana.com/tx/${path(signature)}`}>{shortened(signature)}</Away>
);
export const BitcoinTransaction = ({ txid }: { txid: string }) => (
  <Away href={`https://mempool.space/tx/${path(txid)}`}>{shortened(txid)}</Away>
);
export const solanaAddressUrl = (address: string): string =>
  `https://explorer.solana.com/address/${path(address)}`;
export const bitcoinAddressUrl = (address: string): string =>
  `https://mempool.space/address/${path(address)}`;
