/**
 * The custodian's nodes as a scarce thing: each serves a number of requests in a second and refuses more. In front of them is
 * the admission of production, in virtual time.
 * @module
 */
import type { Custodian } from '../../src/custody/custodian.ts';
import type { Production } from './production.ts';
import type { Scheduler } from './scheduler.ts';

const SECOND = 1_000;
/** Verbs whose calls are those of callers, as the Durable Object runs them. */
const READS: ReadonlySet<PropertyKey> = new Set<keyof Custodian>([
  'estimateSwap',
  'findSwap',
  'swapRoom',
  'probeNodes',
  'findRequest',
  'findClaim',
  'listAsryEpochs',
  'previewMint',
]);

export function createScarcity(p: {
  readonly scheduler: Scheduler;
  readonly production: Production;
  readonly wallClock: () => number;
  /** Requests that each node serves in a second. */
  readonly rate: number;
  /** Called when a node refuses a request. */
  readonly onRefusal: (node: string) => void;
}) {
  const { scheduler, production, wallClock, rate } = p;
  const served = new Map<string, number[]>();

  /** Counts a request. @throws AppError if the node has served as many in the last second */
  function serve(node: string): void {
    const now = scheduler.now();
    const recent = (served.get(node) ?? []).filter((at) => at > now - SECOND);
    served.set(node, recent);
    if (recent.length < rate) return void recent.push(now);
    p.onRefusal(node);
    throw production.upstreamFailed(node, 'rate_limited');
  }

  return {
    serve,

    /** The connections and the budgets of one instance. */
    ofInstance() {
      const clock = {
        now: wallClock,
        after: (ms: number, work: () => void) => scheduler.after(ms, work),
      };
      const slots = new production.CallSlots(clock);
      const admission = new production.Admission(() => production.nodeCalls(rate), clock);
      return {
        async admit<T>(node: string, ask: () => Promise<T>): Promise<T> {
          const end = await admission.admit(node, `https://${node}`);
          try {
            return await ask();
          } finally {
            end(false);
          }
        },

        /** Runs each verb with the priority that the Durable Object gives it. */
        within: (custodian: Custodian): Custodian =>
          new Proxy(custodian, {
            get(target, name) {
              const verb: unknown = Reflect.get(target, name);
              if (typeof verb !== 'function') return verb;
              const priority = READS.has(name) ? 'user' : 'own';
              return (...asked: unknown[]) => slots.run(priority, () => verb.apply(target, asked));
            },
          }),
      };
    },
  };
}
