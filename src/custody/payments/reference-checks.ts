/**
 * Finds payments by the Solana Pay reference of each open request. Only transactions that carry the reference are listed,
 * so transfers to the treasury cannot hide such a payment.
 * @module
 */
import { failureReason } from '../../providers/solana-rpc.ts';
import type { Log } from '../kernel/ports.ts';
import type { Booking } from './booking.ts';
import type { ReferenceStore } from './reference-store.ts';
import type { PaymentRequest } from './request-store.ts';
import type { Budget, TreasuryNode } from './treasury-walk.ts';

/** Requests that one run checks: the most overdue and the newest, so that neither group waits for the other. */
const OVERDUE_PER_RUN = 4;
const NEWEST_PER_RUN = 4;
/** One list costs one call at any length; a reference with more entries than all pages hold was flooded on purpose. */
const PAGE = 1_000;
const MAX_PAGES = 5;
/** Transactions of one reference that one run reads, so that a flooded reference delays no other request. */
const READS_PER_REFERENCE = 5;
const FIRST_CHECK_MS = 4_000;
const RAREST_CHECK_MS = 60_000;

export type ReferenceChecksPorts = {
  readonly references: ReferenceStore;
  readonly booking: Pick<Booking, 'isKnown' | 'read'>;
  readonly nodes: readonly TreasuryNode[];
  readonly now: () => number;
  readonly log: Log;
};

export function createReferenceChecks(p: ReferenceChecksPorts) {
  const { references, booking, now } = p;
  let turn = 0;

  /** Reads what one node lists for a reference; the next check asks the next node. */
  async function check({ reference }: PaymentRequest, node: TreasuryNode, budget: Budget): Promise<void> {
    let reads = Math.min(READS_PER_REFERENCE, budget.reads);
    let before: string | undefined;
    for (let pages = 0; pages < MAX_PAGES && reads > 0; pages++) {
      const page = await node.signatures(reference, {
        limit: PAGE,
        ...(before === undefined ? {} : { before }),
      });
      for (const { signature, err } of page) {
        if (err !== null || booking.isKnown(signature)) continue;
        if (reads === 0) return;
        reads--;
        budget.reads--;
        if ((await booking.read(signature, node.name)) === 'stop') return;
      }
      before = page.at(-1)?.signature;
      if (page.length < PAGE) return;
    }
  }

  return {
    async run(budget: Budget): Promise<void> {
      references.purge();
      const due = new Map<string, PaymentRequest>();
      for (const request of references.overdue(now(), OVERDUE_PER_RUN)) due.set(request.id, request);
      for (const request of references.newest(now(), NEWEST_PER_RUN)) due.set(request.id, request);
      for (const request of due.values()) {
        const node = p.nodes[turn++ % p.nodes.length];
        if (!node || budget.reads <= 0) return;
        const wait = Math.min(FIRST_CHECK_MS + (now() - request.createdAt) / 8, RAREST_CHECK_MS);
        references.checkAt(request.id, Math.ceil(now() + wait));
        await check(request, node, budget).catch((error: unknown) => {
          p.log({
            level: 'warn',
            event: 'reference_check_failed',
            node: node.name,
            reason: failureReason(error),
          });
        });
      }
    },
  };
}
