import { fields, orNull } from './shape.ts';
import { contractTable, errorBody, type Stage } from './stage.ts';

async function deposit({ world }: Stage): Promise<string> {
  const from = world.users[0];
  if (!from) throw new Error('no user');
  const signature = await world.control.transfer({
    from,
    to: world.treasury,
    asset: 'usdc',
    amount: 25_000_000n,
  });
  return signature;
}
let signature = '';

contractTable([
  {
    row: 'POST /api/asry/claim-from-deposit: the response',
    request: 'POST /api/asry/claim-from-deposit',
    body: async (stage: Stage) => {
      signature = await deposit(stage);
      return { asset: 'USDC', depositTxSignature: signature, amount: '25' };
    },
    status: 200,
    shape: fields({
      asset: { oneOf: ['USDC'] },
      senderPubkey: orNull('string'),
      feeBps: { oneOf: [5] },
      feeAtomic: { oneOf: ['12500'] },
      receive: 'object',
      reward: 'object',
    }),
  },
  {
    row: '409: nothing is left of a claim',
    request: async ({ until }) => {
      await until(`GET /api/asry/claims/${signature}`, (body) => JSON.stringify(body).includes('"sent"'));
      return 'POST /api/asry/claim-from-deposit';
    },
    body: () => ({ asset: 'USDC', depositTxSignature: signature }),
    status: 409,
    shape: errorBody(),
  },
  {
    row: 'skipReward: the receive is validated, nothing is sent',
    request: 'POST /api/asry/claim-from-deposit',
    body: async (stage: Stage) => ({
      asset: 'USDC',
      depositTxSignature: await deposit(stage),
      skipReward: true,
    }),
    status: 200,
    shape: fields({ reward: fields({ status: { oneOf: ['skipped'] } }) }),
  },
  {
    row: '400: asset is required',
    request: 'POST /api/asry/claim-from-deposit',
    body: { depositTxSignature: '1'.repeat(64) },
    status: 400,
    shape: errorBody(),
  },
  {
    row: '400: depositTxSignature is required',
    request: 'POST /api/asry/claim-from-deposit',
    body: { asset: 'USDC' },
    status: 400,
    shape: errorBody(),
  },
  {
    row: '400: an asset that is neither',
    request: 'POST /api/asry/claim-from-deposit',
    body: { asset: 'DAI', depositTxSignature: '1'.repeat(64) },
    status: 400,
    shape: errorBody(),
  },
  {
    row: '400: amount does not match the receive',
    request: 'POST /api/asry/claim-from-deposit',
    body: async (stage: Stage) => ({
      asset: 'USDC',
      depositTxSignature: await deposit(stage),
      amountAtomic: '24999999',
    }),
    status: 400,
    shape: errorBody(),
  },
]);
