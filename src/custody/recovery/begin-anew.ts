/**
 * Replaces a lost journal with an empty one. The new journal takes over D1's rows of the lost one, so it never repeats
 * a revision, number, proof, one-time address or reward. Debts are not restored: the operator pays them by hand.
 * @module
 */
import { EXPIRY_BLOCKS } from '../../chain/solana/transaction.ts';
import { failureReason } from '../../core/errors.ts';
import { type Birth, lostRequest, storeBirth } from '../kernel/birth.ts';
import { lostSigner } from '../kernel/journal.ts';
import {
  frozenReason,
  isSuspect,
  KEPT_WHEN_EMPTIED,
  suspectHeight,
  tooEarly,
  unfreeze,
} from '../kernel/journal-integrity.ts';
import { columnsOf } from '../kernel/mirror-queue.ts';
import type { MirrorSource, ModuleTools } from '../kernel/module.ts';
import { decodeOperation, namesUsedBy } from '../kernel/operation.ts';
import type { Mirror } from '../kernel/ports.ts';
import type { ChainPort } from '../nodes/solana-view.ts';
import type { OpsAnswer } from '../operator-api.ts';
import { codeOf } from './confirmation.ts';
import { placeAfterPage, type TablePlace } from './table-place.ts';

export type BeginAnewPorts = Pick<ModuleTools, 'journal' | 'storage' | 'now'> & {
  readonly mirror: Pick<Mirror, 'mark' | 'recordsAfter' | 'apply'>;
  readonly chain: Pick<ChainPort, 'checkFinality' | 'height' | 'agreement'>;
  readonly sources: readonly MirrorSource[];
};

/** Rows per read of D1, and reads per command: D1 allows 1,000 reads for each call of a Worker, 50 on its free plan. */
const PAGE = 500;
const MOST_PAGES = 40;
/** Where the next command continues to take over rows, and the mark of D1 for which the journal was emptied. */
const ADOPTED_TO = 'adopted_to';
type Adopted = TablePlace & { readonly mark: number };

/** @param code the confirmation; empty to show what the command would do */
export async function beginAnew(ports: BeginAnewPorts, code: string): Promise<OpsAnswer> {
  const { journal, chain } = ports;
  if (!isSuspect(journal)) return { ok: false, message: 'The journal has lost nothing.' };
  try {
    const mark = await ports.mirror.mark();
    const early = await tooEarly(journal, chain, mark);
    if (early) return { ok: false, message: early };
    // The code changes when D1 receives rows.
    const expected = codeOf('begin-anew', frozenReason(journal) ?? '', suspectHeight(journal), mark);
    if (code === '') return { ok: true, message: `${PLAN} ${expected}\`.` };
    if (code !== expected)
      return {
        ok: false,
        message: 'This code is not the one that `begin-anew` printed for this loss. Nothing was changed.',
      };
    const { slot, floor } = await chain.checkFinality();
    // If one node invents a slot, the floor could be so far ahead that later payments would be refused.
    if (floor > slot + EXPIRY_BLOCKS) return { ok: false, message: NODES_APART };
    if (chain.agreement().stalledSince !== null)
      return { ok: false, message: 'Solana is not finalizing slots. Nothing was changed.' };
    if (!(await adoptRows(ports, mark))) return { ok: true, message: MORE };
    await begin(ports, mark, floor);
    return { ok: true, message: DONE };
  } catch (error) {
    return {
      ok: false,
      message: `D1 or the chain did not respond (${failureReason(error)}). Repeat the command.`,
    };
  }
}

/** A step of the replacement. Another call may have completed it while this one waited. */
function step({ journal, storage }: BeginAnewPorts, work: () => void): void {
  storage.transaction(() => {
    if (!isSuspect(journal)) throw new Error('another call has finished begin-anew');
    work();
  });
}

/**
 * Empties the journal, then takes over the rows of D1. The journal stays suspect, so its rows are not read.
 * @returns whether every row was taken over
 */
async function adoptRows(ports: BeginAnewPorts, mark: number): Promise<boolean> {
  const { journal, mirror, sources } = ports;
  const tables = sources.filter(({ adopt }) => adopt);
  const stored = () => JSON.parse(journal.getMeta(ADOPTED_TO) || 'null') as Adopted | null;
  const store = (place: TablePlace) => journal.setMeta(ADOPTED_TO, JSON.stringify({ ...place, mark }));
  if (stored()?.mark !== mark)
    step(ports, () => {
      journal.clear(['storage_version', ...KEPT_WHEN_EMPTIED]);
      store({ table: tables[0]?.table ?? 'operation', after: '' });
    });
  for (let pages = 0; pages < MOST_PAGES; pages++) {
    const place = stored();
    const source = tables.find(({ table }) => table === place?.table);
    if (!place || !source) throw new Error('another call has finished begin-anew');
    const rows = await mirror.recordsAfter(place.table, place.after, PAGE);
    const next = placeAfterPage(tables, place, rows);
    step(ports, () => {
      const now = stored();
      // A concurrent command has already taken over this page.
      if (now?.table !== place.table || now.after !== place.after) return;
      for (const row of rows) source.adopt?.(row.journal, row.revision);
      if (next) store(next);
    });
    if (!next) return true;
  }
  return false;
}

/** The journal stays suspect until the last transaction, so its rows are not read. */
async function begin(ports: BeginAnewPorts, mark: number, slot: bigint): Promise<void> {
  const { journal, storage, mirror, now } = ports;
  const birth: Birth = { at: now(), slot: slot.toString(), revision: mark };
  // D1 gets the birth before the freeze ends, so that callers never read an older row as one that may still change.
  // Each later batch sends the birth again.
  await mirror.apply([], mark, birth);
  step(ports, () => {
    journal.setMeta(ADOPTED_TO, '');
    journal.queue.adoptRevision(mark);
    journal.queue.acknowledge(mark);
    // A balance at an earlier slot may not include what the lost journal has spent.
    journal.adoptReleasedSlot(slot);
    storeBirth(journal, birth);
    journal.setMeta('paused', 'operator');
    unfreeze(journal);
  });
  await storage.sync();
}

/** Every operation. A new journal never reuses its number, or a name that only it may use. */
export const operationSource = ({ journal, now }: Pick<ModuleTools, 'journal' | 'now'>): MirrorSource => ({
  table: 'operation',
  rowsAfter: (after, limit) =>
    journal.after(after, limit).map((operation) => {
      const { id, revision } = operation;
      return { id, columns: columnsOf(operation), revision };
    }),
  adopt(text) {
    const operation = decodeOperation(text);
    journal.adoptNumber(operation.seq);
    const own = [lostRequest(operation.id), lostSigner(operation.signer)];
    for (const name of [...own, ...namesUsedBy(operation)]) journal.keepUsed(name, operation.id, now());
  },
});

const PLAN = [
  'Nothing was changed yet. This command deletes every row of the journal and starts an empty one.',
  'Older payments, deposits and requests will be refused. The service will not pay open debts: pay them by hand from the rows in D1.',
  'Signing stays paused until `ops resume`. If you want this, type `ops begin-anew --confirm',
].join(' ');

const NODES_APART =
  'The finalized slots of the nodes are more than a minute apart. Nothing was changed. Retry, or replace the node that is ahead.';

const MORE = 'Rows of D1 were taken over, and more are left. Type the same command again to continue.';

const DONE = 'The journal has begun anew. Signing is paused: read the runbook, then `ops resume`.';
