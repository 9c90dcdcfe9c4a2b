/**
 * Composes the custodian from its modules and the kernel, independent of the platform. All dependencies are
 * parameters, so the simulator runs the same code as the Durable Object.
 * @module
 */
import { notConfigured } from '../core/errors.ts';
import type { CustodianApi, SigningState } from './api.ts';
import { createClaims } from './asry/claims.ts';
import type { AsryPorts } from './asry/payout-operation.ts';
import { type CustodyLimits, createBudgets, createSaleCheck, NOTHING_SOLD } from './budgets.ts';
import { createBackground } from './kernel/background.ts';
import { type Begin, createBegin } from './kernel/begin-operation.ts';
import { type Assemble, createExecutor } from './kernel/executor.ts';
import { openJournal } from './kernel/journal.ts';
import { createSigningGate, frozenReason } from './kernel/journal-integrity.ts';
import type { CustodyModule, ModuleTools } from './kernel/module.ts';
import type { Kind, Operation, OperationKind } from './kernel/operation.ts';
import { custodyReport, runOps } from './kernel/operator-commands.ts';
import { createRepublishing } from './kernel/outbox.ts';
import type { Log, Mirror, Signer, Storage } from './kernel/ports.ts';
import { reconcile } from './kernel/reconcile.ts';
import { type ChainPort, createBalanceReader } from './kernel/solana-view.ts';
import { areLimits, coveredKind, type Sold } from './kernel/spending-limits.ts';
import { createPayments, type PaymentPorts } from './payments/payment-requests.ts';
import { type AbsrPorts, createDailyMint } from './reserve/daily-mint.ts';
import { createProofs, type ProofPorts, type Proofs } from './reserve/proof.ts';
import { swapView } from './swap/answer.ts';
import { createSwaps } from './swap/create-swap.ts';
import { createSwapKind, type SwapPorts } from './swap/operation.ts';
import { createTokens } from './tokens/token-store.ts';
import { openStorage } from './versioned-store.ts';

export type CustodyDeps = {
  readonly chain: ChainPort;
  readonly mirror: Mirror;
  readonly signer: Signer;
  readonly swap: SwapPorts;
  /** The kinds besides swaps that this instance supports. Rows of any other kind await the operator. */
  readonly kinds?: Partial<Record<Kind, OperationKind>>;
  /** Payment requests; absent if no treasury or mint seed is configured. */
  readonly payments?: Omit<PaymentPorts, 'maxRefundsDay' | 'latestBlockhash'>;
  /** The daily mint; absent if no mint is configured. */
  readonly absr?: AbsrPorts;
  /** Rewards for deposits; absent if no ASRY mint is configured. */
  readonly asry?: AsryPorts;
  /** The ownership proof; absent if the service has no public name. */
  readonly proof?: Omit<ProofPorts, 'stop'>;
  readonly limits: CustodyLimits;
  readonly swapsDisabled: boolean;
  readonly maxCreatesPerClientHour: number;
  readonly assemble: Assemble;
  readonly now: () => number;
  readonly randomId: () => string;
  readonly within: <T>(work: Promise<T>, ms: number) => Promise<T | undefined>;
  readonly log: Log;
};

/** Longest wait for D1 to accept the outbox before a finished request is returned. */
const D1_FLUSH_TIMEOUT_MS = 2_000;

export type Custody = CustodianApi & { alarm(): Promise<void> };

type Kernel = ReturnType<typeof composeKernel>;

/** @param sold the sales that the modules have made; not called before they exist */
function composeKernel(platform: Storage, d: CustodyDeps, sold: () => Sold) {
  const { now, log } = d;
  const { storage, refusal: newerStorage } = openStorage(platform, log);
  const journal = openJournal(storage, (operation) => log(changeLine(operation, now())));
  const gate = createSigningGate({
    journal,
    mirror: d.mirror,
    log,
    now,
    reserveAddress: d.signer.address,
    history: d.swap.history,
    transaction: d.swap.transaction,
    balance: async () => (await d.chain.balance(0n)).lamports,
    isNewerStorage: newerStorage !== undefined,
    hasLimits: areLimits(d.limits) && typeof d.swapsDisabled === 'boolean',
    isDisabled: (kind) => kind === 'swap' && d.swapsDisabled,
  });
  const readBalance = createBalanceReader(d.chain, now);
  const budgets = createBudgets(d.limits, sold);

  /**
   * The modules fill this table. They begin operations through the executor, which reads every module's kinds.
   */
  const kinds: Record<Kind, OperationKind | undefined> = {};
  const executor = createExecutor({
    journal,
    storage,
    chain: d.chain,
    signer: d.signer,
    kinds,
    budgetOf: budgets.of,
    now,
    log,
    isVerified: gate.isVerified,
    stop: gate.stop,
    assemble: d.assemble,
  });
  const insert = createBegin({
    journal,
    storage,
    readBalance,
    now,
    stop: gate.stopBeginning,
    budgetOf: budgets.of,
  });
  const begin: Begin = async (kind, id, decide) => {
    const begun = await insert(kind, id, decide);
    if (begun.type === 'begun') await executor.drive(id);
    return begun;
  };
  const tools: ModuleTools = { journal, storage, now, log, begin };
  return { tools, newerStorage, gate, readBalance, budgets, kinds, executor };
}

