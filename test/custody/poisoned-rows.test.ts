/** A row whose work throws must not block other rows, and must alert the operator. */
import { expect, it } from 'vitest';
import { type OperationKind, settlesByLanding } from '../../src/custody/kernel/operation.ts';
import { RequestStore } from '../../src/custody/payments/request-store.ts';
import { createCustodianWorld } from '../kit/custodian.ts';
import { land } from '../kit/fake-chain.ts';
import { CREATION, PAID_REQUEST, signed, signingOf } from '../kit/sample-operations.ts';
import { openClaimed, storeCopies } from './asry/stored-claims.ts';
import { createPaymentWorld, type PaymentWorld } from './payments/payment-world.ts';

const MINUTE = 60_000;

/** Never prepared: its operations are signed already. */
const creation: OperationKind = {
  rules: CREATION,
  prepare: () => Promise.reject(new Error('not prepared here')),
  settle: settlesByLanding,
};

/** Six signed operations whose views throw, one that has landed, and the creation of a paid request that has landed. */
async function withPoisonedOperations() {
  const lines: Record<string, unknown>[] = [];
  const w = createCustodianWorld({
    payments: { ...createPaymentWorld().ports, creation },
    log: (line) => void lines.push(line),
  });
  await w.custody.wake();
  land(w.chain, { debit: 0n as never });
  const { views } = w.chain;
  w.chain.views = async (signing, signer) => {
    if (signing.signature.includes('poisoned')) throw new TypeError('cannot read a member of undefined');
    return views(signing, signer);
  };
  const request = createPaymentWorld().open();
  new RequestStore(w.storage).put({
    ...PAID_REQUEST,
    id: request.id,
    payee: 'treasury',
    fee: '1',
    reference: request.reference,
  });
  w.storage.transaction(() => {
    for (let at = 0; at < 6; at++)
      w.journal.insert(
        signed({ id: `token:p${at}`, kind: 'token', looks: 1, signing: signingOf(`poisoned-${at}`) }),
      );
    w.journal.insert(signed({ id: 'token:good', kind: 'token', looks: 1, signing: signingOf('good') }));
    w.journal.insert(
      signed({
        id: `token:${request.id}`,
        kind: 'token',
        looks: 1,
        signing: signingOf('paid'),
        plan: { invoiceId: request.id },
      }),
    );
  });
  await w.custody.wake();
  return { ...w, lines, request };
}

it('six operations whose step throws stop neither another operation nor the modules', async () => {
  const w = await withPoisonedOperations();
  await w.pass(MINUTE);
  expect(w.journal.get('token:good')?.state).toBe('done');
  expect(new RequestStore(w.storage).get(w.request.id)?.state).toBe('completed');
  expect(w.journal.get('token:p0')?.state).toBe('signed');
});

/** A world in which booking the end of one request throws: its token row is refused by the database. */
function withPoisonedRequest(): { world: PaymentWorld; poisoned: string; good: string } {
  const world = createPaymentWorld();
  const paid = () => {
    const { request } = world.openPaid();
    return request.id;
  };
  const poisoned = paid();
  world.storage.exec(
    `CREATE TRIGGER poison BEFORE UPDATE ON requests WHEN new.id = '${poisoned}' AND new.state = 'completed'
     BEGIN SELECT RAISE(ABORT, 'poisoned'); END`,
  );
  return { world, poisoned, good: paid() };
}

it('a paid request whose processing throws does not delay other requests, confirm calls or expiries', async () => {
  const { world, poisoned, good } = withPoisonedRequest();
  const unpaid = world.open();
  for (let runs = 0; runs < 3; runs++) await world.payments.run();
  expect(world.payments.find(good)?.status).toBe('completed');
  const { request: late, paid: signature } = world.openPaid();
  expect(await world.confirm(late.id, signature)).toMatchObject({ type: 'confirmed' });
  world.state.now += 60 * MINUTE;
  await world.payments.run();
  expect(world.payments.find(unpaid.id)?.detail).toBe('expired');
  expect(world.payments.find(poisoned)?.status).not.toBe('completed');
  world.storage.exec('DROP TRIGGER poison');
  world.state.now += 6 * MINUTE;
  await world.payments.run();
  expect(world.payments.find(poisoned)?.status).toBe('completed');
});

it('an owed payout whose processing throws is reported with a reason and does not prevent the payment of a later one', async () => {
  const claimed = await openClaimed();
  const { w, store } = claimed;
  storeCopies(claimed, () => ({ state: 'owed', operationId: null }));
  w.storage.exec(
    `CREATE TRIGGER poison BEFORE UPDATE ON asry_claims WHEN new.signature <> 'deposit-41'
     BEGIN SELECT RAISE(ABORT, 'poisoned'); END`,
  );
  for (let runs = 0; runs < 3; runs++) await w.run();
  expect(store.payouts('deposit-41')[0]?.state).toBe('begun');
  expect(store.payouts('deposit-1')[0]?.state).toBe('owed');
  for (let runs = 0; runs < 6; runs++) {
    w.state.now += 10_000;
    await w.run();
  }
  expect(w.agenda.failing(1)).toMatchObject([{ work: 'payout', reason: 'unexpected' }]);
});
