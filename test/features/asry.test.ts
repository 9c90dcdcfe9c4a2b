import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { canonicalSignature } from '../../src/chain/solana/address.ts';
import { type ErrorCode, upstreamFailed } from '../../src/core/errors.ts';
import { stringifyJson } from '../../src/core/json.ts';
import type { ClaimAnswer } from '../../src/custody/api.ts';
import { eachRow, eachScene } from '../kit/scenes.ts';
import {
  asryApp,
  claimJournal,
  epoch,
  MINT,
  NOW,
  newService,
  PAYOUT,
  SENDER,
  type Service,
  SIGNATURE,
  TREASURY,
  view,
} from './asry-service.ts';

const KEY = '7c9e6679-7425-40de-944b-e07fc1f90ae7';

let service: Service;
beforeEach(() => {
  service = newService();
});
afterEach(() => service.db.close());
const call = asryApp(() => service);

type Body = Record<string, unknown> & { error_code?: string; details?: Record<string, unknown> };
async function post(body: string, headers: Record<string, string> = {}) {
  const response = await call('/api/asry/claim-from-deposit', {
    method: 'POST',
    body,
    headers: { 'content-type': 'application/json', ...headers },
  });
  return { status: response.status, headers: response.headers, body: (await response.json()) as Body };
}
const claim = (more: Record<string, unknown> = {}, headers = {}) =>
  post(JSON.stringify({ asset: 'USDC', depositTxSignature: SIGNATURE, ...more }), headers);
async function get(path: string) {
  const response = await call(path);
  return { status: response.status, headers: response.headers, body: (await response.json()) as Body };
}

const refused = (
  code: ErrorCode,
  more: Partial<Extract<ClaimAnswer, { type: 'refused' }>> = {},
): ClaimAnswer => ({ type: 'refused', refusal: { code, message: 'no' }, claim: null, ...more });

const contractBody = {
  ...{ asset: 'USDC', senderPubkey: SENDER, feeBps: 5, feeAtomic: '50000' },
  receive: {
    ...{ depositTxSignature: SIGNATURE, slot: '123', blockTime: 1_799_999_000, epoch: 3 },
    ...{ creditedAtomic: '100000000', feeAtomic: '50000', netAtomic: '99950000' },
  },
  reward: {
    ...{ status: 'sent', signature: PAYOUT, asryAtomic: '1109323590079', recipient: SENDER, mint: MINT },
    ...{ entitlementAtomic: '1109323590079', remainingAtomic: '0', reason: null, how_to_get: null },
  },
};

