import type { History, HistoryNode } from '../../src/custody/kernel/quorum.ts';

/** The reserve's history of one node that proves the absence of nothing. */
export const historyOf = (
  signatures: HistoryNode['signatures'] = async () => [],
  firstAvailableBlock: HistoryNode['firstAvailableBlock'] = async () => 0n,
): History => ({
  nodes: [{ name: 'node', signatures, firstAvailableBlock }],
  isAbsent: async () => false,
});
