/**
 * Composes the custodian from its modules and the kernel, independent of the platform. All dependencies are
 * parameters, so the simulator runs the same code as the Durable Object.
 * @module
 */

import type { QuoteBudgets } from '../core/call-limits.ts';
import { notConfigured } from '../core/errors.ts';
import type { ChainTransaction } from '../providers/solana-rpc.ts';
import type {
  AsryEpochView,
  ClaimAnswer,
  ClaimRequest,
  ClaimView,
  ConfirmRequest,
  CustodianApi,
  CustodyReport,
  EstimateRequest,
  MintPreview,
  MintRow,
  NodeProbe,
  OpenRequest,
  OperatorView,
  OpsAnswer,
  OpsCommand,
  PaymentConfirmed,
  ProofAnswer,
  ProofDraft,
  RequestOpened,
  RequestView,
  SigningState,
  SwapAnswer,
  SwapEstimate,
  SwapRequest,
  SwapRoom,
  SwapView,
} from './api.ts';
import { Asry } from './asry/asry.ts';
import type { AsryPorts } from './asry/context.ts';
import { Agenda } from './kernel/agenda.ts';
import { Background, CRON, QUORUM_MEMORY } from './kernel/background.ts';
import { createBalanceReader, refused } from './kernel/begin-operation.ts';
import { type Assemble, Executor } from './kernel/executor.ts';
import { Journal } from './kernel/journal.ts';
import { frozenReason, SigningGate } from './kernel/journal-integrity.ts';
import type { CustodyModule, ModuleTools } from './kernel/module.ts';
import type { Kind, Operation, OperationKind } from './kernel/operation.ts';
import { custodyReport, type OpsPorts, openOperations, runOps } from './kernel/operator-commands.ts';
import type { Log, Mirror, Signer, Storage, Within } from './kernel/ports.ts';
import { reasonText } from './kernel/reason.ts';
import { areLimits } from './kernel/spending-limits.ts';
import { CustodyBounds, type CustodyLimits } from './limits.ts';
import type { LookUp } from './nodes/signature-lookups.ts';
import type { ChainPort } from './nodes/solana-view.ts';
import { type PaymentDeps, paymentContext } from './payments/context.ts';
import { Payments } from './payments/payments.ts';
import { beginAnew } from './recovery/begin-anew.ts';
import { Republishing } from './recovery/republish.ts';
import { SpendWatch } from './recovery/spend-watch.ts';
import type { SpendPorts, Watched } from './recovery/unexplained-spends.ts';
import { endFreeze } from './recovery/unfreeze.ts';
import { type AbsrPorts, DailyMint } from './reserve/daily-mint.ts';
import { type ProofPorts, Proofs } from './reserve/proof.ts';
import { Swaps } from './swap/create-swap.ts';
import { swapEvidence } from './swap/evidence.ts';
import { type SwapPorts, swapKind } from './swap/operation.ts';
import { SwapQuotes } from './swap/swap-quotes.ts';
import { swapView } from './swap/swap-view.ts';
import { type TokenDeps, Tokens } from './tokens/products.ts';
import { openStorage } from './versioned-store.ts';

export type CustodyDeps = {
  readonly chain: ChainPort;
  readonly mirror: Mirror;
  readonly signer: Signer;
  readonly swap: SwapPorts;
  /** A finalized transaction of any version; see `SolanaView`. */
  effects(signature: string): Promise<ChainTransaction | null>;
  /** What keys other than the reserve's can move. */
  readonly watched: Watched;
  /**
   * Payment requests for tokens; absent if no treasury or mint seed is configured. Stored rows of a missing module
   * await the operator.
   */
  readonly payments?: PaymentDeps & TokenDeps;
  /** The daily mint; absent if no mint is configured. */
  readonly absr?: AbsrPorts;
  /** Rewards for deposits; absent if no ASRY mint is configured. */
  readonly asry?: Omit<AsryPorts, 'lookUp'>;
  /** Looks up signatures that callers name. */
  readonly lookUp: LookUp;
  /** The ownership proof; absent if the service has no public name. */
  readonly proof?: Omit<ProofPorts, 'stop' | 'lastMintSlot'>;
  readonly limits: CustodyLimits;
  readonly swapsDisabled: boolean;
  readonly quoteBudgets: QuoteBudgets;
  readonly assemble: Assemble;
  readonly now: () => number;
  readonly randomId: () => string;
  readonly within: Within;
  /** Names of the upstreams that are skipped because they hang. */
  readonly openCircuits: () => readonly string[];
  readonly probeNodes: () => Promise<readonly NodeProbe[]>;
  /** How callers reach the operator. */
  readonly contact?: string | undefined;
  /** Id of the Worker version. */
  readonly release?: string | undefined;
  readonly log: Log;
};

