/**
 * Rewards for deposits: claims, their payouts, and the reward epochs.
 * @module
 */
import type { AsryEpochView } from '../api.ts';
import type { CustodyModule, MirrorSource, ModuleTools } from '../kernel/module.ts';
import type { Within } from '../kernel/ports.ts';
import type { Debt } from '../operator-api.ts';
import { AsryStore, epochView } from './asry-store.ts';
import { type AsryContext, type AsryPorts, openEpochs } from './context.ts';
import { createPayoutKind, endPayout, PAYOUT, payOwed, payoutDebt } from './payout.ts';

/** Maximum recipients in one background run. One call can read this many accounts. */
const RECIPIENTS_PER_RUN = 20;

export class Asry implements CustodyModule {
  readonly kinds: CustodyModule['kinds'];
  readonly work: CustodyModule['work'];
  readonly mirrored: readonly MirrorSource[];
  readonly context: AsryContext;

  constructor(tools: ModuleTools, ports: AsryPorts & { readonly within: Within }) {
    const store = new AsryStore(tools);
    const context = { ...tools, ...ports, store, repeats: new Map() };
    this.context = context;
    this.kinds = { asry: { ...createPayoutKind(ports), onEnd: endPayout(context) } };
    this.work = {
      [PAYOUT]: {
        limit: RECIPIENTS_PER_RUN,
        async run(keys) {
          const owed = keys.flatMap((key) => store.payout(key) ?? []);
          await payOwed(context, owed, 'alarm');
        },
      },
    };
    this.mirrored = store.mirrored();
  }

  epochs(limit: number): AsryEpochView[] {
    return this.context.store.epochs(limit).map(epochView);
  }

  debts(): readonly Debt[] {
    return [payoutDebt(this.context)];
  }

  /** Opens the epoch of the current time once the previous one has ended. */
  onCron(): Promise<void> {
    return openEpochs(this.context);
  }
}
