import { expect } from 'vitest';
import type { Body } from '../../e2e/swap-caller.ts';
import { expectError, fields, type Row, type Table } from '../table.ts';
import type { Contract } from '../world.ts';

const TOKEN = `
      id: integer, name: string, symbol: string, decimals: integer, supply: string, mint_address: string,
      creator_address: string
    `;
const INVOICE = `
      invoice_id: string, treasury_address: string, fee_sol: number, fee_lamports: integer, message: string,
      created_at: string
    `;

type Members = Parameters<typeof fields>[2];

/** A row whose path the contract leaves open: our path, and the expected response. */
const row = (
  name: string,
  call: string,
  members: Members,
  more: (contract: Contract) => Promise<void> | void = () => undefined,
): Row => ({
  row: name,
  async check(contract) {
    fields(call, '', members)(contract);
    await more(contract);
  },
});

export const endpointsUnnamed: Table = {
  title: 'Endpoints > Token, listing, exchange-helper and history endpoints',
  key: [0],
  rows: [
    row(
      'ABSR transactions (for example an issue on swap completion)',
      'GET /api/arbitrage/transactions',
      'transactions: array',
      (contract) => {
        const { transactions } = contract.answer('GET /api/arbitrage/transactions');
        const { id } = contract.answer('POST /api/swap/create');
        expect(transactions).toContainEqual(expect.objectContaining({ type: 'issue', signature: id }));
      },
    ),
    row(
      'Minimum amount of a currency pair',
      'GET /api/exchange/min',
      'from: string, to: string, minAmount: number | null',
      async (contract) =>
        expectError(await contract.ask('GET /api/exchange/min?from=sol'), 400, 'INVALID_INPUT'),
    ),
    row(
      'Estimated output for an input',
      'GET /api/exchange/estimate',
      `
      from: string, to: string, amount: number, estimatedAmount: number | null
    `,
      async (contract) => {
        for (const amount of ['', '0', '-1', 'abc'])
          expectError(
            await contract.ask(`GET /api/exchange/estimate?from=sol&to=btc&amount=${amount}`),
            400,
            'INVALID_INPUT',
          );
      },
    ),
    row(
      'Reserve SOL to BTC swap history',
      'GET /api/exchanges/transactions',
      'transactions: array',
      (contract) => {
        const { transactions } = contract.answer('GET /api/exchanges/transactions');
        const { id } = contract.answer('POST /api/swap/create');
        expect(transactions).toContainEqual(expect.objectContaining({ signature: id, solAmount: 0.5 }));
      },
    ),
    row('Create token-creation invoice', 'POST /api/invoices', INVOICE, (contract) => {
      const { fee_sol, fee_lamports, invoice_id } = contract.answer('POST /api/invoices');
      expect(Number(fee_sol)).toBeCloseTo(Number(fee_lamports) / 1e9, 9);
      expect(invoice_id).toMatch(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
    }),
    row(
      'Get an invoice by UUID',
      'GET /api/invoices/{id}',
      `
      status: string, payment_tx_signature: string | null, token_id: integer | null, paid_at: string | null,
      completed_at: string | null
    `,
      async (contract) => {
        const id = '00000000-0000-4000-8000-000000000000';
        expectError(await contract.ask(`GET /api/invoices/${id}`), 404);
      },
    ),
    row(
      'Confirm invoice payment',
      'POST /api/invoices/confirm',
      `
      ok: boolean, status: string, token_id: integer, mint_address: string, message: string
    `,
      async (contract) => {
        const call = 'POST /api/invoices/confirm';
        expect(contract.answer(call)).toMatchObject({ ok: true, status: 'completed' });
        const { invoice_id: invoiceId, tx_signature: txSignature } = contract.sent(call);
        const again = await contract.ask(call, { body: { invoiceId, txSignature } });
        expect([again.status, again.body]).toEqual([200, contract.answer(call)]);
      },
    ),
    row('List tokens', 'GET /api/tokens', 'tokens: array', async (contract) => {
      fields('GET /api/tokens', 'tokens[]', TOKEN)(contract);
      const { creator_address: creator } = contract.answer('GET /api/tokens/{id}');
      const own = await contract.ask(`GET /api/tokens?creator=${creator}`);
      expect((own.body.tokens as readonly Body[]).map((token) => token.creator_address)).toEqual([creator]);
      const other = await contract.ask(`GET /api/tokens?creator=${contract.world.treasury}`);
      expect(other.body.tokens).toEqual([]);
    }),
    row('Get one token', 'GET /api/tokens/{id}', TOKEN, async (contract) =>
      expectError(await contract.ask('GET /api/tokens/999999'), 404),
    ),
    row('Search listed tokens', 'GET /api/listings/search', 'tokens: array', async (contract) => {
      fields('GET /api/listings/search', 'tokens[]', TOKEN)(contract);
      for (const q of ['tour', 'TOUR', 'guide']) {
        const { body } = await contract.ask(`GET /api/listings/search?q=${q}`);
        expect(body.tokens).toEqual([expect.objectContaining({ symbol: 'TOUR' })]);
      }
      expect((await contract.ask('GET /api/listings/search?q=nothing-like-it')).body.tokens).toEqual([]);
    }),
    row('Get listings', 'GET /api/listings', 'listings: array', async (contract) => {
      const { token_id } = contract.answer('POST /api/invoices/confirm');
      const { body } = await contract.ask(`GET /api/listings?token_id=${token_id}`);
      expect(body.listings).toEqual([expect.objectContaining({ token_id, status: 'confirmed' })]);
    }),
    row(
      'Request a listing (for example of an existing token)',
      'POST /api/listings/request',
      'treasury_address: string, fee_sol: number, fee_lamports: integer',
    ),
    row('Confirm listing payment', 'POST /api/listings/confirm', 'ok: boolean', async (contract) => {
      const { listing_request_id } = contract.answer('POST /api/listings/request');
      const { body } = await contract.ask('GET /api/listings');
      expect(body.listings).toContainEqual(
        expect.objectContaining({ listing_request_id, status: 'confirmed' }),
      );
    }),
  ],
};
