import type { BridgeReport } from '../../../src/bridges/route.ts';
import { swapKind } from '../../../src/custody/swap/operation.ts';
import { createFakeBridge, createSwapPorts, quotesOf } from '../../kit/fake-bridge.ts';
import { settling } from '../../kit/sample-operations.ts';

/** Settles one swap with this report of the bridge; `taken` are names that other operations have consumed. */
export function settleSwap(report: BridgeReport, taken: readonly string[] = []) {
  const bridge = createFakeBridge();
  bridge.nextReport = () => report;
  const ports = createSwapPorts(bridge);
  const kind = swapKind(ports, quotesOf(ports));
  async function settle(op = settling()) {
    const settled = await kind.settle(op, (name) => taken.includes(name));
    if (!settled) throw new Error('the swap is not settled but held');
    return settled;
  }
  return { bridge, ports, settle };
}
