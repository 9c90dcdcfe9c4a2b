/**
 * Cloudflare's output gate holds back an answer until the writes before it are durable, so no crash makes these calls of
 * `storage.sync()` necessary. Each of them keeps an instance that was replaced from answering out of its own memory.
 */
import { describe, expect, it } from 'vitest';
import { lamports } from '../../src/core/amount.ts';
import { createAsryDesk } from '../../src/custody/asry/claims.ts';
import { type Begin, createBegin } from '../../src/custody/kernel/begin-operation.ts';
import { openJournal } from '../../src/custody/kernel/journal.ts';
import { plannedOperation } from '../../src/custody/kernel/operation.ts';
import { depositSignature, PROGRAM, terms, transactionOf, wallet } from './asry/claim-simulation.ts';
import { createCustodianWorld, keyed } from './custodian-world.ts';
import { createPaymentWorld, fee } from './payments/payment-world.ts';
import { NOW } from './sample-operations.ts';
import { createSqliteStorage, type SqliteStorage } from './sqlite-storage.ts';

const REPLACED = 'this instance was replaced';

/** From now on the storage takes writes and makes none of them durable. */
function replace(storage: SqliteStorage): void {
  storage.sync = () => Promise.reject(new Error(REPLACED));
}

describe('a replaced instance gives no answer', () => {
  it('of a swap that it knows', async () => {
    const w = createCustodianWorld();
    await w.custody.createSwap(keyed('a'));
    replace(w.storage);
    await expect(w.custody.createSwap(keyed('a'))).rejects.toThrow(REPLACED);
  });

  it('of a payment that is booked', async () => {
    const w = createPaymentWorld();
    const request = w.open({ kind: 'listing' });
    const paid = w.pay(fee(request), [request.reference]);
    expect(await w.confirm(request.id, paid)).toMatchObject({ type: 'confirmed' });
    replace(w.storage);
    await expect(w.confirm(request.id, paid)).rejects.toThrow(REPLACED);
  });

  it('to the operator', async () => {
    const w = createCustodianWorld();
    await w.custody.report();
    replace(w.storage);
    await expect(w.custody.ops({ name: 'pause' })).rejects.toThrow(REPLACED);
  });

  it.each(['begun', 'known'])('of an operation that is %s', async (which) => {
    const storage = createSqliteStorage();
    const journal = openJournal(storage);
    const begin = createBegin({
      journal,
      storage,
      readBalance: async () => ({ lamports: lamports(10n ** 10n), slot: 1n }),
      budgetOf: (kind) => ({ kind, keeps: () => 0n, caps: [] }),
      now: () => NOW,
      stop: async () => undefined,
    });
    const intent = { amount: lamports(0n), reserved: lamports(5_000n), plan: {}, claims: [] };
    const ask = () => begin('absr', 'absr:day', () => ({ ok: true, intent }));
    if (which === 'known') expect(await ask()).toMatchObject({ type: 'begun' });
    replace(storage);
    await expect(ask()).rejects.toThrow(REPLACED);
  });

  describe('of a claim', () => {
    const one = {
      signature: depositSignature(90_001),
      sender: wallet(90_001),
      asset: 'USDC' as const,
      atoms: 100_000_000n,
      at: 60,
    };
    const request = { signature: one.signature, asset: one.asset, skipReward: false, client: 'client' };

    /** Claims over storage alone: each payout begins and is never driven. */
    function claims() {
      const storage = createSqliteStorage();
      const journal = openJournal(storage);
      const now = () => Number(PROGRAM.startsAt) * 1_000 + 3_600_000;
      const begin: Begin = async (kind, id, decide) =>
        storage.transaction(() => {
          const decision = decide();
          if (!decision.ok) return { type: 'refused', refusal: decision.refusal };
          const { claims: _claims, ...intent } = decision.intent;
          const operation = journal.insert(plannedOperation({ id, kind, ...intent, now: now() }));
          return { type: 'begun', operation };
        });
      const desk = createAsryDesk(
        { journal, storage, begin, now, log: () => undefined },
        {
          reserveAddress: terms.reserve,
          mint: wallet(900_005),
          terms,
          program: PROGRAM,
          transaction: async () => transactionOf(one),
          readPayees: async (receivers) =>
            receivers.map((accountOwner) => ({
              program: 'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA',
              decimals: 9,
              accountOwner,
              reserveAtoms: 10n ** 18n,
            })),
          latestBlockhash: () => Promise.reject(new Error('not asked')),
          mirror: { recordsAfter: async () => [] },
          stop: async () => undefined,
          within: (work) => work,
        },
      );
      return { desk, storage };
    }

    it('that it makes', async () => {
      const { desk, storage } = claims();
      replace(storage);
      await expect(desk.claim(request)).rejects.toThrow(REPLACED);
    });

    it('that leaves nothing to claim', async () => {
      const { desk, storage } = claims();
      expect(await desk.claim(request)).toMatchObject({ type: 'claimed' });
      expect(await desk.told(request)).toMatchObject({ refusal: { code: 'CLAIM_IN_PROGRESS' } });
      replace(storage);
      await expect(desk.told(request)).rejects.toThrow(REPLACED);
    });
  });
});
