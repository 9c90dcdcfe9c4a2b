/**
 * Payment requests: their payments, their refunds, and the searches that find payments.
 * @module
 */
import { DAY_MS } from '../../core/durations.ts';
import type { OpenRequest, RequestOpened, RequestView } from '../api.ts';
import { failureFacts } from '../kernel/agenda.ts';
import { lostRequest } from '../kernel/birth.ts';
import type { CustodyModule, MirrorSource, ModuleTools } from '../kernel/module.ts';
import type { OperationKind } from '../kernel/operation.ts';
import type { CustodyBounds } from '../limits.ts';
import type { Debt, OpsAnswer } from '../operator-api.ts';
import type { Products } from '../product.ts';
import { endWork } from './confirm.ts';
import type { PaymentContext, PaymentDeps } from './context.ts';
import { openRequest } from './open.ts';
import { listUnmatched, oweParts, unmatchedDebt } from './owed.ts';
import { PaymentSearch, SEARCH } from './payment-search.ts';
import { createRefundKind, endRefund, refundPayments } from './refund.ts';
import { mirroredPayments, saveRequest, viewOf } from './request-records.ts';
import { type PaymentRequest, RequestStore } from './request-store.ts';
import { TreasuryStore } from './treasury-store.ts';
import { UNREAD } from './unread.ts';

/** Owner of the ids of requests that only the lost journal had. */
const LOST = 'lost';

/** Agenda name of requests whose expiry has failed. */
const EXPIRY = 'expiry';

const KEPT_MS = 7 * DAY_MS;
const MAX_EXPIRED = 20_000;
/** Maximum requests that one run expires, and maximum requests that it deletes. */
const RUN_BATCH = 200;

export class Payments implements CustodyModule {
  readonly kinds: Readonly<Record<string, OperationKind>>;
  readonly work: CustodyModule['work'];
  readonly commands: Readonly<Record<'refund' | 'unmatched', (id: string) => Promise<OpsAnswer>>>;
  readonly mirrored: readonly MirrorSource[];
  readonly context: PaymentContext;
  readonly #search: PaymentSearch;

  constructor(
    tools: ModuleTools,
    deps: PaymentDeps,
    sales: { readonly products: Products; readonly bounds: CustodyBounds },
  ) {
    const requests = new RequestStore(tools.storage);
    const treasury = new TreasuryStore(tools.storage);
    const context = { ...tools, ...deps, ...sales, requests, treasury };
    this.context = context;
    this.#search = new PaymentSearch(context);
    this.kinds = kindsOf(context);
    this.work = {
      [SEARCH]: { limit: 1, run: () => this.#run('alarm') },
      [UNREAD]: this.#search.readAgain,
      [EXPIRY]: { limit: RUN_BATCH, run: async () => this.#expire() },
    };
    this.commands = {
      refund: (id) => refundPayments(context, id),
      unmatched: async () => listUnmatched(context),
    };
    this.mirrored = mirroredPayments(context, (text) => {
      const { view } = JSON.parse(text) as { view: RequestView };
      context.journal.keepUsed(lostRequest(view.id), LOST, context.now());
    });
  }

  debts(): readonly Debt[] {
    return [this.context.requests.refundDebt(), unmatchedDebt(this.context)];
  }

  /** The cron searches for payments, so a request that is never paid does not cause other work. */
  async onCron(): Promise<void> {
    if (this.#search.isDue()) await this.#run('cron');
    else this.#expire();
  }

  async open(asked: OpenRequest): Promise<RequestOpened> {
    const opened = await openRequest(this.context, asked);
    this.#search.plan();
    return opened;
  }

  find(id: string): RequestView | null {
    const request = this.context.requests.get(id);
    return request ? viewOf(this.context, request) : null;
  }

  /**
   * Plans an early search for an open request that a caller reads. If it returns true, the caller must set the timer.
   */
  askFor(id: string): boolean {
    return this.context.requests.get(id)?.state === 'open' && this.#search.askFor(id);
  }

  /** Searches for payments first, and only then ends requests that were not paid in time. */
  async #run(by: 'alarm' | 'cron'): Promise<void> {
    await this.#search.run(by);
    this.#search.plan();
    this.#expire();
  }

  /**
   * Ends open requests that can no longer be paid; their parts are owed back. A payment that is unread or undecided may
   * still be in time. So a request expires only when its treasury has no such payment from before the request's end. A
   * day after its end it always expires, even if a node fails or the treasury has changed.
   */
  #expire(): void {
    const { agenda, requests, storage, treasuryAddress: treasury, now } = this.context;
    for (const id of agenda.due(EXPIRY, RUN_BATCH))
      if (requests.get(id)?.state !== 'open') agenda.plan(EXPIRY, id, null);
    const isWaiting = ({ id }: PaymentRequest) =>
      agenda.dueAt(EXPIRY, id) !== undefined && !agenda.isDue(EXPIRY, id);
    const read = { treasury, readUntil: this.#search.readUntil(), latest: now() - DAY_MS };
    const closed = requests.closed(read, RUN_BATCH + agenda.count(EXPIRY));
    for (const request of closed.filter((each) => !isWaiting(each)).slice(0, RUN_BATCH)) {
      try {
        storage.transaction(() => {
          oweParts(this.context, saveRequest(this.context, { ...request, state: 'expired' }), 'underpaid');
          agenda.plan(EXPIRY, request.id, null);
        });
      } catch (error) {
        agenda.failed(EXPIRY, request.id, failureFacts(error));
      }
    }
    requests.purge(now() - KEPT_MS, MAX_EXPIRED, RUN_BATCH);
  }
}

function kindsOf(context: PaymentContext): Record<string, OperationKind> {
  const works = Object.entries(context.products).flatMap(([name, { work }]) =>
    work ? [[name, { ...work.kind, onEnd: endWork(context) }] as const] : [],
  );
  return {
    ...Object.fromEntries(works),
    refund: { ...createRefundKind(context), onEnd: endRefund(context) },
  };
}