describe('POST /api/asry/claim-from-deposit', () => {
  it('a claim returns every field of the contract', async () => {
    const { status, body, headers } = await claim();
    expect([status, body, headers.get('idempotency-replayed')]).toEqual([200, contractBody, null]);
    expect(service.asked).toEqual([
      { signature: SIGNATURE, asset: 'USDC', skipReward: false, client: expect.any(String), waitMs: 10_000 },
    ]);
  });

  it('a claim with skipReward shows the possible reward without sending it', async () => {
    const left = { ...view, remainingAtoms: view.entitlementAtoms, payouts: [], claimedAtMs: null };
    service.answers = [{ type: 'validated', claim: left }];
    const { status, body } = await claim({ skipReward: true });
    expect(status).toBe(200);
    const skipped = { status: 'skipped', signature: null, asryAtomic: '0', remainingAtomic: '1109323590079' };
    expect(body.reward).toMatchObject(skipped);
    expect(service.asked[0]?.skipReward).toBe(true);
  });

  it('the response to a claim with an unsent reward (status "owed") explains how to get that reward', async () => {
    const [sent] = view.payouts;
    if (!sent) throw new Error('no payout');
    const owed = { ...sent, status: 'owed' as const, signature: null, reason: 'rent_budget_spent' };
    service.answers = [{ type: 'claimed', replayed: false, claim: { ...view, payouts: [owed] }, part: 1 }];
    expect((await claim()).body.reward).toMatchObject({
      status: 'owed',
      reason: 'rent_budget_spent',
      how_to_get: expect.stringContaining('ASRY token account'),
    });
  });

  /** A claim with these members, such as `amount: 1`, as they would be written in JSON. */
  const claimWith = (members: string) =>
    post(`{"asset":"USDC","depositTxSignature":"${SIGNATURE}",${members.replaceAll(/(\w+): /g, '"$1":')}}`);

  eachRow<[members: string, atoms: bigint | undefined, microUsd: bigint | undefined]>(`
    amount: "100.5"                            | 100_500_000n | undefined
    amount: "0.000001"                         | 1n           | undefined
    amount: 100.5                              | 100_500_000n | undefined
    amount: "2.01"                             | 2_010_000n   | undefined
    amountAtomic: "100500000"                  | 100_500_000n | undefined
    amount: "100.5", amountAtomic: "100500000" | 100_500_000n | undefined
    rewardUsd: 10                              | undefined    | 10_000_000n
    rewardUsd: 0.000001                        | undefined    | 1n
    rewardUsd: 1234567.654321                  | undefined    | 1_234_567_654_321n
    rewardUsd: "2.5"                           | undefined    | 2_500_000n
  `)('a claim with %s is for exactly %s atoms and %s micro-dollars', async (members, atoms, usd) => {
    expect((await claimWith(members)).status).toBe(200);
    expect(service.asked.map(({ expectedAtoms, rewardMicroUsd }) => [expectedAtoms, rewardMicroUsd])).toEqual(
      [[atoms, usd]],
    );
  });

  const NO_DOLLARS = `0|-1|1E400|true|[]|{}|""|"abc"|"0x10"|" 1"|0.0000001|"NaN"|"Infinity"|"-0"|"1,5"|"١٠"|[1]|{"valueOf":1}`;
  it.each([
    ...[...NO_DOLLARS.split('|'), `"${'9'.repeat(70)}"`].map((text) => `rewardUsd: ${text}`),
    ...['"usdc"', '"DAI"', 'null'].map((asset) => `asset: ${asset}`),
    ...['"short"', `"1${SIGNATURE}"`, `"${SENDER}"`, '7', '["x"]'].map(
      (text) => `depositTxSignature: ${text}`,
    ),
    ...['skipReward: "true"', 'skipReward: 1', 'amount: "1.0000001"', 'amount: "-1"', 'amountAtomic: "1.5"'],
    ...['amountAtomic: "0"', 'amount: "100.5", amountAtomic: "100500001"'],
  ])('refuses a claim with %s without a call to the custodian', async (members) => {
    const { status, body } = await claimWith(members);
    expect([status, body.error_code]).toEqual([400, 'INVALID_INPUT']);
    expect(service.asked).toEqual([]);
  });

  it.each(['dry_run: false', 'dryRun: {}', 'options: {"dry_run":1}'])(
    'a claim with the member %s is refused with a message that names skipReward, and does not reach the custodian',
    async (member) => {
      const { status, body } = await claimWith(member);
      expect([status, body.error_code, body.error]).toEqual([
        ...[400, 'INVALID_INPUT', expect.stringContaining('skipReward')],
      ]);
      expect(service.asked).toEqual([]);
    },
  );

  it('ignores twelve kinds of whitespace around a signature, and rejects every other change to it', () => {
    const spaces = ['', ' ', '  ', '\n', '\r\n', '\t', '\u00a0', '\ufeff', '\u2028', '\u3000', '\v', '\f'];
    for (const space of spaces)
      expect(
        [space + SIGNATURE, SIGNATURE + space, space + SIGNATURE + space].map(canonicalSignature),
      ).toEqual([SIGNATURE, SIGNATURE, SIGNATURE]);
    const long = [`1${SIGNATURE}`, `${SIGNATURE}1`, `0x${'07'.repeat(64)}`];
    const others = [...long, SIGNATURE.toLowerCase(), SIGNATURE.slice(1), ''];
    expect(others.map(canonicalSignature)).toEqual(others.map(() => undefined));
  });

  it('hashes an Idempotency-Key together with the request, and marks a replayed response', async () => {
    service.answers = [{ type: 'claimed', replayed: true, claim: view, part: 1 }];
    const { headers } = await claim({}, { 'idempotency-key': KEY });
    expect(headers.get('idempotency-replayed')).toBe('true');
    await claim({ amount: '100' }, { 'idempotency-key': KEY });
    await claim({ sender: SENDER }, { 'idempotency-key': KEY });
    const [plain, other, same] = service.asked.map(({ key }) => key);
    expect(plain?.keyHash).toMatch(/^[0-9a-f]{64}$/);
    expect(plain?.keyHash).toBe(other?.keyHash);
    expect(plain?.bodyHash).not.toBe(other?.bodyHash);
    expect(same).toEqual(plain);
    expect(stringifyJson(service.asked)).not.toContain(KEY);
  });

  it('every later call for the same deposit returns the state of its claim', async () => {
    const paid = { ...view, payouts: view.payouts.map((payout) => ({ ...payout, paidAtMs: NOW })) };
    service.answers = [refused('ALREADY_CLAIMED', { claim: paid })];
    const { status, body } = await claim();
    expect(status).toBe(409);
    const [created_at, paid_at] = [NOW - 5_000, NOW].map((ms) => new Date(ms).toISOString());
    const payout = { part: 1, status: 'sent', signature: PAYOUT, asryAtomic: '1109323590079', reason: null };
    expect(body.details?.claim).toEqual({
      ...contractBody,
      claimed_at: created_at,
      payouts: [{ ...payout, created_at, paid_at }],
    });
  });

  it('a claim without configuration returns 503 and names the missing variable', async () => {
    service.configured = false;
    const answers = [claim(), get('/api/asry/epoch'), get(`/api/asry/claims/${SIGNATURE}`)];
    const details = { variables: ['ASRY_MINT_ADDRESS'] };
    for (const { status, body } of await Promise.all(answers))
      expect([status, body]).toMatchObject([503, { error_code: 'NOT_CONFIGURED', details }]);
  });
});

