import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { KEYLESS_FEE_BPS, MAX_APP_FEES_BPS } from '../../src/bridges/near-intents.ts';
import { METAPLEX_FEE } from '../../src/chain/solana/token-creation.ts';
import { mintFee, tokenTransferFee } from '../../src/chain/solana/token-messages.ts';
import { MEMO_TRANSFER_FEE, TRANSFER_FEE } from '../../src/chain/solana/transaction.ts';
import { DECLARATIONS, limitsOf, readConfig } from '../../src/config.ts';
import { RECEIVE_FEE_BPS } from '../../src/custody/asry/epochs.ts';

const standard = readConfig({});
const limits = limitsOf(standard);
const page = readFileSync('docs/money.md', 'utf8');
const sol = (lamports: bigint): string => (Number(lamports) / 1e9).toFixed(9).replace(/\.?0+$/, '');
const percent = (bps: number): string => `${bps / 100} %`;
const defaults: ReadonlyMap<string, string | undefined> = new Map(
  DECLARATIONS.map(([name, declaration]) => [
    name,
    'default' in declaration ? declaration.default : undefined,
  ]),
);

it.each([
  ['swap of SOL for BTC', [TRANSFER_FEE, 'SWAP_MAX_SOL', 'SWAP_MAX_SOL_HOUR', 'SWAP_MAX_SOL_DAY']],
  ['loss of a swap', ['SWAP_MAX_COST_SOL_DAY', KEYLESS_FEE_BPS, MAX_APP_FEES_BPS]],
  ['mint of ABSR, once a day', [mintFee(1), mintFee(2)]],
  ['token creation', [standard.PRICES_SOL.creation, METAPLEX_FEE]],
  ['listing', [standard.PRICES_SOL.listing]],
  ['refund of a payment that bought nothing', [MEMO_TRANSFER_FEE, limits.refunds_day]],
  ['ASRY reward', [tokenTransferFee({ createAccount: true }), limits.rent_day, RECEIVE_FEE_BPS]],
])('docs/money.md states the amounts of the code for: %s', (step, amounts) => {
  const row = page.split('\n').find((line) => line.startsWith(`| ${step} |`)) ?? '';
  const shown = amounts.map((amount) =>
    typeof amount === 'bigint'
      ? sol(amount)
      : typeof amount === 'number'
        ? percent(amount)
        : (defaults.get(amount) ?? `${amount} has no default`),
  );
  expect(
    shown.filter((amount) => !new RegExp(`(^|[^\\d.])${amount.replace('.', '\\.')}(?![\\d.])`).test(row)),
  ).toEqual([]);
});
