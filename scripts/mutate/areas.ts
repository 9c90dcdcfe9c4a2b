/**
 * The mutated code, and the unit tests that must detect the mutants.
 * @module
 */
import { globSync } from 'node:fs';

export interface Area {
  readonly name: string;
  readonly files: readonly string[];
  /** Tests besides those that are named like the files. */
  readonly also: readonly string[];
}

const shortest = (a: string, b: string): number => a.length - b.length;

export const testsOf = ({ files, also }: Area): string[] => [
  ...files.flatMap((file) => globSync(file.replace(/^src(.*)\.ts$/, 'test$1*.test.ts')).toSorted(shortest)),
  ...also,
];

export const AREAS: readonly Area[] = [
  {
    name: 'state machine',
    files: [
      'src/custody/kernel/state-machine.ts',
      'src/custody/kernel/observation.ts',
      'src/custody/kernel/ended-attempt.ts',
    ],
    also: [],
  },
  {
    name: 'spending limits',
    files: ['src/custody/kernel/spending-limits.ts'],
    also: ['test/custody/kernel/executor-covered.test.ts'],
  },
  { name: 'budget', files: ['src/core/budget.ts'], also: [] },
  {
    name: 'reward curve',
    files: ['src/custody/asry/epochs.ts'],
    also: ['test/custody/asry/reward-curve.test.ts'],
  },
  {
    name: 'payments',
    files: [
      'src/custody/payments/confirm.ts',
      'src/custody/payments/open.ts',
      'src/custody/payments/treasury-payment.ts',
      'src/custody/payments/unread.ts',
      'src/custody/payments/treasury-walk.ts',
    ],
    also: [
      'test/custody/custodian-sales.test.ts',
      'test/custody/rotation.test.ts',
      ...[
        'payment-edges',
        'payment-requests',
        'payment-fixtures',
        'unmatched',
        'payment-search',
        'refunds',
      ].map((name) => `test/custody/payments/${name}.test.ts`),
    ],
  },
  {
    name: 'refunds',
    files: ['src/custody/payments/refund.ts', 'src/custody/payments/owed.ts'],
    also: ['unmatched', 'payment-edges', 'unread', 'free-rows']
      .map((name) => `test/custody/payments/${name}.test.ts`)
      .concat('test/custody/attempts.test.ts', 'test/custody/fair-queues.test.ts'),
  },
  {
    name: 'claims',
    files: [
      'src/custody/asry/claim.ts',
      'src/custody/asry/claim-refusals.ts',
      'src/custody/asry/payout.ts',
      'src/custody/asry/context.ts',
    ],
    also: ['payout-view', 'asry/cold-source', 'poisoned-rows', 'fair-queues', 'rotation', 'attempts'].map(
      (name) => `test/custody/${name}.test.ts`,
    ),
  },
  {
    name: 'witness',
    files: [
      'src/chain/solana/mint-request.ts',
      'src/witness/decision.ts',
      'src/witness/cosign.ts',
      'src/witness/worker.ts',
      'src/witness/witness-object.ts',
      'src/witness/settings.ts',
    ],
    also: [],
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
    also: [],
  },
];
