/**
 * Calls that only the operator, the status page and the cron make: the reports, and the operator's commands.
 * @module
 */
import type { CustodianApi } from './api.ts';
import type { CustodyDeps } from './dependencies.ts';
import type { Background } from './kernel/background.ts';
import { frozenReason, type SigningGate } from './kernel/journal-integrity.ts';
import type { Commands, CustodyModule, ModuleTools } from './kernel/module.ts';
import { custodyReport, kernelCommands, openOperations, runOps } from './kernel/operator-commands.ts';
import type { CustodyBounds } from './limits.ts';
import { beginAnew } from './recovery/begin-anew.ts';
import type { SpendWatch, SpendWatchPorts } from './recovery/spend-watch.ts';
import { endFreeze } from './recovery/unfreeze.ts';
import type { DailyMint } from './reserve/daily-mint.ts';
import type { SwapQuotas } from './swap/quota-store.ts';
import type { Room } from './swap/room.ts';
import type { SwapQuotes } from './swap/swap-quotes.ts';

/** Maximum wait for D1 and the chain before a new instance reports that its journal is unverified. */
const VERIFY_TIMEOUT_MS = 2_000;
const MOST_FAILING = 20;
/**
 * An event is shown for this long, which is longer than the hour between two log lines of one cause. So its alarm does
 * not end between them.
 */
const RECENT_MS = 90 * 60_000;
/** Key of `meta`: when the cron last woke the custodian without a failure. */
export const WOKEN = 'woken_at';

type Parts = {
  readonly deps: CustodyDeps;
  readonly tools: ModuleTools;
  readonly gate: SigningGate;
  readonly newerStorage: string | undefined;
  readonly bounds: CustodyBounds;
  readonly background: Background;
  readonly modules: Readonly<Record<string, CustodyModule>>;
  readonly quotes: SwapQuotes;
  readonly quotas: SwapQuotas;
  readonly room: Room;
  readonly mints: DailyMint | undefined;
  readonly spendWatch: SpendWatch;
};

export function spendPortsOf({ chain, signer, swap, effects, watched }: CustodyDeps): SpendWatchPorts {
  return {
    reserveAddress: signer.address,
    watched,
    histories: [swap.historyOf(signer.address), ...watched.accounts.map(swap.historyOf)],
    transaction: effects,
    finalizedSlot: async () => (await chain.checkFinality()).slot,
  };
}

export class Operator {
  readonly #parts: Parts;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  readonly report: CustodianApi['report'] = async () => {
    const { bounds, deps, mints, quotas, quotes, room, spendWatch, tools } = this.#parts;
    const signing = await this.signingState();
    return {
      ...custodyReport(tools, bounds.limits),
      ...signing,
      release: deps.release ?? null,
      swapsRefused: await room.refusedSince(),
      unexplainedSpends: spendWatch.spends(),
      lastWakeMs: tools.journal.getTime(WOKEN) || null,
      solana: deps.chain.agreement(),
      openCircuits: deps.openCircuits(),
      mint: mints?.report() ?? null,
      quotes: quotas.used('estimate_quotes'),
      bridgeFault: quotes.fault(),
      // An operator's pause stops more than swaps, so it takes precedence.
      paused: tools.journal.getMeta('paused') || (deps.swapsDisabled ? 'disabled' : null),
    };
  };

  readonly view: CustodianApi['operatorView'] = async () => {
    const { background, deps, modules, tools } = this.#parts;
    return {
      lastRun: background.lastRun(),
      open: openOperations(tools),
      debts: Object.values(modules).flatMap((module) => module.debts?.() ?? []),
      failing: tools.agenda.failing(MOST_FAILING),
      recent: tools.agenda.happenedWithin(RECENT_MS).map((what) => {
        const [event = '', ...about] = what.split(' ');
        return { event, about: about.join(' ') };
      }),
      solana: deps.chain.agreement(),
      backlog: tools.journal.queue.backlog(),
      journalBytes: tools.storage.bytes?.() ?? null,
    };
  };

  /** A new instance checks its journal first, because until then it does not know whether it may sign. */
  readonly signingState: CustodianApi['signingState'] = async () => {
    const { deps, gate, newerStorage, tools } = this.#parts;
    await deps.within(gate.verify(), VERIFY_TIMEOUT_MS);
    const frozen = frozenReason(tools.journal) ?? (gate.isVerified() ? null : 'unverified');
    return {
      watchOnly: deps.proof?.signer.holdsBitcoinKey !== true,
      frozen: newerStorage === undefined ? frozen : 'storage_newer',
    };
  };

  readonly perform: CustodianApi['ops'] = async (command) => {
    const { background, gate, newerStorage, tools } = this.#parts;
    if (newerStorage !== undefined) return { ok: false, message: newerStorage };
    // The check at the start shows whether the journal has lost rows. The check at the end shows whether a command has
    // resolved that.
    return background.working(async () => {
      const answer = await runOps(tools, this.#commands(), command);
      await tools.storage.sync();
      await gate.verify();
      return answer;
    });
  };

  #commands(): Commands {
    const { deps, tools } = this.#parts;
    const { mirror, chain } = deps;
    const modules = Object.values(this.#parts.modules);
    const sources = modules.flatMap(({ mirrored = [] }) => mirrored);
    const { historyOf } = deps.swap;
    const spends = () => this.#parts.spendWatch.spends();
    const freeze = { ...tools, ...spendPortsOf(deps), mirror, chain, historyOf, spends };
    return {
      ...Object.assign({}, ...modules.map(({ commands }) => commands)),
      ...kernelCommands({ ...tools, mirror }),
      unfreeze: (code) => endFreeze(freeze, code),
      'begin-anew': (code) => beginAnew({ ...tools, mirror, chain, sources }, code),
    };
  }
}
