/**
 * Replaces a lost journal with an empty one. The new journal takes over what D1 shows of the lost one, so it repeats no
 * revision, number, proof, one-time address or reward. It restores no debt: the operator pays those by hand.
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
import type { Entity, Mirror } from '../kernel/ports.ts';
import type { ChainPort } from '../nodes/solana-view.ts';
import type { OpsAnswer } from '../operator-api.ts';
import { codeOf } from './confirmation.ts';

export type BeginAnewPorts = Pick<ModuleTools, 'journal' | 'storage' | 'now'> & {
  readonly mirror: Pick<Mirror, 'mark' | 'recordsAfter' | 'apply'>;
  readonly chain: Pick<ChainPort, 'checkFinality' | 'height' | 'agreement'>;
  readonly sources: readonly MirrorSource[];
};

const PAGE = 200;

/** @param code the confirmation; empty to see what the command would do */
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
    // If one node invents a slot, the floor could be so far ahead that the next payments would be refused.
    if (floor > slot + EXPIRY_BLOCKS) return { ok: false, message: NODES_APART };
    if (chain.agreement().stalledSince !== null)
      return { ok: false, message: 'Solana finalizes no slots. Nothing was changed.' };
    await replace(ports, mark, floor);
    return { ok: true, message: DONE };
  } catch (error) {
    return {
      ok: false,
      message: `D1 or the chain did not respond (${failureReason(error)}). Repeat the command.`,
    };
  }
}

/** The journal stays suspect until the last transaction, so nothing reads its rows. A repeated command starts anew. */
async function replace(
  { journal, storage, mirror, sources, now }: BeginAnewPorts,
  mark: number,
  slot: bigint,
) {
  /** Another call may have replaced the journal while this one waited. */
  const step = (work: () => void): void =>
    storage.transaction(() => {
      if (!isSuspect(journal)) throw new Error('the journal has begun anew');
      work();
    });
  step(() => journal.clear(['storage_version', ...KEPT_WHEN_EMPTIED]));
  for (const { table, adopt } of sources)
    if (adopt) await eachRecord(mirror, table, (text) => step(() => adopt(text)));
  const birth: Birth = { at: now(), slot: slot.toString(), revision: mark };
  // D1 gets the birth before the freeze ends, so that no caller reads an older row as one that may still change. Each
  // later batch sends the birth again.
  await mirror.apply([], mark, birth);
  step(() => {
    journal.queue.adoptRevision(mark);
    journal.queue.acknowledge(mark);
    // A balance of an earlier slot may not show what the lost journal has spent.
    journal.adoptReleasedSlot(slot);
    storeBirth(journal, birth);
    journal.setMeta('paused', 'operator');
    unfreeze(journal);
  });
  await storage.sync();
}

/** Every operation. A new journal repeats neither its number nor a name that only it may use. */
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
    for (const name of [...own, ...namesUsedBy(operation)]) journal.useOnce(name, operation.id, now());
  },
});

async function eachRecord(
  mirror: Pick<Mirror, 'recordsAfter'>,
  entity: Entity,
  take: (journal: string) => void,
): Promise<void> {
  for (let after = ''; ; ) {
    const rows = await mirror.recordsAfter(entity, after, PAGE);
    for (const row of rows) take(row.journal);
    const last = rows.at(-1);
    if (!last || rows.length < PAGE) return;
    after = last.id;
  }
}

const PLAN = [
  'Nothing was changed yet. This command deletes every row of the journal and starts an empty one.',
  'Older payments, deposits and requests will be refused. The service will not pay open debts: pay them by hand from the rows in D1.',
  'Signing stays paused until `ops resume`. If you want this, type `ops begin-anew --confirm',
].join(' ');

const NODES_APART =
  'The finalized slots of the nodes are more than a minute apart. Nothing was changed. Retry, or replace the node that is ahead.';

const DONE = 'The journal has begun anew. Signing is paused: read the runbook, then `ops resume`.';
