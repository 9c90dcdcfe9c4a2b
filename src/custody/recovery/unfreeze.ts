/**
 * Ends a freeze on the operator's command, if the operator can explain a movement, or if a restored journal is proven
 * to be complete.
 * @module
 */
import { failureReason } from '../../core/errors.ts';
import {
  frozenReason,
  isSuspect,
  tooEarly,
  type UnexpectedDebit,
  unexpectedDebits,
  unfreeze,
} from '../kernel/journal-integrity.ts';
import type { ModuleTools } from '../kernel/module.ts';
import type { Mirror } from '../kernel/ports.ts';
import type { History } from '../nodes/history.ts';
import type { ChainPort } from '../nodes/solana-view.ts';
import type { OpsAnswer, UnexplainedSpend } from '../operator-api.ts';
import { codeOf } from './confirmation.ts';
import { missingSpends } from './missing-spends.ts';
import type { SpendPorts } from './unexplained-spends.ts';

export type UnfreezePorts = Pick<ModuleTools, 'journal' | 'storage'> &
  Pick<SpendPorts, 'reserveAddress' | 'transaction'> & {
    historyOf(address: string): History;
    readonly mirror: Pick<Mirror, 'mark' | 'newestRevision'>;
    readonly chain: Pick<ChainPort, 'height'>;
    /** The unexplained spends of the current freeze. */
    spends(): readonly UnexplainedSpend[];
  };

/**
 * Ends the freeze. Signing stays paused until the operator resumes it.
 * @param code confirms what the operator was shown; not needed after a loss, because the journal is proven to be
 * complete
 */
export async function endFreeze(ports: UnfreezePorts, code: string): Promise<OpsAnswer> {
  const { journal, storage, mirror } = ports;
  if (frozenReason(journal) === undefined) return NOT_FROZEN;
  try {
    const wasSuspect = isSuspect(journal);
    const lost = wasSuspect ? await lossOf(ports) : undefined;
    if (lost) return { ok: false, ...lost };
    const mark = await mirror.mark();
    return storage.transaction(() => {
      // Read again after each await: meanwhile a spend may have been found, or the freeze may have ended.
      const reason = frozenReason(journal);
      if (reason === undefined) return NOT_FROZEN;
      const isProven = isSuspect(journal) && wasSuspect;
      const found = { reason, debits: unexpectedDebits(journal), spends: ports.spends() };
      const shown = isProven ? undefined : shownBefore(found, code);
      if (shown) return shown;
      journal.queue.adoptRevision(mark);
      journal.setMeta('paused', 'operator');
      unfreeze(journal);
      return { ok: true, message: 'The freeze has ended. Signing is paused until `ops resume`.' };
    });
  } catch (error) {
    const said = error instanceof Error ? error.message : failureReason(error);
    return { ok: false, message: `D1 or the chain does not show enough: ${said.slice(0, 300)}` };
  }
}

const NOT_FROZEN: OpsAnswer = { ok: false, message: 'Signing is not frozen.' };

type Found = {
  readonly reason: string;
  readonly debits: readonly UnexpectedDebit[];
  readonly spends: readonly UnexplainedSpend[];
};

/** What the command would acknowledge; undefined if the code already confirms exactly that. */
function shownBefore({ reason, debits, spends }: Found, code: string): OpsAnswer | undefined {
  const facts = [
    ...debits.map(({ time, operation, signature }) => `${time} ${operation} ${signature}`),
    ...spends.map(({ signature }) => signature),
  ];
  const expected = codeOf('unfreeze', reason, ...facts);
  if (code === expected) return undefined;
  const why = code === '' ? '' : 'This code does not belong to the current list. ';
  return {
    ok: code === '',
    message: `${why}Nothing was changed yet. If you can explain \`${reason}\` and each listed transaction, type \`ops unfreeze --confirm ${expected}\`.`,
    rows: [...debits.map(debitRow), ...spends.map(rowOf)],
  };
}

const debitRow = ({ operation, signature, time, moved, reserved }: UnexpectedDebit) => ({
  signature,
  time,
  moved: `${moved} lamports, but ${operation} reserved ${reserved}`,
  memo: null,
});

const rowOf = ({ signature, time, memo, moved }: UnexplainedSpend) => ({
  signature,
  time,
  moved: moved.map(({ mint, atoms }) => `${atoms} ${mint ?? 'lamports'}`).join(', '),
  memo,
});

/** What the journal lacks; undefined if it has every row of D1 and every transaction of the reserve. */
async function lossOf(ports: UnfreezePorts): Promise<Pick<OpsAnswer, 'message' | 'rows'> | undefined> {
  const { journal, mirror, chain } = ports;
  if (journal.isEmpty())
    return { message: 'The journal is empty. Run `ops restore-storage` or `ops begin-anew`.' };
  const early = await tooEarly(journal, chain, await mirror.mark());
  if (early) return { message: early };
  if ((await mirror.newestRevision()) > journal.queue.revision())
    return {
      message:
        'D1 has rows that the journal lacks. Restore the journal to a later time, or run `ops begin-anew`.',
    };
  // The journal was restored to an earlier moment. Transactions that the reserve signed later landed after all
  // transactions that the journal records as final, so the search starts there.
  const isExplained = (signature: string) => journal.bySignature(signature) !== undefined;
  const spends: UnexplainedSpend[] = [];
  // If the key was changed, an earlier key may have signed them.
  for (const reserveAddress of new Set([ports.reserveAddress, ...journal.signers()])) {
    const { transaction } = ports;
    const histories = [ports.historyOf(reserveAddress)] as const;
    const search = { reserveAddress, transaction, histories, isExplained };
    spends.push(...(await missingSpends(search, journal, journal.releasedSlot())));
  }
  return spends.length === 0
    ? undefined
    : {
        message: 'The reserve signed transactions that the journal lacks. Run `ops begin-anew`.',
        rows: spends.map(rowOf),
      };
}
