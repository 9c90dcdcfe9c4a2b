import { describe, expect, it } from 'vitest';
import type { BridgeReport } from '../../../src/bridges/route.ts';
import { lamports } from '../../../src/core/amount.ts';
import { upstreamFailed } from '../../../src/core/errors.ts';
import { createSwapKind } from '../../../src/custody/swap/operation.ts';
import { createFakeBridge, createSwapPorts, credit } from '../fake-bridge.ts';
import { SOL, settling } from '../sample-operations.ts';

function setUp(report: BridgeReport, taken: readonly string[] = []) {
  const bridge = createFakeBridge();
  bridge.nextReport = () => report;
  const ports = createSwapPorts([bridge]);
  const kind = createSwapKind(ports);
  return { ports, settle: (op = settling()) => kind.settle(op, (name) => taken.includes(name)) };
}
const pending = (detail: string) => ({ settlement: { state: 'pending', detail }, claims: [] });

describe('a refund', () => {
  const refunded = (amount: bigint | null): BridgeReport => ({
    state: 'refunded',
    amount: amount === null ? null : lamports(amount),
  });
  const found = (signature: string, change: bigint) => ({
    settlement: {
      state: 'incomplete',
      reason: 'refunded',
      arrived: true,
      outcome: { refundSignature: signature, refundLamports: change.toString() },
    },
    claims: [`payment:${signature}`],
  });

  it('is believed when our own account shows the announced sum', async () => {
    const { settle, ports } = setUp(refunded(990_000_000n));
    credit(ports, 'stranger', 5n);
    credit(ports, 'refund', 990_000_000n);
    credit(ports, 'later', 7n);
    expect(await settle()).toEqual(found('refund', 990_000_000n));
  });

  it('is found behind a transaction of a version that no node shows us: anybody can send one', async () => {
    const { settle, ports } = setUp(refunded(990_000_000n));
    credit(ports, 'newer', 5n);
    credit(ports, 'refund', 990_000_000n);
    const { transaction } = ports;
    ports.transaction = async (signature) => {
      if (signature === 'newer') throw upstreamFailed('solana-rpc', 'rpc_-32015');
      return transaction(signature);
    };
    expect(await settle()).toEqual(found('refund', 990_000_000n));
  });

  it('is found below 2,500 transactions of dust that came after it', async () => {
    const { settle, ports } = setUp(refunded(990_000_000n));
    credit(ports, 'refund', 990_000_000n);
    for (let at = 0; at < 2_500; at++) credit(ports, `dust-${at}`, 1n);
    expect(await settle()).toEqual(found('refund', 990_000_000n));
  });

  it.each([
    ['has not arrived', () => {}],
    ['is one lamport off', (ports: ReturnType<typeof createSwapPorts>) => credit(ports, 'x', 990_000_001n)],
    [
      'left instead of arriving',
      (ports: ReturnType<typeof createSwapPorts>) => credit(ports, 'x', -990_000_000n),
    ],
    [
      'failed on chain',
      (ports: ReturnType<typeof createSwapPorts>) => credit(ports, 'x', 990_000_000n, true),
    ],
    [
      'is listed but cannot be read yet',
      (ports: ReturnType<typeof createSwapPorts>) => {
        credit(ports, 'x', 990_000_000n);
        ports.transactions.clear();
      },
    ],
  ])('that %s keeps it waiting', async (_name, arrange) => {
    const { settle, ports } = setUp(refunded(990_000_000n));
    arrange(ports);
    expect(await settle()).toEqual(pending('refunding'));
  });

  it('that serves another swap keeps it waiting', async () => {
    const { settle, ports } = setUp(refunded(990_000_000n), ['payment:refund']);
    credit(ports, 'refund', 990_000_000n);
    expect(await settle()).toEqual(pending('refunding'));
  });

  it('from before the swap does not count', async () => {
    const { settle, ports } = setUp(refunded(990_000_000n));
    credit(ports, 'old', 990_000_000n);
    credit(ports, 'signature-one', -SOL);
    expect(await settle()).toEqual(pending('refunding'));
  });

  it.each([
    [990_000_000n - 5_000n, true],
    [990_000_000n - 9_899_999n, true],
    [990_000_000n - 9_900_000n, false],
  ])('may fall short of the announced sum by the fee of the bridge: %s', async (change, ok) => {
    const { settle, ports } = setUp(refunded(990_000_000n));
    credit(ports, 'refund', change);
    expect(await settle()).toEqual(ok ? found('refund', change) : pending('refunding'));
  });

  it('of exactly the announced sum is preferred to one that only may be it', async () => {
    const { settle, ports } = setUp(refunded(990_000_000n));
    credit(ports, 'of another swap', 989_000_000n);
    credit(ports, 'refund', 990_000_000n);
    expect(await settle()).toEqual(found('refund', 990_000_000n));
  });

  it.each([
    [SOL, true],
    [SOL + 1n, false],
    [(SOL * 9n) / 10n + 1n, true],
    [(SOL * 9n) / 10n, false],
  ])('that was not announced is nearly the amount: %s', async (change, ok) => {
    const { settle, ports } = setUp(refunded(null));
    credit(ports, 'refund', change);
    expect(await settle()).toEqual(ok ? found('refund', change) : pending('refunding'));
  });

  it('is found behind any number of other transactions, a few per check', async () => {
    const { settle, ports } = setUp(refunded(990_000_000n));
    for (let at = 0; at < 40; at++) credit(ports, `dust-${at}`, 1n);
    credit(ports, 'refund', 990_000_000n);
    for (let at = 0; at < 60; at++) credit(ports, `more-${at}`, 1n);
    const read: string[] = [];
    const { transaction } = ports;
    ports.transaction = (signature) => {
      read.push(signature);
      return transaction(signature);
    };
    const answers: unknown[] = [];
    for (let looks = 0; looks <= 10; looks++) {
      read.length = 0;
      answers.push(await settle(settling({ looks })));
      expect(read.length).toBeLessThanOrEqual(10);
    }
    expect(answers).toContainEqual(found('refund', 990_000_000n));
  });
});
