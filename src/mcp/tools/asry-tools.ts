import * as z from 'zod';
import { dollarAmount, dryRun, solanaSignature } from '../arguments.ts';
import { atoms, dryRunMark, READS, read, tool } from './tool.ts';

const receive = z.looseObject({
  creditedAtomic: z.string().describe('Atoms of USDC or USDT that the treasury received'),
  feeAtomic: z.string(),
  netAtomic: z.string().describe('Credited amount less the fee'),
  epoch: z.number(),
});
const reward = z.looseObject({
  status: z.enum(['sent', 'pending', 'skipped', 'owed']),
  signature: z.string().nullable().describe('Solana signature of the payout'),
  asryAtomic: z.string().describe('Atoms of ASRY of this payout'),
  recipient: z.string(),
  remainingAtomic: z.string().describe('Atoms of ASRY that can still be claimed'),
  how_to_get: z.string().nullable().describe('What to do while it is owed'),
});

const asryClaim = tool({
  name: 'asry_claim',
  title: 'Claim ASRY for a deposit',
  description:
    'SPENDS MONEY: sends the ASRY reward of a USDC or USDT deposit to the sender shown by the chain; no other recipient is ' +
    'possible. Call it with dry_run: true first. It waits up to 20 seconds for the deposit to be final. A repeat pays nothing twice.',
  annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: true },
  input: z.strictObject({
    asset: z.enum(['USDC', 'USDT']).describe('Asset of the deposit'),
    depositTxSignature: solanaSignature.describe('Signature of the deposit to the treasury'),
    amount: dollarAmount,
    dry_run: dryRun,
  }),
  example: { asset: 'USDC', depositTxSignature: 'signature of the deposit', amount: '100.5', dry_run: true },
  output: z.looseObject({
    claimed: z.boolean().describe('true when the reward is recorded; false on a dry run'),
    dry_run: dryRunMark,
    asset: z.string(),
    senderPubkey: z.string().nullable().describe('Sender shown by the chain'),
    feeBps: z.number(),
    receive,
    reward: reward.optional().describe('Absent on a dry run'),
    would_pay: z
      .object({
        recipient: z.string(),
        mint: z.string(),
        entitlementAtomic: z.string().describe('Total reward of the deposit in ASRY atoms'),
        remainingAtomic: atoms('ASRY atoms').describe('ASRY atoms that a claim would pay now'),
      })
      .optional()
      .describe('On a dry run only'),
    message: z.string(),
  }),
  run: async ({ asset, depositTxSignature, amount, dry_run: rehearse = false }, { api, signal }) => {
    const deposit = { asset, depositTxSignature, amount, skipReward: rehearse };
    const { value: body } = await api.call('claimFromDeposit', deposit, { signal });
    if (!rehearse)
      return {
        ...body,
        claimed: true,
        message:
          'The deposit is claimed. reward shows whether the ASRY is sent; asry_claim_status reads it again.',
      };
    const { reward: offered, ...terms } = body;
    const { recipient, mint, entitlementAtomic, remainingAtomic } = offered;
    return {
      ...terms,
      claimed: false,
      dry_run: true,
      would_pay: { recipient, mint, entitlementAtomic, remainingAtomic },
      message: 'Dry run: this deposit can be claimed now. Nothing was consumed or paid.',
    };
  },
});

const asryClaimStatus = tool({
  name: 'asry_claim_status',
  title: 'State of an ASRY claim',
  description: 'The payouts of a claimed deposit, their signatures, and the reason why one is still owed.',
  annotations: READS,
  input: z.strictObject({ depositTxSignature: solanaSignature.describe('Signature of the claimed deposit') }),
  example: { depositTxSignature: 'signature of the deposit' },
  output: z.looseObject({
    asset: z.string(),
    senderPubkey: z.string().nullable(),
    receive,
    reward,
    payouts: z.array(
      z.looseObject({
        part: z.number(),
        status: z.enum(['sent', 'pending', 'owed']),
        signature: z.string().nullable(),
        asryAtomic: z.string(),
        paid_at: z.string().nullable().describe('When it was final on the chain'),
      }),
    ),
    claimed_at: z.string().nullable(),
  }),
  run: ({ depositTxSignature }, context) => read('getAsryClaim', { signature: depositTxSignature }, context),
});

const epoch = z.looseObject({
  epoch: z.number(),
  starts_at: z.string(),
  ends_at: z.string(),
  capAtomic: z.string().describe('Maximum ASRY atoms of the epoch'),
  entitledAtomic: z.string().describe('ASRY atoms earned by its deposits'),
  paidAtomic: z.string(),
  nextDollarAsryAtomic: z.string().describe('Atoms of ASRY for the next dollar, before the fee'),
});

const asryEpoch = tool({
  name: 'asry_epoch',
  title: 'ASRY reward epochs',
  description:
    'The current epoch of ASRY rewards, what the next deposited dollar earns, and past epochs. Takes no arguments.',
  annotations: READS,
  input: z.strictObject({}),
  output: z.looseObject({ current: epoch.nullable(), past: z.array(epoch), as_of: z.string() }),
  run: (_input, context) => read('getAsryEpoch', {}, context),
});

export const ASRY_TOOLS = [asryClaim, asryClaimStatus, asryEpoch];
