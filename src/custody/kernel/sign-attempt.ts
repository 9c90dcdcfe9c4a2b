/**
 * Prepares, signs and stores one attempt of an operation. The only caller of the signer for transactions. Limits and names
 * are checked again in the critical section that stores the signed bytes; nothing is sent here.
 * @module
 */
import { failureReason } from '../../providers/solana-rpc.ts';
import type { Journal } from './journal.ts';
import { decodePrepared, encodePrepared, type OperationKind, type Prepared, type Ready } from './module.ts';
import type { Facts, Kind, Operation, Signing } from './operation.ts';
import type { Log, Signer, Storage } from './ports.ts';
import { type Budget, checkCap, type LimitReached } from './spending-limits.ts';
import type { Observation } from './state-machine.ts';

export type Assemble = (
  message: Uint8Array,
  signature: Uint8Array,
  cosignatures: readonly Uint8Array[],
) => { wire: string; signature: string };

export type SigningPorts = {
  readonly journal: Journal;
  readonly storage: Storage;
  readonly signer: Signer;
  readonly budgetOf: (kind: Kind) => Budget;
  readonly now: () => number;
  readonly log: Log;
  /**
   * Reason why nothing may be signed now, or undefined. It is read again in the critical section that stores
   * the signature.
   */
  readonly stop: (kind: Kind) => string | undefined;
  /**
   * Wire bytes of a signed message and its first signature. The first signature is the reserve's and the
   * transaction's id.
   */
  readonly assemble: Assemble;
};

/** Stores the state machine's result for an observation. Undefined when the row has changed since it was read. */
export type Observe = (op: Operation, kind: OperationKind, seen: Observation) => Operation | undefined;

/**
 * A stored message is requested again for this time. The rest of its blockhash's minute is left for landing.
 */
const UNSIGNED_LIFE_MS = 20_000;
/**
 * Returns the step that signs a planned operation and stores the signature, or records the reason against it.
 */
export function createSigning(p: SigningPorts, observe: Observe) {
  const { journal, now, log } = p;

  const unprepared = ({ kind }: Operation, reason: string): Observation => ({
    type: 'unprepared',
    reason,
    waiting: journal.planned(kind),
  });

  const refusedOrLater = (
    op: Operation,
    kind: OperationKind,
    reason: string,
    outcome: Facts = {},
  ): Observation =>
    kind.rules.retriesPreparation ? unprepared(op, reason) : { type: 'refused', reason, outcome };

  /** The message to sign for this attempt: the one that was recently sent to a key service, or a new one. */
  async function messageOf(op: Operation, kind: OperationKind): Promise<Ready | { seen: Observation }> {
    const stored = journal.unsigned(op, now() - UNSIGNED_LIFE_MS, now());
    if (stored !== undefined) return decodePrepared(stored);
    try {
      const prepared = await kind.prepare(op);
      if (!prepared.ok) return { seen: declined(prepared) };
      if (p.signer.isRemote) {
        // Durable before the key service receives it. A repeated request then has the same bytes while their
        // blockhash lives.
        journal.storeUnsigned(op, encodePrepared(prepared), now());
        await p.storage.sync();
      }
      return prepared;
    } catch (error) {
      const reason = failureReason(error);
      log({ level: 'warn', event: 'prepare_failed', operation: op.id, reason });
      return { seen: unprepared(op, `upstream_${reason}`) };
    }
  }

  /** Prepares and signs the kind's transaction, or returns what happened to the intent instead. */
  async function sign(
    op: Operation,
    kind: OperationKind,
  ): Promise<{ prepared: Ready; signing: Signing } | { seen: Observation }> {
    const prepared = await messageOf(op, kind);
    if ('seen' in prepared) return prepared;
    const { message, cosignatures = [], signedAt } = prepared;
    try {
      const { wire, signature } = p.assemble(message, await p.signer.sign(message), cosignatures);
      return { prepared, signing: { signature, wire, ...signedAt } };
    } catch (error) {
      // Bytes that were signed but not stored are never sent, so the attempt had no effect.
      const reason = failureReason(error);
      log({ level: 'warn', event: 'sign_failed', operation: op.id, kind: op.kind, reason });
      const code = `upstream_${reason}`;
      return { seen: p.signer.isRemote ? { type: 'unsigned', reason: code } : unprepared(op, code) };
    }
  }

  async function prepare(op: Operation, kind: OperationKind): Promise<void> {
    const stopped = p.stop(op.kind);
    if (stopped) return void observe(op, kind, refusedOrLater(op, kind, stopped));
    const signed = await sign(op, kind);
    if ('seen' in signed) return void observe(op, kind, signed.seen);
    storeSigned(op, kind, signed.prepared, signed.signing);
  }

  /**
   * The cap that this operation would exceed together with the signed ones. Its cost is known only now, and
   * some
   * kinds plan more operations than a window may hold.
   */
  function capReached({ kind, amount }: Operation, cost: bigint): LimitReached | undefined {
    const signed = journal.counting(now()).filter(({ state }) => state !== 'planned');
    for (const cap of p.budgetOf(kind).caps) {
      const verdict = checkCap(cap, kind, signed, { amount, cost }, now());
      if (!verdict.ok) return verdict;
    }
    return undefined;
  }

  /** One critical section: checks the current limits, consumes the names, stores the bytes. */
  function storeSigned(op: Operation, kind: OperationKind, prepared: Ready, signing: Signing): void {
    p.storage.transaction(() => {
      const stopped = p.stop(op.kind);
      if (stopped) return void observe(op, kind, refusedOrLater(op, kind, stopped));
      const reached = capReached(op, prepared.cost);
      if (reached) {
        const outcome = { availableAt: String(reached.availableAt) };
        return void observe(op, kind, refusedOrLater(op, kind, `limit_${reached.limit}`, outcome));
      }
      if ((prepared.spend ?? 0n) > op.reserved) {
        return void observe(op, kind, { type: 'refused', reason: 'reserve_overspent' });
      }
      if (prepared.claims.some((name) => (journal.consumerOf(name) ?? op.id) !== op.id)) {
        return void observe(op, kind, { type: 'refused', reason: 'quote_reused' });
      }
      const { plan, cost, spend } = prepared;
      const known = spend === undefined ? { plan, cost } : { plan, cost, spend };
      const stored = observe(op, kind, { type: 'signed', signing, ...known });
      if (!stored) return;
      for (const name of prepared.claims) journal.consumeOnce(name, op.id, now());
    });
  }

  return prepare;
}

const declined = (prepared: Exclude<Prepared, { ok: true }>): Observation =>
  'found' in prepared
    ? { type: 'found', outcome: prepared.found }
    : { type: 'refused', reason: prepared.reason, outcome: prepared.outcome ?? {} };
