import { expect, it } from 'vitest';
import { RequestView } from '../../src/custody/api.ts';
import { requestView } from '../../src/custody/payments/request-records.ts';
import { CustodianClient } from '../../src/wiring/custodian-client.ts';
import { NOW, PAID_REQUEST } from '../kit/sample-operations.ts';

const VIEW = requestView({ ...PAID_REQUEST, id: 'one', fee: '1', reference: 'reference' }, [], NOW);
/** Members that may be null; a new member must be one of them, or have a default of its own. */
const NULLABLE = Object.entries(VIEW).flatMap(([member, value]) => (value === null ? [member] : []));

/** A client of an object whose responses lack a member. */
function clientOf(missing: string): CustodianClient {
  const { [missing as keyof RequestView]: _missing, ...request } = VIEW;
  const stub = {
    findRequest: async () => request,
    openRequest: async () => ({ type: 'opened', request }),
    confirmPayment: async () => ({ type: 'confirmed', request }),
  };
  const env = { CUSTODIAN: { getByName: () => stub } } as never;
  return new CustodianClient({ env, missing: [], log: () => undefined });
}

it.each([...NULLABLE.map((member) => [member, null] as const), ['refunds', []] as const])(
  'a request from an older object has a default for the member %s',
  async (member, expected) => {
    const client = clientOf(member);
    const found = await client.findRequest('id');
    const opened = await client.openRequest({ kind: 'token', subject: {}, baseFeeLamports: 1n, client: 'c' });
    for (const request of [found, opened.type === 'opened' ? opened.request : null])
      expect(request).toMatchObject({ id: VIEW.id, [member]: expected });
  },
);

const SWAP = {
  signature: 's',
  status: 'waiting',
  detail: 'sent',
  amountLamports: 1n,
  expectedSats: 2n,
  minimumSats: 1n,
  route: 'near-intents',
};
const CLAIM = {
  signature: 'd',
  asset: 'USDC',
  sender: 'sender',
  slot: 1n,
  blockTime: 1,
  creditedAtoms: 9n,
  feeBps: 5,
  feeAtoms: 1n,
  netAtoms: 8n,
  epoch: 0,
  entitlementAtoms: 7n,
  remainingAtoms: 7n,
};

it('a swap and a claim from an older object have null or nothing for the newest members', async () => {
  const stub = {
    findSwap: async () => SWAP,
    createSwap: async () => ({ type: 'created', replayed: false, swap: SWAP }),
    findClaim: async () => CLAIM,
    claimDeposit: async () => ({ type: 'validated', claim: CLAIM }),
  };
  const env = { CUSTODIAN: { getByName: () => stub } } as never;
  const client = new CustodianClient({ env, missing: [], log: () => undefined });
  const swap = { ...SWAP, reason: null, btcSats: null, btcTxid: null };
  const claim = { ...CLAIM, claimedAtMs: null, payouts: [] };
  expect(await client.findSwap('s')).toEqual(swap);
  expect(await client.createSwap({ amountLamports: 1n, client: 'c' })).toMatchObject({ swap });
  expect(await client.findClaim('d')).toEqual(claim);
  const asked = { signature: 'd', asset: 'USDC', skipReward: true, client: 'c' } as const;
  expect(await client.claimDeposit(asked)).toMatchObject({ claim });
});

it('a request keeps each member that the object sends', () => {
  expect(RequestView.parse(VIEW)).toEqual(VIEW);
});
