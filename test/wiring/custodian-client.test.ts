import { expect, it } from 'vitest';
import type { CustodianApi } from '../../src/custody/api.ts';
import { requestView } from '../../src/custody/payments/request-records.ts';
import { CustodianClient } from '../../src/wiring/custodian-client.ts';
import { NOW, PAID_REQUEST } from '../kit/sample-operations.ts';

/** A client of an object that gives these results. */
function clientOf(results: Partial<Record<keyof CustodianApi, object | null>>): CustodianClient {
  const verbs = Object.entries(results).map(([verb, result]) => [verb, async () => result] as const);
  const env = { CUSTODIAN: { getByName: () => Object.fromEntries(verbs) } } as never;
  return new CustodianClient({ env, missing: [], log: () => undefined });
}

const VIEW = requestView(
  { ...PAID_REQUEST, id: 'one', payee: 'treasury', fee: '1', reference: 'reference' },
  [],
  NOW,
);
/** Members that may be null; a new member must be one of them, or have a default of its own. */
const NULLABLE = Object.entries(VIEW).flatMap(([member, value]) => (value === null ? [member] : []));

it.each([...NULLABLE.map((member) => [member, null] as const), ['refunds', []] as const])(
  'a request from an older object has a default for the member %s',
  async (member, expected) => {
    const { [member as keyof typeof VIEW]: _missing, ...request } = VIEW;
    const client = clientOf({ findRequest: request, openRequest: { type: 'opened', request } });
    const found = await client.findRequest('id');
    const opened = await client.openRequest({ kind: 'token', subject: {}, baseFeeLamports: 1n, client: 'c' });
    for (const each of [found, opened.type === 'opened' ? opened.request : null])
      expect(each).toMatchObject({ id: VIEW.id, [member]: expected });
  },
);

const SWAP = {
  ...{ signature: 's', status: 'waiting', detail: 'sent', amountLamports: 1n },
  ...{ expectedSats: 2n, minimumSats: 1n, route: 'near-intents' },
};
const SWAP_DEFAULTS = { reason: null, btcSats: null, btcTxid: null };
const CLAIM = {
  ...{
    signature: 'd',
    asset: 'USDC',
    sender: 'sender',
    slot: 1n,
    blockTime: 1,
    creditedAtoms: 9n,
    feeBps: 5,
  },
  ...{ feeAtoms: 1n, netAtoms: 8n, epoch: 0, entitlementAtoms: 7n, remainingAtoms: 7n },
};
const CLAIM_DEFAULTS = { claimedAtMs: null, payouts: [] };
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
const AGREEMENT = { nodes: 3, quorum: 2 };
const AGREEMENT_DEFAULTS = {
  ...{ disagreement: null, quorumMissing: null, quorumMissingSince: null },
  ...{ stalledSince: null, consensus: 'unknown' },
};
const LIMIT = { name: 'amount_day', unit: 'lamports', label: 'swaps', maximum: 9n, used: 1n };
const REPORT = {
  ...{ watchOnly: true, openOperations: 0, heldOperations: 0, refusedRows: 0, mirrorRestored: false },
  ...{ quotes: { used: 0, maximum: 1 }, mint: { day: '2026-11-20', state: 'minted', ok: true } },
};
const REPORT_DEFAULTS = {
  ...{ frozen: null, paused: null, release: null, lastWakeMs: null, swapsRefused: null, openCircuits: [] },
  ...{ unexplainedSpends: [], undeliveredSinceMs: null, bridgeFault: null },
};
const DEBT = { name: 'refund_due', count: 1, atoms: 5n, awaitOperator: 1 };
const VIEW_DEFAULTS = { lastRun: null, open: [], failing: [], recent: [], journalBytes: null };
const MINT = { day: '2026-11-20', state: 'done' };
const FIGURES_DEFAULTS = { reason: null, mintAtoms: null, reserveSats: null, supplyAtoms: null };
const ASKED = { signature: 'd', asset: 'USDC', skipReward: true, client: 'c' } as const;

