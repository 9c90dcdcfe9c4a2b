import { afterAll, afterEach, beforeAll, describe, expect, it, test } from 'vitest';
import { NATIVE_VAULT } from '../../src/bridges/lifi-chainflip.ts';
import { TRACKER_PROGRAM } from '../../src/custody/policy/programs.ts';
import type { Fault } from '../world/fault-book.ts';
import { redeploy } from '../world/lifi-programs.ts';
import { startWorld, type World } from '../world/world.ts';
import { type Answer, createSwapCaller, type SwapCaller } from './swap-caller.ts';

const SOL = 1_000_000_000n;
const AMOUNT = 0.7;
const AMOUNT_LAMPORTS = 700_000_000n;
const NEAR_DOWN: Fault = { kind: '500', match: '/v0/quote' };

let world: World;
let caller: SwapCaller;
let callers = 0;
/** The limits per address and on unsettled SOL are too high to be reached. */
const create = (amount = AMOUNT, key?: string): Promise<Answer> => {
  callers += 1;
  return caller.create(amount, { ip: `10.${callers}.0.1`, ...(key === undefined ? {} : { key }) });
};
/** Transactions signed by the reserve, newest first. */
const signed = () =>
  world.solana.ledger
    .transactionsOf(world.reserve.solana)
    .filter(({ accounts }) => accounts[0] === world.reserve.solana);
const viaLifi = (tool: string): void => {
  world.faults.set('oneclick', NEAR_DOWN);
  world.faults.set('lifi', { kind: 'tool', value: tool });
};

beforeAll(async () => {
  world = await startWorld({
    cron: false,
    blockMs: 300,
    settleDelayMs: 300,
    reserveLamports: 60n * SOL,
    vars: {
      SWAP_ROUTES: 'near-intents,lifi',
      SWAP_MAX_SOL_HOUR: '50',
      SWAP_MAX_SOL_DAY: '50',
      SWAP_MAX_UNSETTLED_SOL: '50',
      SWAP_MAX_COST_SOL_DAY: '1',
    },
  });
  caller = createSwapCaller(world);
});
afterEach(() => world.faults.clear());
afterAll(() => world.stop());

// First, because the minimum is cached for ten minutes and an estimate reads it too.
test('a swap of the minimum that LI.FI allows succeeds', async () => {
  world.faults.set('oneclick', NEAR_DOWN);
  const { body } = await caller.get('/api/swap/min');
  const minimum = Number(body.minAmountSol);
  expect(minimum).toBeGreaterThan(0.3);
  const created = await create(minimum);
  expect(created.body).toMatchObject({ initiated: true, route: 'lifi' });
  expect(await caller.settled(String(created.body.id))).toMatchObject({ status: 'finished' });
});

test('the first route is used first, and while it answers no other is', async () => {
  world.resetStats();
  const { body } = await create();
  expect(body.route).toBe('near-intents');
  expect(await caller.settled(String(body.id))).toMatchObject({ status: 'finished' });
  expect(world.stats().lifi).toBeUndefined();
});