/** Longest wait for D1 to accept the outbox before a finished request is returned. */
const D1_FLUSH_TIMEOUT_MS = 2_000;
/** Longest wait for D1 and the chain before a new instance reports that its journal is unverified. */
const VERIFY_TIMEOUT_MS = 2_000;

/** Maximum failing work in one view of the operator. */
const MOST_FAILING = 20;
/** Longer than the hour between two log lines of one cause, so that an alarm does not end between them. */
const RECENT_MS = 90 * 60_000;

const KEY_SERVICE = 'key_service';
const WOKEN = 'woken_at';

/** Creates the parts of the kernel on one storage. */
function openKernel(platform: Storage, deps: CustodyDeps) {
  const { chain, mirror, signer, assemble, now, log } = deps;
  const { storage, refusal: newerStorage } = openStorage(platform, log);
  /** The modules add their kinds of operations to this table, and the executor reads them from it. */
  const kinds: Record<Kind, OperationKind | undefined> = {};
  const journal = new Journal(storage, {
    onChange: (operation) => log(changeLine(operation, now())),
    onEnd: (operation) => kinds[operation.kind]?.onEnd?.(operation),
  });
  const gate = new SigningGate({
    journal,
    mirror,
    log,
    now,
    reserveAddress: signer.address,
    history: deps.swap.historyOf(signer.address),
    transaction: deps.effects,
    balance: async () => (await chain.balance(0n)).lamports,
    isChainStalled: () => chain.agreement().stalledSince !== null,
    isNewerStorage: newerStorage !== undefined,
    hasLimits: areLimits(deps.limits) && typeof deps.swapsDisabled === 'boolean',
    isDisabled: (kind) => kind === 'swap' && deps.swapsDisabled,
  });
  const bounds = new CustodyBounds(deps.limits);
  const shared = {
    journal,
    storage,
    reserveAddress: signer.address,
    readBalance: createBalanceReader(chain, now),
    boundsOf: (kind: Kind) => bounds.of(kind),
    agenda: new Agenda(storage, now, log),
    now,
    log,
    contact: deps.contact,
  };
  const { within } = deps;
  const executor = new Executor({ ...shared, chain, signer, kinds, gate, assemble, within });
  const tools: ModuleTools = {
    ...shared,
    stopBeginning: (kind) => gate.stopBeginning(kind),
    drive: (id) => executor.drive(id),
    finish: (id, waitMs) => executor.finish(id, waitMs),
  };
  return { tools, newerStorage, gate, bounds, kinds, executor };
}

/** Everything that the custodian does, as called by the Durable Object. */
export class Custodian implements CustodianApi {
  readonly #deps: CustodyDeps;
  readonly #kernel: ReturnType<typeof openKernel>;
  readonly #background: Background;
  readonly #modules: Readonly<Record<string, CustodyModule>>;
  readonly #quotes: SwapQuotes;
  readonly #swaps: Swaps;
  readonly #tokens: Tokens | undefined;
  readonly #payments: Payments | undefined;
  readonly #mints: DailyMint | undefined;
  readonly #proofs: Proofs | undefined;
  readonly #asry: Asry | undefined;
  readonly #spendWatch: SpendWatch;

  constructor(platform: Storage, deps: CustodyDeps) {
    this.#deps = deps;
    const kernel = openKernel(platform, deps);
    this.#kernel = kernel;
    const { tools, gate, executor } = kernel;
    const { mirror, within } = deps;
    const { quoteBudgets, randomId } = deps;
    this.#quotes = new SwapQuotes(deps.swap, tools.journal, deps.now);
    const isKeyFailing = () => tools.agenda.isFailing(CRON, KEY_SERVICE);
    this.#swaps = new Swaps(tools, { quotes: this.#quotes, quoteBudgets, randomId, within, isKeyFailing });
    const { lookUp } = deps;
    this.#tokens = deps.payments && new Tokens(tools, deps.payments);
    this.#payments = this.#openPayments();
    this.#spendWatch = new SpendWatch(tools, this.#spendPorts());
    if (kernel.newerStorage === undefined) this.#spendWatch.endAfterKeyChange();
    this.#mints = deps.absr && new DailyMint(tools, deps.absr);
    this.#proofs =
      deps.proof &&
      new Proofs(tools, {
        ...deps.proof,
        stop: () => gate.stop('absr'),
        lastMintSlot: () => this.#mints?.lastSlot() ?? 0n,
      });
    this.#asry = deps.asry && new Asry(tools, { ...deps.asry, lookUp, within });
    const memory = tools.journal.getMeta(QUORUM_MEMORY);
    if (memory !== undefined) deps.chain.recall(memory);
    this.#modules = this.#composeModules();
    Object.assign(kernel.kinds, ...Object.values(this.#modules).map(({ kinds }) => kinds));
    this.#background = new Background({
      ...tools,
      mirror,
      chain: deps.chain,
      gate,
      executor,
      modules: this.#modules,
    });
  }