it.each<[keyof CustodianApi, object, object, (client: CustodianClient) => Promise<unknown>]>([
  ['findSwap', SWAP, { ...SWAP, ...SWAP_DEFAULTS }, (client) => client.findSwap('s')],
  [
    'createSwap',
    { type: 'created', replayed: false, swap: SWAP },
    { type: 'created', replayed: false, swap: { ...SWAP, ...SWAP_DEFAULTS } },
    (client) => client.createSwap({ amountLamports: 1n, client: 'c' }),
  ],
  ['findClaim', CLAIM, { ...CLAIM, ...CLAIM_DEFAULTS }, (client) => client.findClaim('d')],
  [
    'claimDeposit',
    { type: 'validated', claim: CLAIM },
    { type: 'validated', claim: { ...CLAIM, ...CLAIM_DEFAULTS } },
    (client) => client.claimDeposit(ASKED),
  ],
  ['swapRoom', ROOM, { ...ROOM, balanceLamports: null, refusal: null }, (client) => client.swapRoom()],
  [
    'estimateSwap',
    QUOTED,
    { ...QUOTED, etaSeconds: null, refusal: null, minimum: null },
    (client) => client.estimateSwap({ amountLamports: 1n, client: 'c' }),
  ],
  ['listAsryEpochs', [EPOCH], [{ ...EPOCH, price: null }], (client) => client.listAsryEpochs(1)],
  [
    'report',
    { ...REPORT, solana: AGREEMENT, limits: [LIMIT] },
    {
      ...{ ...REPORT, ...REPORT_DEFAULTS, mint: { ...REPORT.mint, reason: null } },
      solana: { ...AGREEMENT, ...AGREEMENT_DEFAULTS },
      limits: [{ ...LIMIT, windowMs: null, availableAt: null }],
    },
    (client) => client.report(),
  ],
  [
    'operatorView',
    { solana: AGREEMENT, backlog: 0, debts: [DEBT] },
    {
      ...{ ...VIEW_DEFAULTS, backlog: 0, debts: [{ ...DEBT, oldestMs: null, examples: [] }] },
      solana: { ...AGREEMENT, ...AGREEMENT_DEFAULTS },
    },
    (client) => client.operatorView(),
  ],
  [
    'previewMint',
    { day: '2026-11-20', verdict: 'wait', depth: 3 },
    {
      ...{ ...FIGURES_DEFAULTS, day: '2026-11-20', verdict: 'wait', depth: 3 },
      ...{ decimals: null, indexes: [], nodes: [] },
    },
    (client) => client.previewMint(),
  ],
  [
    'listMints',
    [MINT],
    [{ ...MINT, ...FIGURES_DEFAULTS, signature: null, blockTime: null }],
    (client) => client.listMints(1),
  ],
  ['signingState', { watchOnly: true }, { watchOnly: true, frozen: null }, (client) => client.signingState()],
  [
    'probeNodes',
    [{ name: 'a', ms: 1 }],
    [{ name: 'a', ms: 1, failure: null, slot: null }],
    (client) => client.probeNodes(),
  ],
])(
  '%s of an older object has null or an empty list for the newest members',
  async (verb, older, read, ask) => {
    expect(await ask(clientOf({ [verb]: older }))).toEqual(read);
  },
);

it('a result that this release cannot read makes the custodian unavailable', async () => {
  const failure = { code: 'CUSTODIAN_UNAVAILABLE', retryAfterSeconds: 5 };
  await expect(clientOf({ operatorView: {} }).operatorView()).rejects.toMatchObject(failure);
  await expect(clientOf({ claimDeposit: { type: 'new' } }).claimDeposit(ASKED)).rejects.toMatchObject(
    failure,
  );
});

it('a request keeps each member that the object sends', async () => {
  expect(await clientOf({ findRequest: VIEW }).findRequest('one')).toEqual(VIEW);
});
