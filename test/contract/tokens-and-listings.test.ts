import { expect } from 'vitest';
import { fields, listOf, oneOf, orNull } from './shape.ts';
import { contractTable, errorBody, type Stage } from './stage.ts';

const creator = ({ world }: Stage): string => world.users[0]?.address ?? '';
const token = fields({
  id: 'integer',
  name: 'string',
  symbol: 'string',
  decimals: 'integer',
  supply: 'string',
  mint_address: 'string',
  creator_address: orNull('string'),
});
const invoice = fields({
  status: oneOf('pending', 'completed'),
  payment_tx_signature: orNull('string'),
  token_id: orNull('integer'),
  paid_at: orNull('string'),
  completed_at: orNull('string'),
});
let made: Record<string, unknown> = {};
let signature = '';

contractTable([
  {
    row: 'create token-creation invoice',
    request: 'POST /api/invoices',
    body: (stage: Stage) => ({
      name: 'Moon Cat',
      symbol: 'MCAT',
      creator_address: creator(stage),
      supply: '1000',
    }),
    status: 200,
    shape: fields({
      invoice_id: 'string',
      treasury_address: 'string',
      fee_sol: 'number',
      fee_lamports: 'integer',
      message: 'string',
      created_at: 'string',
    }),
    also: ({ body }) => {
      expect(body.invoice_id).toMatch(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
      expect(body.decimals).toBe(9);
      made = body;
    },
  },
  {
    row: 'invoice states: pending',
    request: () => `GET /api/invoices/${made.invoice_id}`,
    status: 200,
    shape: invoice,
    also: ({ body }) => expect(body.status).toBe('pending'),
  },
  {
    row: 'confirm invoice payment',
    request: async ({ world, call }) => {
      const from = world.users[0];
      if (!from) throw new Error('no user');
      const amount = BigInt(String(made.fee_lamports));
      const references = [String(made.reference)];
      signature = await world.control.transfer({
        from,
        to: String(made.treasury_address),
        asset: 'sol',
        amount,
        references,
      });
      const body = { invoice_id: made.invoice_id, tx_signature: signature };
      for (let tries = 0; tries < 100; tries++) {
        if ((await call('POST /api/invoices/confirm', body)).status === 200) break;
        await new Promise((resolve) => setTimeout(resolve, 200));
      }
      return 'POST /api/invoices/confirm';
    },
    body: () => ({ invoiceId: made.invoice_id, txSignature: signature }),
    status: 200,
    shape: fields({
      ok: oneOf(true),
      status: oneOf('completed'),
      token_id: 'integer',
      mint_address: 'string',
      message: 'string',
    }),
  },
  {
    row: 'invoice states: completed',
    request: () => `GET /api/invoices/${made.invoice_id}`,
    status: 200,
    shape: fields({
      status: oneOf('completed'),
      payment_tx_signature: 'string',
      token_id: 'integer',
      paid_at: 'string',
      completed_at: 'string',
    }),
  },
  {
    row: 'list tokens',
    request: 'GET /api/tokens',
    status: 200,
    shape: fields({ tokens: listOf(token) }),
    also: ({ body }) => expect(body.tokens).toHaveLength(1),
  },
  {
    row: 'list tokens of a creator',
    request: (stage) => `GET /api/tokens?creator=${creator(stage)}`,
    status: 200,
    shape: fields({ tokens: listOf(token) }),
    also: ({ body }) => expect(body.tokens).toHaveLength(1),
  },
  { row: 'get one token', request: 'GET /api/tokens/1', status: 200, shape: token },
  {
    row: 'get one token: 404',
    request: 'GET /api/tokens/999',
    status: 404,
    shape: fields({ error: 'string' }),
  },
  {
    row: 'search listed tokens',
    request: 'GET /api/listings/search?q=moon',
    status: 200,
    shape: fields({ tokens: listOf(token) }),
    also: ({ body }) => expect(body.tokens).toHaveLength(1),
  },
  {
    row: 'get listings',
    request: 'GET /api/listings?token_id=1',
    status: 200,
    shape: fields({
      listings: listOf(
        fields({ listing_request_id: 'string', token_id: oneOf(1), status: oneOf('confirmed') }),
      ),
    }),
  },
  {
    row: 'request a listing: one that is listed',
    request: 'POST /api/listings/request',
    body: { token_id: 1 },
    status: 409,
    shape: fields({ error: 'string' }),
  },
  {
    row: 'request a listing: an unknown token',
    request: 'POST /api/listings/request',
    body: { token_id: 999 },
    status: 404,
    shape: fields({ error: 'string' }),
  },
  {
    row: 'confirm listing payment: an unknown request',
    request: 'POST /api/listings/confirm',
    body: { listing_request_id: 'x', tx_signature: '1'.repeat(64) },
    status: 404,
    shape: fields({ error: 'string' }),
  },
  ...(['name', 'symbol', 'creator_address'] as const).map((name) => ({
    row: `create invoice: ${name} is required`,
    request: 'POST /api/invoices',
    body: (stage: Stage) => ({ name: 'A', symbol: 'B', creator_address: creator(stage), [name]: undefined }),
    status: 400,
    shape: errorBody(),
  })),
  ...[-1, 10, 1.5].map((decimals) => ({
    row: `limits: decimals are 0 to 9, not ${decimals}`,
    request: 'POST /api/invoices',
    body: (stage: Stage) => ({ name: 'A', symbol: 'B', creator_address: creator(stage), decimals }),
    status: 400,
    shape: errorBody(),
  })),
]);
