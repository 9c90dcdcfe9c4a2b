import fc from 'fast-check';
import { expect, it } from 'vitest';
import { lamports } from '../../../src/core/amount.ts';
import {
  decodeOperation,
  encodeOperation,
  isTerminal,
  mirrorStatus,
  namesUsedBy,
  type Operation,
} from '../../../src/custody/kernel/operation.ts';
import { code, held, upstream } from '../../../src/custody/kernel/reason.ts';
import { closed, done, outstanding, planned, settling, signed } from '../../kit/sample-operations.ts';

const atoms = fc.bigInt({ min: 0n, max: 2n ** 70n }).map(lamports);
const fact = fc.oneof(
  fc.string().filter((text) => !/^-?\d+$/.test(text)),
  fc.integer(),
  fc.boolean(),
  fc.constant(null),
  // Atoms in their stored form: without leading zeros.
  fc.bigInt({ min: 0n, max: 2n ** 64n }).map(String),
);
const names = fc.oneof(fc.string(), fc.constantFrom('amount', 'fee', 'slot', 'reserved', 'cost'));
const facts = fc
  .array(fc.tuple(names, fact), { maxLength: 8 })
  .map((members) => Object.fromEntries(members.filter(([name]) => name !== '__proto__')));
const rows: fc.Arbitrary<Operation> = fc.record({
  seq: fc.nat(),
  id: fc.string(),
  kind: fc.constantFrom('swap' as const, 'asry' as const),
  signer: fc.string(),
  state: fc.constantFrom(
    'planned' as const,
    'signed' as const,
    'settling' as const,
    'done' as const,
    'failed' as const,
  ),
  detail: fc.string(),
  reason: fc.constantFrom(null, code('expired'), upstream('timeout'), held('unproven')),
  revision: fc.nat(),
  createdAt: fc.nat(),
  updatedAt: fc.nat(),
  signedAt: fc.option(fc.nat(), { nil: null }),
  dueAt: fc.option(fc.nat(), { nil: null }),
  looks: fc.nat(),
  amount: atoms,
  reserved: atoms,
  unsettled: atoms,
  cost: atoms,
  releasedSlot: fc.option(fc.bigInt({ min: 0n, max: 2n ** 64n }), { nil: null }),
  attempt: fc.nat(),
  signing: fc.option(
    fc.record({
      signature: fc.string(),
      wire: fc.string(),
      slot: atoms,
      witnesses: fc.array(fc.record({ node: fc.string(), slot: atoms, height: atoms }), { maxLength: 3 }),
    }),
    { nil: null },
  ),
  landing: fc.option(
    fc.record({
      slot: atoms,
      blockTime: fc.option(fc.integer(), { nil: null }),
      fee: atoms,
      debit: fc.bigInt({ min: -(2n ** 60n), max: 2n ** 60n }).map(lamports),
    }),
    { nil: null },
  ),
  plan: facts,
  outcome: facts,
});

it('an encoded row is decoded unchanged, with exact amounts and types', () => {
  fc.assert(
    fc.property(rows, (row) => {
      expect(decodeOperation(encodeOperation(row))).toEqual(row);
    }),
    { numRuns: 500 },
  );
});

it('a row of a newer version keeps the fields that this version does not know', () => {
  const newer = `${encodeOperation(planned()).slice(0, -1)},"escrow":"7","state":"melting"}`;
  expect(decodeOperation(newer)).toMatchObject({ escrow: '7', state: 'melting' });
  expect(encodeOperation(decodeOperation(newer))).toContain('"escrow":"7"');
});

it.each([
  ['planned', planned(), false, 'waiting'],
  ['signed', signed(), false, 'waiting'],
  ['settling', settling(), false, 'waiting'],
  ['done', done(), true, 'finished'],
  ['failed', closed(), true, 'failed'],
  ['failed with money outstanding', outstanding(), true, 'failed'],
  ['a state of a newer version', planned({ state: 'melting' as Operation['state'] }), false, 'waiting'],
] as const)(
  'shows whether an operation has ended, and its status for D1: %s',
  (_name, row, terminal, status) => {
    expect([isTerminal(row), mirrorStatus(row)]).toEqual([terminal, status]);
  },
);

it('returns the deposit address, the Bitcoin output and the refund payment that a row has consumed', () => {
  expect(namesUsedBy(planned())).toEqual([]);
  const row = done({
    plan: { depositAddress: 'd' },
    outcome: { btcTxid: 't', btcVout: 2, refundSignature: 's' },
  });
  expect(namesUsedBy(row)).toEqual(['deposit:d', 'output:t:2', 'payment:s']);
});