/** The modules of the configured areas. Their kinds are entered in the kernel's table. */
function composeModules({ tools, gate, readBalance, budgets, kinds, executor }: Kernel, d: CustodyDeps) {
  const { journal, storage, now } = tools;
  const swaps = createSwaps({
    journal,
    storage,
    readBalance,
    executor,
    quotes: d.swap,
    budget: budgets.of('swap'),
    maxCreatesPerClientHour: d.maxCreatesPerClientHour,
    now,
    randomId: d.randomId,
    stop: () => gate.stopBeginning('swap'),
    within: d.within,
  });
  const payments =
    d.payments &&
    createPayments(tools, {
      ...d.payments,
      latestBlockhash: d.swap.latestBlockhash,
      maxRefundsDay: d.limits.maxRefundsDay,
      tokens: createTokens(tools),
      drive: (id) => executor.drive(id),
    });
  const mints = d.absr && createDailyMint(tools, d.absr);
  const proofs =
    d.proof &&
    createProofs(tools, {
      ...d.proof,
      stop: () => gate.stop('absr'),
    });
  const claims =
    d.asry &&
    createClaims(tools, {
      ...d.asry,
      stop: () => gate.stopBeginning('asry'),
      within: d.within,
    });
  const { token } = d.kinds ?? {};

  const modules: Readonly<Record<string, CustodyModule>> = {
    given: { ...(d.kinds ? { kinds: d.kinds } : {}) },
    swap: { kinds: { swap: createSwapKind(d.swap) } },
    ...(token
      ? {
          tokens: {
            kinds: { token: coveredKind(token, { journal, budget: budgets.of('token'), readBalance, now }) },
          },
        }
      : {}),
    ...(claims ? { asry: claims } : {}),
    payments: payments ?? {
      commands: {
        refund: async () => ({ ok: false, message: 'Paid requests are not configured, so nothing is owed.' }),
      },
    },
    mirror: createRepublishing(tools, d.mirror, () =>
      Object.values(modules).flatMap(({ mirrored }) => mirrored ?? []),
    ),
    ...(mints ? { mint: mints } : {}),
    ...(proofs ? { proof: proofs } : {}),
  };
  Object.assign(kinds, ...Object.values(modules).map((module) => module.kinds));
  return { modules, swaps, payments, mints, proofs, claims };
}

