/**
 * Composes the custodian from its modules and the kernel, independent of the platform.
 * @module
 */
import { notConfigured } from '../core/errors.ts';
import type { CustodianApi } from './api.ts';
import { Asry } from './asry/asry.ts';
import { claimDeposit, findClaim } from './asry/claim.ts';
import type { CustodyDeps } from './dependencies.ts';
import { Agenda } from './kernel/agenda.ts';
import { Background, CRON, QUORUM_MEMORY } from './kernel/background.ts';
import { createBalanceReader } from './kernel/begin-operation.ts';
import { Executor } from './kernel/executor.ts';
import { Journal } from './kernel/journal.ts';
import { isSuspect, SigningGate } from './kernel/journal-integrity.ts';
import type { CustodyModule, ModuleTools } from './kernel/module.ts';
import type { Kind, Operation, OperationKind } from './kernel/operation.ts';
import { timelyMirror } from './kernel/outbox.ts';
import type { Storage } from './kernel/ports.ts';
import { reasonText } from './kernel/reason.ts';
import { areLimits } from './kernel/spending-limits.ts';
import { CustodyBounds } from './limits.ts';
import { Operator, spendPortsOf, WOKEN } from './operator.ts';
import type { OpsAnswer } from './operator-api.ts';
import { confirmPayment } from './payments/confirm.ts';
import { Payments } from './payments/payments.ts';
import { operationSource } from './recovery/begin-anew.ts';
import { Republishing } from './recovery/republish.ts';
import { SpendWatch } from './recovery/spend-watch.ts';
import { DailyMint } from './reserve/daily-mint.ts';
import { Proofs } from './reserve/proof.ts';
import { Swaps } from './swap/create-swap.ts';
import { EstimateQuotes } from './swap/estimate-quotes.ts';
import { swapEvidence } from './swap/evidence.ts';
import { swapKind } from './swap/operation.ts';
import { SwapQuotas } from './swap/quota-store.ts';
import { Room } from './swap/room.ts';
import { SwapQuotes } from './swap/swap-quotes.ts';
import { swapView } from './swap/swap-view.ts';
import { Tokens } from './tokens/products.ts';
import { openStorage } from './versioned-store.ts';

/** Maximum wait for D1 to accept the outbox before a completed request is returned. */
const D1_FLUSH_TIMEOUT_MS = 2_000;

const KEY_SERVICE = 'key_service';

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
    height: (commitment) => chain.height(commitment),
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
    isVerified: () => gate.isVerified(),
    stopBeginning: (kind) => gate.stopBeginning(kind),
    drive: (id) => executor.drive(id),
    finish: (id, waitMs) => executor.finish(id, waitMs),
  };
  return { tools, newerStorage, gate, bounds, kinds, executor };
}

function openSwaps(tools: ModuleTools, deps: CustodyDeps) {
  const { now, quoteBudgets, randomId, within } = deps;
  const quotes = new SwapQuotes(deps.swap, tools.journal, now);
  const quotas = new SwapQuotas(tools.storage, now, quoteBudgets);
  const estimates = new EstimateQuotes({ quotes, quotas, now });
  const isKeyFailing = () => tools.agenda.isFailing(CRON, KEY_SERVICE);
  const { recentBlockhash } = deps.swap;
  const ports = { quotes, quotas, estimates, randomId, within, recentBlockhash, isKeyFailing };
  const verbs = new Swaps(tools, ports);
  const room = new Room(tools, { quotes, quotas, estimates, isKeyFailing });
  const module: CustodyModule = {
    kinds: { swap: swapKind(deps.swap, quotes) },
    async onCron() {
      quotas.purge();
      await room.watchRefusal();
    },
    commands: { evidence: async (id) => swapEvidence(tools.journal, id) },
  };
  return { quotes, quotas, verbs, room, module };
}

export class Custodian implements CustodianApi {
  readonly #deps: CustodyDeps;
  readonly #kernel: ReturnType<typeof openKernel>;
  readonly #background: Background;
  readonly #operator: Operator;
  readonly #swaps: ReturnType<typeof openSwaps>;
  readonly #payments: Payments | undefined;
  readonly #mints: DailyMint | undefined;
  readonly #proofs: Proofs | undefined;
  readonly #asry: Asry | undefined;

  constructor(platform: Storage, given: CustodyDeps) {
    const deps = { ...given, mirror: timelyMirror(given.mirror, given.within) };
    this.#deps = deps;
    const kernel = openKernel(platform, deps);
    this.#kernel = kernel;
    const { tools, gate } = kernel;
    const { chain, lookUp, mirror, signer, within } = deps;
    this.#swaps = openSwaps(tools, deps);
    const tokens = deps.payments && new Tokens(tools, deps.payments);
    this.#payments =
      deps.payments &&
      tokens &&
      new Payments(tools, deps.payments, { products: tokens.products, bounds: kernel.bounds });
    const spendWatch = new SpendWatch(tools, spendPortsOf(deps));
    if (kernel.newerStorage === undefined) spendWatch.endAfterKeyChange();
    const mints = deps.absr && new DailyMint(tools, deps.absr);
    this.#mints = mints;
    const lastMintSlot = () => mints?.lastSlot() ?? 0n;
    this.#proofs =
      deps.proof && new Proofs(tools, { ...deps.proof, stop: () => gate.stop('absr'), lastMintSlot });
    this.#asry = deps.asry && new Asry(tools, { ...deps.asry, lookUp, within });
    const memory = tools.journal.getMeta(QUORUM_MEMORY);
    if (memory !== undefined) chain.recall(memory);
    const flush = () => this.#background.publish();
    const sources = () => Object.values(modules).flatMap(({ mirrored = [] }) => mirrored);
    const modules: Record<string, CustodyModule> = {
      operations: { mirrored: [operationSource(tools)] },
      swap: this.#swaps.module,
      ...(tokens ? { tokens } : {}),
      ...(this.#asry ? { asry: this.#asry } : {}),
      spends: spendWatch,
      payments: this.#payments ?? { commands: { refund: async () => NOTHING_OWED } },
      mirror: new Republishing(tools, { mirror, sources, flush }),
      ...(signer.check ? { [KEY_SERVICE]: { onCron: signer.check } } : {}),
      ...(mints ? { mint: mints } : {}),
      ...(this.#proofs ? { proof: this.#proofs } : {}),
    };
    Object.assign(kernel.kinds, ...Object.values(modules).map(({ kinds }) => kinds));
    this.#background = new Background({ ...tools, ...kernel, mirror, chain, modules });
    const background = this.#background;
    this.#operator = new Operator({
      ...kernel,
      ...this.#swaps,
      deps,
      background,
      modules,
      mints,
      spendWatch,
    });
  }