it.each([
  ['DEPOSIT_NOT_FINAL', 409],
  ['DEPOSIT_NOT_FOUND', 400],
  ['UPSTREAM_FAILED', 500],
] as const)(
  'a claim calls the custodian once, and returns its refusal %s with status %i',
  async (code, status) => {
    service.answers = [refused(code, { refusal: { code, message: 'no', retryAfterSeconds: 5 } })];
    const answer = await claim();
    expect([answer.status, answer.body.error_code, answer.headers.get('retry-after')]).toEqual([
      status,
      code,
      '5',
    ]);
    expect(service.asked.map(({ waitMs }) => waitMs)).toEqual([10_000]);
  },
);

describe('GET /api/asry/claims/{signature}', () => {
  const PATH = `/api/asry/claims/${SIGNATURE}`;
  eachScene(`
    owed rent_budget_spent | none            | owed rent_budget_spent
    owed unread            | none            | pending
    begun                  | waiting         | pending
    begun                  | waiting signed  | sent signed
    begun                  | finished signed | sent signed paid
    paid                   | finished signed | sent signed paid
  `)('a claim in D1 whose payout is %s with the operation %s is shown as %s', async (...scene) => {
    const [payout = '', operation = '', shown] = scene;
    const [at, operationId] = [new Date(NOW).toISOString(), operation === 'none' ? null : 'asry:x:1'];
    const [state, reason = null] = payout.split(' ');
    service.db
      .prepare('INSERT INTO asry_claims (id, revision, epoch, created_at, journal) VALUES (?, 1, 3, ?, ?)')
      .run(SIGNATURE, at, claimJournal({ state, reason, operationId }));
    const [status, signed] = operation.split(' ');
    if (operationId)
      service.db
        .prepare(
          `INSERT INTO operations (id, seq, revision, kind, status, detail, signature, created_at, updated_at, journal)
           VALUES (?1, 1, 1, 'asry', ?2, '', ?3, ?4, ?4, '{}')`,
        )
        .run(operationId, status ?? '', signed ? PAYOUT : null, at);
    const { body } = await get(PATH);
    expect(body).toMatchObject({ asset: 'USDC', senderPubkey: SENDER });
    const [read] = body.payouts as Record<string, string | null>[];
    const marks = [read?.signature === PAYOUT && 'signed', read?.paid_at === at && 'paid'];
    expect([read?.status, read?.reason, ...marks].filter(Boolean).join(' ')).toBe(shown);
  });

  it('reads a claim from the custodian if D1 does not have it yet', async () => {
    service.found = view;
    const { status, body } = await get(`/api/asry/claims/%20${SIGNATURE}%0A`);
    expect([status, body.claimed_at]).toEqual([200, new Date(NOW - 5_000).toISOString()]);
  });

  it.each(['nothing', SIGNATURE])('returns 404 for the text "%s" when no claim exists', async (signature) => {
    const { status, body } = await get(`/api/asry/claims/${signature}`);
    expect([status, body.error_code]).toEqual([404, 'NOT_FOUND']);
  });
});

