/**
 * What is mutated, and the unit tests that must notice.
 * @module
 */
export interface Area {
  readonly name: string;
  readonly files: readonly string[];
  /** The first is asked alone, the others only about what it lets pass: it should be quick and sharp. */
  readonly tests: readonly string[];
}

export const AREAS: readonly Area[] = [
  {
    name: 'machine',
    files: ['src/custody/kernel/state-machine.ts'],
    tests: [
      'test/custody/kernel/state-machine.test.ts',
      'test/custody/kernel/state-machine-times.test.ts',
      'test/custody/kernel/state-machine-settlement.test.ts',
      'test/custody/kernel/judge-attempt.test.ts',
      'test/custody/kernel/state-machine-walk.test.ts',
    ],
  },
  {
    name: 'ledger',
    files: ['src/custody/kernel/spending-limits.ts'],
    tests: [
      'test/custody/kernel/spending-limits.test.ts',
      'test/custody/kernel/spending-limits-model.test.ts',
    ],
  },
  {
    name: 'curve',
    files: ['src/custody/asry/reward-curve.ts'],
    tests: ['test/custody/asry/reward-curve.test.ts'],
  },
  {
    name: 'screen',
    files: [
      'src/custody/screen/associated-token.ts',
      'src/custody/screen/chainflip-vault-swap.ts',
      'src/custody/screen/compute-budget.ts',
      'src/custody/screen/instruction.ts',
      'src/custody/screen/instructions.ts',
      'src/custody/screen/lifi-tracker.ts',
      'src/custody/screen/lookup-tables.ts',
      'src/custody/screen/quote.ts',
      'src/custody/screen/screen.ts',
      'src/custody/screen/simulation.ts',
      'src/custody/screen/system.ts',
      'src/custody/screen/token.ts',
    ],
    tests: [
      'test/custody/screen/edges.test.ts',
      'test/custody/screen/honest.test.ts',
      'test/custody/screen/hostile.test.ts',
    ],
  },
  {
    name: 'payment matching',
    files: [
      'src/custody/payments/payment-requests.ts',
      'src/custody/payments/own-fee.ts',
      'src/custody/payments/refusals.ts',
      'src/custody/payments/treasury-scan.ts',
    ],
    tests: [
      'test/custody/payments/own-fee.test.ts',
      'test/custody/payments/payment-edges.test.ts',
      'test/custody/payments/payment-requests.test.ts',
      'test/custody/payments/treasury-scan.test.ts',
      'test/custody/payments/refunds.test.ts',
    ],
  },
  {
    name: 'signed messages',
    files: [
      'src/chain/bitcoin/bip137.ts',
      'src/chain/bitcoin/bip322.ts',
      'src/chain/bitcoin/bip322-transaction.ts',
      'src/chain/bitcoin/signed-message.ts',
      'src/chain/bitcoin/proof-check.ts',
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
