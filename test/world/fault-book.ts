import type { UpstreamName } from './bindings.ts';

/**
 * A deliberate fault of an upstream. The gate in front of every upstream implements transport faults; the
 * upstream's simulator implements all other kinds.
 */
export interface Fault {
  readonly kind: string;
  /** Only requests whose label (`POST /v0/quote`, or the JSON-RPC method) or path contains this text. */
  readonly match?: string;
  /** Number of affected requests; without it, all until the fault is removed. */
  readonly times?: number;
  /** Milliseconds, for `delay`. */
  readonly ms?: number;
  /** Seconds in the Retry-After header of a 429. */
  readonly retryAfterSeconds?: number;
  /** Slots, blocks, satoshis or basis points, depending on the kind. */
  readonly by?: number;
  /** How a settlement goes wrong, for `settle`. */
  readonly mode?: string;
  /** Text that replaces the right one (an address, a price, a signature). */
  readonly value?: string;
}

interface Armed {
  readonly fault: Fault;
  left: number;
}

export interface FaultBook {
  /** Adds faults to an upstream; one of the same kind and match is replaced. */
  set(upstream: UpstreamName, faults: Fault | readonly Fault[]): void;
  /** Removes the faults of one upstream, or all. */
  clear(upstream?: UpstreamName): void;
  list(): Record<string, readonly Fault[]>;
  /** Returns the active fault of this kind for the request and counts it down; null when there is none. */
  take(upstream: string, kind: string, label?: string, path?: string): Fault | null;
  /** Like `take`, without counting down. */
  peek(upstream: string, kind: string, label?: string, path?: string): Fault | null;
}

export function createFaultBook(): FaultBook {
  const armed = new Map<string, Armed[]>();

  function find(upstream: string, kind: string, label: string, path: string): Armed | undefined {
    return armed
      .get(upstream)
      ?.find(
        ({ fault, left }) =>
          fault.kind === kind &&
          left > 0 &&
          (fault.match === undefined || label.includes(fault.match) || path.includes(fault.match)),
      );
  }

  return {
    set(upstream, faults) {
      const added = Array.isArray(faults) ? (faults as readonly Fault[]) : [faults as Fault];
      const kept = (armed.get(upstream) ?? []).filter(
        ({ fault }) => !added.some((one) => one.kind === fault.kind && one.match === fault.match),
      );
      armed.set(upstream, [
        ...kept,
        ...added.map((fault) => ({ fault, left: fault.times ?? Number.POSITIVE_INFINITY })),
      ]);
    },
    clear(upstream) {
      if (upstream === undefined) armed.clear();
      else armed.delete(upstream);
    },
    list() {
      const all: Record<string, readonly Fault[]> = {};
      for (const [upstream, entries] of armed) {
        const live = entries.filter(({ left }) => left > 0);
        if (live.length > 0)
          all[upstream] = live.map(({ fault, left }) =>
            Number.isFinite(left) ? { ...fault, times: left } : fault,
          );
      }
      return all;
    },
    take(upstream, kind, label = '', path = '') {
      const found = find(upstream, kind, label, path);
      if (found === undefined) return null;
      found.left -= 1;
      return found.fault;
    },
    peek(upstream, kind, label = '', path = '') {
      return find(upstream, kind, label, path)?.fault ?? null;
    },
  };
}
