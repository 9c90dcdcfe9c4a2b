import { expect } from 'vitest';
import type { Answer, Body } from '../../e2e/swap-caller.ts';
import { expectError, type Row, row, type Table } from '../table.ts';
import type { Contract } from '../world.ts';

const CALL = 'POST /api/invoices';
let asked = 0;

/** A new invoice from a network of its own, since the open requests of one network are limited. */
function create(contract: Contract, change: Body): Promise<Answer> {
  asked += 1;
  const creator_address = contract.world.users[0]?.address;
  const body = { name: 'Row', symbol: 'ROW', creator_address, ...change };
  return contract.ask(CALL, { body, ip: `10.${asked & 255}.${asked >> 8}.1` });
}

const REQUIRED = Symbol('required');

/** The accepted and refused values of a field, and its default. The response shows only some fields. */
const member = (
  name: string,
  takes: readonly unknown[],
  refuses: readonly unknown[],
  standard?: unknown,
): Row => ({
  row: name,
  async check(contract) {
    const isShown = standard !== undefined;
    for (const value of takes) {
      const { status, body } = await create(contract, { [name]: value });
      // Null means absent.
      expect([status, name, isShown ? body[name] : value]).toEqual([200, name, value ?? standard]);
    }
    for (const value of refuses) expectError(await create(contract, { [name]: value }), 400);
    const absent = await create(contract, { [name]: undefined });
    if (standard === REQUIRED) expectError(absent, 400, 'INVALID_INPUT');
    else expect([absent.status, name, absent.body[name]]).toEqual([200, name, standard]);
  },
});

const NO_FLAGS = ['yes', 1];

export const tokenInvoice: Table = {
  title: 'Resources and their fields > Token-creation invoice',
  key: [0],
  rows: [
    member('name', ['My Token'], ['', 7, null, 'x'.repeat(100)], REQUIRED),
    member('symbol', ['MY'], ['', 7, null, 'x'.repeat(100)], REQUIRED),
    member('decimals', [0, 9, null], [-1, 10, 1.5, 'six'], 9),
    member(
      'supply',
      ['0', '1000', '18446744073709551615', null],
      ['-1', '1.5', 'many', '18446744073709551616'],
      '0',
    ),
    member('description', ['What it is for', '', null], [7], ''),
    member(
      'creator_address',
      ['2PcVf2tbvvigfF5QzCbvo6LJddx6agAksTwc9f8E2tus'],
      ['', 'nobody', 7, null],
      REQUIRED,
    ),
    member('revoke_freeze_authority', [true, false, null], NO_FLAGS, false),
    row('revoke_mint_authority', async (contract) => {
      await member('revoke_mint_authority', [false, null], NO_FLAGS, false).check(contract);
      const revoked = { revoke_mint_authority: true };
      expect((await create(contract, { ...revoked, supply: '5' })).status).toBe(200);
      // Without authority and supply, no token could ever exist.
      expectError(await create(contract, { ...revoked, supply: '0' }), 400, 'CONTRADICTING_OPTIONS');
    }),
    member('revoke_update_authority', [true, false, null], NO_FLAGS, false),
    row('metaplex_metadata', async (contract) => {
      await member('metaplex_metadata', [false, null], NO_FLAGS, false).check(contract);
      // This world's chain has no Metaplex program; nothing is charged for what could not be made.
      expectError(await create(contract, { metaplex_metadata: true }), 400, 'METAPLEX_UNAVAILABLE');
    }),
  ],
};
