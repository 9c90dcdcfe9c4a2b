/** What a page of the offline world shows differently: its chains are simulated. */
import { afterEach, expect, it, vi } from 'vitest';
import { BitcoinTransaction, Explorers, SolanaTransaction } from '../../site/parts/explorer-links.tsx';
import { TerminalCheck } from '../../site/parts/verify-command.tsx';

afterEach(() => vi.unstubAllGlobals());

const targets = (): string[] => {
  const html = [
    SolanaTransaction({ signature: 'signature' }),
    BitcoinTransaction({ txid: 'txid' }),
    Explorers({ mint: 'mint' }),
  ].join('');
  return [...html.matchAll(/href="([^"]*)"/g)].map(([, href = '']) => href);
};

it('transactions and mints link to explorers, but have no links in a demonstration', () => {
  expect(targets()).toEqual([
    'https://explorer.solana.com/tx/signature',
    'https://mempool.space/tx/txid',
    'https://explorer.solana.com/address/mint',
    'https://solscan.io/token/mint',
  ]);
  vi.stubGlobal('document', { querySelector: (selector: string) => selector === '.demonstration' });
  expect(targets()).toEqual([]);
});

it.each([
  [false, 'git clone https://source.test sluice', '--explorers https://mempool.space/api'],
  [true, 'npm run verify -- https://', 'simulated explorers'],
])(
  'with demonstration %s, the terminal check names sources that have its chains',
  (isDemonstration, ...texts) => {
    const release = { version: '1.0.0', commit: null, source: 'https://source.test' };
    const html = String(TerminalCheck({ release, isDemonstration, origin: 'https://sluice.test' }));
    expect(html).toContain('npm run verify -- https://sluice.test');
    for (const text of texts) expect(html).toContain(text);
    expect(html.includes('mempool.space')).toBe(!isDemonstration);
  },
);
