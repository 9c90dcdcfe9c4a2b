import { expect } from 'vitest';
import { fields, row, type Table } from '../table.ts';

const CREATE = 'POST /api/invoices';
const RECORD = 'GET /api/invoices/{id}';
const CONFIRM = 'POST /api/invoices/confirm';

export const tokenInvoiceStates: Table = {
  title: 'States and transitions > Token-creation invoice',
  key: [0, 3],
  rows: [
    row('(none) | pending', (contract) => {
      const { status, treasury_address } = contract.answer(CREATE);
      expect([status, treasury_address]).toEqual(['pending', contract.world.treasury]);
    }),
    row('pending | completed', (contract) => {
      expect(contract.answer(RECORD).status).toBe('completed');
      fields(RECORD, '', { payment_tx_signature: 'string', paid_at: 'string', completed_at: 'string' })(
        contract,
      );
      fields(CONFIRM, '', { token_id: 'integer', mint_address: 'string' })(contract);
      const { mint_address } = contract.answer(CONFIRM);
      expect(contract.answer('GET /api/tokens/{id}').mint_address).toBe(mint_address);
    }),
  ],
};
