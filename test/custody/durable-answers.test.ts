/**
 * Cloudflare's output gate holds back an answer until the writes before it are durable, so no crash makes these calls of
 * `storage.sync()` necessary. Each of them keeps a replaced instance from responding from its own memory.
 */
import { describe, expect, it } from 'vitest';
import { lamports } from '../../src/core/amount.ts';
import { beginOperation } from '../../src/custody/kernel/begin-operation.ts';
import { createCustodianWorld, keyed } from '../kit/custodian.ts';
import { createTools } from '../kit/kernel.ts';
import { NOW } from '../kit/sample-operations.ts';
import { createSqliteStorage, type SqliteStorage } from '../kit/sqlite-storage.ts';
import { CLAIM, createStoredClaims } from './asry/stored-claims.ts';
import { createPaymentWorld, fee } from './payments/payment-world.ts';

const REPLACED = 'this instance was replaced';

/** From now on the storage takes writes and makes none of them durable. */
function replace(storage: SqliteStorage): void {
  storage.sync = () => Promise.reject(new Error(REPLACED));
}

it('a replaced instance returns no response about a swap in its journal', async () => {
  const w = createCustodianWorld();
  await w.custody.createSwap(keyed('a'));
  replace(w.storage);
  await expect(w.custody.createSwap(keyed('a'))).rejects.toThrow(REPLACED);
});

it('a replaced instance returns no response about a recorded payment', async () => {
  const w = createPaymentWorld();
  const request = w.open({ kind: 'listing' });
  const paid = w.pay(fee(request), [request.reference]);
  expect(await w.confirm(request.id, paid)).toMatchObject({ type: 'confirmed' });
  replace(w.storage);
  await expect(w.confirm(request.id, paid)).rejects.toThrow(REPLACED);
});

it('a replaced instance returns no response to the operator', async () => {
  const w = createCustodianWorld();
  await w.custody.report();
  replace(w.storage);
  await expect(w.custody.ops({ name: 'pause' })).rejects.toThrow(REPLACED);
});

it.each(['begun', 'known'])(
  'a replaced instance returns no response about an operation that is %s',
  async (which) => {
    const storage = createSqliteStorage();
    const tools = createTools(storage, () => NOW);
    const intent = { amount: lamports(0n), reserved: lamports(5_000n), plan: {} };
    const ask = () => beginOperation(tools, 'absr', 'absr:day', () => ({ ok: true, intent }));
    if (which === 'known') expect(await ask()).toMatchObject({ type: 'begun' });
    replace(storage);
    await expect(ask()).rejects.toThrow(REPLACED);
  },
);

describe('a replaced instance and a claim', () => {
  it('a replaced instance returns no response about a claim that it has just recorded', async () => {
    const { claim, storage } = createStoredClaims();
    replace(storage);
    await expect(claim(CLAIM)).rejects.toThrow(REPLACED);
  });

  it('a replaced instance returns no response about a fully paid claim', async () => {
    const { claim, storage } = createStoredClaims();
    expect(await claim(CLAIM)).toMatchObject({ type: 'claimed' });
    expect(await claim(CLAIM)).toMatchObject({ refusal: { code: 'CLAIM_IN_PROGRESS' } });
    replace(storage);
    await expect(claim(CLAIM)).rejects.toThrow(REPLACED);
  });
});
