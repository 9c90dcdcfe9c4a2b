/** @module-tag deep */
/** The runbook's drills, typed as an operator types them: a change of the reserve's key, and then a lost journal. */
import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { address } from '@solana/web3.js';
import { AuthorityType, getSetAuthorityInstruction, getTransferInstruction } from '@solana-program/token';
import { expect, it } from 'vitest';
import { runScript } from '../kit/run-script.ts';
import { createSolanaKey, type SolanaKey } from '../world/keys.ts';
import { transferSol } from '../world/solana-wallet.ts';
import { createTokenAccounts } from '../world/test-tokens.ts';
import { lazy, useWorld } from '../world/use-world.ts';
import { createAsryStage } from './asry-stage.ts';
import { type Body, createSwapCaller, until } from './swap-caller.ts';
import { createTokenCaller } from './token-caller.ts';

const NETWORK_FEE = 5_000n;

const next = await createSolanaKey();
const world = useWorld({ cron: false, slotMs: 20, blockMs: 300, settleDelayMs: 200 });
const swaps = lazy(() => createSwapCaller(world));
const tokens = lazy(() => createTokenCaller(world));
const stage = lazy(() => createAsryStage(world));

const ops = (...args: string[]) =>
  runScript('ops', args, { API_BASE_URL: world.url, OPS_SECRET: world.bindings.OPS_SECRET });

async function typed(...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await ops(...args);
  expect([code, stderr], stdout).toEqual([0, '']);
  return stdout;
}

type Operation = { readonly kind: string; readonly signer: string; readonly signature: string | null };

/** Operations with this outcome, as D1 shows them. */
const operations = async (status: string) =>
  (await world.worker.query(
    `SELECT kind, signature, reason, journal ->> '$.signer' AS signer FROM operations WHERE status = ? ORDER BY seq`,
    [status],
  )) as (Operation & { readonly reason: string | null })[];

/** Kind and payer of each successful transaction of these keys for a row. */
const payersOf = (rows: readonly Operation[]) =>
  rows.map(({ kind, signature }) => [kind, world.solana.ledger.transaction(String(signature))?.accounts[0]]);

const signedBy = (key: string) =>
  world.solana.ledger
    .transactionsOf(key)
    .filter(({ accounts, err }) => accounts[0] === key && err === null)
    .map(({ signature }) => signature);

const invoiceState = async ({ invoice_id: id }: Body) => (await tokens.read(id)).body.detail;

/** A swap that is paid for and cannot settle, since the bridge's status is unreadable. */
async function openSwap(ip: string, key?: string): Promise<string> {
  world.faults.set('oneclick', { kind: '500', match: '/v0/status' });
  const { body } = await swaps.create(0.5, { ip, ...(key ? { key } : {}) });
  await until('a swap that settles', async () => {
    const { body: found } = await swaps.status(String(body.id));
    return found.detail === 'settling' || undefined;
  });
  return String(body.id);
}

/** Sends all ASRY of one key to another one. */
async function moveAsry(from: SolanaKey, to: SolanaKey): Promise<void> {
  const { ledger, bank, mints, tokenAccount } = world.solana;
  await createTokenAccounts(ledger, bank.signer, to.address, [mints.asry.mint]);
  const accountOf = async ({ address: owner }: SolanaKey) => address(await tokenAccount(owner, 'asry'));
  await stage.land(
    bank.signer,
    getTransferInstruction({
      source: await accountOf(from),
      destination: await accountOf(to),
      authority: from.signer,
      amount: await stage.asryOf(from.address),
    }),
  );
  await tokens.finality();
}

/** A claimed deposit whose reward is owed, because the reserve has no ASRY. */
async function oweReward(): Promise<{ readonly deposit: string; readonly sender: SolanaKey }> {
  const sender = await stage.user();
  const deposit = await stage.deposit(sender, 30n);
  const { status, body } = await stage.claim(deposit);
  expect([status, body.reward]).toMatchObject([200, { status: 'owed', reason: 'reserve_short_of_asry' }]);
  return { deposit, sender };
}

/** In a wallet with the old key: hands over the mint authority, and sends the SOL last. */
async function handOver(from: SolanaKey, to: SolanaKey): Promise<void> {
  await stage.land(
    from.signer,
    getSetAuthorityInstruction({
      owned: address(world.mints.absr),
      owner: from.signer,
      authorityType: AuthorityType.MintTokens,
      newAuthority: address(to.address),
    }),
  );
  await transferSol(world.solana.ledger, from.signer, to.address, (await swaps.lamports()) - NETWORK_FEE);
}

