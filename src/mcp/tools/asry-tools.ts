import * as z from 'zod';
import { dollarAmount, solanaSignature } from '../arguments.ts';
import { READS, read, tool } from './tool.ts';

const asryClaim = tool({
  name: 'asry_claim',
  title: 'Claim the reward token ASRY',
  description:
    'SPENDS MONEY: sends the ASRY reward of a USDC or USDT payment to the sender shown by the chain, never to anyone else. ' +
    'The user first pays to deposit.address of asry_epoch. Then call it with skipReward: true, which only checks. It waits about 10 seconds for the ' +
    'payment to be final. A repeat never pays twice.',
  annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: true },
  input: z.strictObject({
    asset: z.enum(['USDC', 'USDT']),
    depositTxSignature: solanaSignature.describe('Signature of the payment to deposit.address'),
    amount: dollarAmount.optional(),
    skipReward: z
      .boolean()
      .optional()
      .describe('true: only validate the payment, without using it or paying'),
  }),
  example: { asset: 'USDC', depositTxSignature: 'signature of the payment', skipReward: true },
  run: async ({ asset, depositTxSignature, amount, skipReward = false }, { api, signal }) => {
    const deposit = { asset, depositTxSignature, amount, skipReward };
    const { value: body } = await api.call('claimFromDeposit', deposit, { signal });
    if (!skipReward)
      return {
        ...body,
        claimed: true,
        message:
          'The payment is claimed. reward shows whether the ASRY is sent; asry_claim_status reads it again.',
      };
    const { reward: offered, ...terms } = body;
    const { recipient, mint, entitlementAtomic, remainingAtomic } = offered;
    return {
      ...terms,
      claimed: false,
      would_pay: { recipient, mint, entitlementAtomic, remainingAtomic },
      message: 'This payment can be claimed now. Nothing was consumed or paid.',
    };
  },
});

const asryClaimStatus = tool({
  name: 'asry_claim_status',
  title: 'State of an ASRY claim',
  description: 'The payouts of a claimed payment, their signatures, and the reason why one is still owed.',
  annotations: READS,
  input: z.strictObject({ depositTxSignature: solanaSignature }),
  example: { depositTxSignature: 'signature of the payment' },
  run: ({ depositTxSignature }, context) => read('getAsryClaim', { signature: depositTxSignature }, context),
});

const asryEpoch = tool({
  name: 'asry_epoch',
  title: 'ASRY reward epochs',
  description:
    'Where a payment for ASRY goes: deposit.address, in the mint of deposit.mints. Also the current epoch, the reward of the next paid dollar, ' +
    'and past epochs.',
  annotations: READS,
  input: z.strictObject({}),
  run: (_input, context) => read('getAsryEpoch', {}, context),
});

export const ASRY_TOOLS = [asryClaim, asryClaimStatus, asryEpoch];