describe('GET /api/asry/epoch', () => {
  const shown = {
    ...{ epoch: 3, claims: 1, asryDecimals: 9, asryPriceUsd: '0.25' },
    starts_at: new Date(NOW - 1_000_000).toISOString(),
    ends_at: new Date(NOW + 1_000_000).toISOString(),
    ...{ capAtomic: '1000000000000000', depthAtomic: '90000000000', depositsAtomic: '99950000' },
    ...{ entitledAtomic: '1109323590079', paidAtomic: '1' },
    ...{ nextUnitAsryAtomic: '11086.459', nextDollarAsryAtomic: '11086335823' },
  };

  it('the epoch route shows the current epoch, then the past ones, newest first', async () => {
    const past = [2, 1].map((number) => ({ ...epoch, number, startsAt: number, endsAt: number + 1 }));
    service.epochs = [epoch, ...past];
    const { status, body } = await get('/api/asry/epoch');
    expect([status, body.current, body.as_of]).toEqual([200, shown, new Date(NOW).toISOString()]);
    expect((body.past as { epoch: number }[]).map(({ epoch: number }) => number)).toEqual([2, 1]);
  });

  it('GET /api/asry/epoch reads the current epoch from D1 when D1 has it', async () => {
    service.db
      .prepare(`INSERT INTO asry_epochs (id, revision, created_at, journal) VALUES ('3', 1, '', ?)`)
      .run(stringifyJson({ view: epoch }));
    service.epochs = [];
    expect((await get('/api/asry/epoch')).body.current).toEqual(shown);
    service.clock += 2_000_000;
    expect((await get('/api/asry/epoch')).body).toMatchObject({ current: null, past: [] });
  });

  it('the epoch route shows the mint of ASRY, and the address, mints and decimals that a wallet needs for a deposit', async () => {
    const { body } = await get('/api/asry/epoch');
    expect(body.mint).toBe(MINT);
    const mints = { USDC: 'usdc-mint', USDT: 'usdt-mint' };
    expect(body.deposit).toEqual({ address: TREASURY, mints, decimals: 6 });
  });

  it.each<[string, object, string | null]>([
    ['the allowance of the cold account', { allowance: 5_000_000_000n }, '5000000000'],
    ['a used-up allowance as zero', { allowance: 0n }, '0'],
    ['null while the allowance cannot be read', { allowance: upstreamFailed('solana-rpc', 'timeout') }, null],
    ['null without a cold account', {}, null],
  ])('the epoch route shows %s, and when it was read', async (_name, change, shownAllowance) => {
    Object.assign(service, change);
    const { status, body } = await get('/api/asry/epoch');
    expect([status, body.allowanceAtomic]).toEqual([200, shownAllowance]);
    service.clock += 30_000;
    const readAt = shownAllowance === null ? service.clock : service.clock - 30_000;
    expect((await get('/api/asry/epoch')).body.as_of).toBe(new Date(readAt).toISOString());
  });
});