  #openPayments(): Payments | undefined {
    const { tools, bounds } = this.#kernel;
    const { payments } = this.#deps;
    if (!payments || !this.#tokens) return undefined;
    return new Payments(paymentContext(tools, payments, { products: this.#tokens.products, bounds }));
  }

  /** The modules of the configured areas, by the name that logs show. */
  #composeModules(): Record<string, CustodyModule> {
    const { tools } = this.#kernel;
    const { signer } = this.#deps;
    const swap = swapKind(this.#deps.swap, this.#quotes);
    const mirrored = () => Object.values(this.#modules).flatMap((module) => module.mirrored ?? []);
    return {
      swap: {
        kinds: { swap },
        onCron: () => this.#swaps.watchRefusal(),
        commands: { evidence: async (id) => swapEvidence(tools.journal, id) },
      },
      ...(this.#tokens ? { tokens: this.#tokens } : {}),
      ...(this.#asry ? { asry: this.#asry } : {}),
      spends: this.#spendWatch,
      payments: this.#payments ?? { commands: { refund: async () => NOTHING_OWED } },
      mirror: new Republishing(tools, {
        mirror: this.#deps.mirror,
        sources: mirrored,
        flush: () => this.#background.publish(),
      }),
      ...(signer.check ? { [KEY_SERVICE]: { onCron: signer.check } } : {}),
      ...(this.#mints ? { mint: this.#mints } : {}),
      ...(this.#proofs ? { proof: this.#proofs } : {}),
    };
  }

  createSwap(request: SwapRequest): Promise<SwapAnswer> {
    return this.#background.working(() => this.#swaps.create(request));
  }

  estimateSwap(request: EstimateRequest): Promise<SwapEstimate> {
    return this.#swaps.estimate(request);
  }

  swapRoom(): Promise<SwapRoom> {
    return this.#swaps.room();
  }

  async findSwap(signature: string): Promise<SwapView | null> {
    const operation = this.#kernel.tools.journal.bySignature(signature);
    return operation?.kind === 'swap' ? swapView(operation) : null;
  }

  openRequest(request: OpenRequest): Promise<RequestOpened> {
    return this.#background.verified(async () => {
      const payments = this.#configuredPayments();
      const refusalNow = await payments.readSale(request);
      const refusal = refusalNow();
      return refusal ? refused(refusal) : payments.open(request);
    });
  }

  async findRequest(id: string): Promise<RequestView | null> {
    const payments = this.#configuredPayments();
    if (payments.askFor(id)) await this.#background.rearm();
    const found = payments.find(id);
    // The caller reads the token from D1 next, so the outbox is flushed first.
    if (found?.status === 'completed' && this.#kernel.tools.journal.undeliveredSince() !== undefined)
      await this.#deps.within(this.#background.publish(), D1_FLUSH_TIMEOUT_MS);
    return found;
  }

  confirmPayment(request: ConfirmRequest): Promise<PaymentConfirmed> {
    return this.#background.verified(() => this.#configuredPayments().confirm(request));
  }

  proof(): Promise<ProofAnswer> {
    return this.#background.working(async () => this.#configuredProofs().proof());
  }

  draftProof(): Promise<ProofDraft> {
    return this.#background.working(async () => this.#configuredProofs().draft());
  }

  submitProof(signature: string): Promise<ProofAnswer> {
    return this.#background.working(async () => this.#configuredProofs().submit(signature));
  }

  async claimDeposit(request: ClaimRequest): Promise<ClaimAnswer> {
    const asry = configured(this.#asry, 'ASRY_MINT_ADDRESS');
    return this.#background.working(() => asry.claim(request));
  }

  async findClaim(signature: string): Promise<ClaimView | null> {
    return this.#asry?.find(signature) ?? null;
  }

  async listAsryEpochs(limit: number): Promise<AsryEpochView[]> {
    return this.#background.working(async () => (await this.#asry?.epochs(limit)) ?? []);
  }

  async previewMint(): Promise<MintPreview> {
    return configured(this.#mints, 'ABSR_MINT_ADDRESS').preview();
  }

  async listMints(limit: number): Promise<MintRow[]> {
    return this.#mints?.history(limit) ?? [];
  }

  probeNodes(): Promise<readonly NodeProbe[]> {
    return this.#deps.probeNodes();
  }

  async report(): Promise<CustodyReport> {
    const { bounds, tools } = this.#kernel;
    const { chain, openCircuits, release, swapsDisabled } = this.#deps;
    const signing = await this.signingState();
    return {
      ...custodyReport(this.#opsPorts(), bounds.limits),
      ...signing,
      release: release ?? null,
      swapsRefused: await this.#swaps.refusedSince(),
      unexplainedSpends: this.#spendWatch.spends(),
      lastWakeMs: tools.journal.getTime(WOKEN) || null,
      solana: chain.agreement(),
      openCircuits: openCircuits(),
      mint: this.#mints?.report() ?? null,
      quotes: this.#swaps.estimateQuotes(),
      bridgeFault: this.#quotes.fault(),
      // An operator's pause stops more than swaps, so it is reported first.
      paused: tools.journal.getMeta('paused') || (swapsDisabled ? 'disabled' : null),
    };
  }

  async operatorView(): Promise<OperatorView> {
    const { journal, storage, agenda } = this.#kernel.tools;
    return {
      lastRun: this.#background.lastRun(),
      open: openOperations(this.#kernel.tools),
      debts: Object.values(this.#modules).flatMap((module) => module.debts?.() ?? []),
      failing: agenda.failing(MOST_FAILING),
      recent: journal.happenedWithin(RECENT_MS, this.#deps.now()).map((what) => {
        const [event = '', ...about] = what.split(' ');
        return { event, about: about.join(' ') };
      }),
      solana: this.#deps.chain.agreement(),
      backlog: journal.backlog(),
      journalBytes: storage.bytes?.() ?? null,
    };
  }

  /** A new instance checks its journal first: until then it does not know whether it may sign. */
  async signingState(): Promise<SigningState> {
    const { gate, newerStorage, tools } = this.#kernel;
    await this.#deps.within(gate.verify(), VERIFY_TIMEOUT_MS);
    const frozen = frozenReason(tools.journal) ?? (gate.isVerified() ? null : 'unverified');
    return {
      watchOnly: this.#deps.proof?.signer.holdsBitcoinKey !== true,
      frozen: newerStorage === undefined ? frozen : 'storage_newer',
    };
  }

  async ops(command: OpsCommand): Promise<OpsAnswer> {
    const { gate, newerStorage, tools } = this.#kernel;
    if (newerStorage !== undefined) return { ok: false, message: newerStorage };
    // The check shows whether the journal has lost rows. Without the check, the commands that resolve a loss are
    // refused.
    await gate.verify();
    const answer = await runOps(this.#opsPorts(), command);
    await tools.storage.sync();
    await gate.verify();
    await this.#background.publish();
    return answer;
  }

  #spendPorts(): Omit<SpendPorts, 'isExplained'> {
    const { signer, swap, effects, watched } = this.#deps;
    return {
      reserveAddress: signer.address,
      watched,
      histories: [swap.historyOf(signer.address), ...watched.accounts.map(swap.historyOf)],
      transaction: effects,
    };
  }

  #opsPorts(): OpsPorts {
    const { tools } = this.#kernel;
    const { mirror, chain } = this.#deps;
    const modules = Object.values(this.#modules);
    return {
      ...tools,
      mirror,
      unfreeze: () =>
        endFreeze({
          ...tools,
          ...this.#spendPorts(),
          mirror,
          historyOf: this.#deps.swap.historyOf,
        }),
      beginAnew: (code) =>
        beginAnew(
          { ...tools, mirror, chain, sources: modules.flatMap((module) => module.mirrored ?? []) },
          code,
        ),
      command: (name, id) => {
        const act = modules.find(({ commands }) => commands?.[name])?.commands?.[name];
        return act && this.#background.working(() => act(id));
      },
    };
  }

  async wake(): Promise<void> {
    await this.#background.wake();
    const { gate, tools } = this.#kernel;
    if (gate.isVerified()) tools.journal.setTime(WOKEN, tools.now());
  }

  alarm(): Promise<void> {
    return this.#background.alarm();
  }

  #configuredPayments() {
    return configured(this.#payments, 'MINT_KEY_SEED');
  }

  #configuredProofs(): Proofs {
    return configured(this.#proofs, 'PUBLIC_BASE_URL');
  }
}

/** The module that `variable` switches on. @throws AppError NOT_CONFIGURED without it */
function configured<T>(module: T | undefined, variable: string): T {
  if (module === undefined) throw notConfigured([variable]);
  return module;
}

const NOTHING_OWED: OpsAnswer = {
  ok: false,
  message: 'Paid requests are not configured, so nothing is owed.',
};

/** `ms`: milliseconds since the operation began. */
const changeLine = (op: Operation, now: number) => ({
  level: 'info',
  event: 'operation_changed',
  operation: op.id,
  kind: op.kind,
  state: op.state,
  detail: op.detail,
  reason: reasonText(op.reason),
  lamports: op.amount,
  satoshis: op.outcome.btcSats,
  ms: now - op.createdAt,
});