describe.each(['near', 'chainflip'])('with the first route down, LI.FI by %s', (tool) => {
  it('pays a swap to its end: the predicted sum leaves, the shown sum arrives', async () => {
    viaLifi(tool);
    const [lamports, sats, count] = [await caller.lamports(), caller.sats(), signed().length];
    const { status, body } = await create();
    expect([status, body.error_code]).toEqual([200, undefined]);
    expect(body.route).toBe('lifi');
    const end = await caller.settled(String(body.id));
    expect(end).toMatchObject({ status: 'finished', detail: 'done', reason: null, amountSol: AMOUNT });
    const [transaction, ...others] = signed().slice(0, signed().length - count);
    expect(others).toEqual([]);
    expect(transaction).toMatchObject({ signature: body.id, err: null });
    expect(transaction?.accounts).toContain(TRACKER_PROGRAM);
    expect(transaction?.accounts.includes(NATIVE_VAULT)).toBe(tool === 'chainflip');
    // A vault swap opens an account, whose rent is the only cost besides the network's fee.
    const rent = tool === 'chainflip' ? 2_978_880n : 0n;
    expect(lamports - (await caller.lamports())).toBe(AMOUNT_LAMPORTS + 15_000n + rent);
    const paid = caller.bitcoinPayment(String(end.txId));
    expect(paid).toEqual({ sats: BigInt(String(end.btcSatoshis)), confirmed: true });
    expect(BigInt(String(end.btcSatoshis))).toBeGreaterThanOrEqual(BigInt(String(body.minimumSatoshis)));
    expect(caller.sats() - sats).toBe(paid?.sats);
    expect((await caller.get('/api/status')).body).toMatchObject({ custody: { frozen: null } });
  });

  it('refunded is not finished, and the SOL is back', async () => {
    viaLifi(tool);
    world.faults.set(tool === 'near' ? 'oneclick' : 'lifi', { kind: 'settle', mode: 'refund', times: 1 });
    const lamports = await caller.lamports();
    const { body } = await create();
    const end = await caller.settled(String(body.id));
    expect(end).toMatchObject({ status: 'failed', detail: 'refunded', reason: 'refunded', txId: null });
    expect(lamports - (await caller.lamports())).toBeLessThan(SOL / 100n);
  });

  it('partial is not finished: the received sum is shown', async () => {
    viaLifi(tool);
    world.faults.set(tool === 'near' ? 'oneclick' : 'lifi', { kind: 'settle', mode: 'partial', times: 1 });
    const { body } = await create();
    const end = await caller.settled(String(body.id));
    expect(end).toMatchObject({ status: 'failed', detail: 'partial', reason: 'partial' });
    const paid = caller.bitcoinPayment(String(end.txId));
    expect(paid?.sats).toBe(BigInt(String(end.btcSatoshis)));
    expect(paid?.sats).toBeLessThan(BigInt(String(body.minimumSatoshis)));
  });
});

test("while 1Click's status is unavailable after the landing, LI.FI's substatus counts as far as the chains confirm it", async () => {
  viaLifi('near');
  world.faults.set('oneclick', { kind: 'settle', mode: 'refund', times: 1 });
  const { body } = await create();
  world.faults.set('oneclick', { kind: '500', match: '/v0/status' });
  expect(await caller.settled(String(body.id))).toMatchObject({ status: 'failed', reason: 'refunded' });
});

test('a status DONE COMPLETED of LI.FI is not enough: without the output the swap stays open', async () => {
  viaLifi('chainflip');
  world.faults.set('lifi', [
    { kind: 'settle', mode: 'never', times: 1 },
    { kind: 'status', value: 'DONE COMPLETED' },
  ]);
  const { body } = await create();
  const id = String(body.id);
  const asked = () => world.stats().lifi?.byLabel['GET /v1/status'] ?? 0;
  world.resetStats();
  while (asked() < 4)
    await world.solana.ledger.clock.reached(world.solana.ledger.clock.slot('processed') + 10);
  expect((await caller.status(id)).body).toMatchObject({ status: 'waiting', txId: null });
});

/** By tool and the name of the simulator's fault. */
const ATTACKS: [tool: string, hostile: string, reason: string][] = [
  ['near', 'drain', 'payment_count'],
  ['near', 'owner', 'system_owner_change'],
  ['near', 'nonce', 'nonce_instruction'],
  ['near', 'priority', 'compute_price'],
  ['near', 'cosigner', 'signer_count'],
  ['near', 'table', 'table_unread'],
  ['near', 'version1', 'tx_version'],
  ['near', 'trailing', 'tx_trailing_bytes'],
  ['near', 'signed', 'signature_slot_filled'],
  ['near', 'thief', 'destination_unconfirmed'],
  ['near', 'tool', 'quote_tool'],
  ['near', 'message', 'quote_execution'],
  ['chainflip', 'recipient', 'chainflip_destination'],
  ['chainflip', 'refund', 'chainflip_refund_address'],
  ['chainflip', 'minimum', 'chainflip_minimum'],
  ['chainflip', 'drain', 'payment_count'],
];

