/**
 * The mutated code, and the unit tests that must detect the mutants.
 * @module
 */
export interface Area {
  readonly name: string;
  readonly files: readonly string[];
  /**
   * Each file runs only for the mutants that the files before it miss: fast and strict ones are first.
   */
  readonly tests: readonly string[];
}

export const AREAS: readonly Area[] = [
  {
    name: 'state machine',
    files: ['src/custody/kernel/state-machine.ts'],
    tests: [
      'test/custody/kernel/state-machine.test.ts',
      'test/custody/kernel/state-machine-times.test.ts',
      'test/custody/kernel/state-machine-settlement.test.ts',
      'test/custody/kernel/state-machine-verdict.test.ts',
    ],
  },
  {
    name: 'spending limits',
    files: ['src/custody/kernel/spending-limits.ts'],
    tests: ['test/custody/kernel/spending-limits.test.ts', 'test/custody/kernel/executor-covered.test.ts'],
  },
  {
    name: 'reward curve',
    files: ['src/custody/asry/epochs.ts'],
    tests: ['test/custody/asry/epochs.test.ts', 'test/custody/asry/reward-curve.test.ts'],
  },
  {
    name: 'payments',
    files: [
      'src/custody/payments/payment-requests.ts',
      'src/custody/payments/request-changes.ts',
      'src/custody/payments/open-request.ts',
      'src/custody/payments/payment-matching.ts',
      'src/custody/payments/booking.ts',
      'src/custody/payments/treasury-walk.ts',
    ],
    tests: [
      'test/custody/payments/open-request.test.ts',
      'test/custody/payments/payment-matching.test.ts',
      'test/custody/payments/booking.test.ts',
      'test/custody/payments/treasury-walk.test.ts',
      'test/custody/payments/payment-edges.test.ts',
      'test/custody/payments/refunds.test.ts',
      'test/custody/payments/payment-requests.test.ts',
      'test/custody/payments/restored-payments.test.ts',
    ],
  },
  {
    name: 'claims',
    files: [
      'src/custody/asry/claim-rules.ts',
      'src/custody/asry/claims.ts',
      'src/custody/asry/payout-operation.ts',
      'src/custody/asry/payouts.ts',
    ],
    tests: [
      'test/custody/asry/claim-rules.test.ts',
      'test/custody/asry/payout-view.test.ts',
      'test/custody/asry/claims.test.ts',
      'test/custody/asry/restored-claims.test.ts',
    ],
  },
  {
    name: 'signed messages',
    files: [
      'src/chain/bitcoin/bip137.ts',
      'src/chain/bitcoin/bip322.ts',
      'src/chain/bitcoin/signed-message.ts',
      'src/chain/bitcoin/proof-check.ts',
      'src/chain/bitcoin/proof-lines.ts',
      'src/chain/bitcoin/proof-message.ts',
    ],
    tests: [
      'test/chain/bitcoin/bip137.test.ts',
      'test/chain/bitcoin/signed-message.test.ts',
      'test/chain/bitcoin/proof-message.test.ts',
      'test/chain/bitcoin/proof-check.test.ts',
      'test/chain/bitcoin/bip322.test.ts',
    ],
  },
];