/** Callers cannot reach `begin`: only the custodian's own verbs decide which operation may begin. */
export function createCustodian(platform: Storage, d: CustodyDeps): Custody & { readonly begin: Begin } {
  const kernel = composeKernel(platform, d, () => payments?.sold() ?? NOTHING_SOLD);
  const { modules, swaps, payments, mints, proofs, claims } = composeModules(kernel, d);
  const { gate, newerStorage, executor, budgets } = kernel;
  const { journal, storage, now, log, begin } = kernel.tools;
  const all = Object.values(modules);
  const held = all.flatMap((module) => module.held ?? []);
  const saleRefusal = createSaleCheck({
    budgets,
    journal,
    readBalance: kernel.readBalance,
    creationCost: d.payments?.creationCost,
    now,
  });
  const background = createBackground({
    journal,
    storage,
    mirror: d.mirror,
    chain: d.chain,
    gate,
    executor,
    modules,
    now,
    log,
  });
  const { working, verified, publish, rearm } = background;
  const signingState = (): SigningState => ({
    watchOnly: d.proof?.signer.holdsBitcoinKey !== true,
    frozen: newerStorage === undefined ? (frozenReason(journal) ?? null) : 'storage_newer',
  });
  const paying = () => configured(payments, 'MINT_KEY_SEED');
  const claiming = () => configured(claims, 'ASRY_MINT_ADDRESS');
  const proving = <T>(work: (proofs: Proofs) => Promise<T>): Promise<T> =>
    working(async () => work(configured(proofs, 'PUBLIC_BASE_URL')));

  return {
    async createSwap(request) {
      const ask = () => working(() => swaps.createSwap(request));
      const first = await ask();
      // Another call with the same key may have begun a swap during the wait; both calls then return that
      // swap.
      const last = 'type' in first || !swaps.knows(request) ? first : await ask();
      return 'type' in last ? last : { type: 'refused', replayed: false, refusal: last };
    },
    previewSwap: (request) => swaps.previewSwap(request),
    swapRoom: () => swaps.swapRoom(),
    async findSwap(signature) {
      const operation = journal.bySignature(signature);
      return operation?.kind === 'swap' ? swapView(operation) : null;
    },

    begin: (kind, id, decide) => working(() => begin(kind, id, decide)),

    openRequest: (request) =>
      verified(async () => {
        const payments = paying();
        const refusal = await saleRefusal(request);
        return refusal ? { type: 'refused', refusal } : payments.open(request);
      }),
    async findRequest(id) {
      if (payments?.askFor(id)) await rearm();
      const found = paying().find(id);
      // The caller reads the token from D1 next, so the outbox is flushed first.
      if (found?.status === 'completed' && journal.undeliveredSince() !== undefined)
        await d.within(publish(), D1_FLUSH_TIMEOUT_MS);
      return found;
    },
    confirmPayment: (request) => verified(() => paying().confirm(request, d.within)),

    proof: () => proving((proofs) => proofs.proof()),
    draftProof: () => proving((proofs) => proofs.draft()),
    submitProof: (signature) => proving((proofs) => proofs.submit(signature)),

    claimDeposit: async (request) =>
      (await claiming().storedAnswer(request)) ?? working(() => claiming().claim(request)),
    findClaim: async (signature) => claims?.find(signature) ?? null,
    async listAsryEpochs(limit) {
      await gate.verify();
      return claims?.openEpochs(limit) ?? working(async () => claims?.epochs(limit) ?? []);
    },

    previewMint: async () => configured(mints, 'ABSR_MINT_ADDRESS').preview(),
    listMints: async (limit) => mints?.history(limit) ?? [],

    async report() {
      const report = custodyReport({
        ...d,
        journal,
        held,
        budgets: budgets.all,
        mint: mints?.report() ?? null,
      });
      return { ...report, ...signingState() };
    },
    signingState: async () => signingState(),

    async ops(command) {
      if (newerStorage !== undefined) return { ok: false, message: newerStorage };
      // The check must find a suspect journal before the operator can resolve it.
      await gate.verify();
      const answer = await runOps(
        {
          journal,
          storage,
          mirror: d.mirror,
          held,
          rulesOf: (kind) => kernel.kinds[kind]?.rules,
          now,
          isVerified: gate.isVerified,
          command(name, id) {
            const act = all.find(({ commands }) => commands?.[name])?.commands?.[name];
            return act && working(() => act(id));
          },
          reconcile: () =>
            reconcile({
              journal,
              storage,
              mirror: d.mirror,
              reserveAddress: d.signer.address,
              history: d.swap.history,
              transaction: d.swap.transaction,
              modules: all,
              now,
            }),
        },
        command,
      );
      await storage.sync();
      await gate.verify();
      await publish();
      return answer;
    },

    async wake() {
      await Promise.all([background.wake(), d.signer.check?.()]);
    },
    alarm: background.alarm,
  };
}

/** The module that `variable` switches on. @throws AppError NOT_CONFIGURED without it */
function configured<T>(module: T | undefined, variable: string): T {
  if (module === undefined) throw notConfigured([variable]);
  return module;
}

/** `ms`: milliseconds since the operation began. */
const changeLine = (op: Operation, now: number) => ({
  level: 'info',
  event: 'operation_changed',
  operation: op.id,
  kind: op.kind,
  state: op.state,
  detail: op.detail,
  reason: op.reason,
  lamports: op.amount,
  satoshis: op.outcome.btcSats,
  ms: now - op.createdAt,
});
