/**
 * The current bounds of a swap, and since when every swap has been refused. `swap/min`, the status page and the cron
 * use this file; create calls and estimates make their own checks.
 * @module
 */
import { lamports } from '../../core/amount.ts';
import { upstreamFailure } from '../../core/errors.ts';
import type { Refusal, SwapRoom } from '../api.ts';
import { upstreamRefusal } from '../kernel/begin-operation.ts';
import type { ModuleTools } from '../kernel/module.ts';
import { type Balance, checkIntent, limitUse, spendable } from '../kernel/spending-limits.ts';
import type { SwapsRefused } from '../operator-api.ts';
import type { EstimateQuotes } from './estimate-quotes.ts';
import { swapDebit } from './operation.ts';
import type { SwapQuotas } from './quota-store.ts';
import type { SwapQuotes } from './swap-quotes.ts';
import { KEY_FAILING, limitRefusal, swapsStopped } from './swap-view.ts';

const REFUSED = 'swaps_refused';

/** The reason why every swap was refused when the cron last ran. */
type Watched = SwapsRefused & {
  /** True if an upstream was the reason. Only the next cron run shows whether it still is. */
  readonly isOfSource: boolean;
  /** True if the bridge or the prices were the reason. Only a quote shows whether they still are. */
  readonly isOfQuote: boolean;
};

type RoomPorts = {
  readonly quotes: SwapQuotes;
  readonly quotas: SwapQuotas;
  readonly estimates: EstimateQuotes;
  readonly isKeyFailing: () => boolean;
};

export class Room {
  readonly #tools: ModuleTools;
  readonly #ports: RoomPorts;
  /** The balance of the newest read; undefined if that read failed. */
  #balance: Balance | undefined;

  constructor(tools: ModuleTools, ports: RoomPorts) {
    this.#tools = tools;
    this.#ports = ports;
  }

  /** The current bounds of a swap. The minimum can be known even if the balance is not. */
  async read(): Promise<SwapRoom> {
    const { journal, readBalance } = this.#tools;
    const [balance, minimum] = await Promise.all([
      readBalance(journal.releasedSlot()).catch(upstreamFailure),
      this.#ports.estimates.readMinimum(),
    ]);
    this.#balance = 'slot' in balance ? balance : undefined;
    const { refusal, maximumLamports } = await this.#roomAt(this.#balance);
    return 'slot' in balance
      ? { balanceLamports: balance.lamports, maximumLamports, refusal, minimum }
      : { balanceLamports: null, maximumLamports: 0n, refusal: refusal ?? upstreamRefusal(balance), minimum };
  }

  /** Without a balance, only the other reasons that prevent every swap are known. */
  async #roomAt(
    balance: Balance | undefined,
  ): Promise<{ readonly refusal: Refusal | null; readonly maximumLamports: bigint }> {
    const { journal, reserveAddress, boundsOf, now, stopBeginning } = this.#tools;
    const stopped = await stopBeginning('swap');
    const { quotas, isKeyFailing } = this.#ports;
    const unsigned = isKeyFailing() ? KEY_FAILING : quotas.refusal('create_quotes', null);
    const early = stopped === undefined ? unsigned : swapsStopped(stopped);
    if (early || !balance) return { refusal: early ?? null, maximumLamports: 0n };
    const operations = journal.counting(reserveAddress, now(), 'swap');
    const bounds = boundsOf('swap');
    const amount = lamports(1n);
    const reserved = swapDebit(amount);
    const verdict = checkIntent({ bounds, amount, reserved, balance, operations, now: now() });
    if (!verdict.ok) return { refusal: limitRefusal(verdict, now()), maximumLamports: 0n };
    const rooms = bounds.limits
      .filter(({ counts }) => counts === 'amount' || counts === 'unsettled')
      .map((limit) => limit.maximum - limitUse(limit, operations, now()).used);
    const left = spendable(balance, operations, bounds.keeps) - swapDebit(lamports(0n));
    return {
      refusal: null,
      maximumLamports: rooms.reduce((least, room) => (room < least ? room : least), left),
    };
  }

  /** The code with which every swap is refused now, if it is known without a call to an upstream. */
  async #currentCode(): Promise<Refusal['code'] | undefined> {
    const { refusal, maximumLamports } = await this.#roomAt(this.#balance);
    if (refusal) return refusal.code;
    const least = this.#ports.quotes.minimum.known()?.lamports;
    return this.#balance && least !== undefined && maximumLamports < least ? 'SWAP_LIMIT_REACHED' : undefined;
  }

  /** Stores why and since when every swap is refused. Called once a minute. */
  async watchRefusal(): Promise<void> {
    const { journal, now } = this.#tools;
    const { refusal } = await this.read();
    const failure = await this.#ports.estimates.failure();
    const own = await this.#currentCode();
    const known = this.#watched();
    // With the quotes used up, it is unknown whether the bridge serves swaps again.
    const isUnread = failure?.code === 'QUOTE_BUDGET_SPENT';
    const ofQuote = isUnread ? known?.isOfQuote && known.code : failure?.code;
    const first = own ?? refusal?.code;
    const code = first ?? (ofQuote || undefined);
    const isOfSource = own === undefined;
    const isOfQuote = first === undefined;
    if (code === known?.code && isOfSource === known?.isOfSource && isOfQuote === known?.isOfQuote) return;
    const sinceMs = known?.sinceMs ?? now();
    const watched = code && ({ code, sinceMs, isOfSource, isOfQuote } satisfies Watched);
    journal.setMeta(REFUSED, watched ? JSON.stringify(watched) : '');
  }

  #watched(): Watched | undefined {
    const stored = this.#tools.journal.getMeta(REFUSED);
    return stored ? (JSON.parse(stored) as Watched) : undefined;
  }

  /**
   * Null if swaps can start. Stops, limits and quotas are current; a reason from an upstream is as old as the last cron
   * run.
   */
  async refusedSince(): Promise<SwapsRefused | null> {
    const watched = this.#watched();
    const own = await this.#currentCode();
    if (own) return { code: own, sinceMs: watched?.sinceMs ?? this.#tools.now() };
    // Before its first cron run a new instance has no balance, so it does not know whether a limit has room.
    const isUnknown = this.#balance === undefined && watched?.code !== 'SWAPS_PAUSED';
    return watched && (watched.isOfSource || isUnknown)
      ? { code: watched.code, sinceMs: watched.sinceMs }
      : null;
  }
}