describe('a hostile answer is refused with its reason, and nothing is signed', { tags: ['deep'] }, () => {
  /** Refused, and the same under its key. */
  async function refused(details: unknown, code: string): Promise<void> {
    const [count, lamports] = [signed().length, await caller.lamports()];
    world.resetStats();
    const answer = await create(AMOUNT, `a-hostile-quote-${callers}`);
    expect([answer.status, answer.body.error_code]).toEqual([502, code]);
    expect(answer.body.details).toEqual(details);
    expect(world.stats().rpc1?.byLabel.sendTransaction).toBeUndefined();
    expect(signed()).toHaveLength(count);
    expect(await caller.lamports()).toBe(lamports);
  }

  it.each(ATTACKS)('%s: %s', async (tool, value, reason) => {
    viaLifi(tool);
    world.faults.set('lifi', { kind: 'hostile', value });
    await refused({ reason }, 'QUOTE_REFUSED');
  });

  it('a list of transactions is not an answer', async () => {
    viaLifi('near');
    world.faults.set('lifi', { kind: 'hostile', value: 'bundle' });
    await refused({ reason: 'upstream_unexpected_shape' }, 'UPSTREAM_FAILED');
  });

  it.each([
    ['wrongRecipient', 'quote_recipient'],
    ['wrongRefundTo', 'quote_refund_address'],
    ['wrongSignature', 'quote_signature'],
  ])('a deposit whose own bridge contradicts: %s', async (kind, reason) => {
    viaLifi('near');
    world.faults.set('oneclick', { kind });
    await refused({ reason }, 'QUOTE_REFUSED');
  });

  it('a quote for another recipient, and one far under the price', async () => {
    viaLifi('chainflip');
    world.faults.set('lifi', { kind: 'wrongRecipient' });
    await refused({ reason: 'quote_to_address' }, 'QUOTE_REFUSED');
    world.faults.clear('lifi');
    viaLifi('chainflip');
    world.faults.set('lifi', { kind: 'lowOutput' });
    await refused({ reason: 'quote_too_expensive' }, 'QUOTE_REFUSED');
  });

  it('two nodes that do not agree leave only one view', async () => {
    viaLifi('near');
    world.faults.set('rpc2', { kind: '500', match: 'getMultipleAccounts' });
    await refused({ reason: 'table_unread' }, 'QUOTE_REFUSED');
  });
});

test("without a route at LI.FI, the first route's failure is returned", async () => {
  world.faults.set('oneclick', NEAR_DOWN);
  world.faults.set('lifi', { kind: 'noRoute' });
  const { body } = await create();
  expect(body).toMatchObject({ error_code: 'UPSTREAM_FAILED', details: { reason: 'upstream_status_500' } });
});

it.each([
  ['as LI.FI refuses now', 0.002, []],
  ['in the flat list of its older pages', 0.003, [{ kind: 'flatErrors' }]],
] as [string, number, Fault[]][])(
  'an amount that no route takes is too small, %s',
  async (_name, amount, faults) => {
    world.faults.set('lifi', faults);
    const { status, body } = await caller.get(`/api/swap/estimate?amountSol=${amount}`);
    expect([status, body.error_code]).toEqual([400, 'AMOUNT_TOO_SMALL']);
  },
);

test('a dry run and an estimate fall over as a swap does, and sign nothing', async () => {
  world.faults.set('oneclick', NEAR_DOWN);
  const count = signed().length;
  const dry = await caller.create(AMOUNT, { dryRun: true, ip: '10.250.0.1' });
  expect(dry.body).toMatchObject({ dry_run: true, route: 'lifi', id: null });
  const { body } = await caller.get('/api/swap/estimate?amountSol=0.77');
  expect(body).toMatchObject({ estimatedBtcSats: expect.any(Number) });
  expect(signed()).toHaveLength(count);
  world.faults.set('lifi', { kind: 'hostile', value: 'drain' });
  const hostile = await caller.create(AMOUNT, { dryRun: true, ip: '10.251.0.1' });
  expect(hostile.body).toMatchObject({ error_code: 'QUOTE_REFUSED', details: { reason: 'payment_count' } });
});

test('a redeployed program is refused until the operator trusts it', async () => {
  await redeploy(world.solana.ledger, TRACKER_PROGRAM, 99n);
  viaLifi('near');
  const refused = await create();
  expect(refused.body).toMatchObject({
    error_code: 'QUOTE_REFUSED',
    details: { reason: 'program_redeployed' },
  });
  expect(
    world.worker.logs().some((line) => line.includes('"program_redeployed"') && line.includes('alarm')),
  ).toBe(true);
  const said = await world.fetch('/api/ops', {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${world.bindings.OPS_SECRET}` },
    body: JSON.stringify({ name: 'trust-programs' }),
  });
  expect(said.status).toBe(200);
  const trusted = await create();
  expect(trusted.body.route).toBe('lifi');
  expect(await caller.settled(String(trusted.body.id))).toMatchObject({ status: 'finished' });
});