it('after a change of the key, each open operation ends once, signed by the right key', async () => {
  const old = world.reserve.solana;
  const swap = await openSwap('10.0.0.1');
  const invoice = await tokens.invoice();
  await moveAsry(world.solana.reserve, next);
  const { deposit, sender } = await oweReward();
  expect(await typed('pause')).toContain('Paused');
  await tokens.pay(invoice);
  await until('a paid invoice', async () => {
    await world.control.cron();
    return (await invoiceState(invoice)) === 'creating' || undefined;
  });

  await handOver(world.solana.reserve, next);
  await until('the report of what the operator moved', async () => {
    await world.control.cron();
    const { checks } = (await swaps.get('/api/ready')).body as { checks: { reason?: string }[] };
    return checks.some(({ reason }) => reason === 'signing is frozen: unexplained_spend') || undefined;
  });
  const before = signedBy(old);
  const bindings = {
    ...world.bindings,
    SOLANA_PRIVATE_KEY: next.secretKey,
    RESERVE_SOLANA_ADDRESS: next.address,
  };
  await world.worker.deploy({ bundlePath: world.worker.bundlePath, bindings });
  expect(await typed('operations')).toContain(old);
  expect(await typed('resume')).toContain('Resumed');
  world.faults.clear();

  await world.control.sendBitcoin(world.reserve.bitcoin, 50_000n);
  await world.control.cron('5 0 * * *');
  await until('the end of everything', async () => {
    await world.control.cron();
    await stage.claim(deposit);
    const hasMint = (await operations('finished')).some(({ kind }) => kind === 'absr');
    const isOver = (await operations('waiting')).length === 0;
    return (isOver && hasMint && (await invoiceState(invoice)) === 'completed') || undefined;
  });
  expect((await swaps.status(swap)).body).toMatchObject({ status: 'finished' });
  const { payouts } = await stage.paid(deposit);
  expect(payouts).toHaveLength(1);
  expect(await stage.asryOf(sender.address)).toBe(BigInt(payouts[0]?.asryAtomic ?? -1));

  const finished = await operations('finished');
  const signers = finished.map(({ kind, signer }) => [kind, signer]);
  expect(signers.toSorted()).toEqual([
    ['absr', next.address],
    ['asry', next.address],
    ['swap', old],
    ['token', next.address],
  ]);
  expect(payersOf(finished)).toEqual(signers);
  expect(signedBy(old)).toEqual(before);
  expect(signedBy(next.address).toSorted()).toEqual(
    finished.flatMap(({ signer, signature }) => (signer === old ? [] : String(signature))).toSorted(),
  );
  const failed = await operations('failed');
  expect(failed.filter(({ signer, reason }) => signer !== old || reason !== 'key_rotated')).toEqual([]);
});

it('after a lost journal has begun anew, older debts are not paid, and new swaps and rewards work', async () => {
  const swap = await openSwap('10.0.0.2', '7c3d7a8e-8d5f-4a64-9d0c-0d5c1b7a1f10');
  const unpaid = await tokens.invoice({ symbol: 'OLD' });
  const stranger = await stage.user();
  const unclaimed = await stage.deposit(stranger, 40n);
  await moveAsry(next, world.solana.reserve);
  const { deposit: owed, sender } = await oweReward();
  await moveAsry(world.solana.reserve, next);
  await until('the rows in D1', async () => {
    await world.control.cron();
    const rows = (await world.worker.query('SELECT id FROM asry_claims WHERE id = ?', [owed])) as Body[];
    return rows.length > 0 || undefined;
  });

  await world.worker.kill();
  const storage = join(world.folder, 'storage/do');
  const [custodian = ''] = readdirSync(storage).filter((name) => name.includes('Custodian'));
  rmSync(join(storage, custodian), { recursive: true });
  await world.worker.start();
  const reason = 'journal_behind_mirror';
  await until('the freeze', async () => {
    const { status, body } = await swaps.get('/api/ready');
    expect(status).toBe(503);
    const checks = body.checks as { reason?: string }[];
    return checks.some((check) => check.reason === `signing is frozen: ${reason}`) || undefined;
  });
  const paused = { error_code: 'SWAPS_PAUSED', details: { reason } };
  expect(await swaps.create(0.5, { ip: '10.0.0.5' })).toMatchObject({ status: 503, body: paused });
  const code = await until(
    'the blocks after the loss',
    async () => /--confirm (\w+)/.exec((await ops('begin-anew')).stdout)?.[1],
  );
  expect(await typed('begin-anew', '--confirm', code)).toContain('begun anew');
  expect(await typed('resume')).toContain('Resumed');
  world.faults.clear();

  const older = { status: 409, body: { error_code: 'OLDER_THAN_RECORDS' } };
  for (const path of [
    `/api/swap/status/${swap}`,
    `/api/invoices/${unpaid.invoice_id}`,
    `/api/asry/claims/${owed}`,
  ])
    expect(await swaps.get(path), path).toMatchObject(older);
  for (const deposit of [unclaimed, owed]) expect(await stage.claim(deposit)).toMatchObject(older);
  expect(
    await swaps.create(0.5, { ip: '10.0.0.3', key: '7c3d7a8e-8d5f-4a64-9d0c-0d5c1b7a1f10' }),
  ).toMatchObject(older);
  const paid = await tokens.pay(unpaid);
  expect(await tokens.confirm(unpaid, paid)).toMatchObject(older);

  const created = await swaps.create(0.5, { ip: '10.0.0.4' });
  expect(await swaps.settled(String(created.body.id))).toMatchObject({ status: 'finished' });
  const later = await stage.user();
  const deposit = await stage.deposit(later, 30n);
  await stage.claim(deposit);
  await stage.paid(deposit);
  expect(await stage.asryOf(later.address)).toBeGreaterThan(0n);
  expect([await stage.asryOf(stranger.address), await stage.asryOf(sender.address)]).toEqual([0n, 0n]);
});
