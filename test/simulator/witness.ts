/**
 * Watches the chain itself while a run goes on, and knows nothing of what the custodian believes.
 * @module
 */
import type { CustodyLimits } from '../../src/custody/custody-deps.ts';
import type { BridgeModel } from './bridge-model.ts';
import type { ChainEntry, ChainModel } from './chain-model.ts';

export type Violation = { readonly invariant: string; readonly detail: string };

export type Witness = ReturnType<typeof createWitness>;

const stands = (entry: ChainEntry): boolean => entry.droppedAt === Number.POSITIVE_INFINITY;
const moves = (entry: ChainEntry): boolean => entry.movement !== null && !entry.failed && stands(entry);

export function createWitness(p: {
  limits: CustodyLimits;
  startLamports: bigint;
  /** A bridge that claims one output for two swaps cannot be told from one that pays late. */
  bridgeLies: boolean;
}) {
  const violations: Violation[] = [];
  /** Signatures made while nothing may be signed, and why. */
  const forbidden = new Map<string, string>();
  const sent = new Set<string>();
  let chain: ChainModel | undefined;
  let bridge: BridgeModel | undefined;

  const broken = (invariant: string, detail: string): void => void violations.push({ invariant, detail });

  /** Lamports that have left for something that has not arrived. */
  const exposure = (): bigint => {
    let sum = 0n;
    for (const entry of chain?.entries ?? []) {
      if (!moves(entry) || !entry.movement) continue;
      const order = bridge?.orders.get(entry.movement.to);
      if (order && order.arrivedAt === null) sum += entry.movement.lamports;
    }
    return sum;
  };

  return {
    violations,
    broken,
    sent: sent as ReadonlySet<string>,

    watch(models: { chain: ChainModel; bridge: BridgeModel }): void {
      chain = models.chain;
      bridge = models.bridge;
    },

    landed(entry: ChainEntry): void {
      if (!chain || !entry.movement) return;
      const balance = chain.balance(entry.slot);
      if (balance < p.limits.floor && p.startLamports >= p.limits.floor) {
        broken('floor', `${entry.signature} leaves ${balance} lamports, below the floor ${p.limits.floor}`);
      }
      if (entry.failed) return;
      const order = bridge?.orders.get(entry.movement.to);
      if (order && entry.movement.lamports !== order.amount) {
        broken('amount', `${entry.signature} pays ${entry.movement.lamports} for a quote of ${order.amount}`);
      }
      const unsettled = exposure();
      if (order && !p.bridgeLies && unsettled > p.limits.maxUnsettled) {
        broken('cap_unsettled', `${unsettled} lamports are out, ${p.limits.maxUnsettled} may be`);
      }
    },

    final(entry: ChainEntry): void {
      if (!moves(entry) || !entry.movement) return;
      const { intent, to } = entry.movement;
      for (const other of chain?.entries ?? []) {
        if (other === entry || !moves(other) || !other.movement || !chain) continue;
        if (other.movement.intent === intent) {
          broken('one_landing', `${intent} landed as ${other.signature} and as ${entry.signature}`);
        } else if (other.movement.to === to && bridge?.orders.has(to)) {
          broken('one_payment_a_deposit', `${to} was paid by ${other.signature} and ${entry.signature}`);
        }
      }
    },

    /** @param stopped why nothing may be signed at this moment; undefined when it may */
    signed(signature: string, stopped: string | undefined): void {
      if (stopped !== undefined && !sent.has(signature)) forbidden.set(signature, stopped);
    },

    sending(signature: string): void {
      const stopped = forbidden.get(signature);
      if (stopped !== undefined && !sent.has(signature)) {
        broken('no_signing_while_stopped', `${signature} was signed while ${stopped}`);
      }
      sent.add(signature);
    },
  };
}
