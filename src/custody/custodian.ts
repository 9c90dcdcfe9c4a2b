/**
 * The whole custodian without its platform: its calls and its alarm over the journal, the machine and the driver.
 * Everything comes from outside, so the simulator drives the same code as the Durable Object.
 * @module
 */
import { lamports } from '../core/amount.ts';
import { failureReason } from '../providers/solana-rpc.ts';
import type { CustodianApi, OpenRequest, Refusal } from './api.ts';
import { createAsryDesk } from './asry/claims.ts';
import { createAsryKind } from './asry/payout-operation.ts';
import { recognizePayout } from './asry/recovery.ts';
import { createBudgets } from './budgets.ts';
import type { CustodyDeps } from './custody-deps.ts';
import { createBalanceReader } from './kernel/balance-reader.ts';
import { type Begin, createBegin } from './kernel/begin-operation.ts';
import { coveredKind } from './kernel/covered-kind.ts';
import { type Desk, type DeskTools, desk } from './kernel/desk.ts';
import { createDriver } from './kernel/executor.ts';
import { openJournal } from './kernel/journal.ts';
import { createTrust, frozenReason, isDoubted } from './kernel/journal-integrity.ts';
import type { KindDriver } from './kernel/kind.ts';
import type { Kind } from './kernel/operation.ts';
import { runOps } from './kernel/operator-commands.ts';
import { flushOutbox } from './kernel/outbox.ts';
import type { Storage } from './kernel/ports.ts';
import { reconcile } from './kernel/reconcile.ts';
import { spendingRefusal, upstreamRefusal } from './kernel/refusals.ts';
import { custodyReport } from './kernel/report.ts';
import { areLimits, checkIntent } from './kernel/spending-limits.ts';
import { createPaymentDesk } from './payments/payment-requests.ts';
import { createRefundKind } from './payments/refund-operation.ts';
import { UPGRADEABLE } from './policy/instructions.ts';
import { overheadOf } from './policy/terms.ts';
import { createMintDesk, earlierIn } from './reserve/daily-mint.ts';
import { createAbsrKind } from './reserve/mint-operation.ts';
import { archivedProof, createProofDesk, type ProofDesk } from './reserve/proof.ts';
import { swapView } from './swap/answer.ts';
import { createSwapIntake } from './swap/create-swap.ts';
import { createSwapKind, type SwapPorts } from './swap/operation.ts';
import { forgetPrograms, programMemory } from './swap/program-memory.ts';
import { recoveredSwap } from './swap/recovery.ts';
import { createScreenForeign } from './swap/third-party-payment.ts';
import { openStorage } from './versioned-store.ts';

/** Operations of one alarm: each asks two nodes up to four things, and a run may make 40 calls. */
const DUE_PER_ALARM = 5;
/** Set before an alarm does anything: a run that dies is repeated after this. */
const SAFETY_MS = 30_000;
/** Between tries while D1 does not take the outbox. */
const MIRROR_RETRY_MS = 5_000;
/** With changes undelivered for longer, nothing new is begun, because no caller could read it. */
const MIRROR_PATIENCE_MS = 60_000;
/** Longest wait of a read of a finished request for D1 to take the outbox. */
const SHOWN_MS = 2_000;
const FLOAT_SPENT: Refusal = {
  code: 'SPENDING_LIMIT_REACHED',
  message:
    'The reserve has not enough SOL for another token creation beside those already sold. Nothing was charged.',
  // Open requests expire after half an hour.
  retryAfterSeconds: 600,
  details: { limit: 'operating_float' },
};
/** Smallest distance of an alarm from now. */
const SOON_MS = 20;

export type Custody = CustodianApi & { alarm(): Promise<void> };

