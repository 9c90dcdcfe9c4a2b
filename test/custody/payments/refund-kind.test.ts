import { expect, it } from 'vitest';
import { lamports } from '../../../src/core/amount.ts';
import { plannedOperation } from '../../../src/custody/kernel/operation.ts';
import type { RefundReads } from '../../../src/custody/payments/context.ts';
import { createRefundKind } from '../../../src/custody/payments/refund.ts';
import { depositSignature, wallet } from '../../kit/addresses.ts';
import { assembleTransaction } from '../../kit/custodian.ts';
import { readWire } from '../../simulator/transactions.ts';

const [RESERVE, PAYER] = [wallet(81), wallet(82)];
const REFUND = depositSignature(1);

const kind = (over: Partial<RefundReads> = {}) =>
  createRefundKind({
    balanceOf: async () => 1_000_000n,
    leastBalance: async () => 890_880n,
    latestBlockhash: async () => ({ blockhash: wallet(83), slot: 5n, witnesses: [] }),
    ...over,
  });

const operation = () =>
  plannedOperation({
    signer: RESERVE,
    id: `refund:${REFUND}:1`,
    kind: 'refund',
    amount: lamports(70_000n),
    reserved: lamports(75_400n),
    plan: { refund: REFUND, payment: REFUND, payer: PAYER },
    now: 1_800_000_000_000,
  });

it('a refund is one transfer of the amount to the payer, with the payment in its memo', async () => {
  const prepared = await kind().prepare(operation());
  if (!('message' in prepared)) throw new Error('nothing to sign');
  const { wire } = assembleTransaction(prepared.message, new Uint8Array(64), []);
  expect(readWire(wire)).toMatchObject({
    fee: 5_400n,
    actions: [{ type: 'pay', from: RESERVE, to: PAYER, lamports: 70_000n }],
  });
  expect(new TextDecoder().decode(prepared.message)).toContain(`refund:${REFUND}:1`);
  expect(operation().reserved).toBe(70_000n + 5_400n);
});

it('refuses a refund to a closed payer account if the amount is too small to keep the account open', async () => {
  const prepared = await kind({ balanceOf: async () => 0n }).prepare(operation());
  expect(prepared).toEqual({ ok: false, reason: 'payer_account_closed' });
  expect(await kind({ balanceOf: async () => 820_880n }).prepare(operation())).toMatchObject({ ok: true });
});
