import { expect, it } from 'vitest';
import { RequestView } from '../../src/custody/api.ts';
import { requestView } from '../../src/custody/payments/request-records.ts';
import { CustodianClient } from '../../src/wiring/custodian-client.ts';
import { NOW, PAID_REQUEST } from '../kit/sample-operations.ts';

const VIEW = requestView(
  { ...PAID_REQUEST, id: 'one', payee: 'treasury', fee: '1', reference: 'reference' },
  [],
  NOW,
);
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

const EPOCH = {
  ...{
    number: 0,
    startsAt: 1,
    endsAt: 2,
    capAtoms: 9n,
    depthAtoms: 9n,
    depositsAtoms: 1n,
    entitledAtoms: 1n,
  },
  ...{ paidAtoms: 1n, nextUnitMicroAtoms: 1n, nextDollarAtoms: 1n, claims: 1, decimals: 9 },
};
const ROOM = { maximumLamports: 1n, minimum: { type: 'unknown', refusal: { code: 'QUOTE_REFUSED' } } };
const QUOTED = {
  ...{ type: 'quoted', expectedSats: 2n, minimumSats: 1n, route: 'near-intents', asOfMs: 1, stale: false },
};
const REPORT = {
  watchOnly: true,
  solana: { nodes: 3, quorum: 2 },
  ...{ openOperations: 0, heldOperations: 0, refusedRows: 0, mirrorRestored: false, limits: [] },
  quotes: { used: 0, maximum: 1 },
};

it('room, estimate, report and epochs of an older object have null or nothing for the newest members', async () => {
  const stub = {
    swapRoom: async () => ROOM,
    estimateSwap: async () => QUOTED,
    report: async () => REPORT,
    listAsryEpochs: async () => [EPOCH],
  };
  const env = { CUSTODIAN: { getByName: () => stub } } as never;
  const client = new CustodianClient({ env, missing: [], log: () => undefined });
  expect(await client.swapRoom()).toEqual({ ...ROOM, balanceLamports: null, refusal: null });
  const quoted = { ...QUOTED, etaSeconds: null, refusal: null, minimum: null };
  expect(await client.estimateSwap({ amountLamports: 1n, client: 'c' })).toEqual(quoted);
  expect(await client.listAsryEpochs(1)).toEqual([{ ...EPOCH, price: null }]);
  expect(await client.report()).toMatchObject({
    ...{ frozen: null, paused: null, mint: null, release: null, lastWakeMs: null, swapsRefused: null },
    ...{ openCircuits: [], unexplainedSpends: [], undeliveredSinceMs: null, bridgeFault: null },
    solana: { disagreement: null, quorumMissing: null, stalledSince: null, consensus: 'unknown' },
  });
});

it('a request keeps each member that the object sends', () => {
  expect(RequestView.parse(VIEW)).toEqual(VIEW);
});