  readonly createSwap: CustodianApi['createSwap'] = (request) =>
    this.#background.working(() => this.#swaps.verbs.create(request));

  readonly estimateSwap: CustodianApi['estimateSwap'] = (request) => this.#swaps.verbs.estimate(request);

  readonly swapRoom: CustodianApi['swapRoom'] = () => this.#swaps.room.read();

  readonly findSwap: CustodianApi['findSwap'] = async (signature) => {
    const operation = this.#shownJournal().bySignature(signature);
    return operation?.kind === 'swap' ? swapView(operation) : null;
  };

  readonly openRequest: CustodianApi['openRequest'] = (request) =>
    this.#background.verified(async () => this.#configuredPayments().open(request));

  readonly findRequest: CustodianApi['findRequest'] = async (id) => {
    const payments = this.#configuredPayments();
    this.#shownJournal();
    if (this.#kernel.gate.isVerified() && payments.askFor(id)) await this.#background.rearm();
    const found = payments.find(id);
    // The caller reads the token from D1 next, so the outbox is flushed before the response.
    if (found?.status === 'completed' && this.#kernel.tools.journal.queue.undeliveredSince() !== undefined)
      await this.#deps.within(this.#background.publish(), D1_FLUSH_TIMEOUT_MS);
    return found;
  };

  readonly confirmPayment: CustodianApi['confirmPayment'] = (request) =>
    this.#background.verified(async () => confirmPayment(this.#configuredPayments().context, request));

  readonly proof: CustodianApi['proof'] = () =>
    this.#background.working(async () => this.#configuredProofs().proof());

  readonly draftProof: CustodianApi['draftProof'] = () =>
    this.#background.working(async () => this.#configuredProofs().draft());

  readonly submitProof: CustodianApi['submitProof'] = (signature) =>
    this.#background.working(async () => this.#configuredProofs().submit(signature));

  readonly claimDeposit: CustodianApi['claimDeposit'] = async (request) => {
    const { context } = configured(this.#asry, 'ASRY_MINT_ADDRESS');
    return this.#background.working(() => claimDeposit(context, request));
  };

  readonly findClaim: CustodianApi['findClaim'] = async (signature) => {
    this.#shownJournal();
    return this.#asry ? findClaim(this.#asry.context, signature) : null;
  };

  readonly listAsryEpochs: CustodianApi['listAsryEpochs'] = (limit) =>
    this.#background.working(async () => {
      this.#shownJournal();
      // An unverified journal may lack epochs that D1 has. An epoch that this read created again would overwrite them.
      if (this.#kernel.gate.isVerified()) await this.#asry?.onCron();
      return this.#asry?.epochs(limit) ?? [];
    });

  readonly previewMint: CustodianApi['previewMint'] = async () => {
    this.#shownJournal();
    return configured(this.#mints, 'ABSR_MINT_ADDRESS').preview();
  };

  readonly listMints: CustodianApi['listMints'] = async (limit) => {
    this.#shownJournal();
    return this.#mints?.history(limit) ?? [];
  };

  readonly probeNodes: CustodianApi['probeNodes'] = () => this.#deps.probeNodes();

  readonly report: CustodianApi['report'] = () => this.#operator.report();

  readonly operatorView: CustodianApi['operatorView'] = async () => this.#operator.view();

  readonly signingState: CustodianApi['signingState'] = () => this.#operator.signingState();

  readonly ops: CustodianApi['ops'] = (command) => this.#operator.perform(command);

  async wake(): Promise<void> {
    await this.#background.wake();
    const { gate, tools } = this.#kernel;
    if (gate.isVerified()) tools.journal.setTime(WOKEN, tools.now());
  }

  alarm(): Promise<void> {
    return this.#background.alarm();
  }

  /** @throws while the journal lacks rows that D1 has: a paid request would otherwise show as unpaid */
  #shownJournal(): Journal {
    const { journal } = this.#kernel.tools;
    if (isSuspect(journal)) throw new Error('the journal has lost rows');
    return journal;
  }

  #configuredPayments(): Payments {
    return configured(this.#payments, 'MINT_KEY_SEED');
  }

  #configuredProofs(): Proofs {
    return configured(this.#proofs, 'PUBLIC_BASE_URL');
  }
}

/** The module that `variable` enables. @throws AppError NOT_CONFIGURED if the variable is not set */
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
