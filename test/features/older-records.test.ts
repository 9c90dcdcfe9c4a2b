/** What D1 shows of the rows that a lost journal wrote, after the journal began anew. */
import { beforeEach, describe, expect, it } from 'vitest';
import { columnsOf } from '../../src/custody/kernel/mirror-queue.ts';
import { createD1Mirror } from '../../src/custody/kernel/outbox.ts';
import type { MirrorBirth, MirrorRow } from '../../src/custody/kernel/ports.ts';
import { createAsryMirror } from '../../src/features/asry/asry-store.ts';
import { getClaim } from '../../src/features/asry/claims.ts';
import { createDatabaseStore } from '../../src/features/status/database-store.ts';
import { readSwap } from '../../src/features/swap/record-routes.ts';
import { createSwapStore } from '../../src/features/swap/swap-store.ts';
import { getInvoice } from '../../src/features/tokens/get-invoice.ts';
import { createTokenStore } from '../../src/features/tokens/token-store.ts';
import { openD1 } from '../kit/d1.ts';
import { done, settling, signingOf } from '../kit/sample-operations.ts';
import { claimJournal, SIGNATURE } from './asry-service.ts';
import { viewOf } from './token-service.ts';

const BIRTH: MirrorBirth = { at: Date.UTC(2026, 10, 20), revision: 100 };
const contact = 'mailto:operator@sluice.example';
const OLDER = { code: 'OLDER_THAN_RECORDS', details: { recordsSince: '2026-11-20T00:00:00.000Z', contact } };
const request = viewOf({ kind: 'token', subject: { tokenId: 1 }, baseFeeLamports: 9n, client: '' });

let d1: D1Database;
beforeEach(() => {
  ({ d1 } = openD1());
});

/** Stores rows of this revision with the birth of the journal. */
const store = (birth: MirrorBirth | undefined, ...rows: Row[]) =>
  createD1Mirror(d1).apply(
    rows.map((row) => ({ ...row, revision: BIRTH.revision })),
    200,
    birth,
  );

type Row = Omit<MirrorRow, 'revision'>;
const swapRow = (operation: ReturnType<typeof done>): Row => ({
  ...{ entity: 'operation', id: operation.id, columns: columnsOf(operation) },
});

const requestRow = (entity: 'invoices' | 'listings', status: string): Row => ({
  entity,
  id: request.id,
  columns: {
    ...(entity === 'listings' ? { token_id: 1 } : {}),
    status: status === 'pending' ? status : { invoices: 'completed', listings: 'confirmed' }[entity],
    created_at: request.createdAt,
    journal: JSON.stringify({ view: { ...request, status } }),
  },
});

const claimRow = (remainingAtoms: bigint, payout: object): Row => ({
  ...{ entity: 'asry_claims', id: SIGNATURE },
  columns: { epoch: 0, created_at: request.createdAt, journal: claimJournal(payout, { remainingAtoms }) },
});
const PAID = { state: 'paid', paidAt: 2 };

const swap = (signature: string) =>
  readSwap({ swaps: createSwapStore(d1), custody: { findSwap: async () => null }, contact }, signature);
const findRequest = async () => null;
const invoice = () =>
  getInvoice({ tokens: createTokenStore(d1, d1), custody: { findRequest }, contact }, request.id);
const findClaim = async () => null;
const claim = () => getClaim({ claims: createAsryMirror(d1), custody: { findClaim }, contact }, SIGNATURE);
const listings = () => createTokenStore(d1, d1).listings(undefined, 9);

const open = settling({ id: 'swap:open', seq: 1, signing: signingOf('open') });
const ended = done({ id: 'swap:ended', seq: 2, signing: signingOf('ended'), dueAt: null });

describe('a row that a lost journal left open', () => {
  it.each([
    ['a swap', [swapRow(open)], () => swap('signature-open')],
    ['an invoice', [requestRow('invoices', 'pending')], invoice],
    ['a claim with an owed reward', [claimRow(0n, { state: 'owed' })], claim],
    ['a claim with a part that nobody has asked for', [claimRow(5n, PAID)], claim],
  ] as const)(
    'a row that a lost journal left open is refused with the birth of the records and the contact: %s',
    async (_name, rows, read) => {
      await store(undefined, ...rows);
      await expect(read()).resolves.toBeDefined();
      await store({ ...BIRTH, revision: BIRTH.revision - 1 });
      await expect(read()).resolves.toBeDefined();
      await store(BIRTH);
      await expect(read()).rejects.toMatchObject(OLDER);
    },
  );

  it('lists show an operation that a lost journal left open as older_than_records, and hide an open listing', async () => {
    await store(BIRTH, swapRow(open), swapRow(ended), requestRow('listings', 'pending'));
    const details = (await createDatabaseStore(d1).latestOperations(9)).map(({ detail }) => detail);
    expect(details).toEqual(['done', 'older_than_records']);
    expect(await listings()).toEqual([]);
  });
});

it('shows a row that ended before the journal was lost', async () => {
  await store(BIRTH, swapRow(ended), requestRow('invoices', 'completed'));
  await store(BIRTH, requestRow('listings', 'completed'), claimRow(0n, PAID));
  expect(await swap('signature-ended')).toMatchObject({ status: 'finished', detail: 'done' });
  expect(await invoice()).toMatchObject({ request: { status: 'completed' } });
  expect(await claim()).toMatchObject({ remainingAtoms: 0n });
  expect(await listings()).toHaveLength(1);
});
