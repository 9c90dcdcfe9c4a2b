import { expect, it } from 'vitest';
import { highestFee } from '../../src/core/own-fee.ts';
import { chargedFee, createInvoice } from '../../src/features/tokens/create-invoice.ts';
import { tokenRoutes } from '../../src/features/tokens/routes.ts';
import { Cache } from '../../src/http/cached.ts';
import { routerOver } from '../kit/router.ts';
import { CREATOR, invoiceDeps, newTokenService } from './token-service.ts';

function service() {
  const memory = new Cache({ now: () => 0, defer: () => undefined });
  const deps = { ...invoiceDeps(newTokenService()), listingFee: 20_000_000n, memory };
  const request = routerOver(
    () => ({ tokens: deps }),
    (app) => app.route('/api', tokenRoutes),
  );
  const quote = async (query: Record<string, string>) => {
    const response = await request(`/api/tokens/quote?${new URLSearchParams(query)}`);
    return { status: response.status, body: (await response.json()) as Record<string, unknown> };
  };
  return { deps, quote };
}

const TOKEN = { name: 'Moon Cat', symbol: 'MCAT' };
const ORDER = {
  ...TOKEN,
  ...{ decimals: 6, supply: 5_000_000n, description: 'Cats', image: 'https://cats.example/cat.png' },
  ...{ creator: CREATOR, revokeFreeze: true, revokeMint: true, revokeUpdate: false, metaplex: false },
  program: undefined,
};

it.each([
  ['Token-2022', {}, {}],
  ['classic with Metaplex', { token_program: 'token', metaplex_metadata: 'true' }, { metaplex: true }],
  ['with the longest name', { name: 'é'.repeat(16) }, { name: 'é'.repeat(16) }],
])('the quote of a token equals the price of its invoice and its parts: %s', async (_name, query, order) => {
  const { deps, quote } = service();
  const { fee } = await createInvoice(deps, { ...ORDER, ...order }, '203.0.113.1');
  const { status, body } = await quote({ ...TOKEN, ...query });
  expect(status).toBe(200);
  expect(body).toEqual({
    fee_sol: Number(chargedFee(fee)) / 1e9,
    fee_lamports: Number(chargedFee(fee)),
    max_lamports: Number(highestFee(chargedFee(fee))),
    listing_max_lamports: 20_099_990,
    amount: expect.stringMatching(/^0\.\d+$/),
    currency: 'SOL',
    fee_breakdown: Object.fromEntries(Object.entries(fee).map(([part, cost]) => [part, cost.toString()])),
  });
});

it.each([
  [{ ...TOKEN, name: 'x'.repeat(33) }, 'INVALID_TOKEN_TEXT'],
  [{ ...TOKEN, token_program: 'token-2022', metaplex_metadata: 'true' }, 'CONTRADICTING_OPTIONS'],
  [{ symbol: 'MCAT' }, 'INVALID_INPUT'],
])('refuses the quote of the token %j with %s', async (query, code) => {
  const { quote } = service();
  expect(await quote(query)).toMatchObject({ status: 400, body: { error_code: code } });
});