/** `begin` stays inside the object: what may begin is decided by the verbs around it, never by a caller. */
export function createCustodian(platform: Storage, d: CustodyDeps): Custody & { readonly begin: Begin } {
  const { now, log } = d;
  const { storage, refusal: newerStorage } = openStorage(platform, log);
  const journal = openJournal(storage);
  const trust = createTrust({
    journal,
    mirror: d.mirror,
    log,
    now,
    reserveAddress: d.signer.address,
    reserveSignatures: ({ limit }) => d.swap.reserveSignatures({ limit }),
    signersOf: async (signature) => (await d.swap.transaction(signature))?.signers ?? null,
  });
  const isTrusted = (): boolean => newerStorage === undefined && trust.isTrusted();
  /** A journal of a newer release is never compared: to freeze it would write. */
  const verify = async (): Promise<void> => {
    if (newerStorage === undefined) await trust.verify();
  };

  /** Why nothing may be signed, as far as this instance knows without asking anyone. */
  function stop(kind: Kind): string | undefined {
    if (newerStorage !== undefined) return 'stopped_storage_newer';
    if (!areLimits(d.limits) || typeof d.swapsDisabled !== 'boolean') return 'stopped_misconfigured';
    const frozen = frozenReason(journal);
    if (frozen) return `stopped_${frozen}`;
    if (!isTrusted()) return 'stopped_unverified';
    const paused = d.swapsDisabled && kind === 'swap' ? 'disabled' : journal.getMeta('paused');
    return paused ? `stopped_${paused}` : undefined;
  }

  /** Why nothing of a kind may begin now. */
  async function stopBeginning(kind: Kind): Promise<string | undefined> {
    await verify();
    const why = stop(kind)?.slice('stopped_'.length);
    if (why) return why;
    const since = journal.undeliveredSince();
    return since !== undefined && now() - since > MIRROR_PATIENCE_MS ? 'database_unavailable' : undefined;
  }

  const swap: SwapPorts = {
    ...d.swap,
    ...(d.foreign
      ? {
          screen: createScreenForeign(d.foreign, programMemory(journal)),
          overhead: overheadOf(d.foreign.desk.limits),
        }
      : {}),
  };

  const refundKind = (ports: NonNullable<CustodyDeps['payments']>) =>
    createRefundKind({
      ...ports,
      reserveAddress: d.signer.address,
      latestBlockhash: d.swap.latestBlockhash,
    });

  const budgets = createBudgets(d.limits, () => payments?.sold() ?? { paid: 0n, open: 0n });

  const readBalance = createBalanceReader(d.chain, now);

  const { token } = d.kinds ?? {};
  const kinds: Readonly<Record<Kind, KindDriver | undefined>> = {
    ...d.kinds,
    ...(token
      ? { token: coveredKind(token, { journal, budget: budgets.of('token'), readBalance, now }) }
      : {}),
    swap: createSwapKind(swap),
    ...(d.absr ? { absr: createAbsrKind(d.absr, earlierIn(journal)) } : {}),
    ...(d.asry ? { asry: createAsryKind(d.asry) } : {}),
    ...(d.payments ? { refund: refundKind(d.payments) } : {}),
  };

  const driver = createDriver({
    journal,
    storage,
    chain: d.chain,
    signer: d.signer,
    kinds,
    budgetOf: budgets.of,
    now,
    log,
    isTrusted,
    stop,
    assemble: d.assemble,
  });

  const intake = createSwapIntake({
    journal,
    storage,
    readBalance,
    driver,
    quotes: swap,
    budget: budgets.of('swap'),
    maxCreatesPerClientHour: d.maxCreatesPerClientHour,
    now,
    randomId: d.randomId,
    stop: () => stopBeginning('swap'),
    within: d.within,
  });

  const insert = createBegin({
    journal,
    storage,
    readBalance,
    now,
    stop: stopBeginning,
    budgetOf: budgets.of,
  });
  const begin: Begin = async (kind, id, decide) => {
    const begun = await insert(kind, id, decide);
    if (begun.type === 'begun') await driver.drive(id);
    return begun;
  };

  const tools: DeskTools = {
    journal,
    storage,
    now,
    log,
    begin,
  };
  const payments =
    d.payments &&
    createPaymentDesk(tools, {
      ...d.payments,
      maxRefundsDay: d.limits.maxRefundsDay,
      mirror: d.mirror,
      drive: (id) => driver.drive(id),
    });
  const mints = d.absr && createMintDesk(tools, d.absr);
  const proofs =
    d.proof &&
    createProofDesk(tools, {
      ...d.proof,
      archived: () => archivedProof(d.mirror),
      stop: () => stop('absr'),
    });
  const claims =
    d.asry &&
    createAsryDesk(tools, {
      ...d.asry,
      mirror: d.mirror,
      stop: () => stopBeginning('asry'),
      within: d.within,
    });
  const restored = [payments, claims].filter((each) => each !== undefined);
  const desks: Desk[] = [payments, claims].filter((each) => each !== undefined);

  /** A desk that fails keeps the others going; its work is stored and runs again. */
  async function runDesks(): Promise<void> {
    for (const desk of desks) {
      if ((desk.nextAt() ?? Number.POSITIVE_INFINITY) > now()) continue;
      await desk.run().catch((error: unknown) => {
        log({ level: 'warn', event: 'desk_failed', reason: failureReason(error) });
      });
    }
  }

  /** What is due by the clock and not by a stored row. One that fails keeps none of the others. */
  async function ticked(name: string, area: { tick(): Promise<void> } | undefined): Promise<void> {
    await area?.tick().catch((error: unknown) => {
      log({ level: 'warn', event: 'tick_failed', area: name, reason: failureReason(error) });
    });
  }

  /** When an alarm last ended. */
  let ranAt = 0;

  /** Wakes this object for what is stored, and at `latest` at the latest, whatever alarm was set or lost before. */
  async function rearm(latest = Number.POSITIVE_INFINITY): Promise<void> {
    const undelivered = journal.undeliveredSince() === undefined ? undefined : now() + MIRROR_RETRY_MS;
    const stored = [journal.nextDue(now()), undelivered, ...desks.map((desk) => desk.nextAt())];
    const unverified = isDoubted(journal) ? [] : [now() + MIRROR_RETRY_MS];
    const next = Math.min(
      latest,
      ...(isTrusted() ? stored : unverified).map((at) => at ?? Number.POSITIVE_INFINITY),
    );
    // Counted from the last run, not from now: calls that never cease must not put the alarm off for ever.
    const soonest = Math.min(ranAt, now()) + SOON_MS;
    await storage.setAlarm(Number.isFinite(next) ? Math.max(next, soonest) : null);
  }

  /** D1 first, then the alarm: a caller who was answered finds its row. */
  async function publish(): Promise<void> {
    // What the mirror holds is what a doubted journal is rebuilt from.
    if (isTrusted()) await flushOutbox(journal, storage, d.mirror, log);
    await rearm();
  }

  /** Does work that leaves something to do. Should this instance die on the way, the alarm finds it. */
  async function working<T>(work: () => Promise<T>): Promise<T> {
    await verify();
    await rearm(now() + SAFETY_MS);
    try {
      return await work();
    } finally {
      await publish();
    }
  }

  /** Work that uses something up. @throws while the journal may not be the true one */
  const verified = <T>(work: () => Promise<T>): Promise<T> =>
    working(async () => {
      if (!isTrusted()) throw new Error('the journal is not known to be the true one');
      return work();
    });

  /** Why a creation cannot be sold now. A listing costs the reserve nothing. */
  async function saleRefusal({ kind, subject }: OpenRequest): Promise<Refusal | undefined> {
    if (!d.payments || kind !== 'token') return undefined;
    const reserved = lamports(d.payments.creationCost(subject));
    try {
      const balance = await readBalance(journal.releasedSlot());
      const budget = { ...budgets.of(kind), keeps: budgets.keptBySale };
      const operations = journal.counting(now());
      const verdict = checkIntent({
        budget,
        amount: lamports(0n),
        reserved,
        balance,
        operations,
        now: now(),
      });
      if (verdict.ok) return undefined;
      return verdict.code === 'INSUFFICIENT_BALANCE' ? FLOAT_SPENT : spendingRefusal(verdict, now());
    } catch (error) {
      return upstreamRefusal(`upstream_${failureReason(error)}`);
    }
  }

  const proving = <T>(work: (proofs: ProofDesk) => Promise<T>): Promise<T> =>
    working(async () => work(desk(proofs)));

  return {
    async createSwap(request) {
      const ask = () => working(() => intake.createSwap(request));
      const first = await ask();
      // A call with the same key may have begun a swap while this one waited, up to the last await: both tell of it.
      const last = 'type' in first || !intake.knows(request) ? first : await ask();
      return 'type' in last ? last : { type: 'refused', replayed: false, refusal: last };
    },

    begin: (kind, id, decide) => working(() => tools.begin(kind, id, decide)),

    openRequest: (request) =>
      verified(async () => {
        const refusal = await saleRefusal(request);
        return refusal ? { type: 'refused', refusal } : desk(payments).open(request);
      }),
    async findRequest(id) {
      const found = desk(payments).find(id);
      // The caller reads the token from D1 next, so the outbox is flushed first.
      if (found?.status === 'completed' && journal.undeliveredSince() !== undefined)
        await d.within(publish(), SHOWN_MS);
      return found;
    },
    confirmPayment: (request) => verified(() => desk(payments).confirm(request, d.within)),

    proof: () => proving((proofs) => proofs.proof()),
    draftProof: () => proving((proofs) => proofs.draft()),
    submitProof: (signature) => proving((proofs) => proofs.submit(signature)),
    claimDeposit: async (request) =>
      (await desk(claims).told(request)) ?? working(() => desk(claims).claim(request)),
    findClaim: async (signature) => claims?.find(signature) ?? null,
    async listAsryEpochs(limit) {
      await verify();
      return claims?.openEpochs(limit) ?? working(async () => claims?.epochs(limit) ?? []);
    },
    previewMint: async () => desk(mints).preview(),
    listMints: async (limit) => mints?.history(limit) ?? [],

    previewSwap: (request) => intake.previewSwap(request),
    swapRoom: () => intake.swapRoom(),

    async findSwap(signature) {
      const operation = journal.bySignature(signature);
      return operation?.kind === 'swap' ? swapView(operation) : null;
    },

    async report() {
      const report = custodyReport({ ...d, journal, budgets: budgets.all, mint: mints?.report() ?? null });
      return newerStorage === undefined ? report : { ...report, frozen: 'storage_newer' };
    },

    async ops(command) {
      if (newerStorage !== undefined) return { ok: false, message: newerStorage };
      // What is in doubt must be known to be so before it is mended.
      await verify();
      const answer = await runOps(
        {
          journal,
          now,
          isTrusted,
          commands: {
            refund: async (id) =>
              payments
                ? working(() => payments.refund(id))
                : { ok: false, message: 'Paid requests are not configured, so nothing is owed.' },
            'trust-programs': async () => {
              forgetPrograms(journal, UPGRADEABLE);
              const message = 'The programs of the LI.FI route are trusted as they are deployed now.';
              return { ok: true, message };
            },
          },
          reconcile: async () => {
            const done = await reconcile({
              journal,
              storage,
              mirror: d.mirror,
              reserveAddress: d.signer.address,
              reserveSignatures: d.swap.reserveSignatures,
              transaction: d.swap.transaction,
              provesItself: (kind) => kinds[kind]?.rules.provesItself === true,
              adopt: (transaction, now) => recoveredSwap(transaction, d.signer.address, now),
              recognize: (transaction, memo) =>
                recognizePayout(transaction, memo, d.signer.address) ??
                payments?.recognize(transaction, memo),
              async restoreRecords() {
                let rows = 0;
                for (const each of restored) rows += await each.restoreRecords();
                return rows;
              },
              holdDoubtful() {
                for (const each of restored) each.holdDoubtful();
              },
              now,
            });
            journal.adoptRevision(await d.mirror.highestRevision());
            return done;
          },
        },
        command,
      );
      await storage.sync();
      await verify();
      await publish();
      return answer;
    },

    wake: () =>
      working(async () => {
        if (newerStorage !== undefined) return;
        await verify();
        journal.purge(now());
        await Promise.all([ticked('mint', mints), ticked('proof', proofs)]);
      }),

    async alarm() {
      await storage.setAlarm(now() + SAFETY_MS);
      await verify();
      if (isTrusted()) {
        await driver.driveDue(DUE_PER_ALARM);
        await runDesks();
      }
      ranAt = now();
      await publish();
    },
  };
}
