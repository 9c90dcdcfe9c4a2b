/** Requests that each upstream received, by label. */
export interface RequestCounts {
  add(upstream: string, label: string): void;
  reset(): void;
  all(): Record<string, UpstreamCounts>;
}

export interface UpstreamCounts {
  readonly total: number;
  readonly byLabel: Record<string, number>;
}

export function createRequestCounts(): RequestCounts {
  const counts = new Map<string, Map<string, number>>();
  return {
    add(upstream, label) {
      const labels = counts.get(upstream) ?? new Map<string, number>();
      labels.set(label, (labels.get(label) ?? 0) + 1);
      counts.set(upstream, labels);
    },
    reset: () => counts.clear(),
    all() {
      const all: Record<string, UpstreamCounts> = {};
      for (const [upstream, labels] of counts) {
        const byLabel = Object.fromEntries(labels);
        all[upstream] = { total: Object.values(byLabel).reduce((sum, n) => sum + n, 0), byLabel };
      }
      return all;
    },
  };
}
