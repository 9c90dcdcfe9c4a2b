import type { History, HistoryNode } from '../../src/custody/nodes/history.ts';

/** One node's history of the reserve, which is too short to prove an absence. */
export const historyOf = (
  signatures: HistoryNode['signatures'] = async () => [],
  firstAvailableBlock: HistoryNode['firstAvailableBlock'] = async () => 0n,
): History => ({
  nodes: [{ id: 'node', name: 'node', signatures, firstAvailableBlock }],
  isAbsent: async () => false,
});
