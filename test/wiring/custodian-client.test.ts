import { expect, it } from 'vitest';
import type { CustodianApi } from '../../src/custody/api.ts';
import { requestView } from '../../src/custody/payments/request-records.ts';
import { CustodianClient } from '../../src/wiring/custodian-client.ts';
import { NOW, PAID_REQUEST } from '../kit/sample-operations.ts';
import { eachScene } from '../kit/scenes.ts';

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
const REQUEST = Object.fromEntries(
  Object.entries(VIEW).filter(([member]) => ![...NULLABLE, 'refunds'].includes(member)),
);

const SWAP = {
  ...{ signature: 's', status: 'waiting', detail: 'sent', amountLamports: 1n },
  ...{ expectedSats: 2n, minimumSats: 1n, route: 'near-intents' },
};
const CLAIM = {
  ...{ signature: 'd', asset: 'USDC', sender: 'sender', slot: 1n, blockTime: 1, creditedAtoms: 9n },
  ...{ feeBps: 5, feeAtoms: 1n, netAtoms: 8n, epoch: 0, entitlementAtoms: 7n, remainingAtoms: 7n },
};
const EPOCH = {
  ...{ number: 0, startsAt: 1, endsAt: 2, capAtoms: 9n, depthAtoms: 9n, depositsAtoms: 1n },
  ...{ entitledAtoms: 1n, paidAtoms: 1n, nextUnitMicroAtoms: 1n, nextDollarAtoms: 1n },
  ...{ claims: 1, decimals: 9 },
};
const AGREEMENT = { nodes: 3, quorum: 2 };
const REPORT = {
  ...{ watchOnly: true, openOperations: 0, heldOperations: 0, refusedRows: 0, mirrorRestored: false },
  ...{ quotes: { used: 0, maximum: 1 }, mint: { day: '2026-11-20', state: 'minted', ok: true } },
  solana: AGREEMENT,
  limits: [{ name: 'amount_day', unit: 'lamports', label: 'swaps', maximum: 9n, used: 1n }],
};
const DEBT = { name: 'refund_due', count: 1, atoms: 5n, awaitOperator: 1 };
const ASKED = { signature: 'd', asset: 'USDC', skipReward: true, client: 'c' } as const;

/** What an older object returns for each verb. */
const OLDER = {
  findRequest: REQUEST,
  openRequest: { type: 'opened', request: REQUEST },
  findSwap: SWAP,
  createSwap: { type: 'created', replayed: false, swap: SWAP },
  findClaim: CLAIM,
  claimDeposit: { type: 'validated', claim: CLAIM },
  swapRoom: { maximumLamports: 1n, minimum: { type: 'unknown', refusal: { code: 'QUOTE_REFUSED' } } },
  estimateSwap: {
    ...{ type: 'quoted', expectedSats: 2n, minimumSats: 1n, route: 'near-intents', asOfMs: 1, stale: false },
  },
  listAsryEpochs: [EPOCH],
  report: REPORT,
  operatorView: { solana: AGREEMENT, backlog: 0, debts: [DEBT] },
  previewMint: { day: '2026-11-20', verdict: 'wait', depth: 3 },
  listMints: [{ day: '2026-11-20', state: 'done' }],
  signingState: { watchOnly: true },
  probeNodes: [{ name: 'a', ms: 1 }],
};

/** The value with a default at each path: null, or the JSON after `=`. */
function withDefaults(value: object, paths: string): object {
  const copy = structuredClone(value);
  for (const path of paths.split(' ')) {
    const [place = '', json = 'null'] = path.split('=');
    const names = place.split('.');
    const member = names.pop() ?? '';
    const parent = names.reduce<object>((inner, name) => Reflect.get(inner, name), copy);
    expect(parent).not.toHaveProperty(member);
    Reflect.set(parent, member, JSON.parse(json));
  }
  return copy;
}

eachScene(`
  findRequest    | ${NULLABLE.join(' ')} refunds=[]
  openRequest    | ${NULLABLE.map((member) => `request.${member}`).join(' ')} request.refunds=[]
  findSwap       | reason btcSats btcTxid
  createSwap     | swap.reason swap.btcSats swap.btcTxid
  findClaim      | claimedAtMs payouts=[]
  claimDeposit   | claim.claimedAtMs claim.payouts=[]
  swapRoom       | balanceLamports refusal
  estimateSwap   | etaSeconds refusal minimum
  listAsryEpochs | 0.price
  report         | frozen paused release lastWakeMs swapsRefused openCircuits=[] unexplainedSpends=[]
    | undeliveredSinceMs bridgeFault mint.reason limits.0.windowMs limits.0.availableAt
    | solana.disagreement solana.quorumMissing solana.quorumMissingSince solana.stalledSince solana.consensus="unknown"
  operatorView   | lastRun open=[] failing=[] recent=[] journalBytes debts.0.oldestMs debts.0.examples=[]
    | solana.disagreement solana.quorumMissing solana.quorumMissingSince solana.stalledSince solana.consensus="unknown"
  previewMint    | reason mintAtoms reserveSats supplyAtoms decimals indexes=[] nodes=[]
  listMints      | 0.reason 0.mintAtoms 0.reserveSats 0.supplyAtoms 0.signature 0.blockTime
  signingState   | frozen
  probeNodes     | 0.failure 0.slot
`)('%s of an older object has a default for each of the newest members: %s', async (verb = '', ...paths) => {
  const older: unknown = Reflect.get(OLDER, verb);
  if (typeof older !== 'object' || older === null) throw new Error(`no result of ${verb}`);
  const client = clientOf({ [verb]: older });
  const read: unknown = await Reflect.get(client, verb).call(client, ASKED);
  expect(read).toEqual(withDefaults(older, paths.join(' ')));
});

const UNAVAILABLE = { code: 'CUSTODIAN_UNAVAILABLE', retryAfterSeconds: 5 };

it('a result that this release cannot read makes the custodian unavailable', async () => {
  await expect(clientOf({ operatorView: {} }).operatorView()).rejects.toMatchObject(UNAVAILABLE);
  const claimed = clientOf({ claimDeposit: { type: 'new' } }).claimDeposit(ASKED);
  await expect(claimed).rejects.toMatchObject(UNAVAILABLE);
});

it.each(Object.getOwnPropertyNames(CustodianClient.prototype).filter((name) => name !== 'constructor'))(
  '%s makes the custodian unavailable if the object of an earlier release lacks it',
  async (verb) => {
    const lacking = async () => {
      throw new TypeError(`The RPC receiver does not implement "${verb}".`);
    };
    const env = { CUSTODIAN: { getByName: () => ({ [verb]: lacking }) } } as never;
    const client = new CustodianClient({ env, missing: [], log: () => undefined });
    await expect(Reflect.get(client, verb).call(client, ASKED)).rejects.toMatchObject(UNAVAILABLE);
  },
);

it('a request keeps each member that the object sends', async () => {
  expect(await clientOf({ findRequest: VIEW }).findRequest('one')).toEqual(VIEW);
});
